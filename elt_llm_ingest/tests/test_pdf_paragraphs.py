"""A line below a finished sentence that is farther off begins a paragraph."""

from pathlib import Path

import pytest

from elt_llm_core.document import BlockKind
from pdf_pages import canvas_of, parsed

FIRST = [
    "The keeper of the light reports to the harbour board, which meets",
    "every spring and sets the hours of the lamp for the coming season.",
]
SECOND = ["Visitors may climb the tower in daylight if the flag is up."]
TABLE = [
    ["Lamp", "Range", "Hours"],
    *([f"L{i}", f"{i} miles", "all night"] for i in range(30)),
]


def paragraphs(path: Path, lines: list[tuple[float, str]], *, rows: bool) -> list[str]:
    """Write lines at their distances to those above, below a table if asked for."""
    canvas = canvas_of(path)
    if rows:
        for number, cells in enumerate(TABLE):
            for column, cell in enumerate(cells):
                canvas.drawString(72 + 120 * column, 790 - 23 * number, cell)
        canvas.showPage()
    canvas.setFont("Helvetica", 10)
    y = 780.0
    for gap, text in lines:
        y -= gap
        canvas.drawString(72, y, text)
    canvas.save()
    document = parsed(path)
    return [
        " ".join(document.text[b.start : b.end].split())
        for b in document.blocks
        if b.kind in (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)
        and b.page == (2 if rows else 1)
    ]


def spaced(line: float, between: float, *texts: list[str]) -> list[tuple[float, str]]:
    return [
        (line if number else between, text)
        for group in texts
        for number, text in enumerate(group)
    ]


@pytest.mark.parametrize("rows", [False, True])
def test_half_a_line_between_paragraphs_parts_them(tmp_path, rows):
    lines = spaced(13, 20, FIRST, SECOND, FIRST)
    wanted = [" ".join(FIRST), *SECOND, " ".join(FIRST)]
    assert paragraphs(tmp_path / "a.pdf", lines, rows=rows) == wanted


def test_the_text_below_a_list_is_none_of_its_items(tmp_path):
    item = [
        "(a) the lamp is lit before the first boat of the fleet has left",
        "the quay.",
    ]
    lines = spaced(13, 20, FIRST, item, SECOND)
    wanted = [" ".join(FIRST), " ".join(item), *SECOND]
    assert paragraphs(tmp_path / "a.pdf", lines, rows=False) == wanted


@pytest.mark.parametrize(
    "lines",
    [
        # A text that is set more widely throughout, and a sentence that goes on.
        [*spaced(13, 13, FIRST, FIRST), *spaced(21, 30, [*FIRST, *SECOND])],
        [*spaced(13, 13, FIRST, FIRST[:1]), (18, "with the keeper.")],
        spaced(13, 14.5, FIRST, SECOND, FIRST),
    ],
)
def test_lines_that_are_set_alike_stay_together(tmp_path, lines):
    groups = paragraphs(tmp_path / "a.pdf", lines, rows=False)
    assert len(groups) == 1 + any(gap == 30 for gap, _ in lines)
