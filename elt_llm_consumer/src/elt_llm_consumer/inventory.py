"""An inventory as a model of its own: every fact sheet is an entity.

The export says where a fact sheet belongs in its display name, a path such as
"Contracts / Leases / Ground Lease": the first part is the domain, the second the
subtype. A fact sheet that others stand below is also an entity, of its own domain: the
export does not tell a mere heading from a thing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from elt_llm_consumer.entity import Entity, text_of

SEPARATOR = " / "  # "A / B" is a path, "A/B" a name
_Path = tuple[str, ...]


class _Sheet(NamedTuple):
    id: str
    type: str
    path: _Path
    description: str


def entities_of(inventories: Sequence[Mapping[str, Any]]) -> list[Entity]:
    """One entity for each fact sheet that has a name, in the order of the ids."""
    rows: dict[str, Mapping[str, Any]] = {}
    for inventory in inventories:
        for sheet, row in sorted(inventory.get("fact_sheets", {}).items()):
            rows.setdefault(sheet, row)
    sheets = [_sheet(key, rows[key]) for key in sorted(rows)]
    sheets = [sheet for sheet in sheets if sheet.path[-1]]
    ids = {(sheet.type, sheet.path): sheet.id for sheet in reversed(sheets)}
    above = {(s.type, s.path[:n]) for s in sheets for n in range(1, len(s.path))}
    return [_entity(sheet, ids, above) for sheet in sheets]


def _sheet(key: str, row: Mapping[str, Any]) -> _Sheet:
    name, shown = text_of(row, "name"), text_of(row, "display_name")
    # A display name that does not end in the name is no path to it.
    above = shown.removesuffix(f"{SEPARATOR}{name}")
    path = (*above.split(SEPARATOR), name) if above != shown else (name,)
    return _Sheet(key, text_of(row, "type"), path, text_of(row, "description"))


def _entity(
    sheet: _Sheet,
    ids: Mapping[tuple[str, _Path], str],
    above: set[tuple[str, _Path]],
) -> Entity:
    path = sheet.path
    heads = len(path) > 1 or (sheet.type, path) in above
    nested = len(path) > 2  # noqa: PLR2004 - domain, subtype, name
    return Entity(
        name=path[-1],
        domain=path[0].upper() if heads else "",
        subtype=path[1] if nested else "",
        fact_sheet_id=sheet.id,
        domain_fact_sheet_id=ids.get((sheet.type, path[:1]), "") if heads else "",
        subtype_fact_sheet_id=ids.get((sheet.type, path[:2]), "") if nested else "",
        description=sheet.description,
    )
