"""One spelling for each subtype of a domain: "Rare" and "RARE" are one."""

from collections.abc import Iterable

from elt_llm_consumer.linking.model_entities import Edge, EdgePlace, Entity
from elt_llm_core.enterprise.element_names import fold_name


class SubtypeSpellings:
    """The first spelling of each subtype in its domain.

    Domains need none, because entities have them in capitals.

    Args:
        entities: In order of precedence: those of drawings before those of inventories.
    """

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._first: dict[tuple[str, str], str] = {}
        for one in sorted(entities, key=lambda e: not e.is_drawn):
            self._first.setdefault((one.domain, fold_name(one.subtype)), one.subtype)

    def respell(self, entity: Entity) -> Entity:
        """Return an entity whose subtype has its first spelling."""
        subtype = self._of(entity.domain, entity.subtype)
        if subtype == entity.subtype:
            return entity
        return entity.model_copy(update={"subtype": subtype})

    def respell_ends(self, edge: Edge) -> Edge:
        """Return a relationship with the first spelling of the subtypes at its ends."""
        places = {"source_place": edge.source_place, "target_place": edge.target_place}
        update = {
            name: place.model_copy(update={"subtype": subtype})
            for name, place in places.items()
            if (subtype := self._of_place(place)) != place.subtype
        }
        return edge.model_copy(update=update) if update else edge

    def _of_place(self, place: EdgePlace) -> str:
        return self._of(place.domain, place.subtype)

    def _of(self, domain: str, subtype: str) -> str:
        return self._first.get((domain, fold_name(subtype)), subtype)
