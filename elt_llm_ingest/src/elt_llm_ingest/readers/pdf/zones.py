"""Cuts a page into the columns of its text, and the bands above and below them.

The recursive X-Y cut (Nagy and Seth, 1984; with boxes instead of pixels: Ha, Haralick
and Phillips, 1995), with two changes. A page is not cut at its widest gap but along the
free strip with most lines on both sides, which may begin and end anywhere: a title
above two columns or a table across them ends it (the whitespace rectangles of Breuel,
2002). And a strip is a gutter only if the file's text runs down one side of it and then
down the other; if the text crosses it from row to row, the sides are cells of a table.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from elt_llm_ingest.readers.pdf.content_stream import Fragment, follows
from elt_llm_ingest.readers.pdf.geometry import Rectangle, join_boxes

LINES = 3  # least number on either side of a gutter
NARROW = 0.45  # of the letter height: the least width of a gutter
LEFT_EARLY = 0.1  # of the lines: how often the text may change columns and back
BESIDE = 0.8  # of one side's lines level with the other's: more are table rows
LEVEL = 1.5  # points
SHORT = 3  # words; most lines of text have at least this many
TRIED = 8  # strips of a zone


@dataclass(eq=False)
class Item:
    """A unit that no gutter crosses: fragments joined in a line, or a table."""

    fragments: list[Fragment]
    box: Rectangle

    @property
    def place(self) -> int:
        """Return its start in the file's order; below 0 if unknown."""
        return min((f.place for f in self.fragments if f.place >= 0), default=-1)

    @property
    def words(self) -> int:
        """Return the number of words."""
        return sum(len(f.words) for f in self.fragments)


@dataclass(frozen=True)
class Strip:
    """A free strip from one row to another, both included."""

    first: int
    last: int
    left: float
    right: float


Zone = list[Item]
IsGutter = Callable[[Zone, Zone], bool]


def items_of(fragments: Sequence[Fragment], *, by_file: bool = True) -> list[Item]:
    """Return one item per fragment, joining those that continue on the same line.

    Without `by_file`, every fragment is a separate item.
    """
    items: list[Item] = []
    for fragment in fragments:
        last = items[-1] if items else None
        if last is not None and by_file and _goes_on(last.fragments[-1], fragment):
            last.fragments.append(fragment)
            last.box = join_boxes((last.box, fragment.box))
        else:
            items.append(Item([fragment], fragment.box))
    return items


def _goes_on(before: Fragment, fragment: Fragment) -> bool:
    return before.row == fragment.row and follows(before.words[-1], fragment.words[0])


def zones_of(items: Sequence[Item], is_gutter: IsGutter) -> list[Zone]:
    """Return the items in zones, in reading order; one zone without a gutter."""
    rows = _rows(items)
    if len(rows) < LINES:
        return [list(items)]
    height = median([item.box[3] - item.box[1] for item in items])
    ranked = sorted(
        _strips(rows, NARROW * height), key=lambda s: _rank(rows, s), reverse=True
    )
    for strip in ranked[:TRIED]:
        above, left, right, below = _parts(rows, strip)
        if min(len(left), len(right)) >= LINES and is_gutter(left, right):
            parts = (part for part in (above, left, right, below) if part)
            return [zone for part in parts for zone in zones_of(part, is_gutter)]
    return [list(items)]


def _rows(items: Sequence[Item]) -> list[list[Item]]:
    """Return the items from top to bottom, grouped by height."""
    rows: list[list[Item]] = []
    middle = float("-inf")
    for item in sorted(items, key=lambda i: (i.box[1] + i.box[3], i.box[0])):
        _, top, _, bottom = item.box
        if rows and top < middle < bottom:
            rows[-1].append(item)
        else:
            rows.append([item])
            middle = (top + bottom) / 2
    return [sorted(row, key=lambda i: i.box[0]) for row in rows]


def _strips(rows: Sequence[Sequence[Item]], narrow: float) -> Iterator[Strip]:
    """Return the free strips of a zone, each as long as possible for its width."""
    left = min(item.box[0] for row in rows for item in row)
    right = max(item.box[2] for row in rows for item in row)
    live: dict[tuple[float, float], int] = {}  # the sides of each, and its first row
    for at, row in enumerate(rows):
        going: dict[tuple[float, float], int] = {}
        for (a, b), first in live.items():
            rest = _free(row, a, b, narrow)
            if rest != [(a, b)]:
                yield Strip(first, at - 1, a, b)
            for gap in rest:
                going[gap] = min(first, going.get(gap, first))
        for gap in _free(row, left, right, narrow):
            going.setdefault(gap, at)
        live = going
    for (a, b), first in live.items():
        yield Strip(first, len(rows) - 1, a, b)


def _free(
    row: Sequence[Item], left: float, right: float, narrow: float
) -> list[tuple[float, float]]:
    """Return the gaps of a row between two edges that are wide enough."""
    gaps = []
    start = left
    for item in row:
        if item.box[0] - start >= narrow and item.box[0] <= right:
            gaps.append((start, item.box[0]))
        elif item.box[0] > right:
            break
        start = max(start, item.box[2])
    if right - start >= narrow:
        gaps.append((start, right))
    return gaps


def _rank(
    rows: Sequence[Sequence[Item]], strip: Strip
) -> tuple[int, int, float, float]:
    """Return the lines on its shorter side, all lines, its width, and its position."""
    items = [i for row in rows[strip.first : strip.last + 1] for i in row]
    lefts = sum(_is_left(item, strip) for item in items)
    shorter = min(lefts, len(items) - lefts)
    return shorter, len(items), strip.right - strip.left, -strip.left


def _parts(
    rows: Sequence[Sequence[Item]], strip: Strip
) -> tuple[Zone, Zone, Zone, Zone]:
    """Return the parts above a strip, on its left, on its right, and below.

    A line at either end without text on the other side may not belong to a column: at
    the top right it belongs above if it is read before the left column; at the bottom
    left it belongs below if it is read after the right one.
    """
    first, last = strip.first, strip.last
    between = [item for row in rows[first : last + 1] for item in row]
    lefts = [item.place for item in between if _is_left(item, strip)]
    rights = [item.place for item in between if not _is_left(item, strip)]
    while first < last and all(
        not _is_left(item, strip) and 0 <= item.place < min(lefts, default=0)
        for item in rows[first]
    ):
        first += 1
    while first < last and all(
        _is_left(item, strip) and item.place > max(rights, default=item.place)
        for item in rows[last]
    ):
        last -= 1
    inside = [item for row in rows[first : last + 1] for item in row]
    return (
        [item for row in rows[:first] for item in row],
        [item for item in inside if _is_left(item, strip)],
        [item for item in inside if not _is_left(item, strip)],
        [item for row in rows[last + 1 :] for item in row],
    )


def _is_left(item: Item, strip: Strip) -> bool:
    return item.box[2] <= strip.left


def is_gutter_of_file(left: Zone, right: Zone) -> bool:
    """Return whether the file's text runs down one side and then the other.

    Only lines of text are compared, because a number may be anywhere on a page and its
    position in the file is then unknown.
    """
    if _is_table(left, right):
        return False
    order = sorted(
        (item.place, side)
        for side, zone in enumerate((left, right))
        for item in zone
        if item.place >= 0 and item.words >= SHORT
    )
    changes = sum(one != other for (_, one), (_, other) in pairwise(order))
    return changes <= 1 + 2 * int(LEFT_EARLY * min(len(left), len(right)))


def _is_table(left: Zone, right: Zone) -> bool:
    """Return whether the sides are table columns: no prose, or labels and rows."""
    prose = [_is_prose(left), _is_prose(right)]
    if all(prose):
        return False
    if not any(prose):
        return True
    one, other = (left, right) if prose[1] else (right, left)
    level = sum(any(_is_level(item, mate) for mate in other) for item in one)
    return level >= BESIDE * len(one)


def _is_prose(zone: Zone) -> bool:
    return 2 * sum(item.words >= SHORT for item in zone) >= len(zone)


def _is_level(one: Item, two: Item) -> bool:
    return abs(one.box[1] + one.box[3] - two.box[1] - two.box[3]) <= 2 * LEVEL
