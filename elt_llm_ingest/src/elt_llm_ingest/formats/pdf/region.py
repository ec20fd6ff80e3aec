"""A block of a page on its way: where it stands and the words in it."""

from dataclasses import dataclass, field
from typing import Any

from elt_llm_ingest.formats.pdf.table import Table
from elt_llm_ingest.formats.pdf.words import Word

Rectangle = tuple[float, float, float, float]


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


def overlaps(region: Region, other: Region) -> bool:
    """Whether a third of a region lies in the other."""
    left, top = max(region.box[0], other.box[0]), max(region.box[1], other.box[1])
    right = min(region.box[2], other.box[2])
    bottom = min(region.box[3], other.box[3])
    shared = max(right - left, 0.0) * max(bottom - top, 0.0)
    return shared > 0.3 * max(area(region), 1.0)


def area(region: Region) -> float:
    """Square points."""
    left, top, right, bottom = region.box
    return (right - left) * (bottom - top)
