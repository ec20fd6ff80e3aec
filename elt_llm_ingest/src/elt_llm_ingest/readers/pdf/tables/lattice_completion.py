"""Complete drawn grids: column and row lines that are missing but implied by words.

Ruling lines are evidence. A line that is drawn in one row only, such as the header, may
apply to every row, and rows may have no lines at all. Each undivided cell is
tentatively split where lines exist elsewhere and where words leave a strip free; the
split is kept if it explains the words at a lower cost than the whole cell.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from elt_llm_ingest.readers.pdf.geometry import Table, is_one_number
from elt_llm_ingest.readers.pdf.tables.aligned import pieces_of
from elt_llm_ingest.readers.pdf.tables.column_gutters import (
    Columns,
    columns_of,
    place_words,
)
from elt_llm_ingest.readers.pdf.tables.grid import Grid, Rectangle
from elt_llm_ingest.readers.pdf.tables.row_breaks import cut, least_gap, log_odds
from elt_llm_ingest.readers.pdf.words import Line, Word, lines_of

# Costs in nats, like those of row breaks.
GAP = 3.0  # a gap wider than any blank in a cell; one line in twenty has one
COLUMN = 6.0  # a column without lines; two such gaps do not suffice
EMPTY = 0.7  # an empty place; as likely as one with words
CROSSING = 3.0  # words over several columns
FEW = 3  # bands up to this number are no evidence of rows: header, body, totals
UNDRAWN = 2.0  # a row that ends without a line in a table that has lines
RULED = 2.0  # per drawn row, because tables with some row lines usually have all
OFF = 0.35  # letter heights; tolerated offset of a centred cell
LEAST = 1.0  # least gain of all new rows together
Cell = tuple[int, int, int, int]
Edges = dict[Cell, list[float]]


def complete_grid(grid: Grid, words: Sequence[Word]) -> Grid:
    """Return the grid with missing edges that the words imply.

    The same grid if there are none.
    """
    edges = _column_edges(grid, words)
    xs = sorted({*grid.xs, *(x for places in edges.values() for x in places)})
    ys = sorted({*grid.ys, *_row_edges(grid, xs, words)})
    if not edges and len(ys) == len(grid.ys):
        return grid
    cells = sorted(_cells(grid, (xs, ys), edges, words))
    return Grid(tuple(xs), tuple(ys), tuple(cells))


def _column_edges(grid: Grid, words: Sequence[Word]) -> Edges:
    """Return the edges that split cells. The block with most lines has priority."""
    blocks = [(_lines(grid, cells, words), cells) for cells in _blocks(grid)]
    blocks.sort(key=lambda block: -len(block[0]))
    known = set(grid.xs)
    column_edges: Edges = {}
    for lines, cells in blocks:
        left, _, right, _ = grid.box_of(cells[0])
        inner = sorted(x for x in known if left < x < right)
        edges = choose_edges(lines, inner, COLUMN * max(_walls(grid, cells), 1))
        known.update(edges)
        if edges:
            column_edges.update(dict.fromkeys(cells, edges))
    return column_edges


def _blocks(grid: Grid) -> Iterator[list[Cell]]:
    """Return groups of consecutive one-row cells that fill the same columns."""
    flat = [cell for cell in grid.cells if cell[0] == cell[1]]
    flat.sort(key=lambda cell: (cell[2], cell[3], cell[0]))
    for _, same in groupby(flat, key=lambda cell: cell[2:]):
        block: list[Cell] = []
        for cell in same:
            if block and cell[0] != block[-1][0] + 1:
                yield block
                block = []
            block.append(cell)
        yield block


def _lines(grid: Grid, cells: Sequence[Cell], words: Sequence[Word]) -> list[Line]:
    """Return the lines of words in consecutive cells."""
    left, top, _, _ = grid.box_of(cells[0])
    _, _, right, bottom = grid.box_of(cells[-1])
    return _lines_in((left, top, right, bottom), words)


def _lines_in(box: Rectangle, words: Sequence[Word]) -> list[Line]:
    left, top, right, bottom = box
    here = [
        word
        for word in words
        if left <= word.middle[0] < right and top <= word.middle[1] < bottom
    ]
    return lines_of(here) if here else []


def _walls(grid: Grid, cells: Sequence[Cell]) -> int:
    """Return how many lines separate the columns of the first of the rows."""
    row = cells[-1][0]
    return sum(cell[0] <= row <= cell[1] for cell in grid.cells) - 1


def choose_edges(
    lines: Sequence[Line], known: Sequence[float], column: float = COLUMN
) -> list[float]:
    """Return the edges with the lowest cost: none, the known ones, or free strips.

    `column` is the cost of an edge that is not known.
    """
    pieces = [pieces_of(line) for line in lines]
    gaps = sum(len(line_pieces) - 1 for line_pieces in pieces)
    if not gaps:
        return []
    free = columns_of(pieces, known).edges
    new = sum(edge not in known for edge in free)
    choices = [
        (GAP * gaps, 0, []),
        (compute_cost(lines, known), 1, [*known]),
        (compute_cost(lines, free) + column * new, 2, [*free]),
    ]
    return min(choices)[2]


def compute_cost(lines: Sequence[Line], edges: Sequence[float]) -> float:
    """Return the cost of the words of lines with these column edges."""
    total = 0.0
    for line in lines:
        places = place_words(line, edges)
        filled = sum(last - first + 1 for (first, last), _ in places)
        total += EMPTY * (len(edges) + 1 - filled)
        total += CROSSING * sum(first < last for (first, last), _ in places)
        inner = sum(len(pieces_of(Line(words))) - 1 for _, words in places)
        total += GAP * inner
    return total


def _cells(
    grid: Grid,
    edges: tuple[Sequence[float], Sequence[float]],
    cuts: Edges,
    words: Sequence[Word],
) -> Iterator[Cell]:
    """Return the cells split at all edges, except where words or lines cross them."""
    column = {x: index for index, x in enumerate(edges[0])}
    row = {y: index for index, y in enumerate(edges[1])}
    for cell in grid.cells:
        left, top, right, bottom = grid.box_of(cell)
        start, stop = column[left], column[right]
        first, last = row[top], row[bottom]
        flat = cell[0] == cell[1]
        bands = [(r, r + 1) for r in range(first, last)] if flat else [(first, last)]
        at = [start, *(column[x] for x in cuts.get(cell, [])), stop]
        for begin, end in bands:
            box = left, edges[1][begin], right, edges[1][end]
            joined = _find_joined_columns(_lines_in(box, words), cuts.get(cell, []))
            for index in range(len(at) - 1):
                if index not in joined:
                    after = index + 1
                    while after in joined:
                        after += 1
                    yield begin, end - 1, at[index], at[after] - 1


def _find_joined_columns(lines: Sequence[Line], edges: Sequence[float]) -> set[int]:
    """Return the columns of a cell joined to the one before by words over both."""
    return {
        column
        for line in lines
        for (first, last), _ in place_words(line, edges)
        for column in range(first + 1, last + 1)
    }


def _row_edges(grid: Grid, xs: Sequence[float], words: Sequence[Word]) -> list[float]:
    """Return where rows end without a line. Cells over several rows stay whole."""
    whole = {r for c in grid.cells if c[0] < c[1] for r in range(c[0], c[1] + 1)}
    columns = _columns(xs, words)
    bands = {
        row: lines
        for row in range(len(grid.ys) - 1)
        if (lines := _lines(grid, [(row, row, 0, len(grid.xs) - 2)], words))
    }
    ends = [
        end
        for row, lines in bands.items()
        if row not in whole and len(lines) > 1 and not _is_centred(lines, columns)
        for end in find_row_ends(lines, columns)
    ]
    drawn = max(len(bands) - FEW, 0)
    gain = math.fsum(gain for _, gain in ends)
    return [y for y, _ in ends] if gain > LEAST + RULED * drawn else []


def _columns(xs: Sequence[float], words: Sequence[Word]) -> Columns:
    extents = []
    for left, right in pairwise(xs):
        inside = [w for w in words if left - 1 <= w.left and w.right <= right + 1]
        ends = [(w.left, w.right) for w in inside] or [(left, right)]
        extents.append((min(e[0] for e in ends), max(e[1] for e in ends)))
    return Columns(tuple(extents), tuple(xs[1:-1]))


def _is_centred(lines: Sequence[Line], columns: Columns) -> bool:
    """Return whether short columns are vertically centred against long ones.

    That is how one row looks if its cells are centred.
    """
    words = [word for line in lines for word in line.words]
    stacks = [
        [w for w in words if left <= w.middle[0] <= right]
        for left, right in pairwise((-math.inf, *columns.edges, math.inf))
    ]
    ends = [(min(w.top for w in s), max(w.bottom for w in s)) for s in stacks if s]
    top, bottom = min(end[0] for end in ends), max(end[1] for end in ends)
    height = lines[0].bottom - lines[0].top
    short = [e for e in ends if e[1] - e[0] < bottom - top - 0.5 * height]
    off = [abs(e[0] + e[1] - top - bottom) / 2 for e in short]
    return bool(short) and max(off) < OFF * height


def find_row_ends(lines: Sequence[Line], columns: Columns) -> list[tuple[float, float]]:
    """Return where rows end between lines, from the top, each with its gain."""
    cuts = [cut(line, columns.edges) for line in lines]
    least = least_gap(lines)
    row = [cuts[0]]
    ends = []
    for below in cuts[1:]:
        gain = log_odds(row, below, columns, least) - UNDRAWN
        if gain > 0:
            empty = len(columns.extents) - len(below.filled_columns)
            middle = (row[-1].line.bottom + below.line.top) / 2
            ends.append((middle, gain - EMPTY * empty))
            row = []
        row.append(below)
    return ends


def table_cost(table: Table) -> float:
    """Return the cost of the words of a table in its cells."""
    covered = table.covered_places()
    total = CROSSING * sum(columns > 1 for _, columns in table.spans.values())
    for row, cells in enumerate(table.rows):
        for column, words in enumerate(cells):
            if not words:
                total += EMPTY * ((row, column) not in covered)
                continue
            lines = lines_of(words)
            total += GAP * sum(len(pieces_of(line)) - 1 for line in lines)
            values = [is_one_number(line.text) for line in lines]
            total += GAP * sum(a and b for a, b in pairwise(values))
    return total
