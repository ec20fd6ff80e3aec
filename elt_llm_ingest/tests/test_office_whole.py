"""What Word, Excel, PowerPoint and web pages hold beside plain text is kept or told."""

import io
import zipfile
from pathlib import Path

import pptx
from openpyxl import Workbook

import format_files
from evaluation.sample_files import xlsx


def test_word_keeps_what_is_not_on_the_page(reading):
    (document,) = reading.parse(Path("a.docx"), format_files.word_file())
    found = format_files.texts(document)
    assert ("furniture", "Running head") in found
    assert ("paragraph", "Seen") in found
    assert ("paragraph", "Kept added") in found
    assert ("paragraph", "Below.") in found, "a footnote is text"
    assert any("A remark" in text for _, text in found)
    assert "dropped" not in document.text
    assert [t for _, t in found if "\t" in t] == [
        "c0\tacross\t", "down\tc4\tc5", "down\tc7\tc8",
    ]  # fmt: skip
    assert document.text.count("across") == 1
    merged = next(b for b in document.blocks if b.cells).cells[1]
    assert (merged.column, merged.columns, merged.rows) == (1, 2, 1)
    assert document.warnings == (
        "it has hidden passages, which were left out: 1",
        "it has tracked insertions, which were read: 1",
        "it has tracked deletions, which were left out: 1",
    )


def test_workbooks_keep_merged_headers_and_tell_what_is_hidden(reading):
    (document,) = reading.parse(Path("a.xlsx"), format_files.workbook_file())
    found = format_files.texts(document)
    assert found[:4] == [
        ("heading", "Fees"),
        ("paragraph", "Fees of 2026"),
        ("table_row", "Item\tPrice\t"),
        ("table_row", "Item\tNet\tGross"),
    ]
    assert ("paragraph", "A4: by the week") in found
    assert format_files.cells(document)[0] == [
        ("Item", "Berth"), ("Price Net", "10"), ("Price Gross", "12"),
    ]  # fmt: skip
    row = next(
        b for b in document.blocks if document.text[b.start : b.end][:3] == "Ber"
    )
    assert [cell.id for cell in row.cells] == ["A4", "B4", "C4"]
    assert row.table == "Fees of 2026"
    assert document.warnings == (
        "the sheet 'Fees' has hidden rows, which were read: 1",
        "the sheet 'Fees' has formulas without a stored value (open it and save it): 1",
        "the sheet 'Old' is hidden and was read",
    )


def workbook(rows, merged=()):
    book = Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append([value if value != "" else None for value in row])
    for cells in merged:
        sheet.merge_cells(cells)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def test_merged_years_above_columns_are_part_of_their_names(reading):
    rows = [["", "Coal", "Gas", "Coal", "Gas"], ["North", 1, 2, 3, 4]]
    merged = ("B1:C1", "D1:E1")
    first = ["Depot", 2023, "", "2024", ""]
    (document,) = reading.parse(Path("a.xlsx"), workbook([first, *rows], merged))
    assert format_files.cells(document)[0] == [
        ("Depot", "North"), ("2023 Coal", "1"), ("2023 Gas", "2"),
        ("2024 Coal", "3"), ("2024 Gas", "4"),
    ]  # fmt: skip
    titles = workbook([["Rules"], ["No smoking"]])
    (document,) = reading.parse(Path("a.xlsx"), titles)
    assert [text for _, text in format_files.texts(document)][1:] == [
        "Rules",
        "No smoking",
    ]
    figures = ["Depot", "61,200", "", "24,500", ""]
    (document,) = reading.parse(Path("a.xlsx"), workbook([figures, *rows], merged))
    assert {header for header, _ in format_files.cells(document)[0]} == {""}


def test_merged_cells_over_the_whole_sheet_cost_nothing(reading):
    source = zipfile.ZipFile(io.BytesIO(xlsx()))
    parts = {name: source.read(name) for name in source.namelist()}
    merged = b"".join(b'<mergeCell ref="A1:XFD%d"/>' % n for n in range(9000, 10_000))
    end = b"</sheetData><mergeCells>" + merged + b"</mergeCells>"
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"</sheetData>", end)
    (document,) = reading.parse(Path("a.xlsx"), format_files.zipped(parts))
    assert document.text.split()[:3] == ["Fees", "Berth", "1"]


def test_slides_keep_notes_and_tell_which_are_hidden(reading):
    file = pptx.Presentation()
    for title in ("Fees", "Secret"):
        slide = file.slides.add_slide(file.slide_layouts[1])
        slide.shapes.title.text = title
    file.slides[0].notes_slide.notes_text_frame.text = "Speak slowly."
    file.slides[1]._element.set("show", "0")
    (document,) = reading.parse(Path("a.pptx"), format_files.saved(file))
    notes = [b for b in document.blocks if b.attributes.get("type") == "note"]
    assert [document.text[b.start : b.end] for b in notes] == ["Speak slowly."]
    assert document.warnings == ("it has hidden slides, which were read: 1",)


PAGE = """<html><nav>Menu</nav><h1>Fees</h1>
<figure><img src=x alt="a boat at sea"><figcaption>Figure 1. Boat.</figcaption></figure>
<p>Plain.<img src=y alt="the chart of fees"></p>
<p style="color:red; display: none">Sly order.</p><div hidden><p>Another.</p></div>
<table><tr><th rowspan=2>Item<th colspan=2>Price<tr><th>Net<th>Gross
<tr><td rowspan=2>Berth<td>1<td>2<tr><td>3<td>4</table></html>"""


def test_web_pages_keep_figures_spans_and_tell_what_is_hidden(reading):
    (document,) = reading.parse(Path("a.html"), PAGE.encode())
    format_files.check_spans(document)
    assert format_files.texts(document)[:5] == [
        ("furniture", "Menu"),
        ("heading", "Fees"),
        ("figure", "Figure 1. Boat."),
        ("paragraph", "Plain."),
        ("figure", "the chart of fees"),
    ]
    assert format_files.cells(document) == [
        [("Item", "Berth"), ("Price Net", "1"), ("Price Gross", "2")],
        [("Item", "Berth"), ("Price Net", "3"), ("Price Gross", "4")],
    ]
    assert document.warnings == ("it has hidden passages, which were left out: 2",)
