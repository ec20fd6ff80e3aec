"""The ends of relations: an entity, or the domain and the subtype around it."""

from typing import NamedTuple

from elt_llm_consumer.definitions.terms import normalise
from elt_llm_consumer.linking.model_entities import Edge, EdgeRole, Entity


class EntityEnd(NamedTuple):
    """An entity, or what is around it, as an end of relations."""

    name: str
    role: EdgeRole
    domain: str
    subtype: str
    fact_sheet_id: str

    @property
    def key(self) -> str:
        """Return its name, distinguished from a group or an entity of that name."""
        return _end_key(self.name, self.role)

    def is_end(self, edge: Edge, is_source: bool) -> bool:
        """Return whether it is this end of a relation, not only of the same name."""
        name, place = edge.end(is_source)
        if normalise(name) != normalise(self.name):
            return False
        if self.fact_sheet_id and place.fact_sheet_id:
            # Fact sheets above others are entities and groups in one.
            return self.fact_sheet_id == place.fact_sheet_id
        is_inside = self.role == "domain" or place.domain in ("", self.domain)
        is_there = self.role != "entity" or place.subtype in ("", self.subtype)
        return place.role == self.role and is_inside and is_there


def ends_of(entity: Entity) -> list[EntityEnd]:
    """Return the entity, and the subtype and the domain around it, as ends."""
    domain, subtype = entity.domain, entity.subtype
    groups = [EntityEnd(entity.name, "entity", domain, subtype, entity.fact_sheet_id)]
    if subtype:
        sheet = entity.subtype_fact_sheet_id
        groups.append(EntityEnd(subtype, "subtype", domain, "", sheet))
    if domain:
        sheet = entity.domain_fact_sheet_id
        groups.append(EntityEnd(domain, "domain", domain, "", sheet))
    # A fact sheet above others is listed as an entity of its own domain.
    own = entity.fact_sheet_id
    return groups[:1] + [g for g in groups[1:] if not own or g.fact_sheet_id != own]


def edge_pair(edge: Edge) -> tuple[str, str]:
    """Return the keys of both ends of a relation, in alphabetical order."""
    left, right = edge_keys(edge)
    return min(left, right), max(left, right)


def edge_keys(edge: Edge) -> tuple[str, str]:
    """Return the keys of the source and the target of a relation."""
    return (
        _end_key(edge.source, edge.source_place.role),
        _end_key(edge.target, edge.target_place.role),
    )


def _end_key(name: str, role: EdgeRole) -> str:
    """Return a name that distinguishes an entity from a group of the same name."""
    return normalise(name) if role == "entity" else f"{normalise(name)} ({role})"


def name_pair(left: str, right: str) -> tuple[str, str]:
    """Return the keys of two entities by their names, in alphabetical order."""
    one, two = sorted((normalise(left), normalise(right)))
    return one, two
