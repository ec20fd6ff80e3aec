"""Build relations from the table rows of a document. Only the document is stored."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.language.detect import document_language
from elt_llm_core.language.languages import ENGLISH as IN_ENGLISH
from elt_llm_core.tables.column_types import Typed, infer_types
from elt_llm_core.tables.numbers import (
    COMMA,
    ENGLISH,
    Notation,
    column_notation,
    common_style,
    figures,
    nothing,
    signs_in,
    style_among,
)
from elt_llm_core.tables.relation_records import Column, Field, Relation, Row
from elt_llm_core.tables.row_labels import label_column

# An attribute of the rows of a table of which more may be on the next page.
ROWS_DOUBTFUL = {"table_rows": "doubtful"}
ID_DIGITS = 12  # 48 bits of the document's id: short to type, collisions unlikely
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
_YEARS = re.compile(rf"{_YEAR.pattern}(?:\s*[-\u2013/]\s*\d{{1,4}}\b)?")
_MISPLACED = re.compile(rf"{_YEAR.pattern}|\d\s*%|\d[.,]\d")
_SWALLOWED = re.compile(r"(?:^|\s)[-+\u2212]\d|\d\s*%")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
Grid = Sequence[dict[int, Cell]]


def relations(
    document_id: str, document: str, text: str, blocks: Sequence[Block]
) -> list[Relation]:
    """Return every table of a document in reading order, with its problems.

    `text` is the document's, `blocks` are its blocks.
    """
    rows = (b for b in blocks if b.kind is BlockKind.TABLE_ROW and b.cells)
    tables = groupby(rows, key=lambda b: (b.table_number, b.table, b.section))
    readers = [_TableReader(text, list(group)) for _, group in tables]
    numbers = _DocumentNumbers(text, readers)
    return [
        reader.relation(document_id, document, number, numbers)
        for number, reader in enumerate(readers, start=1)
    ]


class _DocumentNumbers:
    """How the tables of a document write numbers if one does not show it itself."""

    def __init__(self, text: str, readers: Sequence["_TableReader"]) -> None:
        self._text = text
        styles = [style for reader in readers for style in reader.styles]
        self._style = common_style(Notation(style) for style in styles if style)

    def style(self, notation: Notation) -> str:
        """Return the style of a column that its table leaves open; possibly empty.

        English has commas between thousands. Its decimal point is no such evidence:
        translated statistics have points between thousands too.
        """
        if self._style or notation.dotted or not notation.open:
            return self._style
        return ENGLISH if self._is_english() else ""

    @cache  # noqa: B019 - the object lives for one document
    def _is_english(self) -> bool:
        return document_language(self._text) == IN_ENGLISH


class _TableReader:
    """The rows of one table, by column."""

    def __init__(self, text: str, blocks: Sequence[Block]) -> None:
        self._text = text
        heads = [b for b in blocks if b.attributes.get("row") == "header"]
        headers = [self._row_texts(b) for b in heads]
        again = [b for b in blocks if b not in heads and self._row_texts(b) in headers]
        self._blocks = blocks
        self._data = [b for b in blocks if b not in heads and b not in again]
        self._several = any(_same_page(blocks, b) for b in again)
        self._grid = [_by_column(b) for b in self._data]
        self._width = 1 + max((c for row in self._grid for c in row), default=-1)
        self._headers = [self._header(c) for c in range(self._width)]
        self._columns = [
            [self._cell(row[c]) if c in row else "" for row in self._grid]
            for c in range(self._width)
        ]
        self._notations = [column_notation(column) for column in self._columns]

    @property
    def styles(self) -> list[str]:
        """The style of each column, empty if the table does not show it."""
        others = self._notations[1:]
        return [style_among(n, others) for n in self._notations]

    def relation(
        self, document_id: str, document: str, number: int, numbers: _DocumentNumbers
    ) -> Relation:
        """Return the relation, with its problems."""
        first, last = self._blocks[0], self._blocks[-1]
        types = self._types(numbers)
        columns = tuple(
            Column(
                name=f"c{c}", header=header, kind=t.kind, unit=t.unit, places=t.places
            )
            for c, (header, t) in enumerate(zip(self._headers, types, strict=True))
        )
        title = first.table or first.section.rsplit(" > ", 1)[-1]
        # A sheet may be named for its rows though a line above them is its title.
        labels = label_column(types, self._headers, f"{title} / {first.section}")
        return Relation(
            id=f"{document_id[:ID_DIGITS]}-{number}",
            document_id=document_id,
            document=document,
            title=title,
            section=first.section,
            page=first.page,
            end_page=last.end_page or last.page,
            columns=columns,
            labels=labels,
            rows=tuple(self._rows(types, labels)),
            problems=tuple(dict.fromkeys([*self._problems(), *_open_problems(types)])),
        )

    def _rows(self, types: Sequence[Typed], labels: int) -> Iterator[Row]:
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
            named = fields[labels]
            yield Row(
                n=n,
                start=block.start,
                end=block.end,
                page=block.page,
                label=named.text if named else "",
                fields=fields,
            )

    def _types(self, numbers: _DocumentNumbers) -> list[Typed]:
        signs = signs_in(cell for column in self._columns[1:] for cell in column)
        known = any(n.decisive for n in self._notations[1:])
        return [
            # Columns that contradict each other are not settled by other tables.
            infer_types(
                column,
                style or ("" if known else numbers.style(notation)),
                signs=signs,
            )
            for column, style, notation in zip(
                self._columns, self.styles, self._notations, strict=True
            )
        ]

    def _header(self, column: int) -> str:
        """Return the header in a column's cells; the longest if they differ."""
        names = {row[column].header for row in self._grid if column in row}
        return " ".join(max(sorted(names), key=len, default="").split())

    def _problems(self) -> Iterator[str]:
        if not self._grid:
            yield "it has no data row"
            return
        if self._width < 2:  # noqa: PLR2004 - a label and a value
            yield "it has only one column"
        if self._several:
            yield "its headers are repeated on a page: it may be several tables"
        if any(ROWS_DOUBTFUL.items() <= b.attributes.items() for b in self._blocks):
            yield "the next page may have more of its rows"
        yield from _header_problems(self._headers)
        for n, row in enumerate(self._grid, start=1):
            filled = [c for c in row.values() if not nothing(self._cell(c))]
            if len(filled) > 1 and any(c.columns > 1 for c in filled):
                yield f"row {n} has a cell that spans several columns"
            if len(filled) > 1 and not _complete(row, self._width):
                yield f"row {n} does not have every column"

    def _row_texts(self, block: Block) -> list[str]:
        return [self._cell(c).casefold() for c in block.cells]

    def _cell(self, cell: Cell) -> str:
        return " ".join(self._text[cell.start : cell.end].split())


def _open_problems(types: Sequence[Typed]) -> Iterator[str]:
    """Return columns whose numbers may be thousands or decimals; labels are none."""
    for number, column in enumerate(types[1:], start=1):
        if column.open:
            read = figures(column.open)
            either = " or ".join(f"{read[s].amount:g}" for s in (ENGLISH, COMMA))
            yield (
                f"numbers of column c{number} are ambiguous: "
                f"{column.open!r} is {either}"
            )


def _by_column(block: Block) -> dict[int, Cell]:
    """Return cells by column, or by order if the reader gave no columns."""
    cells: dict[int, Cell] = {}
    for place, cell in enumerate(block.cells):
        cells.setdefault(place if cell.column is None else cell.column, cell)
    return cells


def _same_page(blocks: Sequence[Block], row: Block) -> bool:
    """Return True if the row is not the first of its page."""
    place = blocks.index(row)
    return place > 0 and blocks[place - 1].page == row.page


def _complete(row: dict[int, Cell], width: int) -> bool:
    covered = {c + k for c, cell in row.items() for k in range(cell.columns)}
    return covered >= set(range(width))


def _header_problems(headers: Sequence[str]) -> Iterator[str]:
    """Return problems of the headers; the row labels need none."""
    if not any(headers[1:]):
        yield "no headers were found"
        return
    for number, header in enumerate(headers[1:], start=1):
        if not header:
            yield f"column c{number} has no header"
        elif figures(header) and not _YEAR.fullmatch(header.rstrip("*")):
            yield f"the header of column c{number} is a number: {header!r}"
        elif _SWALLOWED.search(_YEARS.sub(" ", _IN_BRACKETS.sub(" ", header))):
            yield f"the header of column c{number} contains numbers: {header!r}"
        elif header in headers[1:number]:
            yield f"column c{number} has the same header as another: {header!r}"
    # It belongs to another column: the headers were split in the wrong places.
    if _MISPLACED.search(_IN_BRACKETS.sub("", headers[0])):
        yield (
            f"the header of the label column contains a year or number: {headers[0]!r}"
        )
