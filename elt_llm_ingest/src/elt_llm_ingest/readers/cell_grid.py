"""Tables with spanning cells: their positions, headers and text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elt_llm_core.document import BlockKind, Cell
from elt_llm_core.results import Box
from elt_llm_ingest.readers.text_builder import TextBuilder, one_line

MAX_HEADER = 60  # characters; a longer cell is text and no column name
FIGURE = re.compile(r"^\W*\d[\d.,\s:/-]*\W*$")
_NUMBER = re.compile(r"\d[\d.,]*(?:st|nd|rd|th)?\b")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")


def header_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return 0 or 1: whether the first row names the columns.

    It does if its cells are short, distinct, contain no figures and do not look like
    the cells below.
    """
    if len(rows) <= 1 or resembles_rows(rows[0], rows[1:]):
        return 0
    cells = [cell.strip() for cell in rows[0]]
    filled = [cell for cell in cells if cell]
    if not filled or len(set(filled)) < len(filled) or len(filled) < len(cells) / 2:
        return 0
    return int(all(len(c) <= MAX_HEADER and not FIGURE.match(c) for c in filled))


def resembles_rows(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a cell differs from most below it in its number alone.

    "125 mg/kg" above "100 mg/kg" is a value and no name; years name columns.
    """
    for column, text in enumerate(first):
        shape = _NUMBER.sub("0", text.strip())
        if shape == text.strip() or _YEAR.search(text):
            continue
        cells = [row[column].strip() for row in below if column < len(row)]
        alike = sum(_NUMBER.sub("0", cell) == shape for cell in cells)
        if alike > sum(map(bool, cells)) / 2:
            return True
    return False


MAX_HEADER_ROWS = 3  # such as group, name and unit
MAX_SPAN = 1000  # HTML's own limit for `colspan`
MAX_CELLS = 500_000  # of a table whose cells span


@dataclass(frozen=True)
class GridCell:
    """A cell as in the file; `column` is set once it is placed."""

    text: str
    rows: int = 1
    columns: int = 1
    header: bool = False
    id: str = ""
    boxes: tuple[Box, ...] = ()
    column: int = 0
    repeated: bool = False  # it began in a row above


Rows = Sequence[Sequence[GridCell]]


def span(value: str | None) -> int:
    """Return the value of rowspan or colspan; 1 if it is invalid."""
    if not value or not value.isdecimal():
        return 1
    return max(1, min(int(value[:9]), MAX_SPAN))


def place_cells(rows: Rows) -> list[list[GridCell]]:
    """Return the rows with every cell in its column.

    A cell that spans rows is repeated in each; the other columns of a cell that spans
    columns stay empty.
    """
    done: list[list[GridCell]] = []
    hanging: dict[int, GridCell] = {}
    # No span is wider than the table, whatever its value.
    widest = max(map(len, rows), default=0)
    widest += sum(1 for row in rows for cell in row if cell.rows > 1)
    if widest * len(rows) > MAX_CELLS:
        return [_plainly(row) for row in rows]
    for row in rows:
        line: list[GridCell] = []
        column = 0
        for cell in row:
            column = _hang(hanging, line, column)
            columns = max(1, min(cell.columns, widest - column))
            line.append(replace(cell, column=column, columns=columns))
            column += columns
        _hang_rest(hanging, line, column)
        for cell in line:
            if cell.rows > 1:
                hanging[cell.column] = replace(cell, rows=cell.rows - 1, repeated=True)
        done.append(line)
    return done


def _plainly(row: Sequence[GridCell]) -> list[GridCell]:
    """Return the cells side by side, ignoring spans."""
    return [
        replace(cell, column=index, columns=1, rows=1) for index, cell in enumerate(row)
    ]


def _hang(hanging: dict[int, GridCell], line: list[GridCell], column: int) -> int:
    """Insert cells that span from above, and return the next free column."""
    while column in hanging:
        cell = hanging.pop(column)
        line.append(cell)
        column += cell.columns
    return column


def _hang_rest(hanging: dict[int, GridCell], line: list[GridCell], column: int) -> None:
    line += [hanging.pop(at) for at in sorted(hanging) if at >= column]


def marked_headers(rows: Rows) -> int:
    """Return how many rows at the top consist of header cells only."""
    count = 0
    for row in rows:
        if not row or not all(cell.header or not cell.text for cell in row):
            break
        count += 1
    return count if count < len(rows) else 0


def assumed_headers(rows: Rows) -> int:
    """Return the header rows of a table without marked ones: the first row.

    If it has spanning or empty cells, rows below it without figures belong to it.
    """
    count = 1
    while count < min(len(rows) - 1, MAX_HEADER_ROWS) and _is_open(rows[count - 1]):
        if any(FIGURE.match(cell.text) for cell in rows[count]):
            break
        count += 1
    return count if count < len(rows) else 0


def _is_open(row: Sequence[GridCell]) -> bool:
    return any(cell.columns > 1 or not cell.text.strip() for cell in row[1:])


def column_headings(rows: Rows, width: int) -> list[str]:
    """Return the header of every column: the distinct texts above it, joined."""
    parts: list[list[str]] = [[] for _ in range(width)]
    for row in rows:
        for cell in row:
            text = one_line(cell.text)
            for column in range(cell.column, min(cell.column + cell.columns, width)):
                if text and text not in parts[column][-1:]:
                    parts[column].append(text)
    return [" ".join(part) for part in parts]


def write_table(
    builder: TextBuilder,
    rows: Rows,
    header: int,
    key: str,
    *,
    row_boxes: Sequence[Box] = (),
    **fields: Any,
) -> None:
    """Write placed rows; the first `header` of them name the columns.

    `row_boxes` has one box for each row; cells with boxes take precedence. Rows of
    empty cells are kept if the file gives their cells a position.
    """
    width = max((c.column + c.columns for row in rows for c in row), default=0)
    names = column_headings(rows[:header], width)
    for index, row in enumerate(rows):
        if any(cell.text.strip() or cell.boxes for cell in row):
            attributes = {**fields.get("attributes", {})}
            if index < header:
                attributes["row"] = "header"
            row_fields = {**fields, "attributes": attributes}
            if row_boxes:
                row_fields["boxes"] = (row_boxes[index],)
            _write_row(builder, row, names, key, row_fields)


def _write_row(
    builder: TextBuilder,
    row: Sequence[GridCell],
    names: Sequence[str],
    key: str,
    fields: dict[str, Any],
) -> None:
    start = builder.begin(BlockKind.TABLE_ROW, key)
    cells: list[Cell] = []
    for cell in _fill_gaps(row):
        if cells:
            builder.write("\t")
        first, last = builder.write(one_line(cell.text))
        cells.append(
            Cell(
                header=names[cell.column],
                start=first,
                end=last,
                boxes=cell.boxes,
                id=cell.id,
                column=cell.column,
                columns=cell.columns,
                rows=cell.rows,
            )
        )
    fields["table_number"] = builder.table_number(key)
    if boxes := tuple(dict.fromkeys(box for cell in row for box in cell.boxes)):
        fields["boxes"] = boxes
    builder.end(BlockKind.TABLE_ROW, start, cells=tuple(cells), **fields)


def _fill_gaps(row: Sequence[GridCell]) -> Iterator[GridCell]:
    """Return the cells by column, with empty cells in the gaps."""
    by_column = {cell.column: cell for cell in row}
    for column in range(max(cell.column + cell.columns for cell in row)):
        yield by_column.get(column) or GridCell("", column=column)
