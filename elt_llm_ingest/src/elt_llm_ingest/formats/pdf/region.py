"""A block of a page on its way: where it stands and the words in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from elt_llm_ingest.formats.pdf.table import Table
from elt_llm_ingest.formats.pdf.words import Line, Word, lines_of

SLACK = 1.5  # points by which words may stand out of their region
Rectangle = tuple[float, float, float, float]


@dataclass(eq=False)
class Region:
    """One block of a page in reading order: words, or a table of them."""

    kind: str
    box: Rectangle
    words: list[Word] = field(default_factory=list)
    table: Table | None = None
    block: Any = None
    whole: list[tuple[int, Line]] = field(default_factory=list)

    def take(self, index: int, line: Line) -> None:
        """Add the words of a whole line; `index` is its place on the page."""
        self.whole.append((index, line))
        self.words.extend(line.words)

    @cached_property
    def said(self) -> str:
        """What LiteParse read in the block, without blanks."""
        block = self.block
        parts = [block.marker or "", block.text or "", *(block.lines or [])]
        for row in [block.header or [], *(block.rows or [])]:
            parts.extend(cell.text for cell in row)
        return "".join("".join(parts).split())

    @property
    def lines(self) -> list[Line]:
        """The words as lines from top to bottom: those of the page, where it can be."""
        if sum([len(line.words) for _, line in self.whole]) != len(self.words):
            return lines_of(self.words)
        for (before, above), (index, line) in pairwise(self.whole):
            if index != before + 1 and line.top < above.bottom:
                return lines_of(self.words)
        return [line for _, line in self.whole]


def rectangle(box: Any) -> Rectangle:
    """Left, top, right, bottom of a LiteParse box."""
    return box.x, box.y, box.x + box.width, box.y + box.height


def box_of(words: Sequence[Word]) -> Rectangle:
    """Left, top, right, bottom of all words together."""
    return (
        min([word.left for word in words]), min([word.top for word in words]),
        max([word.right for word in words]), max([word.bottom for word in words]),
    )  # fmt: skip


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
