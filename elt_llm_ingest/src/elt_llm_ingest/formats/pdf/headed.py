"""The lines above a table's numbers that name its columns."""

from collections.abc import Sequence

from elt_llm_ingest.formats.pdf.aligned import Interval, Run, TextRow
from elt_llm_ingest.formats.pdf.rules import Rule
from elt_llm_ingest.formats.pdf.segments import Piece

CLOSE = 1.6  # line heights between the lines of a header
MOST = 6
LEFT = 12.0  # points by which a header may stand out over its columns
SENTENCE = 5  # so many words and a full stop are the end of a sentence
LONG = 10  # words; a header is shorter
UNDER = 4.5  # points from a header to the line below it


def header_lines(rows: Sequence[TextRow], run: Run, above: int) -> int:
    """How many lines right above a run belong to its header, not above line `above`.

    Lines over the columns of numbers are header; a line on the left only (the name of
    a group of rows, say) counts if a header stands over it.
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
    """Whether a line is running text, or the end of some."""
    ends = len(row.pieces) == 1 and row.line.text.endswith(".")
    return row.is_prose or (ends and len(row.line.words) >= SENTENCE)


def _spans_all(row: TextRow, columns: Sequence[Interval]) -> bool:
    """Whether one name stands over the middle of all columns: nothing is above it."""
    middle = (columns[0][0] + columns[-1][1]) / 2
    width = columns[-1][1] - columns[0][0]
    alone = len(row.pieces) == 1 and len(columns) > 1
    return alone and abs(row.pieces[0].middle - middle) < 0.1 * width


def _labels(rows: Sequence[TextRow], first: float) -> float:
    """How far the text on the left of the numbers goes."""
    ends = [p.right for row in rows for p in row.pieces if p.right < first]
    return max(ends, default=first - LEFT)


def _kind(row: TextRow, columns: Sequence[Interval], labels: float) -> bool | None:
    """True over numbers, False on the left only, None for no part of a table."""
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


def is_unit(pieces: Sequence[Piece]) -> bool:
    """Whether a line only says what is counted: "(in millions)"."""
    text = pieces[0].text if len(pieces) == 1 else ""
    return text.startswith("(") and text.endswith(")")


def by_name(
    pieces: Sequence[Piece], named: Sequence[Piece]
) -> list[tuple[int, int] | None]:
    """For each piece the columns whose names, one each, it stands above or below."""
    found: list[tuple[int, int] | None] = []
    for piece in pieces:
        at = [
            i
            for i, n in enumerate(named)
            if n.left < piece.right and piece.left < n.right
        ]
        found.append((at[0], at[-1]) if at else None)
    return found


def in_turn(
    pieces: Sequence[Piece], columns: Sequence[Interval]
) -> list[tuple[int, int]]:
    """The columns of pieces that share them evenly; none if they do not.

    Each piece stands in the middle of as many columns as the others.
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


def over_groups(
    pieces: Sequence[Piece], columns: Sequence[Interval], named: Sequence[Piece]
) -> list[tuple[int, int]]:
    """As `in_turn`, for pieces over columns that have names of their own.

    Either the names come again under each piece, or each stands in the middle of its
    columns and of none of them.
    """
    spans = in_turn(pieces, columns)
    names = [piece.text for piece in named]
    many = len(names) // max(len(spans), 1)
    alone = any(n.left - 2 <= p.middle <= n.right + 2 for n in named for p in pieces)
    if alone:
        return []  # the first line of a name, say
    if names == names[:many] * len(spans):
        return spans
    middles = [(left + right) / 2 for left, right in columns]
    for (first, last), piece in zip(spans, pieces, strict=False):
        whole = (columns[first][0] + columns[last][1]) / 2
        nearest = min(abs(piece.middle - middle) for middle in middles)
        if 2 * abs(piece.middle - whole) >= nearest:
            return []
    return spans


def covered(
    piece: Piece, row: TextRow, columns: Sequence[Interval], rules: Sequence[Rule]
) -> tuple[int, int]:
    """First and last column that a header's piece stands over.

    A line drawn below it tells; else its own width, or its place between two columns.
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


def _extent(piece: Piece, row: TextRow, rules: Sequence[Rule]) -> Interval:
    """From where to where the line below a piece goes, if it is below no other."""
    for rule in rules:
        if not -1 <= rule.at - row.line.bottom <= UNDER:
            continue
        over = [p for p in row.pieces if p.left < rule.end and rule.start < p.right]
        if over == [piece] and rule.start <= piece.left + 3:
            return min(rule.start, piece.left), max(rule.end, piece.right)
    return piece.left, piece.right
