"""The reading order of PDF pages: columns, what stands across them, and tables."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pypdfium2
import pytest
from reportlab.pdfgen.canvas import Canvas

from elt_llm_ingest.readers.ocr import recognition
from elt_llm_ingest.readers.pdf.undecoded_text import decode_text
from evaluation import line_joins
from pdf_pages import HEIGHT, canvas_of, parsed, rows_of, said
from undecoded_pages import SAID, coded, shifted

VERBS = "shall keep the book of every berth that was given or taken in the year and"
PITCH = 12


def sentences(name: str, count: int) -> list[str]:
    """Lines of running text of which each can be told from every other."""
    return [f"{name}{n} {VERBS[(3 * n) % 20 :][:34].strip()}" for n in range(count)]


def column(canvas: Canvas, x: float, top: float, lines: Sequence[str]) -> None:
    """Lines below each other; `top` is counted from the top of the page."""
    for index, line in enumerate(lines):
        canvas.drawString(x, HEIGHT - top - PITCH * index, line)


def row_by_row(canvas: Canvas, top: float, *columns: tuple[float, list[str]]) -> None:
    """Columns written line by line across, as some printers do."""
    for index in range(max(len(lines) for _, lines in columns)):
        for x, lines in columns:
            if index < len(lines):
                canvas.drawString(x, HEIGHT - top - PITCH * index, lines[index])


def made(path: Path, draw) -> str:  # type: ignore[no-untyped-def]
    canvas = canvas_of(path, 9)
    draw(canvas)
    canvas.save()
    return parsed(path).text


def places(text: str, *lists: Sequence[str]) -> list[int]:
    """Where the first words of all lines stand in the text, in the order given."""
    flat = " ".join(text.split())
    firsts = [line.split()[0] for lines in lists for line in lines]
    assert all(f"{first} " in f"{flat} " for first in firsts)
    return [f"{flat} ".index(f"{first} ") for first in firsts]


LEFT, RIGHT, THIRD = sentences("la", 30), sentences("rb", 30), sentences("tc", 30)


def test_two_columns_on_one_grid_of_lines_are_read_one_after_the_other(tmp_path):
    def draw(canvas):
        column(canvas, 60, 80, LEFT)
        column(canvas, 310, 80, RIGHT)

    found = places(made(tmp_path / "two.pdf", draw), LEFT, RIGHT)
    assert found == sorted(found)


def test_three_columns_are_read_one_after_the_other(tmp_path):
    lists = [[line[:24] for line in lines] for lines in (LEFT, RIGHT, THIRD)]

    def draw(canvas):
        for x, lines in zip((50, 215, 380), lists, strict=True):
            column(canvas, x, 80, lines)

    found = places(made(tmp_path / "three.pdf", draw), *lists)
    assert found == sorted(found)


def test_a_title_stands_before_and_a_note_after_unequal_columns(tmp_path):
    title, note = ["za The harbour"], ["zb A note that goes across both of the columns"]

    def draw(canvas):
        canvas.drawString(
            60, HEIGHT - 50, f"{title[0]} and its whole coast in one year"
        )
        column(canvas, 60, 80, [line[:20] for line in LEFT])
        column(canvas, 190, 80, [f"{line} {line[4:30]}" for line in RIGHT])
        column(canvas, 60, 80 + 31 * PITCH, [f"{note[0]} from the left to the right"])

    found = places(made(tmp_path / "wide.pdf", draw), title, LEFT, RIGHT, note)
    assert found == sorted(found)


def test_text_across_the_page_parts_the_columns_above_from_those_below(tmp_path):
    middle = [
        "zm This line goes over both of the columns from the left to the right side"
    ]

    def draw(canvas):
        column(canvas, 60, 80, LEFT[:12])
        column(canvas, 310, 80, RIGHT[:12])
        column(canvas, 60, 80 + 14 * PITCH, [f"{middle[0]} of it"])
        column(canvas, 60, 80 + 16 * PITCH, LEFT[12:])
        column(canvas, 310, 80 + 16 * PITCH, RIGHT[12:])

    text = made(tmp_path / "middle.pdf", draw)
    found = places(text, LEFT[:12], RIGHT[:12], middle, LEFT[12:], RIGHT[12:])
    assert found == sorted(found)


def test_a_narrow_sidebar_does_not_get_into_the_text_beside_it(tmp_path):
    aside = [f"{line.split()[0]} of the port" for line in RIGHT[:8]]
    text = [f"{line} {VERBS[:36]}" for line in LEFT]

    def draw(canvas):
        column(canvas, 60, 80, text)
        column(canvas, 440, 83, aside)

    found = places(made(tmp_path / "side.pdf", draw), text)
    assert found == sorted(found)
    inner = made(tmp_path / "side2.pdf", draw)
    first, last = places(inner, text[:1], text[-1:])
    assert not any(first < at < last for at in places(inner, aside))


def test_a_list_of_terms_beside_their_definitions_stays_row_by_row(tmp_path):
    terms = [f"t{n} term" for n in range(12)]
    tells = [f"d{n} what the term means in {n} of these rules." for n in range(12)]

    def draw(canvas):
        row_by_row(canvas, 80, (60, terms), (180, tells))

    found = places(
        made(tmp_path / "terms.pdf", draw),
        [line for pair in zip(terms, tells, strict=True) for line in pair],
    )
    assert found == sorted(found)


def test_columns_that_line_up_are_no_table(tmp_path):
    def draw(canvas):
        column(canvas, 60, 80, LEFT)
        column(canvas, 310, 80, RIGHT)

    made(tmp_path / "aligned.pdf", draw)
    assert rows_of(parsed(tmp_path / "aligned.pdf")) == []


def test_a_table_in_one_column_stays_a_table(tmp_path):
    figures = [(f"Berth {n}", f"{n}1.0", f"{n}7.5") for n in range(3, 11)]

    def draw(canvas):
        column(canvas, 60, 80, LEFT)
        column(canvas, 310, 80, RIGHT[:10])
        for index, row in enumerate(figures):
            for x, cell in zip((310, 420, 480), row, strict=True):
                canvas.drawString(x, HEIGHT - 80 - PITCH * (12 + index), cell)
        column(canvas, 310, 80 + 22 * PITCH, RIGHT[10:18])

    path = tmp_path / "table.pdf"
    text = made(path, draw)
    found = places(text, LEFT, RIGHT[:10], RIGHT[10:18])
    assert found == sorted(found)
    document = parsed(path)
    assert [tuple(said(document, row)) for row in rows_of(document)] == figures


def test_lines_of_a_column_are_not_mixed_with_taller_ones_beside_it(tmp_path):
    tall = [line[:22] for line in LEFT[:20]]

    def draw(canvas):
        canvas.setFont("Helvetica", 13)
        for index, line in enumerate(tall):
            canvas.drawString(60, HEIGHT - 80 - 17 * index, line)
        canvas.setFont("Helvetica", 9)
        for index, line in enumerate(RIGHT):
            canvas.drawString(310, HEIGHT - 82 - 10.5 * index, line)

    found = places(made(tmp_path / "tall.pdf", draw), tall, RIGHT)
    assert found == sorted(found)


def test_a_join_is_running_text_that_goes_on_with_a_small_letter():
    plain = (
        "One two three four five\nsix seven eight nine ten.\nEleven is a stop before\n"
        "Capital letters begin a line\nshort one\nand these are four words"
    )
    assert line_joins.find_joins(plain) == [("four", "five", "six", "seven")]
    assert line_joins.is_kept([("a", "b", "c", "d")], "x a b c d y") == [True]
    assert line_joins.is_kept([("a", "b", "c", "d")], "a b x c d") == [False]


def test_lines_that_the_file_does_not_decode_are_no_reference():
    joins_there = "One two three four five\nsix seven eight nine ten"
    assert len(line_joins.find_joins(joins_there)) == 1
    assert line_joins.find_joins(joins_there.replace("seven", "se\ufffden")) == []
    layer = pypdfium2.PdfDocument(coded(shifted(29)))[0].get_textpage()
    lines = decode_text(layer).splitlines()
    assert [SAID in line for line in lines] == [True, True, True, False]
    assert set(lines[-1]) == {"\ufffd"}


@pytest.mark.data
@pytest.mark.skipif(not shutil.which("pdftotext"), reason="compares with pdftotext")
def test_lines_that_go_on_in_the_file_go_on_in_the_text(monkeypatch):
    # A page that is read from its picture is no reference, and takes most of the time.
    monkeypatch.setattr(recognition, "languages", lambda: None)
    root = os.environ.get("ELT_LLM_EVAL_DATA")
    if not root:
        pytest.skip("ELT_LLM_EVAL_DATA is not set")
    pages = [
        page
        for pdf in sorted((Path(root) / "reading_dev").glob("*.pdf"))
        for page in line_joins.measure_joins(pdf, parsed(pdf))
    ]
    figures = line_joins.summarize(pages)
    assert figures.pages > 50
    assert figures.where_reference >= 0.97
    assert figures.low_unmarked == 0
