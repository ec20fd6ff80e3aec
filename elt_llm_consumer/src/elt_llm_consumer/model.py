"""The enterprise model and the inventory, as ingest kept them beside the text."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from elt_llm_consumer.phrases import clean
from elt_llm_core.errors import ConfigError, UsageError
from elt_llm_core.names import digest
from elt_llm_core.results import Record
from elt_llm_core.store import Store

MAX_ALIASES_BYTES = 5_000_000


class Entity(Record):
    """A fact sheet of the model that is neither a domain nor a subtype."""

    name: str
    domain: str = ""
    subtype: str = ""
    fact_sheet_id: str = ""
    domain_fact_sheet_id: str = ""
    subtype_fact_sheet_id: str = ""
    description: str = ""

    @property
    def order(self) -> tuple[str, str, str, str]:
        """The one order in which entities are ever listed."""
        return (self.domain, self.subtype, self.name, self.fact_sheet_id)


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


def read_model(store: Store, collection: str) -> Model:
    """The model in a collection; an empty one for the name "".

    Raises UsageError where the collection holds no model.
    """
    if not collection:
        return Model()
    contents = [sidecar.content for sidecar in store.sidecars(collection, "model")]
    if not contents:
        raise UsageError(
            f"the collection {collection!r} holds no enterprise model",
            f"add one: elt-llm ingest MODEL.drawio --collection {collection}",
        )
    inventories = [s.content for s in store.sidecars(collection, "inventory")]
    descriptions = _descriptions(inventories)
    entities = {
        entity.order: entity
        for content in contents
        for entity in _entities(content, descriptions)
    }
    edges = [
        _edge(row) for content in contents for row in content.get("relationships", [])
    ]
    return Model(
        entities=tuple(entities[key] for key in sorted(entities)),
        edges=tuple(sorted(edges, key=lambda e: e.model_dump_json())),
        descriptions=descriptions,
    )


def _entities(
    content: Mapping[str, Any], descriptions: Mapping[str, str]
) -> list[Entity]:
    found = []
    for row in content.get("entities", []):
        sheet = _text(row, "fact_sheet_id")
        found.append(
            Entity(
                name=_text(row, "entity_name"),
                domain=_text(row, "domain").upper(),
                subtype=_text(row, "subtype"),
                fact_sheet_id=sheet,
                domain_fact_sheet_id=_text(row, "domain_fact_sheet_id"),
                subtype_fact_sheet_id=_text(row, "subtype_fact_sheet_id"),
                description=descriptions.get(sheet, ""),
            )
        )
    return [entity for entity in found if entity.name]


def _edge(row: Mapping[str, Any]) -> Edge:
    return Edge(
        source=_text(row, "source_entity"),
        source_domain=_text(row, "source_domain").upper(),
        target=_text(row, "target_entity"),
        target_domain=_text(row, "target_domain").upper(),
        cardinality=_text(row, "cardinality"),
        kind=_text(row, "relationship_type"),
    )


def _descriptions(inventories: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for inventory in inventories:
        for sheet, row in sorted(inventory.get("fact_sheets", {}).items()):
            said = _text(row, "description")
            if said:
                found.setdefault(sheet, said)
    return found


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return clean(str(value)) if value is not None else ""


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
