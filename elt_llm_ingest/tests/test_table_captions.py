"""On a page with two columns, a caption stands next to its table."""

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.document import BlockKind
from pdf_pages import canvas_of, parsed

LEFT, RIGHT = 60, 320
NUMBERS = (
    *(("Harbour", "2023", "2024"), ("North", "12", "14"), ("South", "9", "8")),
    *(("East", "31", "35"), ("West", "7", "6")),
)
TITLE = ("Table 1. Boats by harbour and year, as the", "offices counted them")
VOCABULARY = re.findall(
    r"[a-z]+",
    "the a boat harbour came list fee office year coast crew month was "
    "were counted late because which figures taken marked column every "
    "day twice only split ",
)


class Column:
    """Writes one column of a page from its top to its end."""

    def __init__(self, canvas: Canvas, left: int, random: Random) -> None:
        self.canvas, self.left, self.random, self.y = canvas, left, random, 760.0

    def write(self, *lines: str) -> None:
        for line in lines:
            self.canvas.drawString(self.left, self.y, line)
            self.y -= 12

    def write_prose(self, lines: int) -> None:
        """Write lines that differ from all others of the page."""
        for _ in range(lines):
            self.write(" ".join(self.random.choices(VOCABULARY, k=8)))

    def draw_table(self, *, ruled: bool) -> None:
        top, bottom = self.y, self.y - 16 * len(NUMBERS)
        for number, row in enumerate(NUMBERS):
            for column, text in enumerate(row):
                y = top - 12 - 16 * number
                self.canvas.drawString(self.left + 4 + 75 * column, y, text)
        for number in range(len(NUMBERS) + 1) if ruled else ():
            y = top - 16 * number
            self.canvas.line(self.left, y, self.left + 225, y)
        for column in range(4) if ruled else ():
            x = self.left + 75 * column
            self.canvas.line(x, top, x, bottom)
        self.y = bottom - 12


def made(
    path: Path, title: Sequence[str], left: int, *, ruled: bool, above: bool
) -> Path:
    """A page of two columns; one has a table below its first lines."""
    canvas, random = canvas_of(path, 9), Random(4)  # noqa: S311 - no secret
    for column in (Column(canvas, LEFT, random), Column(canvas, RIGHT, random)):
        column.write_prose(8 if column.left == LEFT else 5)
        column.y -= 14
        column.canvas.setFont("Helvetica-Bold", 11)
        column.write("Section " + ("one" if column.left == LEFT else "two"))
        column.canvas.setFont("Helvetica", 9)
        column.y -= 6
        if column.left == left:
            column.write(*(title if above else ()))
            column.y -= 2
            column.draw_table(ruled=ruled)
            column.write(*(() if above else title))
            column.y -= 14
        column.write_prose(30)
    canvas.save()
    return path


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("left", [LEFT, RIGHT])
@pytest.mark.parametrize(
    ("lines", "above"), [(1, True), (2, True), (1, False)], ids=str
)
def test_a_caption_stands_next_to_its_table(tmp_path, ruled, above, left, lines):
    title = TITLE[:lines]
    path = made(tmp_path / "a.pdf", title, left, ruled=ruled, above=above)
    document = parsed(path)
    blocks = document.blocks
    texts = [document.text[block.start : block.end] for block in blocks]
    rows = [at for at, block in enumerate(blocks) if block.cells]
    assert rows == list(range(rows[0], rows[0] + len(NUMBERS)))
    assert [texts[at].split() for at in rows] == [list(row) for row in NUMBERS]
    caption = rows[0] - 1 if above else rows[-1] + 1
    assert blocks[caption].kind is BlockKind.CAPTION
    assert texts[caption].split() == " ".join(title).split()
    one, two = texts.index("Section one"), texts.index("Section two")
    assert one < rows[0] < two if left == LEFT else one < two < rows[0]
