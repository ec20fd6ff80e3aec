"""Header rows of tables, tables that continue on the next page, and split rows."""

from collections.abc import Sequence
from statistics import mean

from elt_llm_core.document import BlockKind
from elt_llm_ingest.readers.cell_grid import resembles_rows
from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.figures import PICTURE
from elt_llm_ingest.readers.pdf.geometry import (
    FIGURES,
    Table,
    are_numbers,
    cell_text,
    is_one_number,
    is_year,
)
from elt_llm_ingest.readers.pdf.tables.aligned import pieces_of
from elt_llm_ingest.readers.pdf.tables.stream import LEAST_ROWS
from elt_llm_ingest.readers.pdf.words import Line, Word, lines_of

HEAD_WORDS = 6  # a column header has at most this many words
FULL = 3  # rows and columns of a drawn table
CAPTION_NEAR = 5  # blocks from a caption to its picture
# Words of a line between a picture and its caption; a longer line is running text.
# Chosen by eye; its effect alone was not measured.
LABEL_WORDS = 16
SECOND_LINE = (BlockKind.HEADING, BlockKind.PARAGRAPH)
SENTENCE_END = (".", ";", ":", "!", "?")


def repair_tables(drafts: Sequence[Draft], pitch: float) -> list[Draft]:
    """Return the page's drafts with their tables repaired.

    Wrapped lines are joined, headers found, and column headers that LiteParse left
    outside are added. `pitch` is the usual line distance.
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
            _move_title_line(draft.table, done, pitch)
            draft.table.rows = _without_empty_columns(draft.table.rows)
            draft.table.rows = [r for row in draft.table.rows for r in split_fused(row)]
            _join_split_rows(draft.table)
        draft.table.header = draft.table.header or header_rows(draft.table)
        if not draft.table.header and not draft.table.settled:
            add_column_heads(draft.table, drafts, pitch)
        draft.table.title = _title(done, pitch)
        done.append(draft)
    return [draft for draft in done if draft.table or draft.lines]


def _move_title_line(table: Table, done: Sequence[Draft], pitch: float) -> None:
    """Give a caption its second line, which LiteParse may take for the first row.

    Unlike a row, its words follow each other over the columns without a gap.
    """
    caption = done[-1] if done else None
    if caption is None or caption.kind is not BlockKind.CAPTION or table.spans:
        return
    lines = lines_of([word for cell in table.rows[0] for word in cell])
    if len(lines) != 1 or sum(map(bool, table.rows[0])) <= 1:
        return
    near = 0 < lines[0].top - caption.lines[-1].top <= 1.6 * pitch
    if near and len(pieces_of(lines[0])) == 1 and len(table.rows) > LEAST_ROWS:
        caption.lines.extend(lines)
        table.rows = table.rows[1:]


def is_picture(table: Table, before: Sequence[Draft]) -> bool:
    """Return whether an apparent table is the text in a figure.

    Its caption is directly above or inside, and no full grid is drawn.
    """
    full = min(len(table.rows), len(table.rows[0])) >= FULL and (
        table.drawn and header_rows(table) > 0
    )
    if any(PICTURE.match(cell_text(cell)) for row in table.rows for cell in row):
        return True
    caption = _caption_above(before)
    return bool(PICTURE.match(caption)) and not (full or table.header)


def _caption_above(before: Sequence[Draft]) -> str:
    """Return the caption above, if only labels are between."""
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
    """Return how many of the first rows are headers.

    Cells over several columns or rows require the rows below them.
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
    """Return 0 or 1: whether the first row is a header."""
    if len(rows) <= 1 or _holds_numbers(rows[0]):
        return 0
    first = [cell_text(cell) for cell in rows[0]]
    filled = [text for text in first if text]
    if len(filled) < min(len(first), 2):
        return 0
    below = [[cell_text(cell) for cell in row] for row in rows[1:]]
    if _has_figures(rows[0]) or resembles_rows(first, below):
        return 0
    bold = all(w.bold for cell in rows[0] for w in cell)
    if bold and not all(w.bold for cell in rows[1] for w in cell):
        return 1
    short = all(map(_is_short, filled))
    return 1 if short and (first[0] or not _has_figures(rows[0])) else 0


def _is_short(text: str) -> bool:
    """Return whether a text may be a column header.

    Abbreviations may end with a full stop.
    """
    words = len(text.split())
    return words <= HEAD_WORDS and not (words > 1 and text.endswith("."))


def _holds_numbers(row: Sequence[Sequence[Word]]) -> bool:
    """Return whether the cells after the first are mostly numbers, not only years."""
    texts = [text for cell in row[1:] if (text := cell_text(cell))]
    numbers = [text for text in texts if are_numbers(text)]
    plain = any(not is_year(part) for text in numbers for part in text.split())
    return plain and len(numbers) > 0.5 * len(texts)


def split_fused(row: list[list[Word]]) -> list[list[list[Word]]]:
    """Return the rows that LiteParse merged: one per line of each cell.

    Every cell after the first must have one number per line, else the row stays whole.
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
    texts = [cell_text(cell) for cell in row]
    return any(FIGURES.match(t) and not is_year(t) for t in texts)


def _join_split_rows(table: Table) -> None:
    """Join a wrapped line to the row above: it has text only in one later column."""
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
    """Return the caption directly above, with its second line, if any."""
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


def is_continued_table(before: Table, table: Table) -> bool:
    """Return whether a table at the top of a page continues the previous page's.

    It has the same number of columns at the same positions. A repeated header counts as
    one; a first row that only looks like a header is data.
    """
    if table.continues:
        return True
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
    """Make `table` the continuation of `before`: its title, header, and split rows."""
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
    left_edges: list[float | None] = []
    for column in columns:
        lefts = [min(w.left for w in cell) for cell in column if cell]
        left_edges.append(
            mean(sorted(lefts)[: max(1, len(lefts) // 2)]) if lefts else None
        )
    return left_edges


def add_column_heads(table: Table, drafts: Sequence[Draft], pitch: float) -> None:
    """Make a header row of the short lines directly above the columns of numbers.

    LiteParse leaves the headers of tables without rules outside. Lines are added from
    the bottom up while every run of words is over one column.
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
    """Return the left and right edge of each column that mostly has numbers."""
    figure_columns = {}
    for index in range(1, len(table.rows[0])):
        cells = [row[index] for row in table.rows if row[index]]
        figures = sum(any(c.isdigit() for c in cell_text(cell)) for cell in cells)
        if len(cells) > 1 and figures >= 0.6 * len(cells):
            words = [w for cell in cells for w in cell]
            figure_columns[index] = (
                min(w.left for w in words),
                max(w.right for w in words),
            )
    return figure_columns


def _over(
    columns: dict[int, tuple[float, float]], line: Line
) -> dict[int, list[Word]] | None:
    """Return the words of a line by the column below; None if one has no column."""
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
