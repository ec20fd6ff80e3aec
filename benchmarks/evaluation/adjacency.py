"""The measure of the ICDAR 2013 table competition: pairs of neighbouring cells.

M. Göbel, T. Hassan, E. Oro, G. Orsi, "ICDAR 2013 Table Competition", and the authors'
evaluation program: every cell with content is paired with the next one to the right
and the next one below; blank cells between two are counted and must agree.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

Direction = Literal["right", "down"]
Relation = tuple[Direction, str, str, int]
Rectangle = tuple[float, float, float, float]


class GridCell(NamedTuple):
    """A cell of a grid: first and last row and column from 0, and what it says."""

    row: int
    end_row: int
    column: int
    end_column: int
    text: str
    box: Rectangle | None = None


class Score(NamedTuple):
    """Counts of relations; their ratios are the figures."""

    right: int = 0
    found: int = 0
    true: int = 0

    @property
    def precision(self) -> float:
        """Share of the relations found that are true; 1 if none was found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of the true relations that were found; 1 if there is none."""
        return self.right / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        total = self.found + self.true
        return 2 * self.right / total if total else 1.0

    def plus(self, other: "Score") -> "Score":
        """Both counts together."""
        return Score(
            self.right + other.right, self.found + other.found, self.true + other.true
        )


def normal(text: str) -> str:
    """Text as the competition compares it: no blanks, capitals, marks as "_"."""
    return re.sub(r"\W", "_", re.sub(r"\s", "", text), flags=re.ASCII).upper()


def relations(cells: Sequence[GridCell]) -> Counter[Relation]:
    """The relations of a table; a pair that several rows show is counted once."""
    grid: dict[tuple[int, int], int] = {}
    for index, cell in enumerate(cells):
        if normal(cell.text):
            for row in range(cell.row, cell.end_row + 1):
                for column in range(cell.column, cell.end_column + 1):
                    grid[row, column] = index
    pairs = {
        *(("right", *pair) for pair in _pairs(sorted(grid.items()))),
        *(("down", *pair) for pair in _pairs(sorted(_turned(grid).items()))),
    }
    firsts: dict[tuple[str, int, int], int] = {}
    for direction, one, two, blanks in sorted(pairs):
        firsts.setdefault((direction, one, two), blanks)
    return Counter(
        ("right" if d == "right" else "down", normal(cells[a].text),
         normal(cells[b].text), blanks)
        for (d, a, b), blanks in firsts.items()
    )  # fmt: skip


def _turned(grid: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    return {(column, row): index for (row, column), index in grid.items()}


def _pairs(
    places: Sequence[tuple[tuple[int, int], int]],
) -> Iterator[tuple[int, int, int]]:
    """Cell, next cell on the same line, blank places between."""
    before: tuple[tuple[int, int], int] | None = None
    for (line, at), index in places:
        if before is not None and before[0][0] == line and before[1] != index:
            yield before[1], index, at - before[0][1] - 1
        before = (line, at), index


def compare(found: Sequence[GridCell], true: Sequence[GridCell]) -> Score:
    """Count the relations of a found table that the true table has."""
    ours, theirs = relations(found), relations(true)
    return Score((ours & theirs).total(), ours.total(), theirs.total())


def compare_page(
    found: Sequence[Sequence[GridCell]], true: Sequence[Sequence[GridCell]]
) -> tuple[Score, list[int | None]]:
    """The score of a page's tables, and the found table matched to each true one.

    Each true table takes the one left that agrees best; a table nobody takes counts
    as found and wrong.
    """
    left = list(range(len(found)))
    total = Score()
    taken: list[int | None] = []
    for table in true:
        scores = {i: compare(found[i], table) for i in left}
        best = max(left, key=lambda i: (scores[i].right, -i), default=None)
        if best is None or not scores[best].right:
            total = total.plus(compare([], table))
            taken.append(None)
            continue
        left.remove(best)
        taken.append(best)
        total = total.plus(scores[best])
    for index in left:
        total = total.plus(compare(found[index], []))
    return total, taken
