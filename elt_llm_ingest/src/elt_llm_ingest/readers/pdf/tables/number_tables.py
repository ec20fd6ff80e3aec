"""Builds tables from runs of aligned numbers: columns, wrapped labels, headers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from elt_llm_ingest.readers.pdf.geometry import Rectangle, Row, Spans, Table, box_of
from elt_llm_ingest.readers.pdf.tables.aligned import (
    Interval,
    LinePiece,
    Run,
    TextRow,
    header_pieces,
    merge_intervals,
    runs_of,
)
from elt_llm_ingest.readers.pdf.tables.column_gutters import extents_of, parts_of
from elt_llm_ingest.readers.pdf.tables.drawn_lines import Rule
from elt_llm_ingest.readers.pdf.words import Line

CLOSE = 1.6  # most line heights between the lines of a header
MOST = 6  # lines of a header
LEFT = 12.0  # points; a header may extend this far over its columns
SENTENCE = 5  # least words before a full stop that end a sentence
LONG = 10  # words; a header is shorter
UNDER = 4.5  # points from a header to the line below it


def header_lines(rows: Sequence[TextRow], run: Run, above: int) -> int:
    """Return how many lines directly above a run belong to its header.

    Lines over the columns of numbers are header; a line on the left only (for example
    the name of a group of rows) counts if a header is above it. Lines above line
    `above` do not count.
    """
    count = best = 0
    labels = _labels(rows[run.first : run.last + 1], run.columns[0][0])
    while run.first - count - 1 > above and count < MOST:
        row, below = rows[run.first - count - 1], rows[run.first - count]
        gap = below.line.top - row.line.bottom
        if gap > CLOSE * (row.line.bottom - row.line.top) or _is_sentence(row):
            break
        kind = _kind(row, run.columns, labels)
        if kind is None:
            break
        count += 1
        if _spans_all(row, run.columns) and not is_unit(row.pieces):
            return count
        if kind or row.line.text.rstrip().endswith(":"):
            best = count
    return best


def _is_sentence(row: TextRow) -> bool:
    """Return whether a line is running text, or the end of a sentence."""
    ends = len(row.pieces) == 1 and row.line.text.endswith(".")
    return row.is_prose or (ends and len(row.line.words) >= SENTENCE)


def _spans_all(row: TextRow, columns: Sequence[Interval]) -> bool:
    """Return whether one name is centred over all columns: nothing is above it."""
    middle = (columns[0][0] + columns[-1][1]) / 2
    width = columns[-1][1] - columns[0][0]
    alone = len(row.pieces) == 1 and len(columns) > 1
    return alone and abs(row.pieces[0].middle - middle) < 0.1 * width


def _labels(rows: Sequence[TextRow], first: float) -> float:
    """Return the right edge of the text on the left of the numbers."""
    ends = [p.right for row in rows for p in row.pieces if p.right < first]
    return max(ends, default=first - LEFT)


def _kind(row: TextRow, columns: Sequence[Interval], labels: float) -> bool | None:
    """Return True over numbers, False on the left only, None outside the table."""
    first, last = columns[0][0], columns[-1][1]
    over = False
    for piece in row.pieces:
        left = min(first - LEFT - 0.5 * (columns[0][1] - first), labels + LEFT)
        if piece.left >= left:
            if len(piece.words) > LONG or piece.left > last + LEFT:
                return None
            over = True
        elif piece.right > columns[0][1] + LEFT or len(piece.words) > LONG:
            return None
    return over


def is_unit(pieces: Sequence[LinePiece]) -> bool:
    """Return whether a line only names the unit: "(in millions)"."""
    text = pieces[0].text if len(pieces) == 1 else ""
    return text.startswith("(") and text.endswith(")")


def match_column_names(
    pieces: Sequence[LinePiece], named: Sequence[LinePiece]
) -> list[tuple[int, int] | None]:
    """Return for each piece the columns whose names are above or below it."""
    ranges: list[tuple[int, int] | None] = []
    for piece in pieces:
        at = [
            i
            for i, n in enumerate(named)
            if n.left < piece.right and piece.left < n.right
        ]
        ranges.append((at[0], at[-1]) if at else None)
    return ranges


def divide_columns_evenly(
    pieces: Sequence[LinePiece], columns: Sequence[Interval]
) -> list[tuple[int, int]]:
    """Return equal shares of the columns for the pieces; empty if they do not fit.

    Each piece is centred over as many columns as the others.
    """
    many, rest = divmod(len(columns), max(len(pieces), 1))
    if rest or many <= 1 or len(pieces) <= 1:
        return []
    spans = [(i * many, (i + 1) * many - 1) for i in range(len(pieces))]
    for (first, last), piece in zip(spans, pieces, strict=True):
        left = columns[first - 1][1] if first else columns[0][0] - LEFT
        if not left <= piece.middle <= columns[last][1]:
            return []
    return spans


def match_column_groups(
    pieces: Sequence[LinePiece], columns: Sequence[Interval], named: Sequence[LinePiece]
) -> list[tuple[int, int]]:
    """Return columns as `divide_columns_evenly`, for pieces over named columns.

    Either the names are repeated under each piece, or each piece is centred over its
    own columns.
    """
    spans = divide_columns_evenly(pieces, columns)
    names = [piece.text for piece in named]
    many = len(names) // max(len(spans), 1)
    alone = any(n.left - 2 <= p.middle <= n.right + 2 for n in named for p in pieces)
    if alone:
        return []  # for example the first line of a name
    if names == names[:many] * len(spans):
        return spans
    middles = [(left + right) / 2 for left, right in columns]
    for (first, last), piece in zip(spans, pieces, strict=False):
        whole = (columns[first][0] + columns[last][1]) / 2
        nearest = min(abs(piece.middle - middle) for middle in middles)
        if 2 * abs(piece.middle - whole) >= nearest:
            return []
    return spans


def find_columns_under(
    piece: LinePiece, row: TextRow, columns: Sequence[Interval], rules: Sequence[Rule]
) -> tuple[int, int]:
    """Return the first and last column under a header's piece.

    A line drawn below it decides; else its own width, or its position between two
    columns.
    """
    left, right = _extent(piece, row, rules)
    middles = [(a + b) / 2 for a, b in columns]
    inside = [i for i, middle in enumerate(middles) if left - 2 <= middle <= right + 2]
    if len(inside) > 1:
        return inside[0], inside[-1]
    middle = (left + right) / 2
    whole = (columns[0][0] + columns[-1][1]) / 2
    nearest = min(range(len(columns)), key=lambda i: (abs(middles[i] - middle), i))
    if any(a - 2 <= middle <= b + 2 for a, b in columns):
        return nearest, nearest
    between = [
        i
        for i in range(len(columns) - 1)
        if columns[i][1] < middle < columns[i + 1][0]
        and 0.3 < (middle - middles[i]) / (middles[i + 1] - middles[i]) < 0.7  # noqa: PLR2004
    ]
    if between and right - left > 0.5 * (middles[between[0] + 1] - middles[between[0]]):
        return between[0], between[0] + 1
    if abs(middle - whole) < 0.06 * (columns[-1][1] - columns[0][0]) and not inside:
        return 0, len(columns) - 1
    return nearest, nearest


def _extent(piece: LinePiece, row: TextRow, rules: Sequence[Rule]) -> Interval:
    """Return the extent of the line below a piece, if it is below no other."""
    for rule in rules:
        if not -1 <= rule.at - row.line.bottom <= UNDER:
            continue
        over = [p for p in row.pieces if p.left < rule.end and rule.start < p.right]
        if over == [piece] and rule.start <= piece.left + 3:
            return min(rule.start, piece.left), max(rule.end, piece.right)
    return piece.left, piece.right


LABELLED = 0.3  # least share of the rows with text on the left of their numbers
FILLED = 0.4  # least share of the rows with text in a second text column
SENTENCES = 5  # this many words among the numbers are text next to the table
OPEN_ENDS = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "per",
     "the", "to", "with"}
)  # fmt: skip


@dataclass(eq=False)
class FoundTable:
    """A table and its lines, first to last."""

    table: Table
    lines: list[Line]
    columns: list[Interval] = field(default_factory=list)

    @property
    def box(self) -> Rectangle:
        """Return left, top, right, bottom."""
        return box_of(self.lines)


def find_aligned(
    rows: Sequence[TextRow], rules: Sequence[Rule], *, surely: bool = False
) -> list[FoundTable]:
    """Return the tables among the rows of a page or a part of it, from the top.

    `surely`: another detector found a table there, so less evidence suffices.
    """
    tables: list[FoundTable] = []
    above = -1
    for run in runs_of(rows, surely=surely):
        if not _is_text_beside(rows, run):
            header = header_lines(rows, run, above)
            tables.append(_build_table(rows, run, header, rules))
        above = run.last
    return tables


def _is_text_beside(rows: Sequence[TextRow], run: Run) -> bool:
    """Return whether sentences next to the numbers would be included."""
    body = rows[run.first : run.last + 1]
    first = run.columns[0][0]
    among = sum(
        any(p.left >= first and len(p.words) >= SENTENCES for p in row.pieces)
        for row in body
    )
    labels = [row.pieces[0] for row in body if row.pieces[0].right < first]
    small = sum(p.text[:1].islower() and len(p.words) > 2 for p in labels)  # noqa: PLR2004
    return among > 0.1 * len(body) or small > 0.5 * max(len(labels), 4)


def _build_table(
    rows: Sequence[TextRow], run: Run, header: int, rules: Sequence[Rule]
) -> FoundTable:
    body = list(rows[run.first : run.last + 1])
    head = list(rows[run.first - header : run.first])
    while head and not _is_over(head[-1], run.columns):
        body.insert(0, head.pop())
    head = [TextRow(row.line, header_pieces(row.line)) for row in head]
    columns = _columns(body, run.columns)
    numbers = columns.index(run.columns[0])
    above, spans = _head(head, columns, numbers, rules)
    table = Table(
        rows=[*above, *_body(body, columns)],
        header=len(above),
        spans=spans,
        settled=True,
    )
    return FoundTable(table, [row.line for row in (*head, *body)], columns)


def _is_over(row: TextRow, columns: Sequence[Interval]) -> bool:
    return any(piece.right > columns[0][0] for piece in row.pieces)


def _columns(body: Sequence[TextRow], numbers: Sequence[Interval]) -> list[Interval]:
    """Return all columns from left to right: text first, then the numbers.

    Columns between the numbers are included.
    """
    first = numbers[0][0]
    labels = [p for row in body for p in row.pieces if p.right <= first + 1]
    text_columns: list[Interval] = []
    with_label = sum(row.pieces[0].right <= first + 1 for row in body)
    if with_label >= LABELLED * len(body):
        text_columns = _text_columns(body, labels)
    loose = [
        (p.left, p.right)
        for row in body
        for p in row.pieces
        if p.left > first and not any(p.left < b and a < p.right for a, b in numbers)
    ]
    between = [c for c in merge_intervals(loose) if sum(_in(s, c) for s in loose) > 1]
    return [*text_columns, *sorted([*numbers, *between])]


def _in(span: Interval, column: Interval) -> bool:
    return column[0] <= span[0] and span[1] <= column[1]


def _text_columns(
    body: Sequence[TextRow], labels: Sequence[LinePiece]
) -> list[Interval]:
    """Return one column of labels, or several if each has text in many rows."""
    known = set(map(id, labels))
    columns = merge_intervals([(p.left, p.right) for p in labels])
    if len(columns) == 1:  # a label that extends into a second column may hide it
        columns = extents_of([[p for p in r.pieces if id(p) in known] for r in body])
    counts = [sum(_in((p.left, p.right), c) for p in labels) for c in columns]
    if len(columns) > 1 and min(counts) >= FILLED * len(body):
        return columns
    return [(columns[0][0], columns[-1][1])]


def _place(piece: LinePiece, columns: Sequence[Interval]) -> int:
    """Return the column that overlaps a piece most, else the nearest."""

    def miss(index: int) -> tuple[float, int]:
        left, right = columns[index]
        return max(left, piece.left) - min(right, piece.right), index

    return min(range(len(columns)), key=miss)


def _cells(row: TextRow, columns: Sequence[Interval]) -> Row:
    cells: Row = [[] for _ in columns]
    for piece in row.pieces:
        first = sum(right < piece.left + 1 for _, right in columns)
        last = sum(left < piece.right - 1 for left, _ in columns) - 1
        parts = [piece] if first >= last else parts_of(piece, columns)
        for part in parts:
            cells[_place(part, columns)].extend(part.words)
    return cells


def _body(body: Sequence[TextRow], columns: Sequence[Interval]) -> list[Row]:
    """Return the rows, with labels of several lines joined."""
    done: list[Row] = []
    for text_row in body:
        row = _cells(text_row, columns)
        first_text = text_row.pieces[0].text
        small = first_text[:1].islower()
        aside = (
            first_text[0] == "(" and first_text[-1] == ")" and len(text_row.pieces) == 1
        )
        aside = aside and bool(done) and any(done[-1][1:])
        if done and row[0] and (small or aside) and not any(row[1:]):
            done[-1][0].extend(row[0])
            continue
        waiting = done and done[-1][0] and not any(done[-1][1:])
        if waiting and row[0] and (small or _is_open(done[-1])):
            row[0][:0] = done.pop()[0]
        done.append(row)
    return done


def _is_open(row: Row) -> bool:
    """Return whether a label cannot end there."""
    last_word = row[0][-1].text
    return last_word.casefold() in OPEN_ENDS or last_word.endswith(
        (",", "-", "\u2013", "—")
    )


def _head(
    head: Sequence[TextRow],
    columns: Sequence[Interval],
    numbers: int,
    rules: Sequence[Rule],
) -> tuple[list[Row], Spans]:
    """Return the rows of the header: lines of one name joined, names over columns."""
    rows: list[Row] = []
    spans: Spans = {}
    before: set[tuple[int, int]] | None = None
    for line, placed in zip(
        head, _place_header(head, columns, numbers, rules), strict=True
    ):
        wide = {span for span in placed if span[0] < span[1]}
        if before is None or wide != before:
            rows.append([[] for _ in columns])
        before = wide
        end = -1
        for (start, last), piece in zip(placed, line.pieces, strict=True):
            first = max(start, end + 1) if last > end else end
            rows[-1][first].extend(piece.words)
            if last > first:
                spans[len(rows) - 1, first] = (1, last - first + 1)
            end = max(last, end)
    return rows, spans


def _place_header(
    head: Sequence[TextRow],
    columns: Sequence[Interval],
    numbers: int,
    rules: Sequence[Rule],
) -> Iterator[list[tuple[int, int]]]:
    """Return the first and last column of each piece of the header's lines."""
    first = columns[numbers]
    left = first[0] - 0.5 * (first[1] - first[0])
    edge = max(columns[numbers - 1][1], left) if numbers else float("-inf")
    over = [[p for p in line.pieces if p.right >= edge] for line in head]
    count = len(columns) - numbers
    named = next((pieces for pieces in over[::-1] if len(pieces) == count), None)
    for line, pieces in zip(head, over, strict=True):
        labels = line.pieces[: len(line.pieces) - len(pieces)]
        places = [_place(piece, columns[:numbers]) for piece in labels]
        spans = _spans(pieces, line, columns[numbers:], named, rules)
        yield [
            *((place, place) for place in places),
            *((start + numbers, end + numbers) for start, end in spans),
        ]


def _spans(
    pieces: Sequence[LinePiece],
    line: TextRow,
    columns: Sequence[Interval],
    named: Sequence[LinePiece] | None,
    rules: Sequence[Rule],
) -> list[tuple[int, int]]:
    if is_unit(pieces):
        return [(0, len(columns) - 1)]
    if named is pieces:
        return [(index, index) for index in range(len(columns))]
    known = match_column_names(pieces, named or [])
    centred = match_column_groups(pieces, columns, named) if named else []
    shared = centred if named else divide_columns_evenly(pieces, columns)
    return shared or [
        span or find_columns_under(piece, line, columns, rules)
        for span, piece in zip(known, pieces, strict=True)
    ]
