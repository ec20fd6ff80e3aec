"""Words in the cells of ruled tables."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from elt_llm_ingest.readers.pdf.geometry import Row, Table, is_one_number
from elt_llm_ingest.readers.pdf.tables.aligned import pieces_of
from elt_llm_ingest.readers.pdf.tables.grid import SAME, Grid
from elt_llm_ingest.readers.pdf.tables.lattice_completion import complete_grid
from elt_llm_ingest.readers.pdf.words import Line, Word, lines_of

CROSSED = 0.1  # share of words crossed by lines; more make it a picture
MARGIN = 1.0  # points; the middle of a word may be this far outside
USED = 0.25  # least share of non-empty rows and columns; double lines make empty ones
LEAST_ROWS = 3  # least rows of a table with missing lines
Place = tuple[int, int, int, int]
Filled = dict[Place, list[Word]]
Lined = dict[Place, list[Line]]


def select_words_inside(grid: Grid, words: Sequence[Word]) -> list[Word]:
    """Return the words whose middle is in the grid."""
    left, top, right, bottom = grid.box
    return [
        word
        for word in words
        if left - MARGIN <= (word.left + word.right) / 2 <= right + MARGIN
        and top - MARGIN <= (word.top + word.bottom) / 2 <= bottom + MARGIN
    ]


def read_drawn_table(grid: Grid, words: Sequence[Word]) -> Table | None:
    """Return the table of the words in a grid; None for frames, charts and drawings.

    `mended` is whether it is only a table with lines that are not drawn.
    """
    lines = _lines_by_cell(grid, words)
    if not _is_used(grid, lines):
        return None
    plain = _is_table(grid, lines, len(words))
    drawn = _with_rows(grid, lines)
    finer = complete_grid(drawn, words)
    finely = _lines_by_cell(finer, words)
    if plain:
        return _dense(finer, finely)
    if finer is drawn:
        return None
    table = _dense(finer, finely)
    table.mended = True
    enough = len(table.rows) >= LEAST_ROWS
    return table if enough and _is_table(finer, finely, len(words)) else None


def _is_used(grid: Grid, filled: Lined) -> bool:
    """Return whether more rows and columns have words than those of a chart."""
    rows = {row for cell in filled for row in range(cell[0], cell[1] + 1)}
    columns = {at for cell in filled for at in range(cell[2], cell[3] + 1)}
    return (
        len(rows) >= USED * (len(grid.ys) - 1)
        and len(columns) >= USED * (len(grid.xs) - 1)
    )  # fmt: skip


def _lines_by_cell(grid: Grid, words: Sequence[Word]) -> Lined:
    return {
        cell: lines_of(cell_words)
        for cell, cell_words in _words_by_cell(grid, words).items()
    }


def _words_by_cell(grid: Grid, words: Sequence[Word]) -> Filled:
    places = {
        (row, column): cell
        for cell in grid.cells
        for row in range(cell[0], cell[1] + 1)
        for column in range(cell[2], cell[3] + 1)
    }
    filled: Filled = defaultdict(list)
    for word in words:
        x, y = word.middle
        filled[places[_band(grid.ys, y), _band(grid.xs, x)]].append(word)
    return filled


def _band(edges: Sequence[float], value: float) -> int:
    return max(bisect_right(edges, value, 1, len(edges) - 1) - 1, 0)


def _is_table(grid: Grid, filled: Lined, words: int) -> bool:
    """Return whether several rows and columns have text that no line crosses."""
    rows = {cell[0] for cell in filled}
    columns = {cell[2] for cell in filled}
    if len(rows) <= 1 or len(columns) <= 1:
        return len(columns) > 1 and len(filled) > 1 and len(grid.cells) > 1 and (
            _has_stacks(filled)
        )  # fmt: skip
    crossed = sum(
        _is_crossed(word, grid.box_of(cell))
        for cell, lines in filled.items()
        for line in lines
        for word in line.words
    )
    return crossed <= CROSSED * words and not _holds_columns(filled)


def _holds_columns(filled: Lined) -> bool:
    """Return whether cells have several columns of numbers without lines between."""
    several = [
        sum(len([p for p in pieces_of(line) if p.is_number]) > 1 for line in lines)
        for lines in filled.values()
        if len(lines) > 1
    ]
    return any(count > 1 for count in several)


def _is_crossed(word: Word, box: tuple[float, float, float, float]) -> bool:
    width = word.right - word.left
    return max(box[0] - word.left, word.right - box[2]) > max(0.3 * width, 3)


def _has_stacks(filled: Lined) -> bool:
    """Return whether one drawn row contains several rows of numbers."""
    return any(_is_stack(lines) for lines in filled.values())


def _is_stack(lines: Sequence[Line]) -> bool:
    return len(lines) > 1 and all(is_one_number(line.text) for line in lines)


def _with_rows(grid: Grid, filled: Lined) -> Grid:
    """Return the grid with rows added between its lines for stacked numbers."""
    rows: dict[int, Lined] = defaultdict(dict)
    for cell, cell_words in filled.items():
        if cell[0] == cell[1]:
            rows[cell[0]][cell] = cell_words
    cuts = [cut for _, cells in sorted(rows.items()) for cut in _cuts(cells)]
    if not cuts:
        return grid
    ys = sorted({*grid.ys, *cuts})
    new = {y: index for index, y in enumerate(ys)}
    pieces = tuple(
        piece
        for row, end_row, column, end_column in grid.cells
        for piece in _pieces(
            new[grid.ys[row]], new[grid.ys[end_row + 1]], row == end_row,
            (column, end_column),
        )
    )  # fmt: skip
    return Grid(grid.xs, tuple(ys), tuple(sorted(pieces)))


def _pieces(
    first: int, stop: int, one_row: bool, columns: tuple[int, int]
) -> Iterator[Place]:
    if not one_row:
        yield first, stop - 1, *columns
        return
    for row in range(first, stop):
        yield row, row, *columns


def _cuts(cells: Lined) -> list[float]:
    """Return where to split a drawn row, from the top; empty for a plain row."""
    first = min(cell[2] for cell in cells)
    others = [lines for cell, lines in cells.items() if cell[2] != first]
    stacks = [lines for lines in others if _is_stack(lines)]
    if not stacks or not all(
        len(lines) == 1 or is_one_number(lines[-1].text) for lines in others
    ):
        return []
    lines = sorted(
        (line for cell_lines in cells.values() for line in cell_lines), key=_top
    )
    bands: list[list[float]] = []
    for line in lines:
        if bands and line.top + 0.5 * (line.bottom - line.top) < bands[-1][1]:
            bands[-1][1] = max(bands[-1][1], line.bottom)
        else:
            bands.append([line.top, line.bottom])
    return [(bands[i][1] + bands[i + 1][0]) / 2 for i in range(len(bands) - 1)]


def _top(line: Line) -> float:
    return line.top


def _place(item: tuple[Place, Any]) -> Place:
    return item[0]


def _dense(grid: Grid, filled: Lined) -> Table:
    """Return the rows and columns with words; cells over several keep their span."""
    rows = sorted({cell[0] for cell in filled})
    columns = sorted({cell[2] for cell in filled})
    cells = [[[] for _ in columns] for _ in rows]  # type: list[list[list[Word]]]
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for (row, end_row, column, end_column), lines in sorted(filled.items(), key=_place):
        at = rows.index(row), columns.index(column)
        cells[at[0]][at[1]] = [w for line in lines for w in line.words]
        span = (
            sum(row <= r <= end_row for r in rows),
            sum(column <= c <= end_column for c in columns),
        )
        if span != (1, 1):
            spans[at] = span
    edges = (*(grid.xs[column] for column in columns), grid.xs[-1])
    return Table(rows=cells, spans=spans, settled=True, drawn=True, edges=edges)


def rows_at_edges(
    grid: Grid, words: Sequence[Word], edges: Sequence[float]
) -> list[Row]:
    """Return the rows of a grid with a cell for each column between the edges."""
    filled = _words_by_cell(grid, words)
    rows: dict[int, Row] = {
        row: [[] for _ in edges[:-1]] for row in sorted({cell[0] for cell in filled})
    }
    for (row, _, column, _), cell_words in sorted(filled.items(), key=_place):
        at = _band(edges, grid.xs[column] + SAME)
        rows[row][at] += [w for line in lines_of(cell_words) for w in line.words]
    return list(rows.values())
