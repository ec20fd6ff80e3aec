"""Gives every word to the block or table cell LiteParse saw it in."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from elt_llm_ingest.formats.pdf.cells import layout_table
from elt_llm_ingest.formats.pdf.found import aligned, drawn, free_lines, kept
from elt_llm_ingest.formats.pdf.homes import settle
from elt_llm_ingest.formats.pdf.lattice import Grid
from elt_llm_ingest.formats.pdf.region import (
    Region,
    box_of,
    overlaps,
    rectangle,
)
from elt_llm_ingest.formats.pdf.rules import NONE, Rules
from elt_llm_ingest.formats.pdf.words import Line, Word, lines_of

# A rule number, a letter or a bullet that stands alone in a hanging margin.
LONE_MARKER = re.compile(
    r"^(?:\(?[0-9a-zA-Z]{1,4}[.)]|[0-9]{1,3}(?:\.[0-9]{1,3})*\.?|[ivxlc]{1,6}[.)]|[•●▪◦‣·\u2013-])$"
)
MARKER = 12  # characters; a longer word is none
LETTERS = 7  # so many letters are none
MARGIN = 90  # points between a marker and its text
TEXT_KINDS = ("heading", "paragraph", "list_item", "code", "grid_fallback")


def seeds_of(blocks: Iterable[Any]) -> list[Region]:
    """LiteParse's blocks of text and tables as regions without words."""
    return [
        Region(kind=block.kind, box=rectangle(block.bbox), block=block)
        for block in blocks
        if block.bbox is not None and block.kind in (*TEXT_KINDS, "table")
    ]


def regions_of(
    seeds: Sequence[Region],
    words: Sequence[Word],
    grids: Sequence[Grid] = (),
    rules: Rules = NONE,
    lines: Sequence[Line] | None = None,
) -> list[Region]:
    """The regions of a page or a part of it in order; no word is lost or used twice.

    `seeds` are filled. `lines` are those of the words, if they are known. Drawn tables
    stand where their first block stood. Words that LiteParse left out of its blocks
    become paragraphs where they stand.
    """
    regions = list(seeds)
    lines = lines or lines_of(words)
    tables = [region for grid in grids if (region := drawn(grid, words))]
    tables = kept(tables, lines, rules)
    tables += aligned(free_lines(lines, tables), regions, rules)
    taken = {id(word) for region in tables for word in region.words}
    if taken:
        words = [word for word in words if id(word) not in taken]
    strays = settle(regions, words, lines)
    halves = [part for region in regions for part in _around(region, tables)]
    regions = _with_tables(halves, tables)
    _give_back_markers(regions)
    regions = [part for region in regions for part in _settled(region)]
    filled = [region for region in regions if region.words]
    return _with_strays(_headings_first(filled), strays)


def _settled(region: Region) -> Iterator[Region]:
    """A region with its table made, and the text below it that is no part of it."""
    if region.kind != "table" or region.table is not None:
        yield region
        return
    words = region.words
    region.table = layout_table(region.block, words)
    if region.table is None:
        region.kind = "paragraph"
        yield region
        return
    own = set(map(id, region.table.words()))
    rest = [word for word in words if id(word) not in own]
    region.words = [word for word in words if id(word) in own]
    yield region
    if rest:
        region.box = box_of(region.words)
        yield Region("paragraph", box_of(rest), rest)


def _around(region: Region, tables: Sequence[Region]) -> Iterator[Region]:
    """What our tables left of a larger one of LiteParse: text above and below."""
    if region.kind != "table" or not region.words:
        yield region
        return
    if any(overlaps(region, table) for table in tables):
        region.kind = "paragraph"
    inner = [table for table in tables if overlaps(table, region)]
    if not inner:
        yield region
        return
    parts: dict[int, list[Word]] = {}
    for word in region.words:
        above = sum((t.box[1] + t.box[3]) / 2 < word.middle[1] for t in inner)
        parts.setdefault(above, []).append(word)
    kind = region.kind if len(parts) == 1 else "paragraph"  # cut, it is no table
    for _, words in sorted(parts.items()):
        yield Region(kind, box_of(words), words, block=region.block)


def _with_tables(regions: list[Region], tables: Sequence[Region]) -> list[Region]:
    """The regions with each table before the first that it touches or is above."""
    done = list(regions)
    for table in tables:
        at = next(
            (i for i, r in enumerate(done) if overlaps(r, table)),
            next((i for i, r in enumerate(done) if _is_above(table, r)), len(done)),
        )
        done.insert(at, table)
    return done


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
        if not all(_is_short(word.text) for word in region.words):
            continue
        lines = lines_of(region.words)
        if not all(LONE_MARKER.match(line.text) for line in lines):
            continue
        kept: list[Word] = []
        for line in lines:
            home = _right_of(regions, region, line)
            (home.words if home else kept).extend(line.words)
        region.words = kept


def _is_short(text: str) -> bool:
    """Whether a marker may be so long."""
    return len(text) < LETTERS or (len(text) <= MARKER and not text.isalpha())


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
