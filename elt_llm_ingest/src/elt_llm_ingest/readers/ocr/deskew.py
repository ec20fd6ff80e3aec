"""Straighten rotated and skewed pages for OCR, and map the results back.

Lines can only be read when level; a citation shows the page as it is in the file.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

from elt_llm_core.document import Block, Page
from elt_llm_core.results import Box

Sides = tuple[float, float, float, float]
UPRIGHT = 0.75  # pages with a better confidence are not rotated
LONG = 4  # letters of a word that is wider than high if it is upright
ASKEW = 0.003  # slope of lines from which a page is straightened
STEEP = 0.1  # no scan is skewed more; such slopes are no lines
ENOUGH = 10  # neighbours that must agree
HALF, QUARTER, THREE_QUARTERS = 180, 90, 270


@dataclass(frozen=True)
class PageTilt:
    """The rotation of a page: clockwise degrees, then the slope of its lines."""

    angle: int = 0
    slope: float = 0.0

    @property
    def is_straight(self) -> bool:
        """Return whether nothing has to be moved."""
        return not (self.angle or self.slope)


def choose_angles(page: Any) -> tuple[int, ...]:
    """Return the rotations to try; none if the page reads well."""
    words = [word for item in page.text_items for word in item.words]
    long = [word for word in words if len(word.text) > len("the")]
    if sum(word.height > word.width for word in long) > len(long) / 2:
        return 90, 270
    return (180, 90, 270) if long and mean_confidence(page) < UPRIGHT else ()


def mean_confidence(page: Any) -> float:
    """Return the confidence of the upright words, 0 to 1."""
    sizes = [
        (len(i.text), i.confidence or 0, i.width, i.height) for i in page.text_items
    ]
    total = sum(size for size, *_ in sizes)
    good = sum(
        n * sure for n, sure, width, height in sizes if n < LONG or width > height
    )
    return good / total if total else 0.0


def slope_of(page: Any) -> float:
    """Return the slope of the lines of a recognised page, 0 if they are level."""
    slopes = sorted(_slopes(page))
    slope = float(median(slopes)) if len(slopes) >= ENOUGH else 0.0
    return slope if abs(slope) > ASKEW else 0.0


def _slopes(page: Any) -> Iterator[float]:
    words = [word for item in page.text_items for word in item.words]
    for one, other in pairwise(words):
        across = (other.x + other.width / 2) - (one.x + one.width / 2)
        down = (other.y + other.height) - (one.y + one.height)
        if across > one.height and abs(down) < STEEP * across:
            yield down / across


def straighten(page: Any, slope: float) -> Any:
    """Return LiteParse's page with words, lines and blocks moved to level lines."""
    if not slope:
        return page

    def shear(part: Any) -> Any:
        middle = part.x + part.width / 2
        return replace(part, y=part.y - slope * (middle - page.width / 2))

    items = [
        replace(shear(item), words=[shear(word) for word in item.words])
        for item in page.text_items
    ]
    blocks = [
        replace(block, bbox=shear(block.bbox)) if block.bbox else block
        for block in page.blocks or []
    ]
    return replace(page, text_items=items, blocks=blocks)


def place_block_in_file(
    block: Block, lies: Mapping[int, PageTilt], pages: Mapping[int, Page]
) -> Block:
    """Return the block with its boxes in the coordinates of the file."""
    cells = tuple(
        cell.model_copy(update={"boxes": _in_file(cell.boxes, lies, pages)})
        for cell in block.cells
    )
    boxes = _in_file(block.boxes, lies, pages)
    return block.model_copy(update={"cells": cells, "boxes": boxes})


def place_page_in_file(page: Page, lies: Mapping[int, PageTilt]) -> Page:
    """Return the page with words and size in the coordinates of the file."""
    lie = lies.get(page.number, PageTilt())
    if lie.is_straight:
        return page
    words = [(s, e, *_back((a, b, c, d), lie, page)) for s, e, a, b, c, d in page.words]
    sides = (page.width, page.height)
    width, height = sides if lie.angle in (0, HALF) else sides[::-1]
    return page.model_copy(update={"words": words, "width": width, "height": height})


def _in_file(
    boxes: Iterable[Box], lies: Mapping[int, PageTilt], pages: Mapping[int, Page]
) -> tuple[Box, ...]:
    done = []
    for box in boxes:
        lie, page = lies.get(box.page, PageTilt()), pages.get(box.page)
        if lie.is_straight or page is None:
            done.append(box)
            continue
        sides = _back((box.left, box.top, box.right, box.bottom), lie, page)
        named = dict(zip(("left", "top", "right", "bottom"), sides, strict=True))
        done.append(box.model_copy(update=named))
    return tuple(done)


def _back(sides: Sides, lie: PageTilt, page: Page) -> Sides:
    """Map a box of the straight page, as fractions, to the page of the file."""
    left, top, right, bottom = sides
    shift = lie.slope * ((left + right) / 2 - 0.5) * page.width / page.height
    top, bottom = _r(top + shift), _r(bottom + shift)
    if lie.angle == QUARTER:
        return _r(1 - bottom), left, _r(1 - top), right
    if lie.angle == HALF:
        return _r(1 - right), _r(1 - bottom), _r(1 - left), _r(1 - top)
    if lie.angle == THREE_QUARTERS:
        return top, _r(1 - right), bottom, _r(1 - left)
    return left, top, right, bottom


def _r(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 5)
