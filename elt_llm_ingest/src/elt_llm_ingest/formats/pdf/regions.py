"""Gives every word to the block or table cell LiteParse saw it in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from elt_llm_ingest.formats.pdf.words import FOLDED, Line, Word, lines_of

# A rule number, a letter or a bullet that stands alone in a hanging margin.
LONE_MARKER = re.compile(
    r"^(?:\(?[0-9a-zA-Z]{1,4}[.)]|[0-9]{1,3}(?:\.[0-9]{1,3})*\.?|[ivxlc]{1,6}[.)]|[•●▪◦‣·\u2013-])$"
)
MARGIN = 90  # points between a marker and its text
LIST_ROWS = 3  # fewer rows of one column are a paragraph
TEXT_KINDS = ("heading", "paragraph", "list_item", "code", "grid_fallback")
Rectangle = tuple[float, float, float, float]


@dataclass(eq=False)
class Table:
    """A table as rows of cells of words. `header` rows come first and are counted."""

    rows: list[list[list[Word]]]
    header: int = 0
    title: str = ""


@dataclass(eq=False)
class Region:
    """One block of a page in reading order: words, or a table of them."""

    kind: str
    box: Rectangle
    words: list[Word] = field(default_factory=list)
    table: Table | None = None
    block: Any = None
    said: str = ""


def rectangle(box: Any) -> Rectangle:
    """Left, top, right, bottom of a LiteParse box."""
    return box.x, box.y, box.x + box.width, box.y + box.height


def regions_of(blocks: Sequence[Any], words: Sequence[Word]) -> list[Region]:
    """The page's regions in reading order; no word is lost or used twice.

    Words that LiteParse left out of its blocks become paragraphs where they stand.
    """
    regions = [
        Region(
            kind=block.kind, box=rectangle(block.bbox), block=block, said=_said(block)
        )
        for block in blocks
        if block.bbox is not None and block.kind in (*TEXT_KINDS, "table")
    ]
    strays: list[Word] = []
    for word in words:
        region = _home(regions, word)
        (region.words if region else strays).append(word)
    _give_back_markers(regions)
    for region in regions:
        if region.kind == "table":
            region.table = _table(region)
            if region.table is None:
                region.kind = "paragraph"
    filled = [region for region in regions if region.words]
    return _with_strays(_headings_first(filled), strays)


def _headings_first(regions: list[Region]) -> list[Region]:
    """The regions with every heading before what stands below it in its column."""
    done: list[Region] = []
    for region in regions:
        at = len(done)
        if region.kind == "heading":
            below = (i for i, other in enumerate(done) if _is_above(region, other))
            at = next(below, at)
        done.insert(at, region)
    return done


def _is_above(region: Region, other: Region) -> bool:
    """Whether a region lies wholly above another and over at least half of it."""
    left, _, right, bottom = region.box
    overlap = min(right, other.box[2]) - max(left, other.box[0])
    least = min(right - left, other.box[2] - other.box[0])
    return bottom <= other.box[1] + 1 and overlap > 0.5 * least


def _give_back_markers(regions: Sequence[Region]) -> None:
    """Put markers that LiteParse took for blocks of their own before their text."""
    for region in regions:
        if region.kind == "table" or not region.words:
            continue
        lines = lines_of(region.words)
        if not all(LONE_MARKER.match(line.text) for line in lines):
            continue
        kept: list[Word] = []
        for line in lines:
            home = _right_of(regions, region, line)
            (home.words if home else kept).extend(line.words)
        region.words = kept


def _right_of(regions: Sequence[Region], own: Region, marker: Line) -> Region | None:
    """The region whose words stand on the marker's line, right of it and near."""
    best: tuple[float, int] | None = None
    for index, region in enumerate(regions):
        left, top, right, bottom = region.box
        if region is own or region.kind == "table" or right < marker.right:
            continue
        if bottom < marker.top or top > marker.bottom or left > marker.right + MARGIN:
            continue
        for word in region.words:
            same = min(word.bottom, marker.bottom) - max(word.top, marker.top)
            gap = word.left - marker.right
            if same >= 0.5 * (marker.bottom - marker.top) and 0 <= gap <= MARGIN:
                best = min(best or (gap, index), (gap, index))
    return regions[best[1]] if best else None


def _home(regions: Sequence[Region], word: Word) -> Region | None:
    x, y = word.middle
    inside = [
        region
        for region in regions
        if region.box[0] - 1.5 <= x <= region.box[2] + 1.5
        and region.box[1] - 1.5 <= y <= region.box[3] + 1.5
    ]
    if len(inside) <= 1:
        return inside[0] if inside else None
    folded = word.text.translate(FOLDED)
    said = [region for region in inside if folded in region.said]
    return min(said or inside, key=_area)


def _said(block: Any) -> str:
    """What LiteParse read in the block, without blanks."""
    parts = [block.marker or "", block.text or "", *(block.lines or [])]
    for row in [block.header or [], *(block.rows or [])]:
        parts.extend(cell.text for cell in row)
    return re.sub(r"\s+", "", "".join(parts))


def _area(region: Region) -> float:
    left, top, right, bottom = region.box
    return (right - left) * (bottom - top)


def _with_strays(regions: list[Region], strays: Sequence[Word]) -> list[Region]:
    """Paragraphs of the words outside all blocks, each before what stands below it."""
    groups: list[Region] = []
    for line in lines_of(strays):
        box = (line.left, line.top, line.right, line.bottom)
        last = groups[-1] if groups else None
        if last and line.top - last.box[3] < 0.6 * (line.bottom - line.top):
            last.words.extend(line.words)
            last.box = (
                min(last.box[0], box[0]), last.box[1],
                max(last.box[2], box[2]), box[3],
            )  # fmt: skip
        else:
            groups.append(Region(kind="paragraph", box=box, words=list(line.words)))
    for group in groups:
        at = next(
            (i for i, r in enumerate(regions) if r.box[1] >= group.box[3] - 1),
            len(regions),
        )
        regions.insert(at, group)
    return regions


def _table(region: Region) -> Table | None:
    """The words of a table region in its cells; None for what is no table."""
    block = region.block
    layout = [row for row in [block.header, *(block.rows or [])] if row]
    columns = max((len(row) for row in layout), default=0)
    if columns == 0 or (columns == 1 and len(layout) < LIST_ROWS):
        return None
    bands = [_band(row) for row in layout]
    if any(band is None for band in bands):
        layout = [row for row, band in zip(layout, bands, strict=True) if band]
        bands = [band for band in bands if band]
    if not layout:
        return None
    buckets: list[list[Word]] = [[] for _ in layout]
    for word in region.words:
        y = word.middle[1]
        at = min(range(len(bands)), key=lambda i: _distance(bands[i], y))
        buckets[at].append(word)
    rows = [
        _row(row, bucket) for row, bucket in zip(layout, buckets, strict=True) if bucket
    ]
    return Table(rows=rows) if rows else None


def _band(row: Sequence[Any]) -> tuple[float, float] | None:
    boxes = [cell.bbox for cell in row if cell.bbox is not None]
    if not boxes:
        return None
    return min(b.y for b in boxes), max(b.y + b.height for b in boxes)


def _distance(band: tuple[float, float] | None, value: float) -> float:
    if band is None:
        return float("inf")
    low, high = band
    if low <= value <= high:
        return -1.0 / (1.0 + abs(value - (low + high) / 2))
    return min(abs(value - low), abs(value - high))


def _row(row: Sequence[Any], words: Sequence[Word]) -> list[list[Word]]:
    """The words of one row in its cells.

    A cell's box decides; a cell without a box takes the words its text begins with.
    """
    cells: list[list[Word]] = [[] for _ in row]
    left = [re.sub(r"\s+", "", cell.text) for cell in row]
    for line in lines_of(words):
        for word in line.words:
            at = _cell(row, left, word)
            text = word.text.translate(FOLDED)
            left[at] = left[at].replace(text, "", 1)
            cells[at].append(word)
    return cells


def _cell(row: Sequence[Any], left: Sequence[str], word: Word) -> int:
    text = word.text.translate(FOLDED)
    x = word.middle[0]
    distances = {
        i: _distance((c.bbox.x, c.bbox.x + c.bbox.width), x)
        for i, c in enumerate(row)
        if c.bbox is not None
    }
    nearest = min(distances, key=lambda i: distances[i])
    if text in left[nearest]:
        return nearest
    boxless = [i for i, c in enumerate(row) if c.bbox is None and text in left[i]]
    return boxless[0] if boxless else nearest
