"""Recognised words as lines and paragraphs, in the order of recognition.

Boxes of recognised words are tight around their ink, so that "as" is half as high as
"Ask", and the paragraphs that LiteParse makes of scans overlap. Its order of words is
right, so lines and paragraphs are derived from it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from typing import Any

from liteparse.types import AnnotationRect, LayoutBlock

from elt_llm_ingest.readers.text_file import heading_level

GUTTER = 8.0  # points between columns, at least
LINES = 6  # of two columns, at least
WORDS = 3  # a side of the gutter on a line, on average: fewer are a table


@dataclass(frozen=True)
class WordPosition:
    """A word and its position in `page.text_items`: item, then word."""

    item: int
    index: int
    word: Any

    @property
    def middle(self) -> float:
        """Half way down."""
        return float(self.word.y + self.word.height / 2)


Line = list[WordPosition]


def order_by_columns(spots: Sequence[WordPosition]) -> list[WordPosition]:
    """Return the words in reading order; unchanged without columns."""
    lines = _lines(spots)
    done: list[WordPosition] = []
    is_changed = False
    at = 0
    while at < len(lines):
        end, gutter = _band(lines, at)
        if gutter is None:
            done += lines[at]
            at += 1
            continue
        is_changed = True
        band = lines[at:end]
        done += [s for line in band for s in line if s.word.x < gutter]
        done += [s for line in band for s in line if s.word.x >= gutter]
        at = end
    return done if is_changed else list(spots)


def _lines(spots: Sequence[WordPosition]) -> list[Line]:
    """Return words at one height, across the whole page, from left to right."""
    lines: list[Line] = []
    for spot in sorted(spots, key=lambda s: s.middle):
        last = lines[-1] if lines else []
        near = last and spot.middle - last[0].middle < max(last[0].word.height, 4) / 2
        if near:
            last.append(spot)
        else:
            lines.append([spot])
    for line in lines:
        line.sort(key=lambda s: s.word.x)
    return lines


def _band(lines: Sequence[Line], first: int) -> tuple[int, float | None]:
    """Return the end of the lines with one gutter, and the gutter; or None."""
    best: tuple[int, float | None] = (first + 1, None)
    for left, right in _gaps(lines[first]):
        end = first + 1
        while end < len(lines):
            free = _free(lines[end], left, right)
            if free is None:
                break
            left, right = free  # noqa: PLW2901 - the gutter narrows line by line
            end += 1
        middle = (left + right) / 2
        if end > best[0] and _is_text(lines[first:end], middle):
            best = (end, middle)
    return best


def _gaps(line: Line) -> list[tuple[float, float]]:
    edges = [(s.word.x, s.word.x + s.word.width) for s in line]
    return [(a[1], b[0]) for a, b in pairwise(edges) if b[0] - a[1] > GUTTER]


def _free(line: Line, left: float, right: float) -> tuple[float, float] | None:
    """Return the part of the gutter without words of the line; None if too narrow."""
    for spot in line:
        start, end = spot.word.x, spot.word.x + spot.word.width
        if start < left and end <= right:
            left = max(left, end)
        elif end > right and start >= left:
            right = min(right, start)
        elif start < right and end > left:
            return None
    return (left, right) if right - left > GUTTER else None


def _is_text(band: Sequence[Line], gutter: float) -> bool:
    if len(band) < LINES:
        return False
    left = sum(1 for line in band for s in line if s.word.x < gutter)
    right = sum(1 for line in band for s in line if s.word.x >= gutter)
    return min(left, right) > WORDS * len(band)


KEPT = ("table", "figure")
GAP = 0.8  # of a line's height, from which a new paragraph begins
TALLER = 1.3  # of the usual height: a heading
TALLEST = 1.8  # fraction of the line's height below which a word is a speck


@dataclass
class OcrLine:
    """Adjacent words, by their position in `page.text_items`."""

    places: list[tuple[int, int]] = field(default_factory=list)
    words: list[Any] = field(default_factory=list)
    top: float = 0.0
    bottom: float = 0.0

    @property
    def left(self) -> float:
        """Where it begins."""
        return min(float(word.x) for word in self.words)

    @property
    def right(self) -> float:
        """Where it ends."""
        return max(float(word.x + word.width) for word in self.words)

    @property
    def text(self) -> str:
        """Return its text."""
        return " ".join(word.text for word in self.words)


def rebuild_lines(page: Any) -> Any:
    """Return LiteParse's page with equal word heights per line, and blocks of lines."""
    rows = list(_rows(page))
    if not rows:
        return page
    height = median(row.bottom - row.top for row in rows)
    placed = {
        place: replace(word, y=row.top, height=row.bottom - row.top)
        for row in rows
        for place, word in zip(row.places, row.words, strict=True)
    }
    items = [
        _resize(item, [placed[at, i] for i in range(len(item.words))])
        for at, item in enumerate(page.text_items)
    ]
    kept = [block for block in page.blocks or [] if block.kind in KEPT and block.bbox]
    free = [row for row in rows if not any(_inside(row, block.bbox) for block in kept)]
    made = [_block(group, height) for group in _paragraphs(free)]
    return replace(page, text_items=items, blocks=_place_extras(kept, made))


def _place_extras(kept: Sequence[Any], made: Sequence[Any]) -> list[Any]:
    """Insert tables and figures before the first paragraph below them."""
    done = list(made)
    for block in sorted(kept, key=lambda b: b.bbox.y):
        below = (
            index
            for index, other in enumerate(done)
            if other.bbox.y >= block.bbox.y
            and other.bbox.x < block.bbox.x + block.bbox.width
            and block.bbox.x < other.bbox.x + other.bbox.width
        )
        done.insert(next(below, len(done)), block)
    return done


def _rows(page: Any) -> Iterator[OcrLine]:
    spots = [
        WordPosition(at, index, word)
        for at, item in enumerate(page.text_items)
        for index, word in enumerate(item.words)
    ]
    row = OcrLine()
    for spot in order_by_columns(spots):
        if row.words and not _goes_on(row.words, spot.word):
            yield _measure(row)
            row = OcrLine()
        row.places.append((spot.item, spot.index))
        row.words.append(spot.word)
    if row.words:
        yield _measure(row)


def _goes_on(words: Sequence[Any], word: Any) -> bool:
    """Return whether a word continues the line: right of the last, at its height."""
    last = words[-1]
    height = max(float(w.height) for w in (*words[-4:], word))
    lower = abs((word.y + word.height) - (last.y + last.height))
    higher = abs((word.y + word.height / 2) - (last.y + last.height / 2))
    return bool(word.x > last.x and min(lower, higher) < height / 2)


def _measure(row: OcrLine) -> OcrLine:
    """Return the row with its top and bottom, ignoring specks."""
    usual = median(word.height for word in row.words)
    fair = [word for word in row.words if word.height <= TALLEST * usual] or row.words
    row.top = min(word.y for word in fair)
    row.bottom = max(word.y + word.height for word in fair)
    return row


def _resize(item: Any, words: Sequence[Any]) -> Any:
    if not words:
        return item
    return replace(item, words=list(words), y=words[0].y, height=words[0].height)


def _inside(row: OcrLine, box: Any) -> bool:
    middle = (row.top + row.bottom) / 2
    across = (row.left + row.right) / 2
    return bool(
        box.y <= middle <= box.y + box.height and box.x <= across <= box.x + box.width
    )


def _paragraphs(rows: Sequence[OcrLine]) -> Iterator[list[OcrLine]]:
    """Join adjacent rows of one size to paragraphs."""
    group: list[OcrLine] = []
    for row in rows:
        if group and not _follows(group[-1], row):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _follows(above: OcrLine, row: OcrLine) -> bool:
    high, own = above.bottom - above.top, row.bottom - row.top
    if max(high, own) > TALLER * min(high, own):
        return False
    close = -0.5 * own < row.top - above.bottom < GAP * min(high, own)
    return close and row.left < above.right and above.left < row.right


def _block(rows: Sequence[OcrLine], usual: float) -> LayoutBlock:
    left, right = min(r.left for r in rows), max(r.right for r in rows)
    top, bottom = min(r.top for r in rows), max(r.bottom for r in rows)
    is_tall = rows[0].bottom - rows[0].top > TALLER * usual
    is_tall = is_tall and not rows[2:] and any(c.isalpha() for c in rows[0].text)
    level = 1 if is_tall else 0 if rows[1:] else heading_level(rows[0].text)
    return LayoutBlock(
        kind="heading" if level else "paragraph",
        text="\n".join(row.text for row in rows),
        level=level or None,
        bbox=AnnotationRect(x=left, y=top, width=right - left, height=bottom - top),
    )
