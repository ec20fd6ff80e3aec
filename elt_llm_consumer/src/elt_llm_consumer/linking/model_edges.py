"""The relationships between the entities of a model, as their files state them."""

from collections.abc import Mapping, Sequence
from typing import Any

from elt_llm_consumer.definitions.terms import clean
from elt_llm_consumer.linking.joined_sources import JoinedSources
from elt_llm_consumer.linking.model_entities import (
    ARCHIMATE_ORIGIN,
    INVENTORY_ORIGIN,
    LEANIX_ORIGIN,
    Edge,
    EdgePlace,
    Entity,
    EntityKey,
    place_of_entity,
)
from elt_llm_consumer.linking.source_entities import is_name
from elt_llm_core.enterprise.model import (
    ARCHIMATE_FORMATS,
    INVENTORY_FORMAT,
    EnterpriseModel,
    ModelElement,
    RelationEnd,
)


def drawn_edges(models: Sequence[EnterpriseModel]) -> list[Edge]:
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
            if is_name(edge.source) and is_name(edge.target):
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


def inventory_edges(
    models: Sequence[EnterpriseModel], joined: JoinedSources
) -> list[Edge]:
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
                source_place=place_of_entity(source),
                target=target.name,
                target_place=place_of_entity(target),
                cardinality=one.cardinality,
                kind=one.name or one.type,
            )
            edges.setdefault(edge)
    return list(edges)


def move_edge(edge: Edge, merged_into: Mapping[EntityKey, Entity]) -> Edge:
    """Return an edge between the entities into which its ends were merged.

    Args:
        edge: The relationship as its file states it.
        merged_into: As `JoinedSources.merged_into`.
    """
    update: dict[str, Any] = {}
    for end, place_name in (("source", "source_place"), ("target", "target_place")):
        place: EdgePlace = getattr(edge, place_name)
        key = (place.domain, place.subtype, getattr(edge, end), place.fact_sheet_id)
        if place.role == "entity" and (entity := merged_into.get(key)):
            update |= {end: entity.name, place_name: place_of_entity(entity)}
    return edge.model_copy(update=update) if update else edge
