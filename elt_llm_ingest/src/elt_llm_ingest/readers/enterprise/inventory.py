"""Inventories of fact sheets: a sheet whose columns are id, type, name and more."""

from collections.abc import Sequence
from pathlib import Path

from elt_llm_core.document import BlockKind, Page, ParsedDocument, Sidecar
from elt_llm_core.errors import LoadError
from elt_llm_core.results import Box
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.text_builder import TextBuilder, one_line
from elt_llm_ingest.readers.workbook import read_sheets

PARSER = "inventory 2"
NEEDED = frozenset({"id", "type", "name"})
Sheets = Sequence[tuple[str, list[list[str]]]]


def is_inventory(sheets: Sheets) -> bool:
    """Whether the sheet that counts has the columns id, type and name."""
    return _find(sheets) is not None


def _find(sheets: Sheets) -> int | None:
    """The first sheet that is not the read-me and has the columns."""
    for index, (name, rows) in enumerate(sheets):
        if name.strip().casefold() == "readme" and len(sheets) > 1:
            continue
        if rows and set(_columns(rows[0])) >= NEEDED:
            return index
    return None


def _columns(row: Sequence[str]) -> dict[str, int]:
    """Column name in lower case to its position; the first of a name counts."""
    columns: dict[str, int] = {}
    for index, cell in enumerate(row):
        columns.setdefault(cell.strip().casefold() or f"col_{index + 1}", index)
    return columns


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
    """The inventory in a workbook. Raises LoadError where there is none."""
    sheets = read_sheets(path, data, limits)
    return documents(path, [(sheet.name, sheet.rows) for sheet in sheets])


def documents(path: Path, sheets: Sheets) -> list[ParsedDocument]:
    """One document: a block and a sidecar entry for every fact sheet.

    Raises LoadError where no sheet has the columns id, type and name.
    """
    index = _find(sheets)
    if index is None:
        raise LoadError(
            path.name,
            "no sheet has the columns id, type and name",
            "export the inventory with these columns",
        )
    name, rows = sheets[index]
    records, warnings = _records(rows)
    if not records:
        raise LoadError(path.name, "the inventory has no fact sheet")
    builder = TextBuilder()
    for number, record in records:
        _add(builder, record, index + 1, number, len(rows))
    return [
        ParsedDocument(
            title=path.stem,
            text=builder.text,
            blocks=builder.blocks,
            pages=[_page(i, *sheet) for i, sheet in enumerate(sheets, start=1)],
            parser=PARSER,
            warnings=warnings,
            sidecars=(_sidecar(path, name, [r for _, r in records]),),
        )
    ]


def _add(
    builder: TextBuilder, record: dict[str, str], page: int, row: int, rows: int
) -> None:
    """A fact sheet's block; its box is its row of the sheet."""
    top, bottom = round(row / rows, 5), round((row + 1) / rows, 5)
    builder.add(
        BlockKind.FACT_SHEET,
        _text(record),
        page=page,
        end_page=page,
        boxes=(Box(page=page, left=0, top=top, right=1, bottom=bottom),),
        section=record["type"],
        attributes={key: record[key] for key in ("id", "type", "name")},
    )


def _page(number: int, name: str, rows: Sequence[Sequence[str]]) -> Page:
    width = max((len(row) for row in rows), default=0) or 1
    return Page(number=number, width=width, height=len(rows) or 1, label=name)


def _records(
    rows: Sequence[Sequence[str]],
) -> tuple[list[tuple[int, dict[str, str]]], tuple[str, ...]]:
    """Row number and values of every fact sheet, and what was left out."""
    columns = _columns(rows[0])
    state = "lxstate" if "lxstate" in columns else "status"
    places = {
        "id": columns["id"],
        "type": columns["type"],
        "name": columns["name"],
        "description": columns.get("description"),
        "level": columns.get("level"),
        "status": columns.get(state),
    }
    records: list[tuple[int, dict[str, str]]] = []
    seen: set[str] = set()
    warnings = []
    for number, row in enumerate(rows[1:], start=1):
        record = {key: _value(row, at) for key, at in places.items()}
        if not any(row):
            continue
        path = one_line(_value(row, columns.get("displayname")))
        if path.endswith(f" / {record['name']}"):  # it says where the fact sheet is
            record["display_name"] = path
        if not record["id"] or not record["name"]:
            warnings.append(f"row {number + 1} has no id or no name and was left out")
        elif record["id"] in seen:
            warnings.append(
                f"row {number + 1} repeats the id {record['id']} and was left out"
            )
        else:
            seen.add(record["id"])
            records.append((number, record))
    return records, tuple(warnings)


def _value(row: Sequence[str], at: int | None) -> str:
    if at is None or at >= len(row):
        return ""
    return "\n".join(one_line(line) for line in row[at].split("\n") if line.strip())


def _text(record: dict[str, str]) -> str:
    lines = [
        one_line(record["name"]),
        *(
            f"{label}: {record[key]}"
            for label, key in (
                ("Type", "type"),
                ("Level", "level"),
                ("Status", "status"),
            )
            if record[key]
        ),
        record["description"],
    ]
    return "\n".join(line for line in lines if line)


def sidecar(path: Path, name: str, rows: Sequence[Sequence[str]]) -> Sidecar | None:
    """What consumers read of a table, or None where it is no inventory."""
    if not is_inventory([(name, [list(row) for row in rows])]):
        return None
    records, _ = _records(rows)
    return _sidecar(path, name, [record for _, record in records]) if records else None


def _sidecar(path: Path, name: str, records: Sequence[dict[str, str]]) -> Sidecar:
    return Sidecar(
        kind="inventory",
        name=path.stem,
        content={
            "metadata": {
                "org_name": "",
                "source": path.name,
                "sheet": name,
                "total_fact_sheets": len(records),
            },
            "fact_sheets": {record["id"]: record for record in records},
        },
    )
