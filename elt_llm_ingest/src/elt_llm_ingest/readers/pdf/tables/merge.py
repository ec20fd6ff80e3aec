"""Tables: which rows are headers, what goes on over the page, split rows joined."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, median_low
from typing import Any

from elt_llm_core.document import BlockKind
from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.figures import PICTURE
from elt_llm_ingest.readers.pdf.geometry import (
    FIGURES,
    Row,
    Table,
    are_numbers,
    cell_text,
    is_one_number,
    is_year,
)
from elt_llm_ingest.readers.pdf.tables.aligned import WIDE
from elt_llm_ingest.readers.pdf.words import FOLDED, Line, Word, lines_of

HEAD_WORDS = 6  # the head of a column is short
FULL = 3  # rows and columns of a drawn table
CAPTION_NEAR = 5  # blocks from a caption to its picture
LABEL_WORDS = 16
SECOND_LINE = (BlockKind.HEADING, BlockKind.PARAGRAPH)
SENTENCE_END = (".", ";", ":", "!", "?")


def tidy(drafts: Sequence[Draft], pitch: float) -> list[Draft]:
    """The page's drafts with their tables put right.

    Wrapped lines are joined, headers found, and column heads that LiteParse left
    outside are taken in. `pitch` is the ordinary line distance.
    """
    done: list[Draft] = []
    for draft in drafts:
        if draft.table is None:
            done.append(draft)
            continue
        if is_picture(draft.table, done):
            done.append(Draft(BlockKind.PARAGRAPH, lines_of([*draft.table.words()])))
            continue
        if not draft.table.settled:
            draft.table.rows = _without_empty_columns(draft.table.rows)
            draft.table.rows = [r for row in draft.table.rows for r in split_fused(row)]
            _join_split_rows(draft.table)
        draft.table.header = draft.table.header or header_rows(draft.table)
        if not draft.table.header and not draft.table.settled:
            take_in_heads(draft.table, drafts, pitch)
        draft.table.title = _title(done, pitch)
        done.append(draft)
    return [draft for draft in done if draft.table or draft.lines]


def is_picture(table: Table, before: Sequence[Draft]) -> bool:
    """Whether what looks like a table are the words in a figure.

    Its caption stands right above or in it, and no full grid is drawn.
    """
    full = min(len(table.rows), len(table.rows[0])) >= FULL and (
        table.drawn and header_rows(table) > 0
    )
    if any(PICTURE.match(cell_text(cell)) for row in table.rows for cell in row):
        return True
    said = _caption_above(before)
    return bool(PICTURE.match(said)) and not (full or table.header)


def _caption_above(before: Sequence[Draft]) -> str:
    """The caption above with no text but labels between."""
    for draft in before[: -CAPTION_NEAR - 1 : -1]:
        if draft.kind in (BlockKind.CAPTION, BlockKind.FIGURE):
            return draft.text
        longest = max((len(line.words) for line in draft.lines), default=0)
        if draft.table or longest > LABEL_WORDS:
            return ""
    return ""


def _without_empty_columns(rows: list[list[list[Word]]]) -> list[list[list[Word]]]:
    width = max(len(row) for row in rows)
    padded = [row + [[] for _ in range(width - len(row))] for row in rows]
    used = [i for i in range(width) if any(row[i] for row in padded)]
    return [[row[i] for i in used] for row in padded]


def header_rows(table: Table) -> int:
    """How many of the first rows name the columns.

    Cells over several columns or rows ask for the rows below them.
    """
    rows = table.rows
    spans = {row: span for (row, _), span in sorted(table.spans.items()) if span[1] > 1}
    reach = max((s[0] for (row, _), s in table.spans.items() if row == 0), default=1)
    count = 0
    while count in spans and count + 1 < len(rows) and not _holds_numbers(rows[count]):
        count += 1
    if count:
        is_head = not _holds_numbers(rows[count]) and count + 1 < len(rows)
        return count + 1 if is_head else count
    named = _header_row(rows)
    return min(max(named, reach if named else 0), len(rows) - 1)


def _header_row(rows: Sequence[Sequence[Sequence[Word]]]) -> int:
    """0 or 1: whether the first row names the columns."""
    if len(rows) <= 1 or _holds_numbers(rows[0]):
        return 0
    first = [cell_text(cell) for cell in rows[0]]
    filled = [text for text in first if text]
    if len(filled) < min(len(first), 2):
        return 0
    if any(FIGURES.match(text) and not is_year(text) for text in filled):
        return 0
    bold = all(w.bold for cell in rows[0] for w in cell)
    if bold and not all(w.bold for cell in rows[1] for w in cell):
        return 1
    short = all(map(_is_short, filled))
    return 1 if short and (first[0] or not _has_figures(rows[0])) else 0


def _is_short(text: str) -> bool:
    """Whether a text may name a column; an abbreviation may end with a full stop."""
    words = len(text.split())
    return words <= HEAD_WORDS and not (words > 1 and text.endswith("."))


def _holds_numbers(row: Sequence[Sequence[Word]]) -> bool:
    """Whether the cells after the first are mostly numbers, and not all years."""
    found = [text for cell in row[1:] if (text := cell_text(cell))]
    numbers = [text for text in found if are_numbers(text)]
    plain = any(not is_year(part) for text in numbers for part in text.split())
    return plain and len(numbers) > 0.5 * len(found)


def split_fused(row: list[list[Word]]) -> list[list[list[Word]]]:
    """The rows that LiteParse took for one: as many as each of its cells has lines.

    Every cell after the first must hold one number a line, else the row stays whole.
    """
    cells = [lines_of(cell) for cell in row]
    counts = {len(lines) for lines in cells if lines}
    if len(row) <= 1 or len(counts) != 1 or counts == {1} or not cells[0]:
        return [row]
    numbers = [line.text for lines in cells[1:] for line in lines]
    if not numbers or not all(is_one_number(text) for text in numbers):
        return [row]
    return [
        [lines[at].words if lines else [] for lines in cells]
        for at in range(counts.pop())
    ]


def _has_figures(row: Sequence[Sequence[Word]]) -> bool:
    found = [cell_text(cell) for cell in row]
    return any(FIGURES.match(t) and not is_year(t) for t in found)


def _join_split_rows(table: Table) -> None:
    """Put a wrapped line back into the row above: text only in one later column."""
    rows: list[list[list[Word]]] = []
    for row in table.rows:
        if rows and _is_wrapped(rows[-1], row):
            for above, cell in zip(rows[-1], row, strict=True):
                above.extend(cell)
        else:
            rows.append(row)
    table.rows = rows


def _is_wrapped(above: Sequence[list[Word]], row: Sequence[list[Word]]) -> bool:
    filled = [i for i, cell in enumerate(row) if cell]
    if len(filled) != 1 or filled[0] == 0 or not above[0]:
        return False
    before = cell_text(above[filled[0]])
    text = cell_text(row[filled[0]])
    if not before or FIGURES.match(text):
        return False
    prose = len(before.split()) >= HEAD_WORDS and not before.endswith(SENTENCE_END)
    return text[:1].islower() or prose


def _title(done: list[Draft], pitch: float) -> str:
    """The caption right above; a second line of it is taken into it."""
    above = done[-1] if done else None
    caption = done[-2] if len(done) > 1 else None
    if above and caption and caption.kind is BlockKind.CAPTION and above.lines:
        gap = above.lines[0].top - caption.lines[-1].top
        short = len(above.lines) == 1 and not caption.text.rstrip().endswith(".")
        if short and above.kind in SECOND_LINE and 0 < gap <= 1.6 * pitch:
            caption.lines.extend(above.lines)
            done.pop()
            above = caption
    return above.text if above and above.kind is BlockKind.CAPTION else ""


def continues(before: Table, table: Table) -> bool:
    """Whether a table at the top of a page goes on from the last of the page before.

    Same number of columns in the same places. A repeated header is counted as one; a
    first row that only looks like a header is data.
    """
    if not before.rows or len(before.rows[0]) != len(table.rows[0]):
        return False
    width = max(w.right for row in table.rows for c in row for w in c)
    places = zip(_lefts(before), _lefts(table), strict=True)
    return all(
        abs(one - two) <= 0.05 * width
        for one, two in places
        if one is not None and two is not None
    )


def join(before: Table, table: Table) -> None:
    """Make `table` the continuation of `before`: its title, its header, split rows."""
    table.title = before.title
    header = [[cell_text(c) for c in row] for row in before.rows[: before.header]]
    top = [[cell_text(c) for c in row] for row in table.rows[: before.header]]
    table.header = before.header if header and top == header else 0
    first = table.rows[table.header] if len(table.rows) > table.header else None
    if first is None or table.spans or not _is_wrapped(before.rows[-1], first):
        return
    for above, cell in zip(before.rows[-1], first, strict=True):
        above.extend(cell)
    del table.rows[table.header]


def _lefts(table: Table) -> list[float | None]:
    columns = zip(*table.rows, strict=True)
    found: list[float | None] = []
    for column in columns:
        lefts = [min(w.left for w in cell) for cell in column if cell]
        found.append(mean(sorted(lefts)[: max(1, len(lefts) // 2)]) if lefts else None)
    return found


def take_in_heads(table: Table, drafts: Sequence[Draft], pitch: float) -> None:
    """Make a header row of the short lines right above the columns of figures.

    LiteParse leaves the heads of tables without rules outside. Lines are taken from
    the bottom up while every run of words stands over one column.
    """
    columns = _figure_columns(table)
    if len(columns) <= 1:
        return
    top = min(w.top for cell in table.rows[0] for w in cell)
    head: list[list[Word]] = [[] for _ in table.rows[0]]
    lines = [(line, d) for d in drafts for line in d.lines if line.top < top]
    for line, draft in sorted(lines, key=lambda pair: -pair[0].top):
        at = _over(columns, line)
        close = top - line.bottom <= 1.2 * pitch
        if not close or at is None:
            break
        for column, words in at.items():
            head[column][:0] = words
        draft.lines.remove(line)
        top = line.top
    if any(head):
        table.rows.insert(0, head)
        table.header = 1


def _figure_columns(table: Table) -> dict[int, tuple[float, float]]:
    """Left and right edge of each column that mostly holds figures."""
    found = {}
    for index in range(1, len(table.rows[0])):
        cells = [row[index] for row in table.rows if row[index]]
        figures = sum(any(c.isdigit() for c in cell_text(cell)) for cell in cells)
        if len(cells) > 1 and figures >= 0.6 * len(cells):
            words = [w for cell in cells for w in cell]
            found[index] = (min(w.left for w in words), max(w.right for w in words))
    return found


def _over(
    columns: dict[int, tuple[float, float]], line: Line
) -> dict[int, list[Word]] | None:
    """The words of a line by the column they stand over; None if one does not."""
    runs: dict[int, list[Word]] = {}
    for word in line.words:
        runs.setdefault(word.run, []).append(word)
    first = min(left for left, _ in columns.values())
    if line.left < first - 30 or len(line.words) > 6 * len(columns):
        return None
    at: dict[int, list[Word]] = {}
    for words in runs.values():
        left, right = words[0].left, words[-1].right
        over = [
            i
            for i, (low, high) in columns.items()
            if left <= high + 6 and right >= low - 6
        ]
        if len(over) != 1:
            return None
        at.setdefault(over[0], []).extend(words)
    return at


Band = tuple[float, float]
ROWS = 3  # with several cells that say something: fewer are no table
LONG = 6  # words of a line of running text
BREAK = 2.0  # of the common distance of words in a line: wider is between two columns


def layout_table(block: Any, words: Sequence[Word]) -> Table | None:
    """The words of a table region in its cells; None for what is no table.

    Running text below the last row is left out: where a line is drawn down the page,
    LiteParse takes all that stands beside it for one more row.
    """
    layout = [row for row in [block.header, *(block.rows or [])] if row]
    columns = max((len(row) for row in layout), default=0)
    if columns <= 1 or (columns == 2 and len(layout) <= 2):  # noqa: PLR2004
        return None
    bands = [_band(row) for row in layout]
    if any(band is None for band in bands):
        layout = [row for row, band in zip(layout, bands, strict=True) if band]
        bands = [band for band in bands if band]
    if not layout:
        return None
    buckets: list[list[Word]] = [[] for _ in layout]
    nearest: dict[float, int] = {}  # most words of a line stand at one height
    for word in words:
        y = word.middle[1]
        if y not in nearest:
            nearest[y] = _nearest(bands, y)
        buckets[nearest[y]].append(word)
    _drop_text_below(layout, buckets)
    rows = [
        _row(row, bucket) for row, bucket in zip(layout, buckets, strict=True) if bucket
    ]
    several = sum(sum(map(bool, row)) > 1 for row in rows)
    return Table(rows=rows) if several >= max(ROWS, 0.5 * len(rows)) else None


def _drop_text_below(
    layout: Sequence[Sequence[Any]], buckets: Sequence[list[Word]]
) -> None:
    """Take the lines of text below a table out of the words of its last rows.

    They go on over the columns, and below the first of them no line stands in columns.
    """
    below: list[tuple[int, Line]] = []
    text = 0  # of them, from the last; above are lines of the first column
    for at in range(len(layout) - 1, -1, -1):
        spans = [_span(cell) for cell in layout[at]]
        for line in lines_of(buckets[at])[::-1] if buckets[at] else []:
            homes = [_nearest(spans, word.middle[0]) for word in line.words]
            if homes[0] > 0 or _is_broken(line, homes):
                _drop(below[:text], buckets)
                return
            below.append((at, line))
            if homes[-1] > 0 and len(homes) >= LONG:
                text = len(below)


def _is_broken(line: Line, homes: Sequence[int]) -> bool:
    """Whether a gap wider than the others parts words that stand in two columns."""
    gaps = [max(word.left - w.right, 0.0) for w, word in pairwise(line.words)]
    widest = WIDE * line.size
    if len(gaps) >= LONG:
        widest = min(widest, BREAK * median_low(gaps))
    return any(
        one != two and gap > widest
        for gap, (one, two) in zip(gaps, pairwise(homes), strict=True)
    )


def _drop(lines: Sequence[tuple[int, Line]], buckets: Sequence[list[Word]]) -> None:
    for at, line in lines:
        out = set(map(id, line.words))
        buckets[at][:] = [word for word in buckets[at] if id(word) not in out]


def _band(row: Sequence[Any]) -> Band | None:
    boxes = [cell.bbox for cell in row if cell.bbox is not None]
    if not boxes:
        return None
    return min(b.y for b in boxes), max(b.y + b.height for b in boxes)


def _nearest(bands: Sequence[Band | None], value: float) -> int:
    """The band that holds the value nearest to its middle, else the nearest one."""
    best, found = float("inf"), 0
    for index, band in enumerate(bands):
        if band is None:
            continue
        low, high = band
        if value < low:
            distance = low - value
        elif value > high:
            distance = value - high
        else:
            distance = -1.0 / (1.0 + abs(value - (low + high) / 2))
        if distance < best:
            best, found = distance, index
    return found


def _row(row: Sequence[Any], words: Sequence[Word]) -> list[list[Word]]:
    """The words of one row in its cells.

    A cell's box decides; a cell without a box takes the words its text begins with.
    """
    cells: list[list[Word]] = [[] for _ in row]
    left = ["".join(cell.text.split()) for cell in row]
    spans = [_span(cell) for cell in row]
    for line in lines_of(words):
        for word in line.words:
            text = word.text.translate(FOLDED)
            at = _cell(spans, left, word, text)
            left[at] = left[at].replace(text, "", 1)
            cells[at].append(word)
    return cells


def _span(cell: Any) -> Band | None:
    box = cell.bbox
    return (box.x, box.x + box.width) if box is not None else None


def _cell(
    spans: Sequence[Band | None], left: Sequence[str], word: Word, text: str
) -> int:
    """The column of a word whose folded text is `text`."""
    nearest = _nearest(spans, word.middle[0])
    if text in left[nearest]:
        return nearest
    boxless = [i for i, span in enumerate(spans) if span is None and text in left[i]]
    return boxless[0] if boxless else nearest


GUTTER = 12.0  # points between the two, in every line
LABELLED = 0.8  # of the lines of either table begin with a label
LINES = 3  # that the smaller one has at least
LETTERS = 3  # of a label, so that "kg" and "(1)" are none


def apart(draft: Draft) -> list[Draft]:
    """The draft, or one for each of the tables beside each other in it, left to right.

    A gutter runs through all lines between the two; both begin with labels, go on with
    numbers and have names over these; and over the labels both say the same or nothing.
    """
    table = draft.table
    if table is None or table.drawn:
        return [draft]
    header = table.header or header_rows(table)
    width = len(table.rows[0]) if header else 0
    for column in range(2, width - 1):
        if _is_edge(table.rows, header, column):
            left = _part(table, header, 0, column)
            right = _part(table, header, column, width)
            if left is not None and right is not None:
                rest = apart(Draft(draft.kind, table=right))
                return [Draft(draft.kind, table=left), *rest]
    return [draft]


def _is_edge(rows: Sequence[Row], header: int, column: int) -> bool:
    """Whether another table begins with a column; more may follow that one."""
    left = [row[:column] for row in rows]
    right = [row[column:] for row in rows]
    first = [row[:2] for row in right]
    named = _named(left, header)
    return (
        named is not None
        and named == _named(first, header)
        and _has_labels(left[header:])
        and _has_labels(first[header:])
        and _gutter(left, right) >= GUTTER
    )


def _named(rows: Sequence[Row], header: int) -> str | None:
    """What stands over the labels, if every other column has a name."""
    over = [
        " ".join(filter(None, (cell_text(row[at]) for row in rows[:header])))
        for at in range(len(rows[0]))
    ]
    return over[0].casefold() if all(over[1:]) else None


def _has_labels(body: Sequence[Row]) -> bool:
    """Whether the lines begin with words and go on with numbers."""
    said = [row for row in body if any(row)]
    labels = [row for row in said if _letters(row[0]) >= LETTERS]
    numbers = [cell for row in said for cell in row[1:] if cell]
    plain = [cell for cell in numbers if _is_number(cell)]
    return (
        len(said) >= LINES
        and len(labels) >= LABELLED * len(said)
        and len(plain) >= LABELLED * max(len(numbers), 1)
        and bool(numbers)
    )


def _letters(cell: Sequence[Word]) -> int:
    return sum(map(str.isalpha, cell_text(cell)))


def _is_number(cell: Sequence[Word]) -> bool:
    text = cell_text(cell)
    return sum(map(str.isdigit, text)) >= sum(map(str.isalpha, text))


def _gutter(left: Sequence[Row], right: Sequence[Row]) -> float:
    """The width of the strip between the two that no word reaches into."""
    ends = [word.right for row in left for cell in row for word in cell]
    starts = [word.left for row in right for cell in row for word in cell]
    return min(starts, default=0.0) - max(ends, default=0.0)


def _part(table: Table, header: int, first: int, last: int) -> Table | None:
    """The columns from `first` to before `last`; None where a cell goes over them."""
    kept = [at for at, row in enumerate(table.rows) if any(row[first:last])]
    place = {at: index for index, at in enumerate(kept)}
    spans = {}
    for (row, column), (rows, columns) in table.spans.items():
        if column + columns <= first or column >= last:
            continue
        whole = all(at in place for at in range(row, row + rows))
        if column < first or column + columns > last or not whole:
            return None
        spans[place[row], column - first] = rows, columns
    return Table(
        rows=[table.rows[at][first:last] for at in kept],
        header=sum(at < header for at in kept),
        title=table.title,
        spans=spans,
        settled=table.settled,
    )
