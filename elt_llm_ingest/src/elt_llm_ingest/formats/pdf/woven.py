"""Tables of text without lines: columns by free strips, rows by likely breaks."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from elt_llm_ingest.formats.pdf.aligned import TextRow
from elt_llm_ingest.formats.pdf.borderless import Found
from elt_llm_ingest.formats.pdf.breaks import Cut, cut, gap, least_gap, log_odds
from elt_llm_ingest.formats.pdf.gutters import Columns, columns_of, evenly
from elt_llm_ingest.formats.pdf.rules import Rule
from elt_llm_ingest.formats.pdf.segments import Piece
from elt_llm_ingest.formats.pdf.table import Row, Spans, Table

LEAST_ROWS = 3  # fewer lines with two columns are chance
FILLED = 0.5  # share of the places of a table that say something
FAR = 2.5  # letter heights without a line end a table
LONG = 14  # so many words in a column of one line are running text
TITLE = re.compile(r"^(?i:table|exhibit)\s+[0-9A-Z][0-9A-Z.\-]*\b")


def woven_table(
    rows: Sequence[TextRow], first: int, last: int, rules: Sequence[Rule]
) -> Found | None:
    """The table of the rows from `first` to `last`, and of those around that fit.

    None where they have no columns. `rules` are the lines across the page.
    """
    first, last = _trimmed(rows, first, last)
    if last - first + 1 < LEAST_ROWS:
        return None
    columns = columns_of([row.pieces for row in rows[first : last + 1]])
    first, last = _grown(rows, first, last, columns)
    body = rows[first : last + 1]
    columns = columns_of([row.pieces for row in body])
    if len(columns.extents) <= 1 or any(_is_prose(row) for row in body):
        return None
    cuts = [cut(row.line, columns.edges) for row in body]
    table = _table(list(_rows(cuts, columns, rules)), columns)
    if not _is_table(table):
        return None
    return Found(table, [row.line for row in body], [*columns.extents])


def _trimmed(rows: Sequence[TextRow], first: int, last: int) -> tuple[int, int]:
    """The rows without lines of one piece and titles at both ends."""
    while first <= last and (len(rows[first].pieces) <= 1 or _is_title(rows[first])):
        first += 1
    while first <= last and len(rows[last].pieces) <= 1:
        last -= 1
    return first, last


def _is_title(row: TextRow) -> bool:
    return TITLE.match(row.line.text) is not None


def _is_prose(row: TextRow) -> bool:
    return any(len(piece.words) >= LONG for piece in row.pieces)


def _grown(
    rows: Sequence[TextRow], first: int, last: int, columns: Columns
) -> tuple[int, int]:
    """The rows with those above and below that stand in the same columns."""
    while first > 0 and _fits(rows[first - 1], columns):
        if gap(rows[first - 1].line, rows[first].line) > FAR:
            break
        first -= 1
    end = last
    while end + 1 < len(rows) and gap(rows[end].line, rows[end + 1].line) <= FAR:
        end += 1
        row = rows[end]
        if not _fits(row, columns):
            if len(row.pieces) > 1 or not _is_within(row.pieces[0], columns):
                break
            continue  # the rest of a cell, if the table goes on
        last = end
    return first, last


def _fits(row: TextRow, columns: Columns) -> bool:
    """Whether a line has pieces in several columns, each within one."""
    if len(row.pieces) <= 1 or _is_title(row) or _is_prose(row):
        return False
    return all(_is_within(piece, columns) for piece in row.pieces)


def _is_within(piece: Piece, columns: Columns) -> bool:
    edges = [float("-inf"), *columns.edges, float("inf")]
    left, right = columns.extents[0][0] - 6, columns.extents[-1][1] + 6
    return left <= piece.left and piece.right <= right and any(
        a <= piece.left and piece.right <= b for a, b in pairwise(edges)
    )  # fmt: skip


def _rows(
    cuts: Sequence[Cut], columns: Columns, rules: Sequence[Rule]
) -> Iterator[list[Cut]]:
    """The lines of each row: it ends at a drawn line, else where that is likely."""
    least = least_gap([line.line for line in cuts])
    row = [cuts[0]]
    for below in cuts[1:]:
        ruled = _is_ruled(row[-1], below, rules)
        if ruled or log_odds(row, below, columns, least) > 0:
            yield row
            row = []
        row.append(below)
    yield row


def _is_ruled(above: Cut, below: Cut, rules: Sequence[Rule]) -> bool:
    """Whether a line is drawn between two lines of text over most of their width."""
    left = min(above.line.left, below.line.left)
    right = max(above.line.right, below.line.right)
    top, bottom = above.line.bottom - 2, below.line.top + 2
    return any(
        top <= rule.at <= bottom
        and min(rule.end, right) - max(rule.start, left) > 0.8 * (right - left)
        for rule in rules
    )


def _table(found: Sequence[Sequence[Cut]], columns: Columns) -> Table:
    rows: list[Row] = []
    spans: Spans = {}
    for number, lines in enumerate(found):
        row: Row = [[] for _ in columns.extents]
        reach: dict[int, int] = {}
        for line in lines:
            for (first, last), words in evenly(line.places, columns):
                home = next((c for c, end in reach.items() if c <= first <= end), first)
                reach[home] = max(reach.get(home, home), last)
                row[home].extend(words)
        rows.append(row)
        for first, last in reach.items():
            if last > first:
                spans[number, first] = (1, last - first + 1)
    return Table(rows=rows, spans=spans, settled=True)


def _is_table(table: Table) -> bool:
    """Whether enough rows say something in several columns."""
    several = sum(sum(map(bool, row)) > 1 for row in table.rows)
    filled = sum(bool(cell) for row in table.rows for cell in row)
    places = len(table.rows) * len(table.rows[0]) - len(table.covered())
    return several >= LEAST_ROWS and filled >= FILLED * places
