"""Inventories of fact sheets: a sheet whose columns are id, type, name and more."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from elt_llm_core.document import BlockKind, Page, ParsedDocument, Sidecar
from elt_llm_core.enterprise.model import (
    ORGANISATION,
    SIDECAR_KIND,
    UNREAD_KIND,
    ModelSkip,
)
from elt_llm_core.errors import LoadError
from elt_llm_core.results import Box
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.enterprise.inventory_columns import (
    NEEDED,
    cells_of,
    describe_unread,
    find_columns,
)
from elt_llm_ingest.readers.enterprise.inventory_model import (
    OWN_COLUMNS,
    InventoryRow,
    build_model,
)
from elt_llm_ingest.readers.enterprise.inventory_sheets import (
    TypeSheet,
    find_numbered,
    find_type_sheets,
)
from elt_llm_ingest.readers.enterprise.inventory_types import type_named
from elt_llm_ingest.readers.text_builder import TextBuilder, one_line, with_sections
from elt_llm_ingest.readers.workbook import read_sheets

PARSER = "inventory 9"
Sheets = Sequence[tuple[str, list[list[str]]]]
WriteSheet = Callable[[TextBuilder, int], None]  # with the number of the sheet
_SHOWN = 12  # headings in a sentence


def is_inventory(sheets: Sheets) -> bool:
    """Return whether a sheet has the columns id, type and name."""
    return bool(_find_all(sheets))


def _find_all(sheets: Sheets) -> list[int]:
    """Return the sheets with the columns, without the read-me if there are others."""
    return [
        index
        for index, (name, rows) in enumerate(sheets)
        if (not _is_readme(name) or len(sheets) == 1)
        and rows
        and find_columns(rows).keys() >= set(NEEDED)
    ]


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
    """Return the inventory in a workbook. Raises LoadError if there is none."""
    sheets = read_sheets(path, data, limits)
    return documents(path, [(sheet.name, sheet.rows) for sheet in sheets])


def documents(
    path: Path, sheets: Sheets, write_table: WriteSheet | None = None
) -> list[ParsedDocument]:
    """Return one document: a block and a sidecar entry for every fact sheet.

    Args:
        path: The file.
        sheets: Names and rows of its sheets.
        write_table: Writes a sheet that has no columns id, type and name, so that its
            rows can be searched. Without it these are left out.

    Raises:
        LoadError: If no sheet has the columns id, type and name.
    """
    indices = _find_all(sheets)
    if not indices:
        raise LoadError(
            path.name,
            "no sheet has the columns id, type and name",
            "export the inventory with these columns",
        )
    listing = _Listing()
    builder = TextBuilder()
    for index, (name, rows) in enumerate(sheets):
        if index in indices:
            for number, record in listing.read(name, rows, index + 1):
                _add(builder, record, index + 1, number, len(rows))
        elif write_table and not _is_readme(name):
            _write_apart(builder, write_table, index + 1)
    if not listing.records:
        raise LoadError(path.name, "the inventory has no fact sheet")
    listed = _find_other_types(sheets, indices, listing)
    listing.read_types(sheets, listed)
    indices += [one.number for one in listed]
    name = ", ".join(sheets[index][0] for index in sorted(indices))
    return [
        ParsedDocument(
            title=path.stem,
            text=builder.text,
            blocks=builder.blocks,
            pages=[_page(i, *sheet) for i, sheet in enumerate(sheets, start=1)],
            parser=PARSER,
            warnings=tuple(listing.warnings),
            sidecars=(
                *_sidecars(path, name, listing),
                *unread_sidecars(path, sheets, indices),
            ),
        )
    ]


def _is_readme(name: str) -> bool:
    return name.strip().casefold() == "readme"


def _write_apart(builder: TextBuilder, write: WriteSheet, page: int) -> None:
    """Write a sheet with sections of its own, beside those of the fact sheets."""
    before = len(builder.blocks)
    write(builder, page)
    builder.blocks[before:] = with_sections(builder.text, builder.blocks[before:])


def _find_other_types(
    sheets: Sheets, whole: Sequence[int], listing: "_Listing"
) -> list[TypeSheet]:
    """Return the sheets of one type beside inventories, unless they list these again.

    A sheet with the costs of the applications that the inventory lists is a table of
    known fact sheets, and no second list of them.
    """
    others = [
        (name, [] if i in whole else rows) for i, (name, rows) in enumerate(sheets)
    ]
    known = {
        (type_named(record["type"]) or record["type"], record["name"].casefold())
        for record in listing.records.values()
    }

    def is_known(one: TypeSheet) -> bool:
        rows = sheets[one.number][1][one.top + 1 :]
        names = cells_of(rows, one.columns["name"])
        return any((one.type, name.casefold()) in known for name in names)

    return [one for one in find_type_sheets(others).listed if not is_known(one)]


def _add(
    builder: TextBuilder, record: dict[str, str], page: int, row: int, rows: int
) -> None:
    """Add a fact sheet's block; its box is its row of the sheet."""
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


class _Listing:
    """The fact sheets of the sheets of a file, and skipped rows."""

    def __init__(self) -> None:
        self.records: dict[str, dict[str, str]] = {}
        self.rows: list[InventoryRow] = []
        self.left_out: list[InventoryRow] = []
        self.warnings: list[str] = []
        self.skips: list[ModelSkip] = []

    def read(
        self, sheet: str, rows: Sequence[Sequence[str]], page: int
    ) -> list[tuple[int, dict[str, str]]]:
        """Read a sheet; return row numbers and values of its fact sheets."""
        columns = _find_positions(rows[0], find_columns(rows))
        return self._read_rows(sheet, rows, page, 0, lambda row: _cells(row, columns))

    def read_types(self, sheets: Sheets, listed: Sequence[TypeSheet]) -> None:
        """Read the sheets of one type each; ids of others get the type before them."""
        numbered = find_numbered(sheets, listed)
        for one in listed:
            name, rows = sheets[one.number]
            ids = cells_of(rows[one.top + 1 :], one.columns["id"])
            taken = any(key in self.records for key in ids)
            is_numbered = taken or one.number in numbered
            self.read_type(name, rows, one, is_numbered=is_numbered)

    def read_type(
        self,
        sheet: str,
        rows: Sequence[Sequence[str]],
        listed: TypeSheet,
        *,
        is_numbered: bool,
    ) -> None:
        """Read a sheet of things of one type, before ids that other types have, too."""
        columns = _find_positions(rows[listed.top], listed.columns)

        def read_row(row: Sequence[str]) -> dict[str, str]:
            values = {**_cells(row, columns), "type": listed.type}
            if is_numbered and values["id"]:
                values["id"] = f"{listed.type}:{values['id']}"
            return values

        # A lone cell is a title or a remark.
        rows = [row if sum(map(bool, row)) > 1 else [] for row in rows]
        self._read_rows(sheet, rows, listed.number + 1, listed.top, read_row)

    def _read_rows(
        self,
        sheet: str,
        rows: Sequence[Sequence[str]],
        page: int,
        top: int,
        read_row: Callable[[Sequence[str]], dict[str, str]],
    ) -> list[tuple[int, dict[str, str]]]:
        added = []
        for number, row in enumerate(rows[top + 1 :], start=top + 1):
            if not any(row):
                continue
            values = read_row(row)
            key, name = values["id"], values["name"]
            if not key or not name or key in self.records:
                known = key in self.records and name
                reason = f"repeats the id {key}" if known else "has no id or no name"
                self._leave_out(number, reason, values, page)
                self.warnings.append(
                    f"row {number + 1} of the sheet {sheet!r} {reason} and was left out"
                )
                self.left_out.append(InventoryRow(values, sheet, page, number + 1))
            else:
                self.records[key] = _record(values)
                ends = [round(at / len(rows), 5) for at in (number, number + 1)]
                box = Box(page=page, left=0, top=ends[0], right=1, bottom=ends[1])
                self.rows.append(InventoryRow(values, sheet, page, number + 1, box))
                added.append((number, self.records[key]))
        return added

    def _leave_out(
        self, number: int, reason: str, values: Mapping[str, str], page: int
    ) -> None:
        self.skips.append(
            ModelSkip(
                kind="element",
                id=values["id"] or f"row {number + 1}",
                name=values["name"],
                reason=f"row {number + 1} {reason}",
                page=page,
            )
        )


def _record(values: Mapping[str, str]) -> dict[str, str]:
    """Return the sidecar record of a fact sheet."""
    state = "lxstate" if "lxstate" in values else "status"
    record = {
        "id": values["id"],
        "type": values["type"],
        "name": values["name"],
        "description": values.get("description", ""),
        "level": values.get("level", ""),
        "status": values.get(state, ""),
    }
    path = one_line(values.get("displayname", ""))
    if path.endswith(f" / {record['name']}"):  # defines the place of the fact sheet
        record["display_name"] = path
    return record


def _find_positions(
    headings: Sequence[str], columns: Mapping[str, int]
) -> dict[str, list[int]]:
    """Return the columns with their positions; several may have one heading."""
    positions = {name: [at] for name, at in columns.items()}
    taken = set(columns.values())
    for index, cell in enumerate(headings):
        if index not in taken and (name := one_line(cell)) in positions:
            positions[name].append(index)
    return positions


def _cells(row: Sequence[str], columns: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """Return the values of a row by column."""
    values = {column: _values(row, at) for column, at in columns.items()}
    for column in OWN_COLUMNS & columns.keys():
        values[column] = _value(row, columns[column][0])
    return values


def _values(row: Sequence[str], positions: Sequence[int]) -> str:
    """Return the cells below equal headers as one value, each on its own line."""
    return "\n".join(value for at in positions if (value := _value(row, at)))


def _value(row: Sequence[str], at: int) -> str:
    if at >= len(row):
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


class TableSidecars(NamedTuple):
    """The sidecars of tables that may be inventories, and what was not read."""

    sidecars: tuple[Sidecar, ...]
    warnings: tuple[str, ...]


def table_sidecars(path: Path, sheets: Sheets) -> TableSidecars:
    """Return the sidecars of tables, some of which may be inventories.

    Args:
        path: The file.
        sheets: Its tables, with their names.

    Returns:
        The inventory, if a table has the columns id, type and name or lists things of
        one type, and what is needed to see whether the others list elements.
    """
    listing, names = _Listing(), []
    reasons: dict[int, str] = {}
    if whole := _find_all(sheets):
        for index in whole:
            listing.read(*sheets[index], index + 1)
            names.append(sheets[index][0])
    else:
        listed, reasons = find_type_sheets(sheets)
        listing.read_types(sheets, listed)
        names = [sheets[one.number][0] for one in listed]
    unread = unread_sidecars(path, sheets)
    if listing.records:
        other = (
            f"it has no columns for id, type and name, as the sheet {names[0]!r} has"
            if whole
            else _NO_TYPE
        )
        reasons = {one.content["page"] - 1: other for one in unread} | reasons
    warnings = (*listing.warnings, *_name_unread(sheets, unread, reasons))
    if not listing.records:
        return TableSidecars(unread, warnings)
    return TableSidecars(
        (*_sidecars(path, ", ".join(names), listing), *unread), warnings
    )


_NO_TYPE = (
    "it has no columns for id, type and name, and neither its name nor the heading "
    "above its first names, which must be distinct, is a type such as Application"
)


def _name_unread(
    sheets: Sheets, unread: Sequence[Sidecar], reasons: Mapping[int, str]
) -> Iterator[str]:
    """Return a sentence for each table that is no inventory, with the reason."""
    columns = {one.content["page"] - 1: one.content["columns"] for one in unread}
    for number, reason in sorted(reasons.items()):
        shown = ", ".join(columns.get(number, ())[:_SHOWN])
        yield (
            f"the sheet {sheets[number][0]!r} was not read as fact sheets: {reason}"
            + (f"; its columns: {shown}" if shown else "")
        )


def unread_sidecars(
    path: Path, sheets: Sheets, listed: Sequence[int] = ()
) -> tuple[Sidecar, ...]:
    """Return what is needed to see whether sheets list the elements of a model.

    Args:
        path: The file.
        sheets: Its sheets. Inventories, and sheets that are no table, are left out.
        listed: The inventories, if they are known.
    """
    inventories = (
        listed
        or _find_all(sheets)
        or [one.number for one in find_type_sheets(sheets).listed]
    )
    return tuple(
        Sidecar(kind=UNREAD_KIND, name=name, content=sheet.model_dump(mode="json"))
        for index, (name, rows) in enumerate(sheets)
        if index not in inventories
        and (sheet := describe_unread(path.name, name, rows, index + 1))
    )


def _sidecars(path: Path, name: str, listing: _Listing) -> tuple[Sidecar, ...]:
    """The inventory as consumers read it, and as an enterprise model."""
    model = build_model(path, listing.rows, listing.skips, listing.left_out)
    content = {
        "metadata": {
            "org_name": model.properties.get(ORGANISATION, ""),
            "source": path.name,
            "sheet": name,
            "total_fact_sheets": len(listing.records),
        },
        "fact_sheets": listing.records,
    }
    return (
        Sidecar(kind="inventory", name=path.stem, content=content),
        Sidecar(
            kind=SIDECAR_KIND, name=path.stem, content=model.model_dump(mode="json")
        ),
    )
