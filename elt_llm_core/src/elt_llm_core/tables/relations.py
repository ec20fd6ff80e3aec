"""Build relations from the table rows of a document. Only the document is stored."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import cache
from itertools import groupby

from pydantic import Field as Told

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.language.detect import document_language
from elt_llm_core.language.languages import ENGLISH as IN_ENGLISH
from elt_llm_core.records import Record
from elt_llm_core.results import Box
from elt_llm_core.tables.numbers import (
    COMMA,
    ENGLISH,
    Figure,
    Notation,
    column_notation,
    common_style,
    figures,
    nothing,
    one_unit,
    signs_in,
    style_among,
)

Amount = int | float | str


class Kind(StrEnum):
    """The type of all values of a column."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    TEXT = "text"


@dataclass(frozen=True)
class Typed:
    """The values of a column in the order of its cells, None for those without one.

    Dates are ISO 8601. `places` is the maximum number of decimals. `open` is a cell
    that may be either of two numbers; empty if there is none.
    """

    kind: Kind
    values: tuple[Amount | None, ...]
    unit: str = ""
    places: int = 0
    open: str = ""


_MONTHS = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_DATES = (
    r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})",
    r"(?P<d>\d{1,2})\.?\s+(?P<m>[A-Za-z]{3,9})\.?,?\s+(?P<y>\d{4})",
    r"(?P<m>[A-Za-z]{3,9})\.?\s+(?P<d>\d{1,2}),?\s+(?P<y>\d{4})",
    r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})",
)
_EXACT = 2**53
_LONGEST_REMARK = 30  # characters in place of a number; longer text is no remark
# In place of a number these say that there is none; "unlimited" does not.
_NONE = re.compile(
    r"no|none|nil|nothing|not\s+(?:available|applicable|covered|included|insured"
    r"|offered|permitted|allowed|required|charged)|n/?a|excluded|unavailable",
    re.IGNORECASE,
)


def says_none(text: str) -> bool:
    """Return True for words that stand for no number, such as "none"."""
    return bool(_NONE.fullmatch(text.strip()))


def infer_types(texts: Sequence[str], style: str, *, signs: bool = False) -> Typed:
    """Return the type of a column and its values.

    `style` is how it writes numbers, empty if that is unknown: cells that are two
    different numbers are then text. `signs` is true if the table writes plus signs.
    """
    filled = [t for t in texts if not nothing(t)]
    text = Typed(Kind.TEXT, tuple(t.strip() or None for t in texts))
    filled = _without_remarks(filled)
    if not filled:
        return text
    numbers = _numbers(filled, style)
    if numbers and not style and (first := column_notation(filled).open):
        return replace(text, open=first)
    if numbers and not (signs and any(f.bracketed for f in numbers)):
        return _number_column(texts, numbers)
    dates = [_date(t) for t in texts if not nothing(t)]
    if all(dates):
        left = iter(dates)
        return Typed(
            Kind.DATE, tuple(None if nothing(t) else next(left) for t in texts)
        )
    return text


def _without_remarks(filled: Sequence[str]) -> list[str]:
    """Return the cells of a column of numbers without its words, such as "none".

    All cells, if it is no such column: it has fewer than two numbers, or longer text or
    figures among its words, or more words than numbers that do not say "none".
    """
    rest = [t for t in filled if not figures(t)]
    numbers = len(filled) - len(rest)
    others = sum(not says_none(t) for t in rest)
    short = all(len(t) <= _LONGEST_REMARK and not _DIGIT.search(t) for t in rest)
    if numbers < 2 or others > numbers / 2 or not short:  # noqa: PLR2004 - one may be a remark
        return [*filled]
    return [t for t in filled if figures(t)]


def _numbers(filled: Sequence[str], style: str) -> list[Figure]:
    """Return all cells in the same reading; empty if that is impossible."""
    read = [figures(t) for t in filled]
    for way in filter(None, (style, ENGLISH, COMMA)):
        if all(way in one for one in read):
            numbers = [one[way] for one in read]
            return numbers if one_unit(f.unit for f in numbers) else []
    return []


def _number_column(texts: Sequence[str], numbers: Sequence[Figure]) -> Typed:
    whole = all(f.places == 0 and abs(f.amount) < _EXACT for f in numbers)
    left = iter(int(f.amount) if whole else f.amount for f in numbers)
    values = tuple(next(left) if figures(t) and not nothing(t) else None for t in texts)
    unit = max(f.unit for f in numbers)
    kind = Kind.INTEGER if whole else Kind.NUMBER
    return Typed(kind, values, unit, max(f.places for f in numbers))


def _date(text: str) -> str:
    """Return an ISO 8601 date, or an empty string."""
    for pattern in _DATES:
        match = re.fullmatch(pattern, text.strip())
        if match is None:
            continue
        month = match["m"]
        if not month.isdigit():
            short = month[:3].lower()
            month = str(_MONTHS.index(short) + 1) if short in _MONTHS else "0"
        try:
            return date(int(match["y"]), int(month), int(match["d"])).isoformat()
        except ValueError:
            continue
    return ""


class Column(Record):
    """One column. In SQL it is called `name`: c0, c1 ..."""

    name: str
    header: str = Told(description="header path, ' / ' between levels")
    kind: Kind
    unit: str = Told(default="", description="unit shared by all its cells")
    places: int = Told(
        default=0, ge=0, description="maximum number of decimals of its numbers"
    )


class Field(Record):
    """One cell: as written, its value, and characters `[start, end)` of the document.

    `value` is None for an empty cell, and for words such as "none" in a column of
    numbers; dates are ISO 8601.
    """

    text: str
    value: Amount | None
    start: int = Told(ge=0)
    end: int = Told(ge=0)
    boxes: tuple[Box, ...] = ()


class Row(Record):
    """A row of data. `fields` has one item for each column, None without a cell."""

    n: int = Told(ge=1, description="its number among the data rows")
    start: int = Told(ge=0)
    end: int = Told(ge=0)
    page: int | None = None
    label: str = Told(description="label of the row")
    fields: tuple[Field | None, ...]


class Relation(Record):
    """A table of a document. It is `clean` if it can be queried reliably.

    `id` consists of the document's id and the table's number in it. A table that
    continues over pages is one relation.
    """

    id: str
    document_id: str
    document: str
    title: str
    section: str = ""
    page: int | None = None
    end_page: int | None = None
    columns: tuple[Column, ...]
    labels: int = Told(default=0, ge=0, description="the column that names the rows")
    rows: tuple[Row, ...]
    problems: tuple[str, ...] = Told(
        default=(), description="reasons why it is not clean"
    )

    @property
    def span(self) -> tuple[int, int]:
        """The characters from the first row of data to the last."""
        if not self.rows:
            return 0, 0
        return self.rows[0].start, self.rows[-1].end

    @property
    def clean(self) -> bool:
        """Return True if headers, columns and types are certain."""
        return not self.problems

    def field(self, n: int, column: int) -> Field | None:
        """The cell of row `n` (from 1) in a column (from 0)."""
        return self.rows[n - 1].fields[column]


NUMBERS = frozenset([Kind.INTEGER, Kind.NUMBER])
# In a single column a row may be the sum of those before it by chance.
_FEWEST_SUMS = 2
_LEAST_SUM = 100  # in units of the last shown digit
_ROUNDED = 0.02  # a sum may be off by this share of it


def total_rows(relation: Relation) -> frozenset[int]:
    """Return the numbers of rows that are the sum of the rows just before them.

    Two different sums must agree, each in a column, within the shown decimals, and one
    must have three digits: in a table of goals, or of loans that are the same in each
    year, a row is the sum of others by chance. They may be smaller if the last row is
    the sum of all others in every column of numbers. Sums are not added again.
    """
    totals: set[int] = set()
    for row in relation.rows:
        before = [r.n for r in relation.rows[: row.n - 1] if r.n not in totals]
        counts = range(2, len(before) + 1)
        is_last = row.n == len(relation.rows)
        if any(
            _is_total(
                relation,
                row.n,
                before[-count:],
                is_whole=is_last and count == len(before),
            )
            for count in counts
        ):
            totals.add(row.n)
    return frozenset(totals)


def _is_total(
    relation: Relation, n: int, parts: Sequence[int], *, is_whole: bool
) -> bool:
    """Return whether row `n` is the sum of the parts in two columns.

    `is_whole`: it is the last row and the parts are all others.
    """
    columns = [c for c, one in enumerate(relation.columns) if one.kind in NUMBERS]
    sums = [
        total
        for c in columns
        if (total := _sum_of_parts(relation, n, c, parts)) is not None
    ]
    if len(set(sums)) < _FEWEST_SUMS:
        return False
    return max(sums) >= _LEAST_SUM or (is_whole and len(sums) == len(columns))


def _sum_of_parts(
    relation: Relation, n: int, c: int, parts: Sequence[int]
) -> float | None:
    """Return the value of row `n` in shown units, if it is the sum of the parts."""
    values = [_amount(relation, part, c) for part in (n, *parts)]
    amounts = [v for v in values if v is not None]
    total = values[0]
    if not total or len(amounts) <= 2:  # noqa: PLR2004 - the sum and one part
        return None
    shown = 10.0 ** -relation.columns[c].places
    off = abs(sum(amounts[1:]) - total)
    # Each shown number is rounded, but not those of a table of goals.
    right = off <= min(0.5 * len(amounts) * shown, max(_ROUNDED * abs(total), 1e-9))
    return abs(total) / shown if right else None


def _amount(relation: Relation, n: int, column: int) -> float | None:
    field = relation.field(n, column)
    return field.value if field and isinstance(field.value, int | float) else None


# An attribute of the rows of a table of which more may be on the next page.
ROWS_DOUBTFUL = {"table_rows": "doubtful"}
ID_DIGITS = 12  # 48 bits of the document's id: short to type, collisions unlikely
_DIGIT = re.compile(r"\d")
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
            problems=tuple(dict.fromkeys([*self._problems(), *_open_problems(types)])),
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


def _labels(types: Sequence[Typed]) -> int:
    """Return the column that names the rows: the first, or after serial numbers."""
    first = types[0].values if types else ()
    serial = len(first) > 1 and first == tuple(range(1, len(first) + 1))
    return int(serial and len(types) > 1 and types[1].kind is Kind.TEXT)


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
