"""What an Excel file says beside its cells: notes, what is hidden or not stored."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from elt_llm_ingest.formats import xml
from elt_llm_ingest.formats.build import one_line

SHEET = re.compile(r"xl/worksheets/[^/]+\.xml$")
ROW = re.compile(rb"<row\s[^>]*?\bhidden=\"(?:1|true)\"[^>]*>")
COLUMN = re.compile(rb"<col\s[^>]*?\bhidden=\"(?:1|true)\"[^>]*>")
EMPTY_FORMULA = re.compile(rb"</f>\s*(?:<v\s*/>|<v></v>)?\s*</c>|<f[^>]*/>\s*</c>")
WORKBOOK = "xl/workbook.xml"


@dataclass
class Beside:
    """What one sheet says beside its cells."""

    hidden_rows: int = 0
    hidden_columns: int = 0
    formulas: int = 0  # without a stored value
    notes: list[tuple[str, str]] = field(default_factory=list)  # cell, text
    shapes: list[str] = field(default_factory=list)
    charts: int = 0

    def warnings(self, name: str) -> Iterator[str]:
        """One sentence for each thing that a reader should know of."""
        for count, what in (
            (self.hidden_rows, "hidden rows, which were read"),
            (self.hidden_columns, "hidden columns, which were read"),
            (self.formulas, "formulas without a stored value (open it and save it)"),
            (self.charts, "charts, which were not read"),
        ):
            if count:
                yield f"the sheet {name!r} has {what}: {count}"


def besides(name: str, archive: zipfile.ZipFile) -> dict[str, Beside]:
    """By the name of the sheet. Raises LoadError for damaged and hostile XML."""
    names = frozenset(archive.namelist())
    if WORKBOOK not in names:
        return {}
    book = xml.parsed(name, archive.read(WORKBOOK))
    targets = dict(_relations(name, archive, WORKBOOK, names))
    found = {}
    for sheet in book.iter():
        if xml.tag(sheet) != "sheet":
            continue
        keys = [value for key, value in sheet.attrib.items() if key.endswith("}id")]
        part = targets.get(keys[0], "") if keys else ""
        if SHEET.match(part) and part in names:
            found[sheet.get("name", "")] = _beside(name, archive, part, names)
    return found


def _beside(
    name: str, archive: zipfile.ZipFile, part: str, names: frozenset[str]
) -> Beside:
    data = archive.read(part)
    done = Beside(
        hidden_rows=len(ROW.findall(data)),
        hidden_columns=len(COLUMN.findall(data)),
        formulas=len(EMPTY_FORMULA.findall(data)),
    )
    for _, target in _relations(name, archive, part, names):
        if "/comments" in target and target.endswith(".xml"):
            done.notes += _notes(xml.parsed(name, archive.read(target)))
        elif "/drawings/drawing" in target:
            root = xml.parsed(name, archive.read(target))
            done.shapes += _shapes(root)
            done.charts += sum(1 for e in root.iter() if xml.tag(e) == "chart")
    return done


def _relations(
    name: str, archive: zipfile.ZipFile, part: str, names: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Id and name of every part of the archive that this part refers to."""
    folder, _, last = part.rpartition("/")
    relations = f"{folder}/_rels/{last}.rels"
    if relations not in names:
        return
    for element in xml.children(xml.parsed(name, archive.read(relations))):
        target = posixpath.normpath(
            posixpath.join("/", folder, element.get("Target", ""))
        )
        if target.lstrip("/") in names:
            yield element.get("Id", ""), target.lstrip("/")


def _notes(root: Any) -> Iterator[tuple[str, str]]:
    for element in root.iter():
        if xml.tag(element) == "comment":
            yield element.get("ref", ""), _said(element)


def _shapes(root: Any) -> Iterator[str]:
    for element in root.iter():
        if xml.tag(element) == "sp" and (said := _said(element)):
            yield said


def _said(element: Any) -> str:
    texts = (e.text or "" for e in element.iter() if xml.tag(e) == "t")
    return one_line(" ".join(texts))
