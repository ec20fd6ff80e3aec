"""Separates two adjacent tables without lines that look like one."""

from collections.abc import Sequence

from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.geometry import (
    Row,
    Table,
    cell_text,
)
from elt_llm_ingest.readers.pdf.tables.merge import header_rows
from elt_llm_ingest.readers.pdf.words import Word

GUTTER = 12.0  # points; least gap between the two in every line


LABELLED = 0.8  # least share of the lines of either table with a label


LINES = 3  # least lines of the smaller table


LETTERS = 3  # least length of a label; "kg" and "(1)" are no labels


def split_side_by_side(draft: Draft) -> list[Draft]:
    """Return the draft, or one for each of its adjacent tables, left to right.

    A gutter separates the two in all lines; both begin with labels, continue with
    numbers and have names above these; above the labels both have the same text or
    none.
    """
    table = draft.table
    if table is None or table.drawn:
        return [draft]
    header = table.header or header_rows(table)
    width = len(table.rows[0]) if header else 0
    for column in range(2, width - 1):
        if _is_edge(table.rows, header, column):
            left = _part(table, header, 0, column)
            right = _part(table, header, column, width)
            if left is not None and right is not None:
                rest = split_side_by_side(Draft(draft.kind, table=right))
                return [Draft(draft.kind, table=left), *rest]
    return [draft]


def _is_edge(rows: Sequence[Row], header: int, column: int) -> bool:
    """Return whether another table begins with a column; more may follow that one."""
    left = [row[:column] for row in rows]
    right = [row[column:] for row in rows]
    first = [row[:2] for row in right]
    named = _name_over_labels(left, header)
    return (
        named is not None
        and named == _name_over_labels(first, header)
        and _has_labels(left[header:])
        and _has_labels(first[header:])
        and _gutter(left, right) >= GUTTER
    )


def _name_over_labels(rows: Sequence[Row], header: int) -> str | None:
    """Return the text above the labels, if every other column has a name."""
    over = [
        " ".join(filter(None, (cell_text(row[at]) for row in rows[:header])))
        for at in range(len(rows[0]))
    ]
    return over[0].casefold() if all(over[1:]) else None


def _has_labels(body: Sequence[Row]) -> bool:
    """Return whether the lines begin with words and continue with numbers."""
    filled_rows = [row for row in body if any(row)]
    labels = [row for row in filled_rows if _letters(row[0]) >= LETTERS]
    numbers = [cell for row in filled_rows for cell in row[1:] if cell]
    plain = [cell for cell in numbers if _is_number(cell)]
    return (
        len(filled_rows) >= LINES
        and len(labels) >= LABELLED * len(filled_rows)
        and len(plain) >= LABELLED * max(len(numbers), 1)
        and bool(numbers)
    )


def _letters(cell: Sequence[Word]) -> int:
    return sum(map(str.isalpha, cell_text(cell)))


def _is_number(cell: Sequence[Word]) -> bool:
    text = cell_text(cell)
    return sum(map(str.isdigit, text)) >= sum(map(str.isalpha, text))


def _gutter(left: Sequence[Row], right: Sequence[Row]) -> float:
    """Return the width of the strip without words between the two."""
    ends = [word.right for row in left for cell in row for word in cell]
    starts = [word.left for row in right for cell in row for word in cell]
    return min(starts, default=0.0) - max(ends, default=0.0)


def _part(table: Table, header: int, first: int, last: int) -> Table | None:
    """Return the columns from `first` to before `last`; None if a cell crosses them."""
    kept = [at for at, row in enumerate(table.rows) if any(row[first:last])]
    place = {at: index for index, at in enumerate(kept)}
    spans = {}
    for (row, column), (rows, columns) in table.spans.items():
        if column + columns <= first or column >= last:
            continue
        whole = all(at in place for at in range(row, row + rows))
        if column < first or column + columns > last or not whole:
            return None
        spans[place[row], column - first] = rows, columns
    return Table(
        rows=[table.rows[at][first:last] for at in kept],
        header=sum(at < header for at in kept),
        title=table.title,
        spans=spans,
        settled=table.settled,
    )
