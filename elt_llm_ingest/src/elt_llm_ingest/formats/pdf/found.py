"""The tables of a page that are ours and not LiteParse's: drawn and aligned ones."""

from collections.abc import Sequence

from elt_llm_ingest.formats.pdf.aligned import TextRow
from elt_llm_ingest.formats.pdf.borderless import Found, aligned_tables
from elt_llm_ingest.formats.pdf.drawn import drawn_table, inside
from elt_llm_ingest.formats.pdf.lattice import Grid
from elt_llm_ingest.formats.pdf.refined import table_cost
from elt_llm_ingest.formats.pdf.region import SLACK, Region, overlaps
from elt_llm_ingest.formats.pdf.rules import Rules
from elt_llm_ingest.formats.pdf.words import Line, Word
from elt_llm_ingest.formats.pdf.woven import (
    is_title,
    long_lines,
    table_below,
    woven_table,
)

OUTSIDE = 2.0  # nats for a word of the table that is left out
ABOVE = 40  # points over LiteParse's table in which its header may stand
BELOW = 5
BESIDE = 0.1  # share of long lines: text beside a table of numbers


def drawn(grid: Grid, words: Sequence[Word]) -> Region | None:
    """The table of a grid; None for a grid that is none."""
    found = inside(grid, words)
    table = drawn_table(grid, found) if found else None
    if table is None:
        return None
    return Region(kind="table", box=grid.box, words=found, table=table)


def kept(
    drawn_ones: Sequence[Region], lines: Sequence[Line], rules: Rules
) -> list[Region]:
    """The drawn tables without those that alignment alone explains for less.

    Only tables are asked that have not all of their lines.
    """
    if not any(region.table and region.table.mended for region in drawn_ones):
        return [*drawn_ones]
    whole = [r for r in drawn_ones if r.table and not r.table.mended]
    rows = [TextRow(line) for line in free_lines(lines, whole)]
    others = [_region(table) for table in aligned_tables(rows, rules.across)]
    return [
        region
        for region in drawn_ones
        if region in whole or not _are_better(others, region)
    ]


def _are_better(others: Sequence[Region], drawn_one: Region) -> bool:
    """Whether tables explain their words and those of a drawn one for less than it."""
    inside = set(map(id, drawn_one.words))
    near = [r for r in others if not inside.isdisjoint(map(id, r.words))]
    top = drawn_one.box[1]  # a title above is no part of the table
    theirs = {id(w) for region in near for w in region.words if w.middle[1] > top}
    costs = [table_cost(region.table) for region in near if region.table]
    if not near or drawn_one.table is None:
        return False
    cost = table_cost(drawn_one.table) + OUTSIDE * len(theirs - inside)
    return sum(costs) + OUTSIDE * len(inside - theirs) < cost


def aligned(
    lines: Sequence[Line],
    regions: Sequence[Region],
    rules: Rules,
) -> list[Region]:
    """Tables of aligned numbers among lines that no drawn table holds.

    Where LiteParse sees a table, fewer rows are enough.
    """
    rows = [TextRow(line) for line in lines]
    found = [_region(table) for table in aligned_tables(rows, rules.across)]
    for region in regions:
        if region.kind == "table" and not any(overlaps(region, f) for f in found):
            taken = {id(word) for f in found for word in f.words}
            free = [row for row in rows if id(row.line.words[0]) not in taken]
            found += _seen(free, region, rules)
    return found + _titled(rows, found, rules)


def _titled(
    rows: Sequence[TextRow], found: Sequence[Region], rules: Rules
) -> list[Region]:
    """The tables of text below a title "Table 1" that nothing else has seen."""
    tables: list[Region] = []
    for row in rows:
        if not is_title(row) or len(row.pieces) > 1:
            continue
        taken = {id(w) for table in (*found, *tables) for w in table.words}
        free = [r for r in rows if taken.isdisjoint(map(id, r.line.words))]
        woven = row in free and table_below(free, free.index(row), rules.across)
        if woven and long_lines(list(map(TextRow, woven.lines))) <= BESIDE:
            tables.append(_region(woven))
    return tables


def _seen(rows: Sequence[TextRow], region: Region, rules: Rules) -> list[Region]:
    """What is in a table that LiteParse sees: numbers in columns, or cells of text."""
    _, top, _, bottom = region.box
    near = [
        row
        for row in rows
        if top - ABOVE <= row.line.top and row.line.bottom <= bottom + BELOW
    ]
    aligned_ones = map(_region, aligned_tables(near, rules.across, surely=True))
    tables = [table for table in aligned_ones if overlaps(region, table)]
    inside = [i for i, row in enumerate(rows) if _is_inside(row, region)]
    woven = inside and woven_table(rows, inside[0], inside[-1], rules.across)
    beside = woven and long_lines(list(map(TextRow, woven.lines))) > BESIDE
    if woven and not (tables and (beside or _are_better(tables, _region(woven)))):
        return [_region(woven)]
    return tables


def _is_inside(row: TextRow, region: Region) -> bool:
    line, (left, top, right, bottom) = row.line, region.box
    return (
        top <= (line.top + line.bottom) / 2 <= bottom
        and left - SLACK <= line.left
        and line.right <= right + SLACK
    )


def free_lines(lines: Sequence[Line], tables: Sequence[Region]) -> list[Line]:
    """The lines without the words of tables and furniture, and without turned text."""
    taken = {id(word) for region in tables for word in region.words}
    return [free for line in lines if (free := _free(line, taken))]


def _free(line: Line, taken: set[int]) -> Line | None:
    if line.words[0].rotated:
        return None
    if True not in [w.furniture for w in line.words] and (
        not taken or taken.isdisjoint(map(id, line.words))
    ):
        return line
    words = [w for w in line.words if id(w) not in taken and not w.furniture]
    return Line(words) if words else None


def _region(found: Found) -> Region:
    words = [word for line in found.lines for word in line.words]
    return Region(kind="table", box=found.box, words=words, table=found.table)
