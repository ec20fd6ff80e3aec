"""Build relations from the table rows of a document. Only the document is stored."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import groupby

from pydantic import Field as Told

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.records import Record
from elt_llm_core.results import Box

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

    Dates are ISO 8601. `places` is the maximum number of decimals.
    """

    kind: Kind
    values: tuple[Amount | None, ...]
    unit: str = ""
    places: int = 0


@dataclass(frozen=True)
class Figure:
    """One number as written."""

    amount: float
    unit: str
    places: int
    style: str
    bracketed: bool


ENGLISH, COMMA = "1,234.5", "1.234,5"
_NOTHING = re.compile(
    r"[-\u2013\u2014\u2212.:\u2026*\s]*|n\s*[./]?\s*a\.?", re.IGNORECASE
)
_SIGNS = "\\-\u2013\u2014\u2212"  # escaped for a character class
_CURRENCIES = r"US\$|[$\u20ac\u00a3\u00a5]|(?:EUR|USD|GBP|CHF|JPY)(?=[\s\d(])"
_SHAPE = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+{_SIGNS}])?\s*(?P<currency>{_CURRENCIES})?\s*"
    rf"(?P<inner>\()?\s*(?P<minus>[{_SIGNS}])?\s*"
    r"(?P<digits>\d(?:[\d.,'\u2019\u00a0\u202f ]*\d)?)\s*(?P<close>\))?"
    r"\s*(?P<scale>(?:thousand|million|billion|trillion|mn|bn)\b)?"
    r"\s*(?P<unit>%|\u2030|\u20ac|[A-Za-z\u00b5\u00b0][A-Za-z\u00b5\u00b0/\u00b2\u00b3]{0,11})?"
    r"\s*(?P<last>\))?\s*[*\u2020\u2021]*"
)
_GAPS = " '\u2019\u00a0\u202f"
_WHOLE = r"(?:\d{{1,3}}(?P<gap>[{0}{1}])\d{{3}}(?:(?P=gap)\d{{3}})*|\d+)"
_STYLES = {
    ENGLISH: _WHOLE.format(",", _GAPS) + r"(?:\.(?P<rest>\d+))?",
    COMMA: _WHOLE.format(".", _GAPS) + r"(?:,(?P<rest>\d+))?",
}
_MONEY = {"$", "\u20ac", "\u00a3", "\u00a5", "CHF"}
_SCALES = {
    "thousand": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
}
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


def nothing(text: str) -> bool:
    """Return True for a cell without a value."""
    return bool(_NOTHING.fullmatch(text.strip()))


def figures(text: str) -> dict[str, Figure]:
    """Return the number of a cell in each reading of its digits; possibly none."""
    match = _SHAPE.fullmatch(text.strip())
    if not match or bool(match["open"] or match["inner"]) != bool(
        match["close"] or match["last"]
    ):
        return {}
    if match["sign"] and match["minus"]:
        return {}
    bracketed = bool(match["open"] or match["inner"])
    signed = (match["sign"] or "+") != "+" or bool(match["minus"])
    figures_by_style = {}
    for style, pattern in _STYLES.items():
        digits = re.fullmatch(pattern, match["digits"])
        if digits is None:
            continue
        whole = match["digits"][: digits.start("rest") - 1] if digits["rest"] else ""
        whole = re.sub(r"\D", "", whole or match["digits"])
        amount = float(f"{whole}.{digits['rest'] or 0}")
        amount *= _SCALES.get(match["scale"] or "", 1)
        amount = -amount if bracketed or signed else amount
        unit = _unit(match["currency"] or match["unit"] or "")
        places = 0 if match["scale"] else len(digits["rest"] or "")
        figures_by_style[style] = Figure(amount, unit, places, style, bracketed)
    return figures_by_style


def style_of(texts: Iterable[str]) -> str:
    """Return a table's number style, from cells that have only one reading."""
    only = {next(iter(readings)) for t in texts if len(readings := figures(t)) == 1}
    return COMMA if only == {COMMA} else ENGLISH


def signs_in(texts: Iterable[str]) -> bool:
    """Return True if numbers are written with a plus."""
    return any(t.strip().startswith("+") and figures(t) for t in texts)


def infer_types(texts: Sequence[str], style: str, *, signs: bool = False) -> Typed:
    """Return the type of a column and its values.

    `style` is the table's; `signs` is true if it writes plus signs.
    """
    filled = [t for t in texts if not nothing(t)]
    text = Typed(Kind.TEXT, tuple(t.strip() or None for t in texts))
    if not filled:
        return text
    numbers = _numbers(filled, style)
    if numbers and not (signs and any(f.bracketed for f in numbers)):
        return _number_column(texts, numbers)
    dates = [_date(t) for t in filled]
    if all(dates):
        left = iter(dates)
        return Typed(
            Kind.DATE, tuple(None if nothing(t) else next(left) for t in texts)
        )
    return text


def _numbers(filled: Sequence[str], style: str) -> list[Figure]:
    """Return all cells in the same reading; empty if that is impossible."""
    read = [figures(t) for t in filled]
    for way in (style, ENGLISH, COMMA):
        if all(way in one for one in read):
            numbers = [one[way] for one in read]
            return numbers if one_unit(f.unit for f in numbers) else []
    return []


def _number_column(texts: Sequence[str], numbers: Sequence[Figure]) -> Typed:
    whole = all(f.places == 0 and abs(f.amount) < _EXACT for f in numbers)
    left = iter(int(f.amount) if whole else f.amount for f in numbers)
    values = tuple(None if nothing(t) else next(left) for t in texts)
    unit = max(f.unit for f in numbers)
    kind = Kind.INTEGER if whole else Kind.NUMBER
    return Typed(kind, values, unit, max(f.places for f in numbers))


def _unit(written: str) -> str:
    plain = {"US$": "$", "USD": "$", "EUR": "\u20ac", "GBP": "\u00a3", "JPY": "\u00a5"}
    written = plain.get(written, written)
    long = len(written) > 3  # noqa: PLR2004 - "kgs" is no plural, "days" is
    return written.lower().removesuffix("s") if long else written


def one_unit(units: Iterable[str]) -> bool:
    """Return True if all units are equal; a currency may be omitted in some."""
    named_units = set(units)
    named = named_units - {""}
    return len(named) <= 1 and (len(named_units) == 1 or named <= _MONEY)


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

    `value` is None for an empty cell; dates are ISO 8601.
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


def total_rows(relation: Relation) -> frozenset[int]:
    """Return the numbers of rows that are the sum of the rows just before them.

    The sums must agree in at least two columns, within the shown decimals. Rows that
    are sums themselves are not added again.
    """
    totals: set[int] = set()
    for row in relation.rows:
        before = [r.n for r in relation.rows[: row.n - 1] if r.n not in totals]
        counts = range(2, len(before) + 1)
        if any(_is_total(relation, row.n, before[-count:]) for count in counts):
            totals.add(row.n)
    return frozenset(totals)


def _is_total(relation: Relation, n: int, parts: Sequence[int]) -> bool:
    """Return whether row `n` is the sum of the parts in two columns."""
    right = 0
    for c, column in enumerate(relation.columns):
        if column.kind not in NUMBERS:
            continue
        values = [_amount(relation, part, c) for part in (n, *parts)]
        amounts = [v for v in values if v is not None]
        if values[0] is None or len(amounts) <= 2 or not values[0]:  # noqa: PLR2004 - the sum and one part
            continue
        off = abs(sum(amounts[1:]) - values[0])
        right += off <= 0.5 * len(amounts) * 10.0**-column.places
    return right >= _FEWEST_SUMS


def _amount(relation: Relation, n: int, column: int) -> float | None:
    field = relation.field(n, column)
    return field.value if field and isinstance(field.value, int | float) else None


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
    return [
        _TableReader(text, list(group)).relation(document_id, document, number)
        for number, (_, group) in enumerate(tables, start=1)
    ]


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

    def relation(self, document_id: str, document: str, number: int) -> Relation:
        """Return the relation, with its problems."""
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
        cells = [cell for column in columns[1:] for cell in column]
        style, signs = style_of(cells), signs_in(cells)
        return [infer_types(column, style, signs=signs) for column in columns]

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
