"""Rows at the top of a page that continue the table at the end of the page before.

A row alone, without a repeated header, is no table by itself: its cells are recognised
by the columns of the table above the page break.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from elt_llm_core.document import BlockKind
from elt_llm_core.tables.relations import ROWS_DOUBTFUL
from elt_llm_ingest.readers.pdf.blocks import MARKER, NUMBER, Draft
from elt_llm_ingest.readers.pdf.geometry import Row, Table
from elt_llm_ingest.readers.pdf.page_draft import PageDraft
from elt_llm_ingest.readers.pdf.tables.aligned import LinePiece, pieces_of
from elt_llm_ingest.readers.pdf.tables.grid import SAME, Grid
from elt_llm_ingest.readers.pdf.tables.lattice import (
    rows_at_edges,
    select_words_inside,
)
from elt_llm_ingest.readers.pdf.tables.merge import is_continued_table
from elt_llm_ingest.readers.pdf.words import Line, Word, lines_of

LOW = 0.5  # of the page height: a table that ends above it is not cut by the page
FEW = 6  # rows; where LiteParse sees no table, more are columns of prose
WRAPPED = 1.35  # letter heights from a line of a cell to the next
FAR = 3.2  # letter heights; a wider gap ends the table
EDGE = 1.5  # points by which aligned words differ
SAME_SIZE = 1.0  # points
PROSE_WORDS = 14  # a line with this many words is a sentence


def continue_over_page(last: Draft | None, page: PageDraft) -> None:
    """Make leading lines of a page rows of the table at the end of the page before.

    Their cells must be in its columns: at its drawn edges, or aligned with its words.
    If that is uncertain, the table is marked, and is not queried.

    Args:
        last: The last block of the page before.
        page: The page; its blocks are changed.
    """
    if last is None or last.table is None or not page.blocks or not page.body_lines:
        return
    first = page.blocks[0]
    if first.kind in (BlockKind.CAPTION, BlockKind.FIGURE) or _is_other(last, first):
        return
    rows = _drawn_rows(last.table, page) or _aligned_rows(last, page)
    words = {id(word) for row in rows for cell in row for word in cell}
    if first.table and not words.issuperset(map(id, first.table.words())):
        rows = []
    if rows:
        _move_rows(last, rows, page)
    elif _may_be_rows(last, first, page):
        last.attributes |= ROWS_DOUBTFUL


def _is_other(last: Draft, first: Draft) -> bool:
    """Return whether a page begins with a table that is judged by itself."""
    if first.table is None or last.table is None:
        return False
    named = first.table.title or first.table.header
    return bool(named) or is_continued_table(last.table, first.table)


def _move_rows(last: Draft, rows: list[Row], page: PageDraft) -> None:
    assert last.table is not None  # noqa: S101  # the caller looked
    taken = {id(word) for row in rows for cell in row for word in cell}
    blocks = [kept for block in page.blocks if (kept := _without(block, taken))]
    table = Table(
        rows=rows, settled=True, drawn=last.table.drawn, edges=last.table.edges,
        continues=True,
    )  # fmt: skip
    draft = Draft(BlockKind.TABLE_ROW, table=table)
    if not rows[0][0]:  # the rest of a row that the page break cuts
        draft.attributes |= ROWS_DOUBTFUL
    page.blocks = [draft, *blocks]


def _without(draft: Draft, taken: set[int]) -> Draft | None:
    """Return a draft without the words of rows, or None if nothing is left."""
    if draft.table is not None:
        own = set(map(id, draft.table.words()))
        return None if own and own <= taken else draft
    lines = [[w for w in line.words if id(w) not in taken] for line in draft.lines]
    if sum(map(len, lines)) < sum(len(line.words) for line in draft.lines):
        draft.lines = [Line(words) for words in lines if words]
        return draft if draft.lines else None
    return draft


def _drawn_rows(table: Table, page: PageDraft) -> list[Row]:
    """Return the rows of the grid at the top whose column lines are the table's."""
    grid = _grid_at_top(page)
    if grid is None or not table.edges:
        return []
    if not _are_same(table.edges, grid.xs):
        return []
    return rows_at_edges(grid, select_words_inside(grid, page.body), table.edges)


def _are_same(first: Sequence[float], second: Sequence[float]) -> bool:
    """Return whether each line has one of the others at its place."""
    return all(
        any(abs(x - other) <= SAME for other in others)
        for own, others in ((first, second), (second, first))
        for x in own
    )


def _grid_at_top(page: PageDraft) -> Grid | None:
    first = page.body_lines[0]
    middle = (first.top + first.bottom) / 2
    for grid in page.grids:
        left, top, right, bottom = grid.box
        if top <= middle <= bottom and left < first.right and first.left < right:
            return grid
    return None


@dataclass(frozen=True)
class _Column:
    """The words of a column: where they begin, end and have their middle."""

    left: float
    right: float
    cells: tuple[tuple[float, float], ...]

    def aligns(self, piece: LinePiece) -> bool:
        """Return whether half of the cells share an edge or the middle with it."""
        wanted = piece.left, piece.right, piece.middle
        places = [(left, right, (left + right) / 2) for left, right in self.cells]
        counts = [
            sum(abs(place[i] - wanted[i]) <= EDGE for place in places)
            for i in range(len(wanted))
        ]
        return 2 * max(counts) >= len(places) > 0


def _columns_of(table: Table) -> list[_Column]:
    """Return the columns of a table; empty if its words do not separate them."""
    rows = range(table.header, len(table.rows))
    columns: list[_Column] = []
    for c in range(len(table.rows[0])):
        cells = [table.rows[r][c] for r in rows if (r, c) not in table.spans]
        lines = [lines_of(cell)[0] for cell in cells if cell]
        held = [word for cell in cells for word in cell]
        if not held:
            return []
        columns.append(
            _Column(
                min(word.left for word in held),
                max(word.right for word in held),
                tuple((line.left, line.right) for line in lines),
            )
        )
    apart = all(one.right < two.left for one, two in pairwise(columns))
    return columns if apart and len(columns) > 1 else []


def _aligned_rows(last: Draft, page: PageDraft) -> list[Row]:
    """Return the leading lines whose words are aligned with the table's columns."""
    table = last.table
    if table is None or not (columns := _columns_of(table)) or not _is_low(last, page):
        return []
    sizes = {line.size for cell in table.rows[-1] for line in lines_of(cell)}
    rows: list[Row] = []
    above: Line | None = None
    for line in page.body_lines:
        gap = line.top - above.top if above is not None else 0.0
        alike = any(abs(line.size - size) <= SAME_SIZE for size in sizes)
        cells = _cells_of(line, columns) if alike else []
        filled = sum(map(bool, cells))
        if not filled or gap > FAR * line.size:
            break
        if rows and gap <= WRAPPED * line.size and filled < sum(map(bool, rows[-1])):
            for cell, words in zip(rows[-1], cells, strict=True):
                cell.extend(words)
        elif filled > 1 and 2 * filled >= len(columns) and cells[0]:
            rows.append(cells)
        else:
            break
        above = line
    return rows if len(rows) <= FEW else []


def _cells_of(line: Line, columns: Sequence[_Column]) -> list[list[Word]]:
    """Return the words of a line by column; empty if a piece is in none of them."""
    edges = [(one.right + two.left) / 2 for one, two in pairwise(columns)]
    cells: list[list[Word]] = [[] for _ in columns]
    for piece in pieces_of(line):
        at = bisect_right(edges, piece.left + EDGE)
        if bisect_right(edges, piece.right - EDGE) != at:
            return []
        if not columns[at].aligns(piece):
            return []
        cells[at].extend(piece.words)
    return cells


def _is_low(last: Draft, page: PageDraft) -> bool:
    """Return whether a table reaches into the lower half of its page."""
    assert last.table is not None  # noqa: S101  # the caller looked
    return max(word.bottom for word in last.table.words()) > LOW * page.height


def _may_be_rows(last: Draft, first: Draft, page: PageDraft) -> bool:
    """Return whether a page may begin with rows of the table before it."""
    if last.table is None or not _is_low(last, page):
        return False
    if first.table is not None or _grid_at_top(page) is not None:
        return True
    line = page.body_lines[0]
    if NUMBER.match(line.text) or MARKER.match(line.text):
        return False
    pieces = pieces_of(line)
    return len(pieces) > 1 and len(line.words) < PROSE_WORDS and all(
        _is_over(last.table, pieces)
    )  # fmt: skip


def _is_over(table: Table, pieces: Sequence[LinePiece]) -> Iterator[bool]:
    """Return for each piece whether it is below or above a table."""
    left = min(word.left for word in table.words())
    right = max(word.right for word in table.words())
    for piece in pieces:
        yield piece.left < right and left < piece.right
