"""Write the inventory workbook in the shape of a LeanIX "export all"."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import model
from markup import rows
from model_data import DOMAINS
from openpyxl import Workbook
from openpyxl.styles import Font

SHEET = "Export 2026-01-15 09-30-00"
COLUMNS = (
    "id",
    "type",
    "name",
    "displayName",
    "description",
    "level",
    "status",
    "lxState",
)
STATES = ("APPROVED", "DRAFT", "BROKEN_QUALITY_SEAL")
FIXED = (1980, 1, 1, 0, 0, 0)


def write(target: Path) -> None:
    """Write the workbook with the same bytes every time."""
    book = Workbook()
    notes = book.active
    if notes is None:
        raise RuntimeError("openpyxl made a workbook without a sheet")
    notes.title = "ReadMe"
    for line in ("Inventory export", "One row per fact sheet; names are invented."):
        notes.append([line])
    sheet = book.create_sheet(SHEET)
    sheet.append(list(COLUMNS))
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for row in inventory_rows():
        sheet.append(row)
    held = io.BytesIO()
    book.save(held)
    target.write_bytes(_fixed(held.getvalue()))


def _fixed(data: bytes) -> bytes:
    # openpyxl stamps the time of saving into the properties and into each zip entry.
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as target,
    ):
        for name in sorted(source.namelist()):
            body = source.read(name)
            if name == "docProps/core.xml":
                stamp = rb"\d{4}-\d\d-\d\dT[\d:]+Z"
                body = re.sub(stamp, b"2026-01-15T09:30:00Z", body)
            entry = zipfile.ZipInfo(name, FIXED)
            entry.create_system = 0
            target.writestr(entry, body)
    return out.getvalue()


def inventory_rows() -> list[list[str | int | None]]:
    """Return every row, data objects first."""
    found = _data_objects()
    for kind, name, parent, text in rows("inventory.psv")[1:]:
        path = f"{parent} / {name}" if parent else name
        level = 2 if parent else 1
        found.append([model.fact_sheet_id(kind, name), kind, name, path, text, level])
    return [
        [*row[:4], row[4] or None, row[5], "ACTIVE", STATES[index % len(STATES)]]
        for index, row in enumerate(found)
    ]


def _data_objects() -> list[list[str | int | None]]:
    texts = {row[0]: row[1] for row in rows("descriptions.psv")}
    found: list[list[str | int | None]] = []
    for domain in sorted(DOMAINS, key=lambda d: d.name):
        found.append(_row("domain", domain.name, domain.name, domain.name, 1))
        for subtype, _members in domain.subtypes:
            path = f"{domain.name} / {subtype}"
            found.append(_row("subtype", f"{domain.name}/{subtype}", subtype, path, 2))
        if domain.outer:
            found.append(_row("container", domain.outer, domain.outer, domain.outer, 3))
    for item in model.entities():
        name, domain_name = item["name"], item["domain"]
        parts = [part for part in (domain_name, item["subtype"], name) if part]
        row = _row("entity", f"{domain_name}/{name}", name, " / ".join(parts), 3)
        row[4] = texts.get(name)
        found.append(row)
    found.append(_row("stray", model.STRAY, model.STRAY, model.STRAY, 4))
    return found


def _row(
    kind: str, key: str, name: str, path: str, level: int
) -> list[str | int | None]:
    return [model.fact_sheet_id(kind, key), "DataObject", name, path, None, level]
