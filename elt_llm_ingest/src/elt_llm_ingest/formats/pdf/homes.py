"""Which region of a page each word belongs to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from elt_llm_ingest.formats.pdf.region import SLACK, Rectangle, Region, area
from elt_llm_ingest.formats.pdf.words import FOLDED, Line, Word

NEAR = 4  # points; regions farther apart share no word
Neighbours = Mapping[int, Sequence[Region]]


def settle(
    regions: Sequence[Region], words: Sequence[Word], lines: Sequence[Line]
) -> list[Word]:
    """Give the words to their regions; those that are in none are returned.

    `lines` are those of the page from top to bottom. One that holds no other words and
    stands in one region only is given as a whole.
    """
    near = _neighbours(regions)
    free = set(map(id, words))
    last: Region | None = None
    for index, line in enumerate(lines):
        if line.words[0].rotated or not free.issuperset(map(id, line.words)):
            continue
        # A line that the last home holds is in no other that is not near to it.
        held = [last] if last is not None and _holds_all(last, line) else regions
        home = _only_home(held, near, line)
        if home is not None:
            last = home
            home.take(index, line)
            free.difference_update(map(id, line.words))
    strays: list[Word] = []
    if not free:
        return strays
    last = None
    for word in words:
        if id(word) in free:
            if last is None or id(last) in near or not _holds(last, word):
                last = _home(regions, word)
            (last.words if last else strays).append(word)
    return strays


def _neighbours(regions: Sequence[Region]) -> dict[int, list[Region]]:
    """The regions that touch a region, by its id, of those that others touch."""
    found: dict[int, list[Region]] = defaultdict(list)
    order = sorted(regions, key=_top)
    for index, one in enumerate(order):
        left, _, right, bottom = one.box
        for other in order[index + 1 :]:
            box = other.box
            if box[1] > bottom + NEAR:
                break
            if left <= box[2] + NEAR and box[0] <= right + NEAR:
                found[id(one)].append(other)
                found[id(other)].append(one)
    return found


def _top(region: Region) -> float:
    return region.box[1]


def _only_home(
    regions: Sequence[Region], near: Neighbours, line: Line
) -> Region | None:
    """The region that holds the whole line, if no other reaches into it."""
    for region in regions:
        if _holds_all(region, line):
            others = near.get(id(region), ())
            return None if any(_reaches(r.box, line) for r in others) else region
    return None


def _holds_all(region: Region, line: Line) -> bool:
    left, top, right, bottom = region.box
    return (
        top - SLACK <= line.top and line.bottom <= bottom + SLACK
        and left - SLACK <= line.left and line.right <= right + SLACK
    )  # fmt: skip


def _reaches(box: Rectangle, line: Line) -> bool:
    left, top, right, bottom = box
    return (
        left - SLACK <= line.right and line.left <= right + SLACK
        and top - SLACK <= line.bottom and line.top <= bottom + SLACK
    )  # fmt: skip


def _holds(region: Region, word: Word) -> bool:
    x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    left, top, right, bottom = region.box
    return left <= x <= right and top <= y <= bottom


def _home(regions: Sequence[Region], word: Word) -> Region | None:
    x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    inside = []
    for region in regions:
        left, top, right, bottom = region.box
        if top - SLACK <= y <= bottom + SLACK and left - SLACK <= x <= right + SLACK:
            inside.append(region)
    if len(inside) <= 1:
        return inside[0] if inside else None
    folded = word.text.translate(FOLDED)
    said = [region for region in inside if folded in region.said]
    return min(said or inside, key=area)
