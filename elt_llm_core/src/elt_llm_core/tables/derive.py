"""From the rows of a document to relations. Nothing is stored: the document is."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.tables.relation import Column, Field, Relation, Row
from elt_llm_core.tables.values import (
    Kind,
    Typed,
    figures,
    nothing,
    signs_in,
    style_of,
    typed,
)

ID_DIGITS = 12
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
_YEARS = re.compile(rf"{_YEAR.pattern}(?:\s*[-\u2013/]\s*\d{{1,4}}\b)?")
_MISPLACED = re.compile(rf"{_YEAR.pattern}|\d\s*%|\d[.,]\d")
_SWALLOWED = re.compile(r"(?:^|\s)[-+\u2212]\d|\d\s*%")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
Grid = Sequence[dict[int, Cell]]


def relations(
    document_id: str, document: str, text: str, blocks: Sequence[Block]
) -> list[Relation]:
    """Every table of a document in reading order, clean or with what speaks against it.

    `text` is the document's, `blocks` are its blocks.
    """
    rows = (b for b in blocks if b.kind is BlockKind.TABLE_ROW and b.cells)
    tables = groupby(rows, key=lambda b: (b.table_number, b.table, b.section))
    return [
        _Table(text, list(group)).relation(document_id, document, number)
        for number, (_, group) in enumerate(tables, start=1)
    ]


class _Table:
    """The rows of one table, by column."""

    def __init__(self, text: str, blocks: Sequence[Block]) -> None:
        self._text = text
        heads = [b for b in blocks if b.attributes.get("row") == "header"]
        told = [self._said(b) for b in heads]
        again = [b for b in blocks if b not in heads and self._said(b) in told]
        self._blocks = blocks
        self._data = [b for b in blocks if b not in heads and b not in again]
        self._several = any(_same_page(blocks, b) for b in again)
        self._grid = [_by_column(b) for b in self._data]
        self._width = 1 + max((c for row in self._grid for c in row), default=-1)
        self._headers = [self._header(c) for c in range(self._width)]

    def relation(self, document_id: str, document: str, number: int) -> Relation:
        """The relation, with its problems."""
        first, last = self._blocks[0], self._blocks[-1]
        types = self._types()
        columns = tuple(
            Column(
                name=f"c{c}", header=header, kind=t.kind, unit=t.unit, places=t.places
            )
            for c, (header, t) in enumerate(zip(self._headers, types, strict=True))
        )
        return Relation(
            id=f"{document_id[:ID_DIGITS]}-{number}",
            document_id=document_id,
            document=document,
            title=first.table or first.section.rsplit(" > ", 1)[-1],
            section=first.section,
            page=first.page,
            end_page=last.end_page or last.page,
            columns=columns,
            labels=_labels(types),
            rows=tuple(self._rows(types)),
            problems=tuple(dict.fromkeys(self._problems())),
        )

    def _rows(self, types: Sequence[Typed]) -> Iterator[Row]:
        for n, (block, cells) in enumerate(zip(self._data, self._grid, strict=True), 1):
            fields = tuple(
                Field(
                    text=self._cell(cells[c]),
                    value=types[c].values[n - 1],
                    start=cells[c].start,
                    end=cells[c].end,
                    boxes=cells[c].boxes,
                )
                if c in cells
                else None
                for c in range(self._width)
            )
            named = fields[_labels(types)]
            yield Row(
                n=n,
                start=block.start,
                end=block.end,
                page=block.page,
                label=named.text if named else "",
                fields=fields,
            )

    def _types(self) -> list[Typed]:
        columns = [
            [self._cell(row[c]) if c in row else "" for row in self._grid]
            for c in range(self._width)
        ]
        told = [cell for column in columns[1:] for cell in column]
        style, signs = style_of(told), signs_in(told)
        return [typed(column, style, signs=signs) for column in columns]

    def _header(self, column: int) -> str:
        """The header that a column's cells carry; the longest where they differ."""
        told = {row[column].header for row in self._grid if column in row}
        return " ".join(max(sorted(told), key=len, default="").split())

    def _problems(self) -> Iterator[str]:
        if not self._grid:
            yield "it has no row of data"
            return
        if self._width < 2:  # noqa: PLR2004 - a label and a value
            yield "it has one column"
        if self._several:
            yield "its headers stand again on a page: it may be several tables"
        yield from _header_problems(self._headers)
        for n, row in enumerate(self._grid, start=1):
            filled = [c for c in row.values() if not nothing(self._cell(c))]
            if len(filled) > 1 and any(c.columns > 1 for c in filled):
                yield f"row {n} has a cell over several columns"
            if len(filled) > 1 and not _complete(row, self._width):
                yield f"row {n} does not have every column"

    def _said(self, block: Block) -> list[str]:
        return [self._cell(c).casefold() for c in block.cells]

    def _cell(self, cell: Cell) -> str:
        return " ".join(self._text[cell.start : cell.end].split())


def _labels(types: Sequence[Typed]) -> int:
    """The column that names the rows: the first, or that after serial numbers."""
    first = types[0].values if types else ()
    serial = len(first) > 1 and first == tuple(range(1, len(first) + 1))
    return int(serial and len(types) > 1 and types[1].kind is Kind.TEXT)


def _by_column(block: Block) -> dict[int, Cell]:
    """Cells by column; where the reader gave no places, by their order."""
    found: dict[int, Cell] = {}
    for place, cell in enumerate(block.cells):
        found.setdefault(place if cell.column is None else cell.column, cell)
    return found


def _same_page(blocks: Sequence[Block], row: Block) -> bool:
    """True where the row does not open a page."""
    place = blocks.index(row)
    return place > 0 and blocks[place - 1].page == row.page


def _complete(row: dict[int, Cell], width: int) -> bool:
    covered = {c + k for c, cell in row.items() for k in range(cell.columns)}
    return covered >= set(range(width))


def _header_problems(headers: Sequence[str]) -> Iterator[str]:
    """What is wrong with the headers; the labels of the rows need none."""
    if not any(headers[1:]):
        yield "no headers were found"
        return
    for number, header in enumerate(headers[1:], start=1):
        if not header:
            yield f"column c{number} has no header"
        elif figures(header) and not _YEAR.fullmatch(header.rstrip("*")):
            yield f"the header of column c{number} is a figure: {header!r}"
        elif _SWALLOWED.search(_YEARS.sub(" ", _IN_BRACKETS.sub(" ", header))):
            yield f"the header of column c{number} holds figures: {header!r}"
        elif header in headers[1:number]:
            yield f"column c{number} has the header of another: {header!r}"
    # It belongs to another column: the headers were cut in wrong places.
    if _MISPLACED.search(_IN_BRACKETS.sub("", headers[0])):
        yield f"the header of the labels holds a year or figure: {headers[0]!r}"
