"""Tables as LiteParse sees them: text below the last row is no part of it."""

from collections import Counter
from types import SimpleNamespace

import pytest

from elt_llm_ingest.readers.pdf.geometry import Region
from elt_llm_ingest.readers.pdf.regions import regions_of
from elt_llm_ingest.readers.pdf.words import Word
from pdf_pages import canvas_of, parsed, prose, rows_of

LEFT, EDGE, RIGHT = 72.0, 300.0, 520.0
FIGURES = [("Berths let", "41"), ("Berths free", "14"), ("Berths closed", "7")]
ROWS = [("Berths let", "most (a)"), ("Berths free", "a few"), ("Closed", "none")]
TEXT = [
    "The berths of the harbour were counted in both years by officers who are there",
    "every day, and what they counted was written in the book that the harbour master",
    "keeps for the council of the town.",
]


def block(top: float, bottom: float, *texts: str) -> list[SimpleNamespace]:
    """The cells of one row with their boxes."""
    edges = (LEFT, EDGE, RIGHT)
    return [
        SimpleNamespace(
            text=text,
            bbox=SimpleNamespace(
                x=edges[at], y=top, width=edges[at + 1] - edges[at], height=bottom - top
            ),
        )
        for at, text in enumerate(texts)
    ]


def words(line: str, left: float, top: float, run: int) -> list[Word]:
    """A line of words, five points a letter and three between two."""
    made = []
    for text in line.split():
        right = left + 5 * len(text)
        made.append(Word(text, left, top, right, top + 10, 1, run))
        left = right + 3
    return made


def regions(
    table: list[tuple[str, str]], below: list[str], *last: tuple[str, str]
) -> list[Region]:
    """What becomes of a table whose last row LiteParse draws over the text below.

    `last` is one more row of two cells below that text.
    """
    rows = [block(98 + 14 * at, 112 + 14 * at, *row) for at, row in enumerate(table)]
    rows.append(block(140, 200, " ".join(below), ""))
    placed = [(100 + 14 * at, row) for at, row in enumerate(table)]
    placed += [(142 + 14 * at, (line, "")) for at, line in enumerate(below)]
    for row in last:
        rows.append(block(200, 214, *row))
        placed.append((202, row))
    said = [
        word
        for run, (top, (label, value)) in enumerate(placed)
        for word in [*words(label, LEFT, top, run), *words(value, EDGE + 40, top, run)]
    ]
    seed = SimpleNamespace(marker="", text="", lines=[], header=[], rows=rows)
    return regions_of([Region("table", (LEFT, 98.0, RIGHT, 214.0), block=seed)], said)


@pytest.mark.parametrize("rows", [ROWS, FIGURES])
def test_text_that_runs_over_the_columns_below_a_table_is_no_row_of_it(rows):
    table, text = regions(rows, TEXT)
    assert table.table is not None
    found = [[" ".join(w.text for w in c) for c in row] for row in table.table.rows]
    assert found == [[*row] for row in rows]
    assert [line.text for line in text.lines] == TEXT


def test_a_line_over_both_columns_with_a_row_below_it_stays_in_the_table():
    (table,) = regions(ROWS, TEXT[:1], ("Berths sold", "none"))
    assert table.table is not None
    assert len(table.table.rows) == len(ROWS) + 2


def test_no_word_of_a_row_is_lost_below_a_line_over_several_columns(tmp_path):
    canvas = canvas_of(tmp_path / "wide.pdf")
    prose(canvas, 780, ["Table 1 Berths of the harbour"])
    lines = [
        ("Berth", "Let to", "Since", "Fee"),
        ("North", "fishing boats", "early May", "small"),
        ("South", "ketches", "late June", "large"),
        ("East", "tugs", "all year", "none"),
        ("", "and barges that come and stay there", "", ""),
        ("West", "yawls", "winter", "small"),
        ("Isle", "sloops", "summer", "large"),
    ]
    for at, line in enumerate(lines):
        for x, text in zip((72, 150, 240, 330), line, strict=True):
            canvas.drawString(x, 760 - 12 * at, text)
    canvas.save()
    document = parsed(tmp_path / "wide.pdf")
    assert len(rows_of(document)) == len(lines) - 1
    assert Counter(document.text.split()) == Counter(
        " ".join(["Table 1 Berths of the harbour", *map(" ".join, lines)]).split()
    )


def test_text_on_both_sides_of_a_table_in_a_larger_one_stays_on_its_side():
    said = [*words("Berths of the town", LEFT, 80, 0)]
    for at, (label, value) in enumerate(FIGURES):
        said += words(label, LEFT, 100 + 14 * at, 1 + at)
        said += words(value, EDGE + 40, 100 + 14 * at, 1 + at)
        said += words(value, EDGE + 90, 100 + 14 * at, 1 + at)
    for at, line in enumerate(TEXT):
        said += words(line, LEFT, 170 + 14 * at, 10 + at)
    rows = [block(70, 120, "Berths of the town", ""), block(120, 210, *FIGURES[0])]
    seed = SimpleNamespace(marker="", text="", lines=[], header=[], rows=rows)
    found = regions_of([Region("table", (LEFT, 70.0, RIGHT, 212.0), block=seed)], said)
    assert [region.kind for region in found] == ["paragraph", "table", "paragraph"]
    assert [line.text for line in found[2].lines] == TEXT


def test_a_heading_in_the_block_of_a_table_stays_above_the_table():
    line = [*words("Berths of the town", LEFT, 80, 0)]
    for at, (label, value) in enumerate(FIGURES):
        line += words(label, LEFT, 100 + 14 * at, 1 + at)
        line += words(value, EDGE + 40, 100 + 14 * at, 1 + at)
        line += words(value, EDGE + 90, 100 + 14 * at, 1 + at)
    seed = SimpleNamespace(marker="", text="", lines=[], header=[], rows=[])
    heading = Region("heading", (LEFT, 78.0, RIGHT, 145.0), block=seed)
    regions = regions_of([heading], line)
    assert [region.kind for region in regions] == ["heading", "table"]
    assert [one.text for one in regions[0].lines] == ["Berths of the town"]
