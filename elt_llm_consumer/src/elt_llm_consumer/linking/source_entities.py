"""The entities of one source: of a drawing, or of the inventories.

The display name of a fact sheet is a path such as "Contracts / Leases / Ground Lease":
the first part is the domain, the second the subtype. A fact sheet with others below it
is also an entity, in its own domain, because the export does not distinguish headings
from things.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from elt_llm_consumer.definitions.terms import clean
from elt_llm_consumer.linking.model_entities import Entity, EntityKey
from elt_llm_core.enterprise.model import ModelElement

_SEPARATOR = " / "  # "A / B" is a path, "A/B" a name
_Path = tuple[str, ...]


def drawing_entities(content: Mapping[str, Any]) -> list[Entity]:
    """Return the named entities of a drawing or exchange file, in its order."""
    file = row_text(content.get("metadata", {}), "source_file")
    entities = [
        Entity(
            name=row_text(row, "entity_name"),
            domain=row_text(row, "domain").upper(),
            subtype=row_text(row, "subtype"),
            fact_sheet_id=row_text(row, "fact_sheet_id"),
            domain_fact_sheet_id=row_text(row, "domain_fact_sheet_id"),
            subtype_fact_sheet_id=row_text(row, "subtype_fact_sheet_id"),
            type=row_text(row, "fact_sheet_type"),
            files=(file,) if file else (),
        )
        for row in content.get("entities", [])
    ]
    return [entity for entity in entities if is_name(entity.name)]


def inventory_entities(inventories: Sequence[Mapping[str, Any]]) -> list[Entity]:
    """Return an entity for each named fact sheet, ordered by id."""
    rows: dict[str, tuple[Mapping[str, Any], str]] = {}
    for inventory in inventories:
        file = row_text(inventory.get("metadata", {}), "source")
        for sheet, row in sorted(inventory.get("fact_sheets", {}).items()):
            rows.setdefault(sheet, (row, file))
    sheets = [_sheet(key, *rows[key]) for key in sorted(rows)]
    sheets = [sheet for sheet in sheets if is_name(sheet.path[-1])]
    ids = {(sheet.type, sheet.path): sheet.id for sheet in reversed(sheets)}
    above = {(s.type, s.path[:n]) for s in sheets for n in range(1, len(s.path))}
    return [_sheet_entity(sheet, ids, above) for sheet in sheets]


class _Sheet(NamedTuple):
    id: str
    type: str
    path: _Path
    description: str
    file: str


def _sheet(key: str, row: Mapping[str, Any], file: str) -> _Sheet:
    name, shown = row_text(row, "name"), row_text(row, "display_name")
    # A display name that does not end in the name is not a path to it.
    above = shown.removesuffix(f"{_SEPARATOR}{name}")
    path = (*above.split(_SEPARATOR), name) if above != shown else (name,)
    return _Sheet(key, row_text(row, "type"), path, row_text(row, "description"), file)


def _sheet_entity(
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
        type=sheet.type,
        files=(sheet.file,) if sheet.file else (),
    )


def element_key(element: ModelElement) -> EntityKey:
    """Return the `order` of the entity of an element."""
    return Entity(
        name=clean(element.name),
        domain=clean(element.domain).upper(),
        subtype=clean(element.subtype),
        fact_sheet_id=clean(element.fact_sheet_id),
    ).order


def row_text(row: Mapping[str, Any], key: str) -> str:
    """Return a value of a row with single spaces; "" if it is missing."""
    value = row.get(key)
    return clean(str(value)) if value is not None else ""


def is_name(text: str) -> bool:
    """Return whether a text can name a thing: "..." has no letter or digit."""
    return any(map(str.isalnum, text))
