"""Sheets as XLSX and CSV: safe to open in a spreadsheet, and read back exactly.

Every cell is text. In CSV a text that a spreadsheet would run as a formula gets a
leading ', which is removed on import; XLSX marks each cell as text. The same sheet
gives the same bytes.
"""

import csv
import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elt_llm_core.errors import SheetError
from elt_llm_core.reviews.review_records import SETTABLE
from elt_llm_core.sheets.review_sheet import (
    DOMAIN,
    FORMULA_CELL,
    ITEM,
    NAME,
    ReviewSheet,
    as_cell,
)

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

FORMULA = ("=", "+", "-", "@", "\t", "\r")
MOST_BYTES = 200_000_000  # unpacked; 5,000 rows of a long glossary have five million
MOST_ROWS = 200_000
_STAMP = (1980, 1, 1, 0, 0, 0)  # the earliest time of a zip file
_SAVED = re.compile(rb"\d{4}-\d\d-\d\dT[\d:]+Z")
_DELIMITERS = ",;\t"
_SHEET = re.compile(r"xl/worksheets/sheet\d+\.xml")
_FORMULA_AT = re.compile(rb'<c\b[^>]*\br="([A-Z]{1,3})(\d{1,7})"[^>]*>\s*<f\b')
_BOM = "\ufeff"  # without it Excel reads UTF-8 as the local code page
WIDTHS = {"definition": 70, "status": 12, "notes": 30}  # column width, about characters
USUAL_WIDTH = 24


def is_workbook(path: Path) -> bool:
    """Return whether a path names an XLSX file, not a CSV one.

    Raises:
        SheetError: If it names neither.
    """
    ending = path.suffix.lower()
    if ending not in {".xlsx", ".csv"}:
        raise SheetError(
            str(path),
            f"unknown kind {ending or 'without an ending'!r}",
            "known: .csv, .xlsx",
        )
    return ending == ".xlsx"


def dump_sheet(sheet: ReviewSheet, path: Path) -> bytes:
    """Return the content of a CSV or XLSX file, by the extension of `path`.

    Raises:
        SheetError: If the extension is another.
    """
    return _xlsx(sheet) if is_workbook(path) else _csv(sheet)


def read_sheet(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV or XLSX file by column, with their numbers from 1.

    The first row with a cell `item_id` is the header. Column names are in lower case
    without surrounding spaces; empty rows are left out.

    Raises:
        SheetError: If it cannot be read, or has no such header.
    """
    table = _read_xlsx(path) if is_workbook(path) else _read_csv(path)
    for number, cells in enumerate(table, start=1):
        header = [cell.strip().lower() for cell in cells]
        if ITEM in header:
            rows = enumerate(table[number:], start=number + 1)
            return [(n, _name_cells(header, row)) for n, row in rows if any(row)]
    raise SheetError(
        str(path),
        f"no row has a column {ITEM!r}",
        "import a file written by `elt-llm review export`",
    )


def escape(text: str) -> str:
    """Return a cell for CSV, with a leading ' if it could be read as a formula."""
    return f"'{text}" if text.lstrip("'").startswith(FORMULA) else text


def unescape(text: str) -> str:
    """Return the text that was passed to `escape`."""
    guarded = text.startswith("'") and text.lstrip("'").startswith(FORMULA)
    return text[1:] if guarded else text


def _name_cells(header: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    return {
        name: as_cell(cell) for name, cell in zip(header, row, strict=False) if name
    }


def _csv(sheet: ReviewSheet) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(sheet.columns)
    for row in sheet.rows:
        writer.writerow([escape(row.get(name, "")) for name in sheet.columns])
    return (_BOM + buffer.getvalue()).encode("utf-8")


def _read_csv(path: Path) -> list[list[str]]:
    data = _bytes_of(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:  # Excel's default encoding without UTF-8
        text = data.decode("cp1252", "replace")
    head = text[: text.find("\n")] if "\n" in text else text
    delimiter = max(_DELIMITERS, key=head.count)
    csv.field_size_limit(MOST_BYTES)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return [[_cell_of(cell) for cell in row] for row in reader]
    except csv.Error as error:
        raise SheetError(str(path), f"it is not a CSV file: {error}") from error


def _cell_of(cell: str) -> str:
    """Return the text of a CSV cell, or the mark of a formula, if unguarded."""
    return FORMULA_CELL if cell.startswith("=") else unescape(cell)


def _bytes_of(path: Path) -> bytes:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SheetError(str(path), f"it is larger than {MOST_BYTES:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise SheetError(str(path), error.strerror or str(error)) from error


def _xlsx(sheet: ReviewSheet) -> bytes:
    from openpyxl import Workbook  # noqa: PLC0415 - half a second, only for exports
    from openpyxl.styles import Alignment, Font  # noqa: PLC0415
    from openpyxl.utils import get_column_letter  # noqa: PLC0415

    book = Workbook()
    page = book.worksheets[0]
    page.title = "review"
    top = Alignment(wrap_text=True, vertical="top")
    for number, row in enumerate(
        [dict(zip(sheet.columns, sheet.columns, strict=True)), *sheet.rows], start=1
    ):
        for column, name in enumerate(sheet.columns, start=1):
            cell = page.cell(number, column)
            cell.value = row.get(name, "")
            cell.data_type = "s"  # a leading = would make it a formula
            cell.number_format = "@"
            cell.alignment = top
            if number == 1:
                cell.font = Font(bold=True)
    for column, name in enumerate(sheet.columns, start=1):
        letter = get_column_letter(column)
        page.column_dimensions[letter].width = WIDTHS.get(name, USUAL_WIDTH)
    named = [name for name in (NAME, DOMAIN) if name in sheet.columns]
    page.freeze_panes = f"{get_column_letter(2 + len(named))}2"
    page.auto_filter.ref = page.dimensions
    _add_choices(page, len(sheet.rows))
    buffer = io.BytesIO()
    book.save(buffer)
    return _remove_stamps(buffer.getvalue())


def _read_xlsx(path: Path) -> list[list[str]]:
    from python_calamine import CalamineError, CalamineWorkbook  # noqa: PLC0415

    data = _bytes_of(path)
    try:
        _check_archive(path, data)
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        table = book.get_sheet_by_index(0).to_python(
            skip_empty_area=False, nrows=MOST_ROWS
        )
    except (CalamineError, zipfile.BadZipFile, ValueError, OSError) as error:
        raise SheetError(str(path), f"it is not a workbook: {error}") from error
    rows = [[_text_of(value) for value in row] for row in table]
    for row, column in _formulas(data):
        if row <= len(rows) and column <= len(rows[row - 1]):
            rows[row - 1][column - 1] = FORMULA_CELL
    return rows


def _formulas(data: bytes) -> list[tuple[int, int]]:
    """Return row and column, from 1, of the formulas of the first sheet.

    Their stored values come from another program, or do not exist.
    """
    from openpyxl.utils import column_index_from_string  # noqa: PLC0415

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = sorted(n for n in archive.namelist() if _SHEET.fullmatch(n))
        content = archive.read(names[0]) if names else b""
    return [
        (int(row), column_index_from_string(letters.decode()))
        for letters, row in _FORMULA_AT.findall(content)
    ]


def _check_archive(path: Path, data: bytes) -> None:
    """Raise SheetError for excessive or wrongly declared unpacked sizes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
        if unpacked > MOST_BYTES:
            raise SheetError(str(path), f"it unpacks to {unpacked:,} bytes")
        if damaged := archive.testzip():
            raise SheetError(str(path), f"{damaged} in it is damaged")


def _text_of(value: object) -> str:
    """Return a cell as text; an integer without `.0`, as Excel shows it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _add_choices(page: "Worksheet", rows: int) -> None:
    """Offer the statuses as a list in the first column."""
    from openpyxl.worksheet.datavalidation import DataValidation  # noqa: PLC0415

    choices = DataValidation(type="list", formula1=f'"{",".join(SETTABLE)}"')
    choices.errorStyle = "warning"  # a reopened row keeps its status
    page.add_data_validation(choices)
    choices.add(f"A2:A{rows + 1}")


def _remove_stamps(data: bytes) -> bytes:
    """Return the workbook without timestamps in properties and zip entries."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in sorted(source.namelist()):
            body = source.read(name)
            if name == "docProps/core.xml":
                body = _SAVED.sub(b"1980-01-01T00:00:00Z", body)
            entry = zipfile.ZipInfo(name, _STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, body)
    return buffer.getvalue()
