"""Link the terms of a handbook to the entities of a model, by whole names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from elt_llm_consumer.definitions.terms import fold, normalise
from elt_llm_consumer.linking.entity_model import Entity
from elt_llm_core.records import Record

Confidence = Literal["high", "medium", "low"]
NOT_MAPPED = "Not mapped: no entity has this name or alias"


class Match(Record):
    """The entity, or None. `ambiguous` lists the other entities that fit.

    `confidence` is high for the entity's own name; medium for an alias, a synonym or a
    name that several entities share; low for an alias of several entities and for none.
    """

    entity: Entity | None
    confidence: Confidence
    rationale: str
    ambiguous: tuple[str, ...] = ()


class Matcher:
    """Links terms to entities by the entity's name, then by aliases both ways."""

    def __init__(
        self, entities: Iterable[Entity], aliases: Mapping[str, Sequence[str]]
    ) -> None:
        self._names: dict[str, list[Entity]] = {}
        self._aliases: dict[str, dict[Entity, str]] = {}
        for entity in sorted(entities, key=lambda e: e.order):
            self._names.setdefault(fold(entity.name), []).append(entity)
        for main in sorted(aliases):
            for other in aliases[main]:
                self._link(main, other)
                self._link(other, main)

    def _link(self, name: str, alias: str) -> None:
        for entity in self._names.get(fold(name), []):
            self._aliases.setdefault(fold(alias), {}).setdefault(entity, alias)

    def match(self, term: str, synonyms: Sequence[str] = ()) -> Match:
        """Return the entity that `term` names, or else a synonym of it."""
        key = fold(term)
        if key in self._names:
            return _match_by_name(term, self._names[key])
        if key in self._aliases:
            entities = sorted(self._aliases[key], key=lambda e: e.order)
            return _match_by_alias(entities, f"alias match: {term!r} is an alias of")
        for synonym in sorted(synonyms):
            other = fold(synonym)
            entities = self._names.get(other) or sorted(
                self._aliases.get(other, {}), key=lambda e: e.order
            )
            if entities:
                reason = (
                    f"synonym match: the handbook also calls it {synonym!r}, that is"
                )
                return _match_by_alias(entities, reason)
        return Match(entity=None, confidence="low", rationale=NOT_MAPPED)


def _match_by_name(term: str, entities: Sequence[Entity]) -> Match:
    exact = [e for e in entities if normalise(e.name) == normalise(term)]
    entity = (exact or entities)[0]
    reason = "direct match" if exact else "direct match but for the plural"
    rationale = f"{reason}: the entity is called {entity.name!r}"
    return _match(entity, entities, rationale, ("high", "medium"))


def _match_by_alias(entities: Sequence[Entity], reason: str) -> Match:
    entity = entities[0]
    rationale = f"{reason} {entity.name!r}"
    return _match(entity, entities, rationale, ("medium", "low"))


def _match(
    entity: Entity,
    entities: Sequence[Entity],
    rationale: str,
    confidences: tuple[Confidence, Confidence],
) -> Match:
    """A match; `confidences` are for the only entity that fits, and for one of many."""
    others = tuple(e.label for e in entities if e != entity)
    if others:
        rationale += f"; ambiguous, also {', '.join(others)}"
    return Match(
        entity=entity,
        confidence=confidences[bool(others)],
        rationale=rationale,
        ambiguous=others,
    )
