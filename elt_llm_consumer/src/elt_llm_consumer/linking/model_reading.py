"""Reads the enterprise model of collections: its entities and its relationships.

An inventory alone is a model whose entities are its fact sheets. Beside drawings it
describes what they draw, and adds the things that data are kept about and what has a
type that is drawn (`joined_sources`); the rest is counted, not dropped silently.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from elt_llm_consumer.linking.entity_descriptions import (
    describe_entity,
    drawn_documentation,
    inventory_descriptions,
)
from elt_llm_consumer.linking.joined_sources import JoinedSources, join_sources
from elt_llm_consumer.linking.model_edges import drawn_edges, inventory_edges, move_edge
from elt_llm_consumer.linking.model_entities import EntityModel
from elt_llm_consumer.linking.source_entities import (
    drawing_entities,
    inventory_entities,
)
from elt_llm_consumer.linking.subtype_spellings import SubtypeSpellings
from elt_llm_core.enterprise.element_names import DATA_TYPES
from elt_llm_core.enterprise.joining import match_inventories, read_models
from elt_llm_core.errors import UsageError
from elt_llm_core.store import Store


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
        raise _no_model(names)
    typed = [model for name in names for model in read_models(store, name)]
    matches = match_inventories(typed) if contents and inventories else {}
    descriptions = inventory_descriptions(inventories, matches)
    if contents:
        documented = drawn_documentation(typed)
        drawn = [
            describe_entity(entity, descriptions, documented)
            for content in contents
            for entity in drawing_entities(content)
        ]
        joined = join_sources(drawn, contents, inventories, matches)
    else:
        joined = JoinedSources(inventory_entities(inventories))
    edges = [*drawn_edges(typed), *inventory_edges(typed, joined)]
    edges = [move_edge(edge, joined.merged_into) for edge in edges]
    subtypes = SubtypeSpellings(joined.entities)
    edges = list(map(subtypes.respell_ends, edges))
    # Where only their types differ, the one that data are kept about stays.
    by_kind = sorted(joined.entities, key=lambda e: e.kind in DATA_TYPES)
    entities = {one.order: one for one in map(subtypes.respell, by_kind)}
    return EntityModel(
        entities=tuple(entities[key] for key in sorted(entities)),
        edges=tuple(sorted(edges, key=lambda e: e.model_dump_json())),
        descriptions=descriptions,
        has_inventory=bool(inventories),
        left_out=joined.left_out,
    )


def _no_model(names: Sequence[str]) -> UsageError:
    shown = ", ".join(map(repr, names))
    holds = "the collection {} holds" if len(names) == 1 else "the collections {} hold"
    return UsageError(
        f"{holds.format(shown)} no enterprise model",
        "add a drawing or an inventory: elt-llm ingest MODEL.drawio INVENTORY.xlsx "
        f"--collection {names[0]}",
    )


def _sidecars(store: Store, names: Sequence[str], kind: str) -> list[Mapping[str, Any]]:
    return [s.content for name in names for s in store.sidecars(name, kind)]
