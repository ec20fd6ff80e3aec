"""CSV and XLSX files as rows of text, read as untrusted and written reproducibly."""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

from elt_llm_core.errors import ExchangeError
from elt_llm_core.records import Record

# Excel refuses a longer cell: "Excel specifications and limits".
CELL_LENGTH = 32_767
_LARGEST = 200_000_000  # bytes unpacked; a glossary of 100,000 terms takes about 60 MB
_MOST_ROWS = 1_048_576  # of a sheet: "Excel specifications and limits"
_WRAPPED = Alignment(wrap_text=True, vertical="top")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest timestamp of a ZIP entry
_TIMES = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(<)")
_STAMP = datetime(*_EPOCH, tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ").encode()


class TableRow(Record):
    """One row of a table: its number in an editor, and its texts by column."""

    number: int
    cells: dict[str, str]


class TextTable(Record):
    """The columns of a table in order, and its non-empty rows."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


def write_csv(
    columns: Sequence[str], rows: Iterable[Sequence[str]], mark: bool = False
) -> bytes:
    r"""Return RFC 4180 CSV as UTF-8; lines within a cell end with `\n`.

    Args:
        columns: The header.
        rows: The cells of each row, in the order of the columns.
        mark: Start with a byte order mark, by which Excel recognises UTF-8.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return buffer.getvalue().encode("utf-8-sig" if mark else "utf-8")


def read_csv(content: bytes) -> TextTable:
    """Return the table of a CSV file in UTF-8, separated by commas or semicolons.

    Raises:
        ExchangeError: If it is not UTF-8, has no header, or a row has another number
            of cells than the header.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExchangeError(
            f"the file is not UTF-8: byte {content[error.start]:#04x} at {error.start}",
            "save it as CSV UTF-8",
        ) from error
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return _table(list(lines))
    except csv.Error as error:
        raise ExchangeError(
            f"the file is not CSV: {error}", "export it again as CSV UTF-8"
        ) from error


def write_xlsx(
    sheet: str, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> bytes:
    """Return a workbook of one sheet: every cell is text, the first row stays in view.

    The bytes depend only on the arguments.
    """
    return write_workbook({sheet: (columns, rows)})


def write_workbook(
    sheets: Mapping[str, tuple[Sequence[str], Iterable[Sequence[str]]]],
) -> bytes:
    """Return a workbook with a header and rows for each sheet.

    Args:
        sheets: Names of sheets with their columns and rows, in order.
    """
    book = Workbook(write_only=True)
    for name, (columns, rows) in sheets.items():
        page = book.create_sheet(name)
        page.freeze_panes = "A2"
        for number, column in enumerate(columns, start=1):
            width = max(14, min(60, 2 * len(column)))
            page.column_dimensions[get_column_letter(number)].width = width
        page.append([_text_cell(page, column, bold=True) for column in columns])
        for row in rows:
            page.append([_text_cell(page, value) for value in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return fix_times(buffer.getvalue())


def _text_cell(page: object, value: str, bold: bool = False) -> Any:
    """Return a cell that stays text when edited, whatever it starts with."""
    cell: Any = WriteOnlyCell(page, value)  # type: ignore[arg-type]
    cell.data_type = "s"
    cell.quotePrefix = True
    cell.alignment = _WRAPPED
    if bold:
        cell.font = Font(bold=True)
    return cell


def fix_times(content: bytes) -> bytes:
    """Return the workbook with fixed timestamps, for reproducible bytes."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as packed,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as fixed,
    ):
        for name in packed.namelist():
            data = packed.read(name)
            if name == "docProps/core.xml":
                data = _TIMES.sub(rb"\g<1>" + _STAMP + rb"\g<2>", data)
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            fixed.writestr(entry, data)
    return buffer.getvalue()


def read_xlsx(content: bytes, sheet: str = "") -> TextTable:
    """Return the table of a sheet; formulas are read as their text, never run.

    Args:
        content: The workbook.
        sheet: The sheet's name; the first one if it is "".

    Raises:
        ExchangeError: If it is not a workbook, unpacks to over 200 MB, or lacks the
            sheet.
    """
    _require_sane(content)
    try:
        book = load_workbook(io.BytesIO(content), read_only=True)
    except Exception as error:  # openpyxl does not wrap the errors of its XML parser
        raise ExchangeError(
            f"the file is not an XLSX workbook: {error}", "save it as .xlsx"
        ) from error
    names = book.sheetnames
    if sheet and sheet not in names:
        raise ExchangeError(
            f"the workbook has no sheet {sheet!r}", f"it has: {', '.join(names)}"
        )
    page = book[sheet] if sheet else book[names[0]]
    lines = [
        [_cell_text(value) for value in row]
        for row in page.iter_rows(max_row=_MOST_ROWS, values_only=True)
    ]
    return _table(lines)


def _require_sane(content: bytes) -> None:
    """Refuse files that are no ZIP archive, or unpack to an excessive size."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
    except zipfile.BadZipFile as error:
        raise ExchangeError(
            "the file is no XLSX workbook", "save it as .xlsx"
        ) from error
    if size > _LARGEST:
        raise ExchangeError(
            f"the workbook unpacks to {size:,} bytes, over {_LARGEST:,}",
            "remove pictures and other sheets",
        )


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _table(lines: Sequence[Sequence[str]]) -> TextTable:
    """Return the table: the first line is the header; cells beyond it must be empty."""
    if not lines or not any(lines[0]):
        raise ExchangeError(
            "the table has no header", "write the column names in row 1"
        )
    columns = [column.strip() for column in lines[0]]
    while columns and not columns[-1]:
        columns.pop()
    twice = sorted({one for one in columns if columns.count(one) > 1})
    if twice:
        raise ExchangeError(
            f"the column {twice[0]!r} is in the header twice", "rename one"
        )
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if any(line[len(columns) :]):
            raise ExchangeError(
                f"row {number} has more cells than the header has columns",
                "put cells that contain the separator in quotes",
            )
        cells = [*line, *[""] * (len(columns) - len(line))]
        if any(cell.strip() for cell in cells):
            named = dict(zip(columns, cells, strict=False))
            rows.append(TableRow(number=number, cells=named))
    return TextTable(columns=tuple(columns), rows=tuple(rows))
