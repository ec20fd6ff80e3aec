"""Words in the cells of a table that LiteParse detects."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median_low
from typing import Any

from elt_llm_ingest.readers.pdf.geometry import (
    Table,
)
from elt_llm_ingest.readers.pdf.tables.aligned import WIDE, TextRow
from elt_llm_ingest.readers.pdf.tables.stream import is_title
from elt_llm_ingest.readers.pdf.words import FOLDED, Line, Word, lines_of

Band = tuple[float, float]
ROWS = 3  # least number of rows with several filled cells


LONG = 6  # words of a line of running text


BREAK = 2.0  # times the usual word distance in a line; wider gaps separate columns


def read_layout_table(block: Any, words: Sequence[Word]) -> Table | None:
    """Return the words of a table region in its cells; None if it is not a table.

    A title above the columns is left out, and text below the last row: if a vertical
    line is drawn down the page, LiteParse treats all text next to it as another row.
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
    words = _without_title(words)
    buckets: list[list[Word]] = [[] for _ in layout]
    nearest: dict[float, int] = {}  # most words of a line have the same height
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


def _without_title(words: Sequence[Word]) -> Sequence[Word]:
    """Return the words below the lines of a title "Table 1", which is not a row.

    The lines after its first belong to it until one has columns.
    """
    rows = [TextRow(line) for line in lines_of(words)]
    if not rows or not is_title(rows[0]) or len(rows[0].pieces) > 1:
        return words
    first = next((i for i, row in enumerate(rows) if len(row.pieces) > 1), len(rows))
    title = {id(word) for row in rows[:first] for word in row.line.words}
    return [word for word in words if id(word) not in title]


def _drop_text_below(
    layout: Sequence[Sequence[Any]], buckets: Sequence[list[Word]]
) -> None:
    """Remove the lines of text below a table from the words of its last rows.

    They cross the columns, and below the first of them no line is in columns.
    """
    below: list[tuple[int, Line]] = []
    text = 0  # number of them, from the last; above are lines of the first column
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
    """Return whether an unusually wide gap separates words in two columns."""
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
    """Return the best centred band around the value, else the nearest band."""
    best, nearest = float("inf"), 0
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
            best, nearest = distance, index
    return nearest


def _row(row: Sequence[Any], words: Sequence[Word]) -> list[list[Word]]:
    """Return the words of one row in its cells.

    A cell's box decides; a cell without a box takes the words that its text begins
    with.
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
    """Return the column of a word whose folded text is `text`."""
    nearest = _nearest(spans, word.middle[0])
    if text in left[nearest]:
        return nearest
    boxless = [i for i, span in enumerate(spans) if span is None and text in left[i]]
    return boxless[0] if boxless else nearest
