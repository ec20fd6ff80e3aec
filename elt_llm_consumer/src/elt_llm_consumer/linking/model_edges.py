"""The relationships between the entities of a model, as their files state them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
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
from elt_llm_consumer.linking.source_entities import element_key, is_name
from elt_llm_core.enterprise.joining import find_named_ends
from elt_llm_core.enterprise.model import (
    ARCHIMATE_FORMATS,
    FLOW,
    INVENTORY_FORMAT,
    EnterpriseModel,
    ModelElement,
    ModelRelation,
    RelationEnd,
)

_PARTS = frozenset({"Aggregation", "Composition"})  # ArchiMate's relations to a part


def drawn_edges(models: Sequence[EnterpriseModel]) -> list[Edge]:
    """Return the relations of drawings and exchange files whose ends have names.

    That a group has its own member as a part is the place of the member, no relation.
    """
    edges = []
    for model in models:
        elements = {element.id: element for element in model.elements}
        is_archimate = model.format in ARCHIMATE_FORMATS
        for one in model.relations if model.format != INVENTORY_FORMAT else ():
            if _places_member(one, elements):
                continue
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


def _places_member(
    relation: ModelRelation, elements: Mapping[str, ModelElement]
) -> bool:
    """Return whether a relation only puts an element into its domain or subtype."""
    group = elements.get(relation.source.element_id)
    member = elements.get(relation.target.element_id)
    return (
        relation.type in _PARTS
        and group is not None
        and member is not None
        and group.role in {"domain", "subtype"}
        and group.name in {member.domain, member.subtype}
    )


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
    """Return the relations that columns of inventories state between entities.

    Some end at what only a drawing has, or only another inventory. An interface that is
    no entity relates the applications at its ends.
    """
    edges: dict[Edge, None] = {}
    ended = _ends_of_listed(models, joined)
    for relation, source, target in ended:
        if source is not None and target is not None:
            edges.setdefault(_listed_edge(relation, source, target))
    for edge in _edges_through_interfaces(models, ended):
        edges.setdefault(edge)
    return list(edges)


_Ended = tuple[ModelRelation, Entity | None, Entity | None]
"""A relation with the entities at its ends; None for what is no entity."""


def _ends_of_listed(
    models: Sequence[EnterpriseModel], joined: JoinedSources
) -> list[_Ended]:
    """Return the relations of inventories with the entities at their ends."""
    by_sheet = {
        e.fact_sheet_id: e for e in reversed(joined.entities) if e.fact_sheet_id
    }
    by_sheet = {**joined.of_sheet, **by_sheet}
    ended: list[_Ended] = [
        (one, by_sheet.get(one.source.element_id), by_sheet.get(one.target.element_id))
        for model in models
        if model.format == INVENTORY_FORMAT
        for one in model.relations
    ]
    of_order = {e.order: e for e in joined.entities} | dict(joined.merged_into)
    for named in find_named_ends(models):
        drawn = [of_order[k] for k in map(element_key, named.drawn) if k in of_order]
        at_name = drawn[0] if drawn else by_sheet.get(named.element_id)
        source, target = (
            by_sheet.get(end.element_id) if end.element_id else at_name
            for end in (named.relation.source, named.relation.target)
        )
        if source is None or source is not target:
            ended.append((named.relation, source, target))
    return ended


def _edges_through_interfaces(
    models: Sequence[EnterpriseModel], ended: Sequence[_Ended]
) -> Iterator[Edge]:
    """Return a flow between the applications at the ends of each other interface."""
    interfaces = {
        (one.location.file, one.id)
        for model in models
        for one in model.elements
        if model.format == INVENTORY_FORMAT and "interface" in one.type.casefold()
    }
    flows_in: dict[tuple[str, str], list[Entity]] = {}
    flows_out: dict[tuple[str, str], list[tuple[ModelRelation, Entity]]] = {}
    flows = [one for one in ended if one[0].type == FLOW]
    for relation, source, target in flows:
        file = relation.location.file
        if source is not None and target is None:
            flows_in.setdefault((file, relation.target.element_id), []).append(source)
        elif source is None and target is not None:
            out = flows_out.setdefault((file, relation.source.element_id), [])
            out.append((relation, target))
    for key in sorted(interfaces & flows_in.keys() & flows_out.keys()):
        for (relation, target), source in product(flows_out[key], flows_in[key]):
            if source is not target:
                yield _listed_edge(relation, source, target)


def _listed_edge(one: ModelRelation, source: Entity, target: Entity) -> Edge:
    """Return the edge of a relation that an inventory states between entities."""
    return Edge(
        origin=INVENTORY_ORIGIN,
        source=source.name,
        source_place=place_of_entity(source),
        target=target.name,
        target_place=place_of_entity(target),
        cardinality=one.cardinality,
        kind=one.name or one.type,
    )


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
