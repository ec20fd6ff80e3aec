"""An Excel file as sheets of rows of text, checked before any reader opens it."""

import datetime
import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits, check_zip
from elt_llm_ingest.readers.text_builder import one_line
from elt_llm_ingest.readers.xml import safe

SHEET = re.compile(r"xl/worksheets/[^/]+\.xml$")
ROW = re.compile(rb"<row\s[^>]*?\bhidden=\"(?:1|true)\"[^>]*>")
COLUMN = re.compile(rb"<col\s[^>]*?\bhidden=\"(?:1|true)\"[^>]*>")
EMPTY_FORMULA = re.compile(rb"</f>\s*(?:<v\s*/>|<v></v>)?\s*</c>|<f[^>]*/>\s*</c>")
WORKBOOK = "xl/workbook.xml"


@dataclass
class SheetExtras:
    """The contents of one sheet besides its cells."""

    hidden_rows: int = 0
    hidden_columns: int = 0
    formulas: int = 0  # without a stored value
    notes: list[tuple[str, str]] = field(default_factory=list)  # cell, text
    shapes: list[str] = field(default_factory=list)
    charts: int = 0

    def warnings(self, name: str) -> Iterator[str]:
        """Return one sentence for each thing that a reader should know."""
        for count, what in (
            (self.hidden_rows, "hidden rows, which were read"),
            (self.hidden_columns, "hidden columns, which were read"),
            (self.formulas, "formulas without a stored value (open it and save it)"),
            (self.charts, "charts, which were not read"),
        ):
            if count:
                yield f"the sheet {name!r} has {what}: {count}"


def read_sheet_extras(name: str, archive: zipfile.ZipFile) -> dict[str, SheetExtras]:
    """Return the contents by sheet. Raises LoadError for damaged or hostile XML."""
    names = frozenset(archive.namelist())
    if WORKBOOK not in names:
        return {}
    book = safe.parse_xml(name, archive.read(WORKBOOK))
    targets = dict(_relations(name, archive, WORKBOOK, names))
    sheets_beside = {}
    for sheet in book.iter():
        if safe.tag(sheet) != "sheet":
            continue
        keys = [value for key, value in sheet.attrib.items() if key.endswith("}id")]
        part = targets.get(keys[0], "") if keys else ""
        if SHEET.match(part) and part in names:
            sheets_beside[sheet.get("name", "")] = _beside(name, archive, part, names)
    return sheets_beside


def _beside(
    name: str, archive: zipfile.ZipFile, part: str, names: frozenset[str]
) -> SheetExtras:
    data = archive.read(part)
    done = SheetExtras(
        hidden_rows=len(ROW.findall(data)),
        hidden_columns=len(COLUMN.findall(data)),
        formulas=len(EMPTY_FORMULA.findall(data)),
    )
    for _, target in _relations(name, archive, part, names):
        if "/comments" in target and target.endswith(".xml"):
            done.notes += _notes(safe.parse_xml(name, archive.read(target)))
        elif "/drawings/drawing" in target:
            root = safe.parse_xml(name, archive.read(target))
            done.shapes += _shapes(root)
            done.charts += sum(1 for e in root.iter() if safe.tag(e) == "chart")
    return done


def _relations(
    name: str, archive: zipfile.ZipFile, part: str, names: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Return id and name of every part of the archive that this part refers to."""
    folder, _, last = part.rpartition("/")
    relations = f"{folder}/_rels/{last}.rels"
    if relations not in names:
        return
    for element in safe.child_elements(safe.parse_xml(name, archive.read(relations))):
        target = posixpath.normpath(
            posixpath.join("/", folder, element.get("Target", ""))
        )
        if target.lstrip("/") in names:
            yield element.get("Id", ""), target.lstrip("/")


def _notes(root: Any) -> Iterator[tuple[str, str]]:
    for element in root.iter():
        if safe.tag(element) == "comment":
            yield element.get("ref", ""), _collect_text(element)


def _shapes(root: Any) -> Iterator[str]:
    for element in root.iter():
        if safe.tag(element) == "sp" and (shape_text := _collect_text(element)):
            yield shape_text


def _collect_text(element: Any) -> str:
    texts = (e.text or "" for e in element.iter() if safe.tag(e) == "t")
    return one_line(" ".join(texts))


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
    beside: SheetExtras


def read_sheets(path: Path, data: bytes, limits: Limits) -> list[Sheet]:
    """Return every sheet in the order of the workbook. Raises LoadError."""
    with check_zip(path.name, data) as archive:
        _check_span(path.name, archive, limits)
        others = read_sheet_extras(path.name, archive)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        return [
            Sheet(
                name=metadata.name,
                rows=_rows(book, metadata.name),
                visible=metadata.visible == SheetVisibleEnum.Visible,
                merged=tuple(
                    book.get_sheet_by_name(metadata.name).merged_cell_ranges or ()
                ),
                beside=others.get(metadata.name) or SheetExtras(),
            )
            for metadata in book.sheets_metadata
            if metadata.typ == SheetTypeEnum.WorkSheet
        ]
    except (CalamineError, OSError, ValueError) as error:
        raise LoadError(
            path.name, "the workbook is damaged", "open it in Excel and save it again"
        ) from error


def _check_span(name: str, archive: zipfile.ZipFile, limits: Limits) -> None:
    """Refuse oversized sheets first: readers allocate all cells up to the last one."""
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
    return [
        [_format_value(v) for v in row]
        for row in sheet.to_python(skip_empty_area=False)
    ]


def _format_value(value: object) -> str:
    """Return a cell's value as text: integers without fraction, dates in ISO form."""
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
