"""The enterprise model: entities and relationships of drawings and inventories.

An inventory alone is a model whose entities are its fact sheets. Beside drawings it
describes what they draw, and adds the things that data are kept about and what has a
type that is drawn; the rest is counted, not dropped silently. Elements of several files
with one name and a compatible type are one entity. The display name of a
fact sheet is a path such as "Contracts / Leases / Ground Lease": the first part is the
domain, the second the subtype. A fact sheet with others below it is also an entity, in
its own domain, because the export does not distinguish headings from things.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field

from elt_llm_consumer.definitions.terms import clean, normalise
from elt_llm_core.enterprise.joining import (
    DATA_TYPES,
    kind_of,
    match_inventories,
    read_models,
)
from elt_llm_core.enterprise.model import (
    ARCHIMATE_FORMATS,
    INVENTORY_FORMAT,
    EnterpriseModel,
    ModelElement,
    RelationEnd,
)
from elt_llm_core.errors import ConfigError, UsageError, describe_yaml_error
from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Store


class Entity(Record):
    """A fact sheet of the model that is neither a domain nor a subtype.

    `domain` is empty if it has none in the model.
    """

    name: str
    domain: str = ""
    subtype: str = ""
    fact_sheet_id: str = ""
    domain_fact_sheet_id: str = ""
    subtype_fact_sheet_id: str = ""
    description: str = ""
    type: str = ""
    files: tuple[str, ...] = Field(
        default=(), description="the drawings that have it, else the inventories"
    )
    is_drawn: bool = Field(
        default=True, description="false beside drawings that do not have it"
    )

    @property
    def kind(self) -> str:
        """Return its type in small letters; "" if it has none."""
        return kind_of(self.type)

    @property
    def origin(self) -> str:
        """Return which files have it, unless it is one drawing as for most."""
        files = " and ".join(self.files)
        if not self.is_drawn:
            return f"listed in {files or 'the inventory'}, not drawn"
        return f"one entity of {files}" if len(self.files) > 1 else ""

    @property
    def label(self) -> str:
        """Return the name with its domain or id, to distinguish namesakes."""
        where = self.domain or self.fact_sheet_id
        return f"{self.name} ({where})" if where else self.name

    @property
    def order(self) -> tuple[str, str, str, str]:
        """The sort key of every list of entities."""
        return (self.domain, self.subtype, self.name, self.fact_sheet_id)


def _field(row: Mapping[str, Any], key: str) -> str:
    """A value of a sidecar's row with single spaces; "" if it is missing."""
    value = row.get(key)
    return clean(str(value)) if value is not None else ""


_SEPARATOR = " / "  # "A / B" is a path, "A/B" a name
_Path = tuple[str, ...]


class _Sheet(NamedTuple):
    id: str
    type: str
    path: _Path
    description: str
    file: str


def inventory_entities(inventories: Sequence[Mapping[str, Any]]) -> list[Entity]:
    """Return an entity for each named fact sheet, ordered by id."""
    rows: dict[str, tuple[Mapping[str, Any], str]] = {}
    for inventory in inventories:
        file = _field(inventory.get("metadata", {}), "source")
        for sheet, row in sorted(inventory.get("fact_sheets", {}).items()):
            rows.setdefault(sheet, (row, file))
    sheets = [_sheet(key, *rows[key]) for key in sorted(rows)]
    sheets = [sheet for sheet in sheets if _is_name(sheet.path[-1])]
    ids = {(sheet.type, sheet.path): sheet.id for sheet in reversed(sheets)}
    above = {(s.type, s.path[:n]) for s in sheets for n in range(1, len(s.path))}
    return [_sheet_entity(sheet, ids, above) for sheet in sheets]


def _sheet(key: str, row: Mapping[str, Any], file: str) -> _Sheet:
    name, shown = _field(row, "name"), _field(row, "display_name")
    # A display name that does not end in the name is not a path to it.
    above = shown.removesuffix(f"{_SEPARATOR}{name}")
    path = (*above.split(_SEPARATOR), name) if above != shown else (name,)
    return _Sheet(key, _field(row, "type"), path, _field(row, "description"), file)


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


_MAX_ALIASES_BYTES = 5_000_000  # far beyond any list that people maintain


LEANIX_ORIGIN, ARCHIMATE_ORIGIN = "LEANIX_CONCEPTUAL_MODEL", "ARCHIMATE_MODEL"
INVENTORY_ORIGIN = "INVENTORY"


EdgeRole = Literal["entity", "domain", "subtype", "other"]
"""What an end of a relationship is; "other" is a note or another relationship."""


class EdgePlace(Record):
    """What distinguishes the end of a relationship from others of its name."""

    domain: str = ""
    subtype: str = ""
    fact_sheet_id: str = ""
    role: EdgeRole = "entity"


class Edge(Record):
    """A relationship of the model; its ends may be domains or subtypes."""

    origin: str = Field(default=LEANIX_ORIGIN, description="the kind of its model")
    source: str
    source_place: EdgePlace = EdgePlace()
    target: str
    target_place: EdgePlace = EdgePlace()
    cardinality: str = ""
    kind: str = ""

    def end(self, is_source: bool) -> tuple[str, EdgePlace]:
        """Return the name and the place of one end."""
        if is_source:
            return self.source, self.source_place
        return self.target, self.target_place


class EntityModel(BaseModel):
    """Sorted entities and edges, with the inventory's descriptions.

    An entity that the inventory does not describe has the documentation of its drawing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    entities: tuple[Entity, ...] = ()
    edges: tuple[Edge, ...] = ()
    descriptions: dict[str, str] = Field(
        default_factory=dict, description="fact sheet id to the inventory's description"
    )
    has_inventory: bool = Field(
        default=False, description="whether an inventory belongs to the model"
    )
    left_out: tuple[str, ...] = Field(
        default=(), description="what an inventory lists and the entities have not"
    )

    @cached_property
    def identity(self) -> str:
        """Changes with anything in the model."""
        return digest(self.model_dump_json())


def read_model(store: Store, collections: str | Sequence[str]) -> EntityModel:
    """Read the model of one or several collections.

    Drawings and inventories are joined as `join_models` says, even across collections.
    Without a drawing, the fact sheets of the inventories are the entities. The
    relations are those of the drawings, and those that inventories have as columns.

    Args:
        store: The data root.
        collections: Names of collections; "" and () mean an empty model.

    Returns:
        The entities with their attributes and relations.

    Raises:
        UsageError: If no collection contains a drawing or an inventory.
        CollectionNotFoundError: If a collection does not exist.
    """
    names = [collections] if isinstance(collections, str) else list(collections)
    names = [name for name in dict.fromkeys(names) if name]
    if not names:
        return EntityModel()
    contents = _sidecars(store, names, "model")
    inventories = _sidecars(store, names, "inventory")
    if not contents and not inventories:
        shown = ", ".join(map(repr, names))
        holds = (
            "the collection {} holds" if len(names) == 1 else "the collections {} hold"
        )
        raise UsageError(
            f"{holds.format(shown)} no enterprise model",
            "add a drawing or an inventory: elt-llm ingest MODEL.drawio INVENTORY.xlsx "
            f"--collection {names[0]}",
        )
    typed = [model for name in names for model in read_models(store, name)]
    matches = match_inventories(typed) if contents and inventories else {}
    descriptions = _descriptions(inventories, matches)
    if contents:
        documented = _documentation(typed)
        drawn = [
            _describe(entity, descriptions, documented)
            for content in contents
            for entity in _drawing_entities(content)
        ]
        joined = _join_sources(drawn, contents, inventories, matches)
    else:
        joined = _Joined(inventory_entities(inventories))
    edges = [*_drawn_edges(typed), *_inventory_edges(typed, joined)]
    edges = [_move_edge(edge, joined.moved) for edge in edges]
    # Where only their types differ, the one that data are kept about stays.
    by_kind = sorted(joined.entities, key=lambda e: e.kind in DATA_TYPES)
    entities = {entity.order: entity for entity in by_kind}
    return EntityModel(
        entities=tuple(entities[key] for key in sorted(entities)),
        edges=tuple(sorted(edges, key=lambda e: e.model_dump_json())),
        descriptions=descriptions,
        has_inventory=bool(inventories),
        left_out=joined.left_out,
    )


_Key = tuple[str, str, str, str]


class _Joined(NamedTuple):
    """The entities of all files.

    `of_sheet` has those of fact sheets that are drawn with another id, or without one;
    `moved` those of which another file has an entry, by the `order` of this entry.
    """

    entities: list[Entity]
    of_sheet: Mapping[str, Entity] = MappingProxyType({})
    moved: Mapping[_Key, Entity] = MappingProxyType({})
    left_out: tuple[str, ...] = ()


def _describe(
    entity: Entity, descriptions: Mapping[str, str], documented: Mapping[_Key, str]
) -> Entity:
    """Return an entity with the inventory's description, else the drawing's."""
    text = descriptions.get(entity.fact_sheet_id or _drawn_key(entity.order))
    text = text or documented.get(entity.order, "")
    return entity.model_copy(update={"description": text})


def _join_sources(
    drawn: Sequence[Entity],
    contents: Sequence[Mapping[str, Any]],
    inventories: Sequence[Mapping[str, Any]],
    matches: Mapping[str, Sequence[ModelElement]],
) -> _Joined:
    """Return the entities of drawings, completed by those of inventories.

    Things that data are kept about belong to a model whether they are drawn or not;
    of another type, such as applications, only if drawings have elements of it.
    """
    ids = {
        sheet
        for content in contents
        for row in content.get("entities", [])
        for key in ("fact_sheet_id", "domain_fact_sheet_id", "subtype_fact_sheet_id")
        if (sheet := _field(row, key))
    }
    listed = inventory_entities(inventories)
    known = ids | {sheet for sheet, elements in matches.items() if elements}
    skips = _skipped_elements(contents)
    skipped = [
        e
        for e in listed
        if e.fact_sheet_id not in known
        and (e.fact_sheet_id, normalise(e.name)) in skips
    ]
    known |= {e.fact_sheet_id for e in skipped}
    rest = [e for e in listed if e.fact_sheet_id not in known]
    unclear: list[Entity] = []
    if ids.isdisjoint(e.fact_sheet_id for e in listed):  # only names can join
        names = {(normalise(e.name), _family(e)) for e in drawn}
        unclear = [e for e in rest if (normalise(e.name), _family(e)) in names]
    on_drawings = (*drawn, *(e for e in listed if e.fact_sheet_id in known))
    kinds = DATA_TYPES | {e.kind for e in on_drawings} - {""}
    several = {e.fact_sheet_id for e in unclear}
    clear = [e for e in rest if e.fact_sheet_id not in several]
    added = [e for e in clear if e.kind in kinds]
    other = [e for e in clear if e.kind not in kinds]
    entities, moved = _merge_files(
        [*drawn, *(e.model_copy(update={"is_drawn": False}) for e in added)],
        _exchange_files(contents),
    )
    of_order = {e.order: e for e in entities} | moved
    of_sheet = {
        sheet: of_order[key]
        for sheet, elements in matches.items()
        for key in reversed([_entity_key(one) for one in elements])
        if key in of_order
    }
    left_out = (
        *_count_left_out(other, "no drawing has an element of this type"),
        *_count_left_out(unclear, "several elements of a drawing have the name"),
        *_count_left_out(skipped, "a drawing has the shape, but not as an entity"),
    )
    return _Joined(entities, of_sheet, moved, left_out)


def _skipped_elements(contents: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Return id and name of what drawings leave out, such as the label of a group.

    An id alone is not enough: a shape without a fact sheet has a number, as the rows of
    many registers have.
    """
    return {
        (_field(skip, "id"), normalise(_field(skip, "name")))
        for content in contents
        for skip in content.get("skipped", [])
        if _field(skip, "kind") == "element"
    }


def _family(entity: Entity) -> str:
    """Return its kind, one for all things that data are kept about."""
    return "dataobject" if entity.kind in DATA_TYPES else entity.kind


def _exchange_files(contents: Sequence[Mapping[str, Any]]) -> set[str]:
    heads = [content.get("metadata", {}) for content in contents]
    return {
        _field(head, "source_file")
        for head in heads
        if _field(head, "format") in ARCHIMATE_FORMATS
    }


def _count_left_out(entities: Sequence[Entity], reason: str) -> tuple[str, ...]:
    """Return a sentence for each type of fact sheets that are no entities here."""
    counts = Counter((e.type, e.files) for e in entities)
    return tuple(
        f"{count} {'fact sheet' if count == 1 else 'fact sheets'} of the type "
        f"{kind or 'unknown'} in {' and '.join(files) or 'the inventory'} "
        f"{'is' if count == 1 else 'are'} left out: {reason}"
        for (kind, files), count in sorted(counts.items())
    )


def _merge_files(
    entities: Sequence[Entity], archimate: Set[str]
) -> tuple[list[Entity], dict[_Key, Entity]]:
    """Return entities of one name and kind in several files as one, and the others.

    Args:
        entities: The entities of all files.
        archimate: Exchange files, whose groups are no domains of a drawing.
    """
    groups: dict[str, list[list[Entity]]] = {}
    ordered: list[list[Entity]] = []
    # Typed ones first: what has no type joins the only thing of its name.
    for entity in sorted(entities, key=lambda e: not e.kind):
        same_name = groups.setdefault(normalise(entity.name), [])
        fits = [g for g in same_name if _is_same_thing(g, entity, archimate)]
        if fits and (entity.kind or len(fits) == 1):
            fits[0].append(entity)
        else:
            same_name.append([entity])
            ordered.append(same_name[-1])
    merged = [_merge_group(group) for group in ordered]
    pairs = zip(ordered, merged, strict=True)
    moved = {
        e.order: one for group, one in pairs for e in group if e.order != one.order
    }
    kept = {one.order for one in merged}
    return merged, {key: one for key, one in moved.items() if key not in kept}


def _is_same_thing(
    group: Sequence[Entity], entity: Entity, archimate: Set[str]
) -> bool:
    """Return whether an entity of another file is the thing of a group."""
    first = group[0]
    sheets = {e.fact_sheet_id for e in (*group, entity) if e.fact_sheet_id}
    domains = {e.domain for e in (*group, entity) if e.domain}
    files = {file for e in group for file in e.files}
    return (
        bool(files and entity.files)
        and files.isdisjoint(entity.files)
        and len(sheets) < 2  # noqa: PLR2004 - two ids are two fact sheets
        and (len(domains) < 2 or bool(archimate & {*files, *entity.files}))  # noqa: PLR2004
        and entity.is_drawn
        and first.is_drawn
        and (
            first.kind == entity.kind
            or not entity.kind
            or {first.kind, entity.kind} <= DATA_TYPES
        )
    )


def _merge_group(group: Sequence[Entity]) -> Entity:
    """Return the entry with a domain and an id, completed by the others."""
    if len(group) == 1:
        return group[0]
    best = max(group, key=lambda e: (bool(e.fact_sheet_id), bool(e.domain)))
    others = [best, *(e for e in group if e is not best)]
    text = next((e.description for e in others if e.description), "")
    files = dict.fromkeys(file for e in group for file in e.files)
    return best.model_copy(
        update={
            "description": text,
            "type": best.type if best.kind else group[0].type,
            "files": tuple(files),
        }
    )


def _move_edge(edge: Edge, moved: Mapping[_Key, Entity]) -> Edge:
    """Return an edge at the entities that its ends are one with."""
    update: dict[str, Any] = {}
    for end, place_name in (("source", "source_place"), ("target", "target_place")):
        place: EdgePlace = getattr(edge, place_name)
        key = (place.domain, place.subtype, getattr(edge, end), place.fact_sheet_id)
        if place.role == "entity" and (entity := moved.get(key)):
            update |= {end: entity.name, place_name: _place_of_entity(entity)}
    return edge.model_copy(update=update) if update else edge


def _sidecars(store: Store, names: Sequence[str], kind: str) -> list[Mapping[str, Any]]:
    return [s.content for name in names for s in store.sidecars(name, kind)]


def _drawing_entities(content: Mapping[str, Any]) -> list[Entity]:
    file = _field(content.get("metadata", {}), "source_file")
    entities = [
        Entity(
            name=_field(row, "entity_name"),
            domain=_field(row, "domain").upper(),
            subtype=_field(row, "subtype"),
            fact_sheet_id=_field(row, "fact_sheet_id"),
            domain_fact_sheet_id=_field(row, "domain_fact_sheet_id"),
            subtype_fact_sheet_id=_field(row, "subtype_fact_sheet_id"),
            type=_field(row, "fact_sheet_type"),
            files=(file,) if file else (),
        )
        for row in content.get("entities", [])
    ]
    return [entity for entity in entities if _is_name(entity.name)]


def _entity_key(element: ModelElement) -> _Key:
    """Return the `order` of the entity of an element."""
    return Entity(
        name=clean(element.name),
        domain=clean(element.domain).upper(),
        subtype=clean(element.subtype),
        fact_sheet_id=clean(element.fact_sheet_id),
    ).order


def _documentation(models: Sequence[EnterpriseModel]) -> dict[_Key, str]:
    """Return what drawings say of their elements, by `Entity.order`."""
    texts: dict[_Key, str] = {}
    for model in models:
        for one in model.elements:
            text = clean(one.documentation)
            if text and one.role == "entity" and model.format != INVENTORY_FORMAT:
                texts.setdefault(_entity_key(one), text)
    return texts


def _inventory_edges(models: Sequence[EnterpriseModel], joined: _Joined) -> list[Edge]:
    """Return the relations that columns of inventories state between entities."""
    by_sheet = {
        e.fact_sheet_id: e for e in reversed(joined.entities) if e.fact_sheet_id
    }
    by_sheet = {**joined.of_sheet, **by_sheet}
    edges: dict[Edge, None] = {}
    for model in models:
        for one in model.relations if model.format == INVENTORY_FORMAT else ():
            source = by_sheet.get(one.source.element_id)
            target = by_sheet.get(one.target.element_id)
            if source is None or target is None:
                continue
            edge = Edge(
                origin=INVENTORY_ORIGIN,
                source=source.name,
                source_place=_place_of_entity(source),
                target=target.name,
                target_place=_place_of_entity(target),
                cardinality=one.cardinality,
                kind=one.name or one.type,
            )
            edges.setdefault(edge)
    return list(edges)


def _is_name(text: str) -> bool:
    """Whether a text can name a thing: "..." has no letter that a handbook may have."""
    return any(map(str.isalnum, text))


def _place_of_entity(entity: Entity) -> EdgePlace:
    return EdgePlace(
        domain=entity.domain,
        subtype=entity.subtype,
        fact_sheet_id=entity.fact_sheet_id,
    )


def _drawn_edges(models: Sequence[EnterpriseModel]) -> list[Edge]:
    """Return the relations of drawings and exchange files whose ends have names."""
    edges = []
    for model in models:
        elements = {element.id: element for element in model.elements}
        is_archimate = model.format in ARCHIMATE_FORMATS
        for one in model.relations if model.format != INVENTORY_FORMAT else ():
            edge = Edge(
                origin=ARCHIMATE_ORIGIN if is_archimate else LEANIX_ORIGIN,
                source=clean(one.source.name),
                source_place=_place_of_end(one.source, elements),
                target=clean(one.target.name),
                target_place=_place_of_end(one.target, elements),
                cardinality=clean(one.cardinality),
                kind=clean(one.type) or clean(one.name),
            )
            if _is_name(edge.source) and _is_name(edge.target):
                edges.append(edge)
    return edges


def _place_of_end(end: RelationEnd, elements: Mapping[str, ModelElement]) -> EdgePlace:
    element = elements.get(end.element_id)
    if element is None:  # a relation may end at another relation
        return EdgePlace(domain=clean(end.domain).upper(), role="other")
    return EdgePlace(
        domain=clean(element.domain).upper(),
        subtype=clean(element.subtype),
        fact_sheet_id=clean(element.fact_sheet_id),
        role="other" if element.role == "note" else element.role,
    )


def _descriptions(
    inventories: Sequence[Mapping[str, Any]],
    matches: Mapping[str, Sequence[ModelElement]],
) -> dict[str, str]:
    """Return descriptions by id of the fact sheet, of the inventory and as drawn."""
    descriptions: dict[str, str] = {}
    for inventory in inventories:
        for sheet, row in sorted(inventory.get("fact_sheets", {}).items()):
            if text := _field(row, "description"):
                descriptions.setdefault(sheet, text)
    for sheet, elements in matches.items():
        for one in elements if sheet in descriptions else ():
            key = clean(one.fact_sheet_id) or _drawn_key(_entity_key(one))
            descriptions.setdefault(key, descriptions[sheet])
    return descriptions


def _drawn_key(key: _Key) -> str:
    """Return what stands for the id of an element that is drawn without one."""
    return "\n".join(key)


def list_left_out(model: EntityModel) -> tuple[Degradation, ...]:
    """Return what inventories list and the entities have not, for a report.

    Args:
        model: The entities.
    """
    kind = DegradationKind.DOCUMENT_WARNING
    return tuple(Degradation(kind=kind, detail=text) for text in model.left_out)


def read_aliases(path: Path | None) -> dict[str, tuple[str, ...]]:
    """Read the synonyms of entities.

    Args:
        path: A YAML file that maps each entity name to a list; None for no synonyms.

    Returns:
        Entity name to synonyms, both sorted.

    Raises:
        ConfigError: If the file cannot be read or has another structure.
    """
    if path is None:
        return {}
    try:
        if path.stat().st_size > _MAX_ALIASES_BYTES:
            raise ConfigError(f"{path} exceeds the maximum size of an alias file")
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        detail = describe_yaml_error(error)
        raise ConfigError(f"{path} is not valid YAML: {detail}") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict) or not all(map(_is_alias, loaded.items())):
        raise ConfigError(
            f"{path} must map each entity name to a list of synonyms",
            "write it as: ground lease: [lease, tenancy agreement]",
        )
    return {str(k): tuple(str(v) for v in loaded[k]) for k in sorted(loaded, key=str)}


def _is_alias(item: tuple[Any, Any]) -> bool:
    name, others = item
    simple = (str, int, float)
    return (
        isinstance(name, simple)
        and isinstance(others, list)
        and all(isinstance(other, simple) for other in others)
    )
