"""The order of recognised words on pages of two columns.

LiteParse reads scans across columns where the space between them is narrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

GUTTER = 8.0  # points between columns, at least
LINES = 6  # of two columns, at least
WORDS = 3  # a side of the gutter on a line, on average: fewer are a table


@dataclass(frozen=True)
class Spot:
    """A word and where it stands in `page.text_items`: item, then word."""

    item: int
    index: int
    word: Any

    @property
    def middle(self) -> float:
        """Half way down."""
        return float(self.word.y + self.word.height / 2)


Line = list[Spot]


def in_columns(spots: Sequence[Spot]) -> list[Spot]:
    """The words in reading order; as they are where there are no columns."""
    lines = _lines(spots)
    done: list[Spot] = []
    found = False
    at = 0
    while at < len(lines):
        end, gutter = _band(lines, at)
        if gutter is None:
            done += lines[at]
            at += 1
            continue
        found = True
        band = lines[at:end]
        done += [s for line in band for s in line if s.word.x < gutter]
        done += [s for line in band for s in line if s.word.x >= gutter]
        at = end
    return done if found else list(spots)


def _lines(spots: Sequence[Spot]) -> list[Line]:
    """Words on one height, over the whole page, from left to right."""
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
    """Where lines with one gutter end, and the gutter; None where there is none."""
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
    """What of the gutter no word of the line stands in; None for too little."""
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
