"""Figures: their boxes and kinds, attached to their captions."""

import math
import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from operator import itemgetter
from typing import Any

from elt_llm_core.document import Block, BlockKind, Page
from elt_llm_core.language.figure_numbers import FIGURE_WORD
from elt_llm_core.results import Box
from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.geometry import (
    BAND,
    FigureBox,
    Rectangle,
    box_of,
    join_boxes,
    rectangle,
)
from elt_llm_ingest.readers.pdf.words import Word

PICTURE = re.compile(
    rf"^(?:{FIGURE_WORD}|chart|graph|diagram)\s+[0-9A-Z]", re.IGNORECASE
)
SMALL = 0.01  # of the page; smaller ones are marks and logos
NEAR = 60  # points from a figure to its caption
LABELS = 5  # words in a figure that make it a diagram, numbers that make it a chart
LARGE = 0.03  # of the page: a picture without caption
BACKGROUND = 0.5  # of the page: a scan or a background
TILES = 4  # pictures as wide as the page are its background
TOUCHING = 2.0  # points between the tiles of one picture
SAME = 3.0  # points by which a logo may move from page to page
FiguresByPage = Mapping[int, list[FigureBox]]


def label_figures(
    drafts: Sequence[Draft],
    blocks: Sequence[Any],
    words: Sequence[Word],
    size: tuple[float, float],
) -> None:
    """Convert captions next to a figure to figures, with box and kind.

    The kind is `chart`, `diagram` or `picture`, by the text in it. A caption has one
    figure, the nearest.
    """
    shown = [rectangle(b.bbox) for b in blocks if b.kind == "figure" and b.bbox]
    boxes = _drop_background(shown, size[0])
    large = [
        b for b in boxes if (b[2] - b[0]) * (b[3] - b[1]) > SMALL * size[0] * size[1]
    ]
    for draft in drafts:
        if draft.kind is BlockKind.CAPTION and PICTURE.match(draft.text):
            near = [(gap, b) for b in large if (gap := _gap(draft, b)) is not None]
            if near:
                _, box = min(near)
                draft.kind = BlockKind.FIGURE
                draft.box = box
                draft.attributes = {"figure": _kind(box, words)}


def _gap(draft: Draft, box: Rectangle) -> float | None:
    """Return the points between a caption and a figure above or below it, or None."""
    left, top, right, bottom = box_of(draft.lines)
    if right < box[0] or left > box[2]:
        return None
    gap = max(top - box[3], box[1] - bottom)
    return max(gap, 0.0) if gap <= NEAR else None


def _kind(box: Rectangle, words: Sequence[Word]) -> str:
    held = [
        word
        for word in words
        if box[0] <= word.middle[0] <= box[2] and box[1] <= word.middle[1] <= box[3]
    ]
    numbers = sum(any(c.isdigit() for c in word.text) for word in held)
    if numbers >= LABELS:
        return "chart"
    return "diagram" if len(held) >= LABELS else "picture"


def find_figures(
    drafts: Sequence[Draft],
    blocks: Sequence[Any],
    words: Sequence[Word],
    size: tuple[float, float],
) -> list[FigureBox]:
    """Return the pictures of a page without a caption, tiles joined.

    They cover more than 3 % of the page and less than half: larger ones are scans and
    backgrounds, which may also be tiled. They extend into the body of the page:
    pictures in its outer 12 % are letterheads.
    """
    taken = [draft.box for draft in drafts if draft.box is not None]
    boxes = [rectangle(b.bbox) for b in blocks if b.kind == "figure" and b.bbox]
    area = size[0] * size[1]
    return [
        FigureBox(box, _kind(box, words))
        for box in _join_touching(_drop_background(boxes, size[0]))
        if LARGE * area < (box[2] - box[0]) * (box[3] - box[1]) < BACKGROUND * area
        and box[3] > BAND * size[1]
        and box[1] < (1 - BAND) * size[1]
        and not any(_overlap(box, other) for other in taken)
    ]


def _drop_background(boxes: Sequence[Rectangle], width: float) -> list[Rectangle]:
    """Return the boxes without a background as wide as the page."""
    narrow = [box for box in boxes if box[2] - box[0] < width - SAME]
    return narrow if len(boxes) - len(narrow) >= TILES else list(boxes)


def _join_touching(boxes: Sequence[Rectangle]) -> list[Rectangle]:
    """Return the boxes, with touching ones joined."""
    done: list[Rectangle] = []
    for start in sorted(boxes):
        box = start
        while near := [d for d in done if _overlap(d, box, TOUCHING)]:
            done = [d for d in done if d not in near]
            box = join_boxes([box, *near])
        done.append(box)
    return sorted(done, key=lambda box: (box[1], box[0]))


def _overlap(one: Rectangle, other: Rectangle, near: float = 0.0) -> bool:
    return (
        one[0] < other[2] + near
        and other[0] < one[2] + near
        and one[1] < other[3] + near
        and other[1] < one[3] + near
    )


def add_figures(
    blocks: Iterable[Block],
    pages: Sequence[Page],
    figures: FiguresByPage,
) -> Iterator[Block]:
    """Return the blocks with a block without text for every picture, by page.

    Each follows the last block of its page that begins above it. A picture at the same
    place on two pages is a logo, and left out.
    """
    if not figures:
        yield from blocks
        return
    sizes = {page.number: page for page in pages}
    left = deque(
        (sizes[number], page_figures) for number, page_figures in _no_logos(figures)
    )
    held: list[Block] = []  # of one page
    reached = end = 0
    for block in blocks:
        if (block.page or 0) > reached:
            yield from _with_some(held, end, left, block.page or 0)
            end = held[-1].end if held else 0
            held, reached = [], block.page or 0
        held.append(block)
    yield from _with_some(held, end, left, math.inf)


def _with_some(
    blocks: Sequence[Block],
    end: int,
    left: deque[tuple[Page, list[FigureBox]]],
    to: float,
) -> Iterator[Block]:
    """Yield the blocks of a page and the pictures on pages before `to` from `left`.

    `end` is the end of the previous block.
    """
    after: dict[int, list[Block]] = defaultdict(list)
    while left and left[0][0].number < to:
        page, page_figures = left.popleft()
        for figure in page_figures:
            at = _place(blocks, page, figure)
            block_end = blocks[at].end if at >= 0 else end
            after[at].append(_figure(figure, page, block_end))
    yield from after.get(-1, ())
    for index, block in enumerate(blocks):
        yield block
        yield from after.get(index, ())


def _no_logos(
    figures: FiguresByPage,
) -> Iterator[tuple[int, list[FigureBox]]]:
    """Return the pictures of each page that are on no other page at the same place."""
    near: dict[tuple[int, int], list[tuple[int, Rectangle]]] = defaultdict(list)
    for number, page_figures in figures.items():
        for figure in page_figures:
            near[_spot(figure.box)].append((number, figure.box))

    def is_logo(number: int, box: Rectangle) -> bool:
        across, down = _spot(box)
        spots = product(range(across - 1, across + 2), range(down - 1, down + 2))
        others = (o for spot in spots for o in near.get(spot, ()))
        return any(n != number and _is_same(box, other) for n, other in others)

    for number, page_figures in figures.items():
        yield (
            number,
            [figure for figure in page_figures if not is_logo(number, figure.box)],
        )


def _spot(box: Rectangle) -> tuple[int, int]:
    return int(box[0] // SAME), int(box[1] // SAME)


def _is_same(one: Rectangle, other: Rectangle) -> bool:
    return all(abs(a - b) <= SAME for a, b in zip(one, other, strict=True))


def _place(blocks: Sequence[Block], page: Page, figure: FigureBox) -> int:
    """Return the index of the block to insert after, -1 for none."""
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        if (block.page or 0) < page.number or _top(block, page) < figure.box[1]:
            return index
    return -1


def _top(block: Block, page: Page) -> float:
    """Return the position of the block's first word; first cells may be empty."""
    at = bisect_left(page.words, block.start, key=itemgetter(0))
    if at == len(page.words) or page.words[at][0] >= block.end:
        return 0.0
    return page.words[at][3] * page.height


def _figure(figure: FigureBox, page: Page, at: int) -> Block:
    left, top, right, bottom = figure.box
    sides = left / page.width, top / page.height, right / page.width
    edges = [min(max(side, 0.0), 1.0) for side in (*sides, bottom / page.height)]
    box = Box(
        page=page.number, left=edges[0], top=edges[1], right=edges[2], bottom=edges[3]
    )
    return Block(
        kind=BlockKind.FIGURE,
        start=at,
        end=at,
        page=page.number,
        end_page=page.number,
        boxes=(box,),
        attributes={"figure": figure.kind},
    )
