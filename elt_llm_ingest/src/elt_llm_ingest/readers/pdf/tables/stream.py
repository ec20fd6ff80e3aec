"""Tables without ruling lines: columns by free strips, rows by likely breaks."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from elt_llm_ingest.readers.pdf.geometry import Row, Spans, Table, is_one_number
from elt_llm_ingest.readers.pdf.tables.aligned import LinePiece, TextRow
from elt_llm_ingest.readers.pdf.tables.column_gutters import (
    Columns,
    Range,
    columns_of,
    spread_over_columns,
)
from elt_llm_ingest.readers.pdf.tables.drawn_lines import Rule
from elt_llm_ingest.readers.pdf.tables.number_tables import FoundTable
from elt_llm_ingest.readers.pdf.tables.row_breaks import (
    Cut,
    cut,
    least_gap,
    line_gap,
    log_odds,
)
from elt_llm_ingest.readers.pdf.words import join_words

LEAST_ROWS = 3  # fewer lines with two columns are a coincidence
SEVERAL = 0.6  # least share of the rows that fill two columns
FILLED = 0.5  # least share of filled places in a table
FAR = 2.5  # a gap of this many letter heights ends a table
MORE = 3  # most lines between the first line of a title and the table
LONG = 6  # least words of a line in a column of running text
TEXT = 0.25  # largest share of such lines in a table
TITLE = re.compile(r"^(?i:table|exhibit)\s+[0-9A-Z][0-9A-Z.\-]*\b")


def find_table_around(
    rows: Sequence[TextRow], first: int, last: int, rules: Sequence[Rule]
) -> FoundTable | None:
    """Return the table of the rows from `first` to `last` and matching ones around.

    None if they have no columns. `rules` are the horizontal lines of the page.
    """
    first, last = _trim_rows(rows, first, last)
    if last - first + 1 < LEAST_ROWS:
        return None
    columns = columns_of([row.pieces for row in rows[first : last + 1]])
    first, last = _grown(rows, first, last, columns)
    body = rows[first : last + 1]
    columns = columns_of([row.pieces for row in body])
    if len(columns.extents) <= 1 or _is_text(body):
        return None
    cuts = [cut(row.line, columns.edges) for row in body]
    table = _table(_join_name_rows(list(_rows(cuts, columns, rules))), columns)
    if not _is_table(table):
        return None
    return FoundTable(table, [row.line for row in body], [*columns.extents])


def find_table_below(
    rows: Sequence[TextRow], title: int, rules: Sequence[Rule]
) -> FoundTable | None:
    """Return the table directly below a title of possibly several lines."""
    first = title
    while first + 1 < len(rows) and first <= title + MORE:
        first += 1
        if len(rows[first].pieces) > 1 or _gap(rows, first) > FAR:
            break
    if first == title or _gap(rows, first) > FAR or is_title(rows[first]):
        return None
    last = first
    while last + 1 < len(rows) and _gap(rows, last + 1) <= FAR:
        if _is_prose(rows[last + 1]) or is_title(rows[last + 1]):
            break
        last += 1
    return find_table_around(rows, first, last, rules)


def _gap(rows: Sequence[TextRow], index: int) -> float:
    """Return the distance of a row to the one above it, in letter heights."""
    return line_gap(rows[index - 1].line, rows[index].line)


def _trim_rows(rows: Sequence[TextRow], first: int, last: int) -> tuple[int, int]:
    """Return the rows without lines of one piece and titles at both ends."""
    while first <= last and (len(rows[first].pieces) <= 1 or is_title(rows[first])):
        first += 1
    while first <= last and len(rows[last].pieces) <= 1:
        last -= 1
    return first, last


def is_title(row: TextRow) -> bool:
    """Return whether a line begins like the title of a table."""
    return TITLE.match(row.line.text) is not None


def _is_prose(row: TextRow) -> bool:
    return any(len(piece.words) >= LONG for piece in row.pieces)


def _is_text(rows: Sequence[TextRow]) -> bool:
    """Return whether the columns are running text, which has long lines."""
    return share_of_long_lines(rows) > TEXT


def share_of_long_lines(rows: Sequence[TextRow]) -> float:
    """Return the share of the pieces as long as lines of running text."""
    counts = [len(piece.words) for row in rows for piece in row.pieces]
    return sum(count >= LONG for count in counts) / max(len(counts), 1)


def _grown(
    rows: Sequence[TextRow], first: int, last: int, columns: Columns
) -> tuple[int, int]:
    """Return the rows with adjacent ones in the same columns."""
    while first > 0 and _fits(rows[first - 1], columns):
        if line_gap(rows[first - 1].line, rows[first].line) > FAR:
            break
        first -= 1
    end = last
    while end + 1 < len(rows) and line_gap(rows[end].line, rows[end + 1].line) <= FAR:
        end += 1
        row = rows[end]
        if not _fits(row, columns):
            rest = len(row.pieces) == 1 and _is_within(row.pieces[0], columns)
            if not rest or _is_mark(row):
                break
            continue  # the rest of a cell, if the table goes on
        last = end
    return first, last


def _is_mark(row: TextRow) -> bool:
    """Return whether a line has no content: a rule made of characters."""
    return not any(char.isalnum() for char in row.line.text)


def _fits(row: TextRow, columns: Columns) -> bool:
    """Return whether a line has pieces in several columns, each within one."""
    if len(row.pieces) <= 1 or is_title(row) or _is_prose(row):
        return False
    return all(_is_within(piece, columns) for piece in row.pieces)


def _is_within(piece: LinePiece, columns: Columns) -> bool:
    edges = [float("-inf"), *columns.edges, float("inf")]
    left, right = columns.extents[0][0] - 6, columns.extents[-1][1] + 6
    return left <= piece.left and piece.right <= right and any(
        a <= piece.left and piece.right <= b for a, b in pairwise(edges)
    )  # fmt: skip


def _rows(
    cuts: Sequence[Cut], columns: Columns, rules: Sequence[Rule]
) -> Iterator[list[Cut]]:
    """Return the lines of each row: it ends at a drawn line, or at a likely break."""
    least = least_gap([line.line for line in cuts])
    row = [cuts[0]]
    for below in cuts[1:]:
        ruled = _is_ruled(row[-1], below, rules)
        if ruled or log_odds(row, below, columns, least) > 0:
            yield row
            row = []
        row.append(below)
    yield row


def _join_name_rows(rows: list[list[Cut]]) -> list[list[Cut]]:
    """Return the rows, with the first two joined if they are names in two lines.

    Names are on the last line, so the first has no label and fills fewer columns.
    """
    if len(rows) <= LEAST_ROWS:
        return rows
    above, below = (
        frozenset().union(*(c.filled_columns for c in row)) for row in rows[:2]
    )
    first = [words for line in rows[0] for words in line.single.values()]
    texts = [w for line in (*rows[0], *rows[1]) for w in line.single.values()]
    whole = len(first) == sum(len(line.places) for line in rows[0])
    plain = whole and not any(is_one_number(join_words(words)) for words in texts)
    if plain and above < below and 0 not in above:
        return [[*rows[0], *rows[1]], *rows[2:]]
    return rows


def _is_ruled(above: Cut, below: Cut, rules: Sequence[Rule]) -> bool:
    """Return whether a line is drawn over most of the width between two lines."""
    left = min(above.line.left, below.line.left)
    right = max(above.line.right, below.line.right)
    top, bottom = above.line.bottom - 2, below.line.top + 2
    return any(
        top <= rule.at <= bottom
        and min(rule.end, right) - max(rule.start, left) > 0.8 * (right - left)
        for rule in rules
    )


def _table(cut_rows: Sequence[Sequence[Cut]], columns: Columns) -> Table:
    rows: list[Row] = []
    spans: Spans = {}
    for number, lines in enumerate(cut_rows):
        row: Row = [[] for _ in columns.extents]
        places = [
            place
            for line in lines
            for place in spread_over_columns(line.places, columns)
        ]
        reach = _reaches([span for span, _ in places])
        for (first, _), words in places:
            row[max(home for home in reach if home <= first)].extend(words)
        rows.append(row)
        for first, last in sorted(reach.items()):
            if last > first:
                spans[number, first] = (1, last - first + 1)
    return Table(rows=rows, spans=spans, settled=True)


def _reaches(spans: Sequence[Range]) -> dict[int, int]:
    """Return the first and last column of each cell of a row, merging overlaps."""
    reach: dict[int, int] = {}
    home = end = -1
    for first, last in sorted(spans):
        if first > end:
            home = first
        end = max(end, last)
        reach[home] = end
    return reach


def _is_table(table: Table) -> bool:
    """Return whether enough rows have text in several columns."""
    several = sum(sum(map(bool, row)) > 1 for row in table.rows)
    filled = sum(bool(cell) for row in table.rows for cell in row)
    places = len(table.rows) * len(table.rows[0]) - len(table.covered_places())
    enough = several >= max(LEAST_ROWS, SEVERAL * len(table.rows))
    return enough and filled >= FILLED * places
