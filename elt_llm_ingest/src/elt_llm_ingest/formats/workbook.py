"""An Excel file as sheets of rows of text, checked before any reader sees it."""

import datetime
import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from elt_llm_core.errors import LoadError
from elt_llm_ingest.formats.workbook_parts import SHEET, Beside, besides
from elt_llm_ingest.safety import Limits, check_zip

FILLED = re.compile(
    rb'<c\s[^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"[^>]*?(?<!/)>(?!\s*</c>)'
)

EXACT = 1e15  # below it a whole number is exact
Rows = list[list[str]]


@dataclass(frozen=True)
class Sheet:
    """A sheet: rows of values as text; `merged` cells as first and last row, column."""

    name: str
    rows: Rows
    visible: bool
    merged: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    beside: Beside


def read_sheets(path: Path, data: bytes, limits: Limits) -> list[Sheet]:
    """Every sheet in the order of the workbook. Raises LoadError."""
    with check_zip(path.name, data) as archive:
        _check_span(path.name, archive, limits)
        others = besides(path.name, archive)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        return [
            Sheet(
                name=told.name,
                rows=_rows(book, told.name),
                visible=told.visible == SheetVisibleEnum.Visible,
                merged=tuple(
                    book.get_sheet_by_name(told.name).merged_cell_ranges or ()
                ),
                beside=others.get(told.name) or Beside(),
            )
            for told in book.sheets_metadata
            if told.typ == SheetTypeEnum.WorkSheet
        ]
    except (CalamineError, OSError, ValueError) as error:
        raise LoadError(
            path.name, "the workbook is damaged", "open it in Excel and save it again"
        ) from error


def _check_span(name: str, archive: zipfile.ZipFile, limits: Limits) -> None:
    """Refuse before reading: a reader makes room for all cells up to the last one."""
    total = 0
    for member in archive.namelist():
        if not SHEET.match(member):
            continue
        rows = columns = 0
        for letters, digits in FILLED.findall(archive.read(member)):
            rows = max(rows, int(digits))
            columns = max(columns, _column(letters))
        total += rows * columns
    if total > limits.max_cells:
        raise LoadError(
            name,
            f"its sheets span {total:,} cells, more than {limits.max_cells:,}",
            "delete stray cells far from the table, or split the workbook",
        )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _rows(book: CalamineWorkbook, name: str) -> Rows:
    sheet = book.get_sheet_by_name(name)
    return [[_shown(v) for v in row] for row in sheet.to_python(skip_empty_area=False)]


def _shown(value: object) -> str:
    """A cell's value as text: whole numbers without a fraction, dates in ISO form."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return (
            str(int(value))
            if value.is_integer() and abs(value) < EXACT
            else repr(value)
        )
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)
