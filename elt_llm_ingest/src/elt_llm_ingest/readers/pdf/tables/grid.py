"""Ruled tables: the grid formed by the lines of a page."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elt_llm_ingest.readers.pdf.tables.drawn_lines import Rule, Rules

TOUCH = 3.0  # points; lines nearer than this meet
SAME = 3.0  # points; lines nearer than this are one line of the grid
OPEN = 8.0  # points; a line this far beyond the last one opens a cell
WALL = 0.6  # share of a cell's side that a line must cover
MOST_LINES = 400  # more lines are a drawing, and each pair is compared
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True)
class Grid:
    """A ruled table: the edges of its columns and rows, and the places of its cells.

    Each of `cells` is first row, last row, first column, last column, from 0 and
    inclusive.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[tuple[int, int, int, int], ...]

    @property
    def box(self) -> Rectangle:
        """Return left, top, right, bottom."""
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]

    def box_of(self, cell: tuple[int, int, int, int]) -> Rectangle:
        """Return left, top, right, bottom of a cell."""
        row, end_row, column, end_column = cell
        return (
            self.xs[column], self.ys[row], self.xs[end_column + 1], self.ys[end_row + 1]
        )  # fmt: skip


def grids_of(rules: Rules) -> list[Grid]:
    """Return the grids of a page from top to bottom, with at least two columns."""
    if len(rules.across) + len(rules.down) > MOST_LINES:
        return []
    drawn_grids = [_grid(across, down) for across, down in _meeting(rules)]
    grids = [grid for grid in drawn_grids if grid is not None]
    return sorted(grids, key=lambda grid: (grid.ys[0], grid.xs[0]))


def _meeting(rules: Rules) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Group the connected lines."""
    parent = list(range(len(rules.across) + len(rules.down)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = index = parent[parent[index]]
        return index

    for i, across in enumerate(rules.across):
        for j, down in enumerate(rules.down, start=len(rules.across)):
            if _meet(across, down):
                parent[root(j)] = root(i)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for i, across in enumerate(rules.across):
        groups[root(i)][0].append(across)
    for j, down in enumerate(rules.down, start=len(rules.across)):
        groups[root(j)][1].append(down)
    yield from groups.values()


def _meet(across: Rule, down: Rule) -> bool:
    return (
        across.start - TOUCH <= down.at <= across.end + TOUCH
        and down.start - TOUCH <= across.at <= down.end + TOUCH
    )


def _grid(across: Sequence[Rule], down: Sequence[Rule]) -> Grid | None:
    if not across or not down:
        return None
    xs = _places(down, across)
    ys = _places(across, down)
    if len(xs) <= 2 or len(ys) <= 1:  # noqa: PLR2004 - one column is not a table
        return None
    cells = tuple(sorted(_cells(xs, ys, across, down)))
    return Grid(tuple(xs), tuple(ys), cells)


def _places(rules: Sequence[Rule], crossing: Sequence[Rule]) -> list[float]:
    """Return the positions of the rules, and the open ends of those that cross them."""
    places: list[float] = []
    for rule in sorted(rules):
        if not places or rule.at - places[-1] > SAME:
            places.append(rule.at)
    first = min(rule.start for rule in crossing)
    last = max(rule.end for rule in crossing)
    if places[0] - first > OPEN:
        places.insert(0, first)
    if last - places[-1] > OPEN:
        places.append(last)
    return places


def _cells(
    xs: Sequence[float],
    ys: Sequence[float],
    across: Sequence[Rule],
    down: Sequence[Rule],
) -> Iterator[tuple[int, int, int, int]]:
    """Return the cells of the grid, merging places without a line between."""
    rows, columns = len(ys) - 1, len(xs) - 1
    right = _walls(xs, ys, down)
    below = _walls(ys, xs, across)
    left = {(row, column) for row in range(rows) for column in range(columns)}
    for row in range(rows):
        for column in range(columns):
            if (row, column) not in left:
                continue
            end_column, end_row = column, row
            while (
                end_column + 1 < columns
                and (end_column + 1, row) not in right
                and (row, end_column + 1) in left
            ):
                end_column += 1
            span = range(column, end_column + 1)
            while (
                end_row + 1 < rows
                and all((end_row + 1, c) not in below for c in span)
                and all((end_row + 1, c) in left for c in span)
                and not any((c, end_row + 1) in right for c in span if c > column)
            ):
                end_row += 1
            left -= {(r, c) for r in range(row, end_row + 1) for c in span}
            yield row, end_row, column, end_column


def _walls(
    places: Sequence[float], bands: Sequence[float], rules: Sequence[Rule]
) -> set[tuple[int, int]]:
    """Return (place, band) for each side of a cell that a line covers."""
    walls = set()
    for index, place in enumerate(places):
        near = [rule for rule in rules if abs(rule.at - place) <= SAME]
        for band in range(len(bands) - 1):
            low, high = bands[band], bands[band + 1]
            inside = (min(r.end, high) - max(r.start, low) for r in near)
            if sum(length for length in inside if length > 0) >= WALL * (high - low):
                walls.add((index, band))
    return walls
