"""Regions and tables of a page with their words, and recognition of numbers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from elt_llm_ingest.readers.pdf.words import Line, Word, join_words, lines_of

Row = list[list[Word]]
Spans = dict[tuple[int, int], tuple[int, int]]


@dataclass(eq=False)
class Table:
    """A table as rows of cells of words; every row has a cell for every column.

    `header` is the number of header rows. `spans`: (row, column) to the number of rows
    and columns that a cell covers, if more than one; the covered cells are empty.
    `settled`: its cells are final; `drawn`: with lines between them; `mended`: only
    some of the lines are drawn. `edges`: the left edges of its drawn columns, and the
    right edge of the last. `continues`: its rows are of the table on the page before.
    """

    rows: list[Row]
    header: int = 0
    title: str = ""
    spans: Spans = field(default_factory=dict)
    settled: bool = False
    drawn: bool = False
    mended: bool = False
    edges: tuple[float, ...] = ()
    continues: bool = False

    def covered_places(self) -> set[tuple[int, int]]:
        """Return the places that a cell from elsewhere covers."""
        return {
            (row + down, column + across)
            for (row, column), (rows, columns) in self.spans.items()
            for down in range(rows)
            for across in range(columns)
            if (down, across) != (0, 0)
        }

    def words(self) -> Iterator[Word]:
        """Return all words, row by row."""
        for row in self.rows:
            for cell in row:
                yield from cell

    def headers(self) -> tuple[str, ...]:
        """Return the header of each column, header rows joined with " / "."""
        paths: list[list[str]] = [[] for _ in self.rows[0]] if self.rows else []
        for row in range(self.header):
            for column, cell in enumerate(self.rows[row]):
                name = " ".join(cell_text(cell).split())
                _, columns = self.spans.get((row, column), (1, 1))
                for covered in range(column, min(column + columns, len(paths))):
                    if name and name not in paths[covered][-1:]:
                        paths[covered].append(name)
        return tuple(" / ".join(path) for path in paths)


def cell_text(cell: Sequence[Word]) -> str:
    """Return the words of a cell on one line."""
    return join_words(cell)


SLACK = 1.5  # points by which words may extend beyond their region
Rectangle = tuple[float, float, float, float]
BAND = 0.12  # of the page height, at top and bottom, where furniture may be


class Boxed(Protocol):
    """A word or a line: its edges in points from the left and the top of the page."""

    left: float
    top: float
    right: float
    bottom: float


class FigureBox(NamedTuple):
    """A picture without caption, in points, and the kind of figure it is."""

    box: Rectangle
    kind: str


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
        """Add the words of a whole line; `index` is its position on the page."""
        self.whole.append((index, line))
        self.words.extend(line.words)

    @cached_property
    def block_text(self) -> str:
        """Return LiteParse's text of the block, without spaces."""
        block = self.block
        parts = [block.marker or "", block.text or "", *(block.lines or [])]
        for row in [block.header or [], *(block.rows or [])]:
            parts.extend(cell.text for cell in row)
        return "".join("".join(parts).split())

    @property
    def lines(self) -> list[Line]:
        """Return the words as lines from top to bottom, preferably the page's lines."""
        if sum([len(line.words) for _, line in self.whole]) != len(self.words):
            return lines_of(self.words)
        for (before, above), (index, line) in pairwise(self.whole):
            if index != before + 1 and line.top < above.bottom:
                return lines_of(self.words)
        return [line for _, line in self.whole]


def rectangle(box: Any) -> Rectangle:
    """Return left, top, right, bottom of a LiteParse box."""
    return box.x, box.y, box.x + box.width, box.y + box.height


def box_of(parts: Sequence[Boxed]) -> Rectangle:
    """Return left, top, right, bottom of all words or lines together."""
    return (
        min([part.left for part in parts]), min([part.top for part in parts]),
        max([part.right for part in parts]), max([part.bottom for part in parts]),
    )  # fmt: skip


def join_boxes(boxes: Iterable[Rectangle]) -> Rectangle:
    """Return the smallest rectangle around one or more rectangles."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def overlaps(region: Region, other: Region) -> bool:
    """Return whether a third of a region is in the other."""
    left, top = max(region.box[0], other.box[0]), max(region.box[1], other.box[1])
    right = min(region.box[2], other.box[2])
    bottom = min(region.box[3], other.box[3])
    shared = max(right - left, 0.0) * max(bottom - top, 0.0)
    return shared > 0.3 * max(area(region), 1.0)


def area(region: Region) -> float:
    """Return the area in square points."""
    left, top, right, bottom = region.box
    return (right - left) * (bottom - top)


FIGURES = re.compile(r"^[\s$€£(]*[-\u2013]?[0-9][0-9.,\s]*[%)]*\s*$")
DASH = re.compile(r"[$€£\s]*[-\u2013\u2014]")
NUMBER = re.compile(
    r"^[$€£]?\(?[-\u2013\u2212]?[$€£]?[0-9][0-9.,]*%?\)?%?$|^[-\u2013\u2014]$|^[$€£]$"
)


def are_numbers(text: str) -> bool:
    """Return whether every word is a number."""
    has_digit = any(char.isdigit() for char in text)
    return has_digit and all(NUMBER.match(part) for part in text.split())


def is_one_number(text: str) -> bool:
    """Return whether there is one number with symbols, or a dash for none."""
    if DASH.fullmatch(text):
        return True
    parts = text.split()
    if not all(map(NUMBER.match, parts)):
        return False
    return len([part for part in parts if any(map(str.isdigit, part))]) == 1


def is_year(text: str) -> bool:
    """Return whether it is a year."""
    return bool(re.fullmatch(r"(19|20)[0-9]{2}", text.strip()))
