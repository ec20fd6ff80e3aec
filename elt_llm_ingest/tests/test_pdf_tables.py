"""Tables of a PDF: drawn, spanning, without lines, and what is none."""

from itertools import pairwise
from pathlib import Path

import pytest

from elt_llm_core.document import Block
from pdf_pages import (
    HEIGHT,
    ROW,
    TOP,
    WORDS,
    XS,
    canvas_of,
    headers,
    parsed,
    prose,
    rows_of,
    ruled_pdf,
    said,
)


def test_a_drawn_table_keeps_its_spans_and_joins_its_headers(tmp_path):
    document = parsed(ruled_pdf(tmp_path / "ruled.pdf"))
    rows = rows_of(document)
    assert [b.attributes.get("row") for b in rows] == [
        "header",
        "header",
        None,
        None,
        None,
    ]
    assert {b.table_number for b in rows} == {1}
    assert headers(rows[2]) == [
        "Harbour",
        "Boats / 2023",
        "Boats / 2024",
        "Crews / 2024",
    ]
    over = rows[0].cells[1]
    assert (over.column, over.columns) == (1, 2)
    assert said(document, rows[2]) == ["North", "12", "14", "30"]
    assert said(document, rows[4]) == ["South", "3", "5", "a line that is wrapped"]


def test_a_cell_over_rows_is_told_in_each_of_them(tmp_path):
    document = parsed(ruled_pdf(tmp_path / "ruled.pdf"))
    first, second = rows_of(document)[2:4]
    assert (first.cells[0].rows, second.cells[0].rows) == (2, 1)
    assert said(document, second) == ["North", "9", "8", "17"]
    assert (second.cells[0].start, second.cells[0].end) == (
        first.cells[0].start,
        first.cells[0].end,
    )


def test_every_cell_has_its_box_in_the_table(tmp_path):
    document = parsed(ruled_pdf(tmp_path / "ruled.pdf"))
    for row in rows_of(document):
        for cell in row.cells:
            if document.text[cell.start : cell.end]:
                (box, *_) = cell.boxes
                x = box.left * document.pages[0].width
                assert XS[cell.column] <= x <= XS[cell.column + cell.columns]
                assert HEIGHT - TOP <= box.top * HEIGHT <= HEIGHT - TOP + 7 * ROW


def statement_pdf(path: Path) -> Path:
    """A statement without lines: a header over two years each, a wrapped label."""
    canvas = canvas_of(path)
    prose(canvas, 780, [WORDS, WORDS])
    canvas.drawCentredString(345, 720, "Three Months Ended")
    canvas.drawCentredString(485, 720, "Six Months Ended")
    rights = (320, 390, 460, 530)
    for right, year in zip(rights, ("2023", "2022", "2023", "2022"), strict=True):
        canvas.drawRightString(right, 704, year)
    rows = [
        ("Revenue:", ()),
        ("Boats", ("$ 1,093", "$ 1,874", "$ 840", "$ 977")),
        ("Payments for repairs of", ()),
        ("engines and sails", ("(7)", "34", "(16)", "35")),
        ("Total", ("1,086", "1,908", "824", "—")),
    ]
    for index, (label, values) in enumerate(rows):
        y = 688 - 16 * index
        canvas.drawString(80, y, label)
        for right, value in zip(rights, values, strict=False):
            canvas.drawRightString(right, y, value)
    prose(canvas, 560, [WORDS])
    canvas.save()
    return path


def test_a_statement_without_lines_has_its_headers(tmp_path):
    document = parsed(statement_pdf(tmp_path / "statement.pdf"))
    data = [b for b in rows_of(document) if not b.attributes]
    assert [said(document, b)[0] for b in data] == [
        "Revenue:",
        "Boats",
        "Payments for repairs of engines and sails",
        "Total",
    ]
    assert headers(data[1])[1:] == [
        "Three Months Ended / 2023",
        "Three Months Ended / 2022",
        "Six Months Ended / 2023",
        "Six Months Ended / 2022",
    ]
    assert said(document, data[1])[1:] == ["$ 1,093", "$ 1,874", "$ 840", "$ 977"]
    assert said(document, data[3])[1:] == ["1,086", "1,908", "824", "—"]
    assert document.text.count(WORDS) == 3


def test_the_axes_of_a_chart_and_a_frame_around_prose_are_no_tables(tmp_path):
    canvas = canvas_of(tmp_path / "none.pdf")
    for index in range(8):
        canvas.drawString(80, 740 - 16 * index, str(450 - 50 * index))
        canvas.drawString(320, 740 - 16 * index, str(450 - 50 * index))
    canvas.rect(70, 480, 460, 80)
    prose(canvas, 545, [WORDS, WORDS, WORDS])
    canvas.save()
    assert rows_of(parsed(tmp_path / "none.pdf")) == []


@pytest.mark.parametrize("make", [ruled_pdf, statement_pdf])
def test_the_same_bytes_give_the_same_document(tmp_path, make):
    path = make(tmp_path / "same.pdf")
    assert parsed(path) == parsed(path)


def test_a_block_stored_before_cells_had_columns_still_loads():
    old = {"kind": "table_row", "start": 0, "end": 3, "page": 1}
    old["cells"] = [{"header": "Term", "start": 0, "end": 3}]
    (cell,) = Block.model_validate(old).cells
    assert (cell.column, cell.rows, cell.columns) == (None, 1, 1)


def test_a_table_over_pages_keeps_number_and_spanning_header(tmp_path):
    canvas = canvas_of(tmp_path / "long.pdf")
    for part in range(2):
        prose(canvas, 780, [WORDS] if part == 0 else [])
        y = 720
        rows = [("", "Boats", ""), ("Harbour", "2023", "2024")]
        rows += [(f"Harbour {10 * part + n}", f"{n}1", f"{n}2") for n in range(8)]
        for index, row in enumerate(rows):
            for (left, right), text in zip(pairwise(XS[:4]), row, strict=True):
                canvas.drawString(left + 4, y - 13, text)
                canvas.line(left, y, right, y)
            for at, x in enumerate(XS[:4]):
                if not (index == 0 and at == 2):
                    canvas.line(x, y, x, y - ROW)
            y -= ROW
        canvas.line(XS[0], y, XS[3], y)
        canvas.showPage()
        canvas.setFont("Helvetica", 10)
    canvas.save()
    rows = rows_of(parsed(tmp_path / "long.pdf"))
    assert {b.table_number for b in rows} == {1}
    assert [b.page for b in rows if b.attributes] == [1, 1, 2, 2]
    data = [b for b in rows if not b.attributes]
    assert len(data) == 16
    wanted = ["Harbour", "Boats / 2023", "Boats / 2024"]
    assert all(headers(b) == wanted for b in data)
