"""The enterprise model and the inventory, as ingest kept them beside the text."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from elt_llm_consumer.definitions.names import clean
from elt_llm_consumer.entity import Entity, text_of
from elt_llm_consumer.inventory import entities_of
from elt_llm_core.errors import ConfigError, UsageError
from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_core.store import Store

MAX_ALIASES_BYTES = 5_000_000


class Edge(Record):
    """A relationship of the model; its ends may be domains."""

    source: str
    source_domain: str = ""
    target: str
    target_domain: str = ""
    cardinality: str = ""
    kind: str = ""


class Model(BaseModel):
    """Entities and edges in their order, with the inventory's descriptions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entities: tuple[Entity, ...] = ()
    edges: tuple[Edge, ...] = ()
    descriptions: dict[str, str] = Field(
        default_factory=dict, description="fact sheet id to the inventory's text"
    )

    @cached_property
    def identity(self) -> str:
        """Changes with anything in the model."""
        return digest(self.model_dump_json())


def read_model(store: Store, collections: str | Sequence[str]) -> Model:
    """The model that some collections hold together.

    Drawings and inventories join by fact sheet id, in whichever of the collections
    they are. Without a drawing, the fact sheets of the inventories are the entities.

    Args:
        store: The data root.
        collections: Names of collections; "" and () stand for an empty model.

    Raises:
        UsageError: None of the collections holds a drawing or an inventory.
        CollectionNotFoundError: A collection does not exist.
    """
    names = [collections] if isinstance(collections, str) else list(collections)
    names = [name for name in dict.fromkeys(names) if name]
    if not names:
        return Model()
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
    descriptions = _descriptions(inventories)
    listed = [e for content in contents for e in _entities(content, descriptions)]
    if not contents:
        listed = entities_of(inventories)
    edges = [
        _edge(row) for content in contents for row in content.get("relationships", [])
    ]
    entities = {entity.order: entity for entity in listed}
    return Model(
        entities=tuple(entities[key] for key in sorted(entities)),
        edges=tuple(sorted(edges, key=lambda e: e.model_dump_json())),
        descriptions=descriptions,
    )


def _sidecars(store: Store, names: Sequence[str], kind: str) -> list[Mapping[str, Any]]:
    return [s.content for name in names for s in store.sidecars(name, kind)]


def _entities(
    content: Mapping[str, Any], descriptions: Mapping[str, str]
) -> list[Entity]:
    found = []
    for row in content.get("entities", []):
        sheet = text_of(row, "fact_sheet_id")
        found.append(
            Entity(
                name=text_of(row, "entity_name"),
                domain=text_of(row, "domain").upper(),
                subtype=text_of(row, "subtype"),
                fact_sheet_id=sheet,
                domain_fact_sheet_id=text_of(row, "domain_fact_sheet_id"),
                subtype_fact_sheet_id=text_of(row, "subtype_fact_sheet_id"),
                description=descriptions.get(sheet, ""),
            )
        )
    return [entity for entity in found if entity.name]


def _edge(row: Mapping[str, Any]) -> Edge:
    return Edge(
        source=text_of(row, "source_entity"),
        source_domain=text_of(row, "source_domain").upper(),
        target=text_of(row, "target_entity"),
        target_domain=text_of(row, "target_domain").upper(),
        cardinality=text_of(row, "cardinality"),
        kind=text_of(row, "relationship_type"),
    )


def _descriptions(inventories: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for inventory in inventories:
        for sheet, row in sorted(inventory.get("fact_sheets", {}).items()):
            said = text_of(row, "description")
            if said:
                found.setdefault(sheet, said)
    return found


def read_aliases(path: Path | None) -> dict[str, tuple[str, ...]]:
    """Entity name to synonyms, sorted. Raises ConfigError for anything else."""
    if path is None:
        return {}
    try:
        if path.stat().st_size > MAX_ALIASES_BYTES:
            raise ConfigError(f"{path} is larger than a list of aliases can be")
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        detail = clean(str(error))
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
