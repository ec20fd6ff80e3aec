"""The last rows of a table stand alone at the top of the next page."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.document import BlockKind
from elt_llm_core.tables import Relation, relations
from pdf_pages import canvas_of, parsed, prose

EDGES = (72, 230, 310, 400, 520)
HEAD = ("Kind of boat", "Berth", "Fee", "Winter")
ROWS = [
    ("Rowing boat", "A", "none", "ashore"),
    ("Dinghy with a mast", "A", "£14", "ashore"),
    ("Day sailer", "B", "£38", "afloat"),
    ("Ketch below ten metres", "C", "£95", "afloat"),
    ("Motor launch", "B", "£61", "ashore"),
]
WRAPPED = ("Barge without an\nengine of its own", "D", "£120", "afloat")
HEIGHT = 20


def draw_row(
    canvas: Canvas, y: float, row: Sequence[str], lines: bool, edges: Sequence[float]
) -> float:
    """Draw a row below `y`; returns where the next begins."""
    height = HEIGHT + 12 * max(text.count("\n") for text in row)
    for left, text in zip(edges, row, strict=False):
        for at, line in enumerate(text.split("\n")):
            canvas.drawString(left + 4, y - 13 - 12 * at, line)
    if lines:
        for x in edges:
            canvas.line(x, y, x, y - height)
        for at in (y, y - height):
            canvas.line(edges[0], at, edges[-1], at)
    return y - height


def split_table(
    path: Path,
    after: Sequence[Sequence[str]],
    lines: bool = True,
    edges: Sequence[float] = EDGES,
    below: str = "2 Dues",
) -> list[Relation]:
    """A table at the end of page 1, and rows of it on page 2."""
    canvas = canvas_of(path)
    for at in range(14):
        prose(
            canvas,
            790 - 36 * at,
            [
                f"{at + 1} The board lets berths to its members.",
                "A berth is let for a summer, and not longer.",
            ],
        )
    canvas.setFont("Helvetica", 10)
    canvas.drawString(72, 225, "Table 1 Fees of the harbour")
    y = draw_row(canvas, 210, HEAD, lines, EDGES)
    for row in ROWS:
        y = draw_row(canvas, y, row, lines, EDGES)
    canvas.showPage()
    canvas.setFont("Helvetica", 10)
    y = 790.0
    for row in after:
        y = draw_row(canvas, y, row, lines, edges)
    canvas.setFont("Helvetica-Bold", 14)
    canvas.drawString(72, y - 30, below)
    canvas.setFont("Helvetica", 10)
    prose(canvas, y - 50, ["The dues are paid before the season begins."] * 3)
    canvas.save()
    document = parsed(path)
    headings = [
        document.text[b.start : b.end]
        for b in document.blocks
        if b.kind is BlockKind.HEADING
    ]
    assert headings[-1:] == [below]
    assert not any("£120" in h for h in headings)
    return relations("d", "d", document.text, document.blocks)


def cells(relation: Relation) -> list[list[str]]:
    return [[f.text if f else "" for f in row.fields] for row in relation.rows]


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize(
    "after", [[WRAPPED], [WRAPPED, ("Raft", "A", "none", "ashore")], [HEAD, WRAPPED]]
)
def test_rows_alone_on_the_next_page_belong_to_the_table(tmp_path, lines, after):
    (relation,) = split_table(tmp_path / "split.pdf", after, lines)
    rows = [*ROWS, *(row for row in after if row is not HEAD)]
    wanted = [[" ".join(text.split()) for text in row] for row in rows]
    assert cells(relation) == wanted
    assert relation.clean
    assert relation.end_page == 2


@pytest.mark.parametrize("lines", [True, False])
def test_a_row_in_other_columns_is_no_part_but_makes_the_table_doubtful(
    tmp_path, lines
):
    other = [edge + 17 * (0 < at < 4) for at, edge in enumerate(EDGES)]
    first, *_ = split_table(tmp_path / "other.pdf", [WRAPPED], lines, other)
    assert cells(first) == [[*row] for row in ROWS]
    assert not first.clean
    assert "next page" in first.problems[0]


def test_a_table_of_more_columns_is_another_one(tmp_path):
    edges = sorted([*EDGES, *((a + b) / 2 for a, b in pairwise(EDGES))])
    row = [str(number) for number in range(len(edges) - 1)]
    first, *_ = split_table(tmp_path / "finer.pdf", [row], True, edges)
    assert cells(first) == [[*row] for row in ROWS]
    assert not first.clean


def test_a_paragraph_after_a_table_is_no_row_and_leaves_it_clean(tmp_path):
    (relation,) = split_table(tmp_path / "none.pdf", [])
    assert cells(relation) == [[*row] for row in ROWS]
    assert relation.clean


def test_the_rest_of_a_row_that_the_page_cuts_makes_the_table_doubtful(tmp_path):
    rest = ("", "", "£7", "and ashore")
    (relation,) = split_table(tmp_path / "cut.pdf", [rest])
    assert not relation.clean
