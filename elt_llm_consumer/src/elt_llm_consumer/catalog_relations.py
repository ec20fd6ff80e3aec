"""The relations of entities as rows: of the model, inherited from groups, stated.

A relation of the model is direct if the model draws it at the entity itself, and
inherited if it is drawn at the entity's domain or subtype, never at an entity that
has the name of the domain. A stated one is a sentence whose subject is an entity and
whose object is another (`stated_relations.py`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from elt_llm_consumer.cardinalities import find_conflicts, invert_cardinality
from elt_llm_consumer.definitions.terms import normalise
from elt_llm_consumer.linking.model_entities import Edge, Entity
from elt_llm_consumer.relation_ends import EntityEnd, edge_pair, ends_of, name_pair
from elt_llm_consumer.stated_relations import TextRelation
from elt_llm_core.enterprise.relation_words import TYPE_WORDS

UNIDIRECTIONAL = "unidirectional"
TEXT_SOURCE = "HANDBOOK"
Origin = Literal["direct", "stated", "inherited"]
_ORDER = ("direct", "stated", "inherited")


class EntityRelations:
    """The relations of entities, seen from each entity.

    Args:
        edges: The relations of the model.
        stated: The relations of the text.
    """

    def __init__(
        self, edges: Sequence[Edge], stated: Sequence[TextRelation] = ()
    ) -> None:
        self._edges = edges
        self._stated = stated
        self._stated_by_end: dict[str, list[TextRelation]] = {}
        for one in stated:
            for end in dict.fromkeys((one.source, one.target)):
                self._stated_by_end.setdefault(end, []).append(one)
        self._by_end: dict[str, list[Edge]] = {}
        for edge in edges:
            for end in dict.fromkeys((normalise(edge.source), normalise(edge.target))):
                self._by_end.setdefault(end, []).append(edge)
        self._conflicts = find_conflicts(edges, stated)

    def of(self, entity: Entity) -> list[dict[str, Any]]:
        """Return the relations of an entity: direct, stated and inherited ones.

        Each is described from the entity's side: if the relation is drawn from the
        other end, type and cardinality are inverted.
        """
        own, *around = ends_of(entity)
        rows = [
            self._row(edge, is_source, group)
            for group in (own, *around)
            for edge in self._by_end.get(normalise(group.name), ())
            for is_source in (True, False)
            if group.is_end(edge, is_source)
            # What a domain has to do with one of its entities is not inherited by it.
            and (group is own or not own.is_end(edge, not is_source))
        ]
        rows += [
            self._stated_row(one, is_source=one.source == entity.name)
            for one in self._stated_by_end.get(entity.name, ())
        ]
        unique = {str(sorted(row.items())): row for row in rows}
        keys = {
            (_ORDER.index(row["origin"]), row["role"], text): row
            for text, row in unique.items()
        }
        return [keys[key] for key in sorted(keys)]

    def _row(self, edge: Edge, is_source: bool, end: EntityEnd) -> dict[str, Any]:
        origin: Origin = "direct" if end.role == "entity" else "inherited"
        inherited = f"inherited from {edge.source} -> {edge.target} by {end.name}"
        return {
            **_from_one_end(
                (edge.source, edge.target), edge.kind, edge.cardinality, is_source
            ),
            "origin": origin,
            "provenance": "direct" if origin == "direct" else inherited,
            "conflict": self._conflicts.get(edge_pair(edge), ""),
        }

    def _stated_row(self, one: TextRelation, is_source: bool) -> dict[str, Any]:
        page = f", p. {one.evidence.page}" if one.evidence.page else ""
        return {
            **_from_one_end(
                (one.source, one.target), one.verb, one.cardinality, is_source
            ),
            "origin": "stated",
            "provenance": f"stated in {one.evidence.document}{page}",
            "conflict": self._conflicts.get(name_pair(one.source, one.target), ""),
        }

    def table(self, entities: Iterable[Entity] = ()) -> list[dict[str, Any]]:
        """Return every relation of the model once, then those of the text.

        Args:
            entities: Used to find out whether the model relates the groups of two
                entities that the text relates.
        """
        modelled = {
            (
                normalise(edge.source),
                normalise(edge.target),
                edge.cardinality,
                edge.kind,
            ): self._table_row(edge)
            for edge in self._edges
        }
        groups = {one.name: [group.key for group in ends_of(one)] for one in entities}
        pairs = {edge_pair(edge) for edge in self._edges}
        stated = [self._stated_table_row(one, groups, pairs) for one in self._stated]
        stated.sort(key=lambda row: (row["entity_a"], row["entity_b"], str(row)))
        return [*(modelled[key] for key in sorted(modelled)), *stated]

    def _table_row(self, edge: Edge) -> dict[str, Any]:
        return {
            **_from_both_ends(edge.source, edge.target, edge.kind, edge.cardinality),
            "source": edge.origin,
            "in_model": "yes",
            "conflict": self._conflicts.get(edge_pair(edge), ""),
            "evidence": [],
        }

    def _stated_table_row(
        self,
        one: TextRelation,
        groups: Mapping[str, Sequence[str]],
        pairs: set[tuple[str, str]],
    ) -> dict[str, Any]:
        in_model = "no"
        if name_pair(one.source, one.target) in pairs:
            in_model = "yes"
        elif any(
            (min(left, right), max(left, right)) in pairs
            for left in groups.get(one.source, ())
            for right in groups.get(one.target, ())
        ):
            in_model = "group"
        return {
            **_from_both_ends(one.source, one.target, one.verb, one.cardinality),
            "source": TEXT_SOURCE,
            "in_model": in_model,
            "conflict": self._conflicts.get(name_pair(one.source, one.target), ""),
            "evidence": [one.evidence.model_dump(mode="json")],
        }


def _from_one_end(
    ends: tuple[str, str], kind: str, cardinality: str, is_source: bool
) -> dict[str, Any]:
    """Return a relation as its source sees it, or else its target."""
    source, target = ends
    kinds = kind, invert_type(kind)
    counts = cardinality, invert_cardinality(cardinality)
    if not is_source:
        kinds, counts = kinds[::-1], counts[::-1]
    return {
        "target_entity": target if is_source else source,
        "relationship_type": kinds[0],
        "inverse_type": kinds[1],
        "cardinality": counts[0],
        "inverse_cardinality": counts[1],
        "direction": UNIDIRECTIONAL,
        "role": "source" if is_source else "target",
    }


def _from_both_ends(
    source: str, target: str, kind: str, cardinality: str
) -> dict[str, Any]:
    """Return a relation as a row of the table of all relations."""
    return {
        "entity_a": source.lower(),
        "entity_b": target.lower(),
        "relationship_type": kind,
        "inverse_type": invert_type(kind),
        "cardinality": cardinality,
        "inverse_cardinality": invert_cardinality(cardinality),
        "direction": UNIDIRECTIONAL,
    }


def invert_type(kind: str) -> str:
    """Return the name of a relation from its other end; "" if it has no name."""
    if kind in TYPE_WORDS:
        return TYPE_WORDS[kind].inverse
    known = {words.forward: words.inverse for words in TYPE_WORDS.values()}
    return known.get(kind, f"{kind} (inverse)" if kind else "")
