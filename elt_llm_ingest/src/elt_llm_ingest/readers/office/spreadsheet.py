"""Excel workbooks: every sheet is a page, every row of a table a row."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from elt_llm_core.document import BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.results import Box
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.cell_grid import (
    FIGURE,
    GridCell,
    assumed_headers,
    header_rows,
    write_table,
)
from elt_llm_ingest.readers.enterprise import inventory
from elt_llm_ingest.readers.text_builder import TextBuilder, with_sections
from elt_llm_ingest.readers.workbook import Rows, Sheet, read_sheets

PARSER = f"calamine {version('python-calamine')}, layer 4"
MAX_MERGED = 100_000  # cells under one merged cell
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
    """The document of a workbook; fact sheets and tables where a sheet is an inventory.

    Raises LoadError for bombs, sheets that span too many cells and damaged files.
    """
    sheets = read_sheets(path, data, limits)
    pairs = [(sheet.name, sheet.rows) for sheet in sheets]
    if inventory.is_inventory(pairs):

        def write_table(builder: TextBuilder, number: int) -> None:
            _SheetWriter(builder, number, sheets[number - 1]).write()

        return inventory.documents(path, pairs, write_table)
    builder = TextBuilder()
    pages = []
    warnings: list[str] = []
    for number, sheet in enumerate(sheets, start=1):
        writer = _SheetWriter(builder, number, sheet)
        pages.append(writer.page())
        writer.write()
        if not sheet.visible and sheet.rows:
            warnings.append(f"the sheet {sheet.name!r} is hidden and was read")
        warnings += sheet.beside.warnings(sheet.name)
    if not builder.blocks:
        raise LoadError(
            path.name,
            "no text: no sheet has a filled cell",
            "open it in Excel, so that formulas have values, and save it",
        )
    listed = inventory.table_sidecars(path, pairs)
    return [
        ParsedDocument(
            title=path.stem,
            text=builder.text,
            blocks=with_sections(builder.text, builder.blocks),
            pages=pages,
            parser=PARSER,
            warnings=(*warnings, *listed.warnings),
            sidecars=listed.sidecars,
        )
    ]


@dataclass
class _Merges:
    """Merged cells: their extents, and the cells that they cover."""

    reach: dict[tuple[int, int], tuple[int, int]]
    origin: dict[tuple[int, int], tuple[int, int]]


class _SheetWriter:
    """Writes one sheet."""

    def __init__(self, builder: TextBuilder, number: int, sheet: Sheet) -> None:
        self._builder = builder
        self._number = number
        self._sheet = sheet
        self._rows = sheet.rows
        self._width = max((len(row) for row in sheet.rows), default=0)
        self._merges = _merges(sheet, self._width)
        self._place = {"page": number, "end_page": number}

    def page(self) -> Page:
        """Return the sheet as a page whose unit is a cell."""
        return Page(
            number=self._number,
            width=max(self._width, 1),
            height=max(len(self._rows), 1),
            label=self._sheet.name,
        )

    def write(self) -> None:
        """The sheet's name as a heading, its tables, then notes and text boxes.

        Blank rows separate tables; a lone cell is a paragraph.
        """
        beside = self._sheet.beside
        filled = any(cell for row in self._rows for cell in row)
        if not (filled or beside.notes or beside.shapes):
            return
        add = self._builder.add
        add(BlockKind.HEADING, self._sheet.name, level=1, **self._place)
        for start, table in _tables(self._rows):
            self._table(start, table)
        for text in beside.shapes:
            add(BlockKind.PARAGRAPH, text, attributes={"type": "shape"}, **self._place)
        for cell, text in beside.notes:
            attributes = {"type": "note", "cell": cell}
            add(
                BlockKind.PARAGRAPH,
                f"{cell}: {text}",
                attributes=attributes,
                **self._place,
            )

    def _table(self, start: int, table: Rows) -> None:
        used = [i for i in range(self._width) if any(_at(row, i) for row in table)]
        cut = [[_at(row, i) for i in used] for row in table]
        lead = _lead(cut)
        for offset, row in enumerate(cut[:lead]):
            box = self._box(start + offset, used[0])
            text = next(cell for cell in row if cell)
            self._builder.add(BlockKind.PARAGRAPH, text, boxes=(box,), **self._place)
        first = start + lead
        rows = [self._cells(first + i, row, used) for i, row in enumerate(cut[lead:])]
        header = header_rows(cut[lead:])
        if rows and ((header and _has_merges(rows[0])) or _heads_groups(rows[0])):
            header = assumed_headers(rows)
        title = next((cell for cell in cut[lead - 1] if cell), "") if lead else ""
        write_table(
            self._builder,
            rows,
            header,
            f"{self._number}.{start}",
            row_boxes=[
                self._box(first + i, used[0], used[-1]) for i in range(len(rows))
            ],
            table=title,
            **self._place,
        )

    def _cells(
        self, row: int, texts: Sequence[str], used: Sequence[int]
    ) -> list[GridCell]:
        """Return the cells of a row, including those that extend down into it."""
        at = {column: index for index, column in enumerate(used)}
        cells = []
        for column, text in zip(used, texts, strict=True):
            top, left = self._merges.origin.get((row, column), (row, column))
            if left != column:
                continue  # covered by the cell on its left
            down, across = self._merges.reach.get((top, left), (1, 1))
            cells.append(
                GridCell(
                    text if top == row else _at(self._rows[top], left),
                    rows=down - (row - top),
                    columns=sum(1 for c in range(left, left + across) if c in at),
                    id=f"{_letters(column)}{row + 1}",
                    column=at[column],
                    repeated=top != row,
                )
            )
        return cells

    def _box(self, row: int, first: int, last: int | None = None) -> Box:
        end = first if last is None else last
        rows, columns = len(self._rows), self._width
        return Box(
            page=self._number,
            left=round(first / columns, 5),
            top=round(row / rows, 5),
            right=round((end + 1) / columns, 5),
            bottom=round((row + 1) / rows, 5),
        )


def _has_merges(cells: Sequence[GridCell]) -> bool:
    return any(cell.columns > 1 or cell.rows > 1 for cell in cells)


def _heads_groups(cells: Sequence[GridCell]) -> bool:
    """Return whether a first row heads groups of columns, as merged years do.

    By itself "2024" is a figure, which names no column; merged it stands above several.
    """
    merged = any(cell.columns > 1 and cell.text for cell in cells)
    return merged and not any(
        FIGURE.match(cell.text) and not _YEAR.fullmatch(cell.text.strip())
        for cell in cells
    )


def _merges(sheet: Sheet, width: int) -> _Merges:
    """Return merged cells within the filled area, without overlaps."""
    merges = _Merges({}, {})
    for (top, left), (lowest, rightmost) in sheet.merged:
        bottom, right = min(lowest, len(sheet.rows) - 1), min(rightmost, width - 1)
        covered = (bottom - top + 1) * (right - left + 1)
        if covered < 2 or bottom < top or covered > MAX_MERGED:  # noqa: PLR2004
            continue
        places = [
            (r, c) for r in range(top, bottom + 1) for c in range(left, right + 1)
        ]
        if any(place in merges.origin for place in places):
            continue
        merges.reach[top, left] = (bottom - top + 1, right - left + 1)
        merges.origin.update(dict.fromkeys(places, (top, left)))
    return merges


def _letters(column: int) -> str:
    """Return a column's name: A, B, ... Z, AA."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, len(LETTERS))
        name = LETTERS[rest] + name
    return name


def _tables(rows: Rows) -> Iterator[tuple[int, Rows]]:
    start: int | None = None
    for index, row in enumerate([*rows, []]):
        filled = any(cell.strip() for cell in row)
        if filled and start is None:
            start = index
        elif not filled and start is not None:
            yield start, rows[start:index]
            start = None


def _lead(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of title rows: one filled cell above wider rows."""
    if max(sum(1 for cell in row if cell) for row in rows) <= 1:
        return 0 if len(rows[0]) > 1 else len(rows)
    return next(i for i, row in enumerate(rows) if sum(1 for cell in row if cell) > 1)


def _at(row: Sequence[str], index: int) -> str:
    return row[index] if index < len(row) else ""
