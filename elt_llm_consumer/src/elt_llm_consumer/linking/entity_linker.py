"""Which entity of the model a term of the handbook is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from elt_llm_consumer.definitions.names import fold, normalise
from elt_llm_consumer.entity import Entity
from elt_llm_core.records import Record

Confidence = Literal["high", "medium", "low"]
NOT_MAPPED = "Not mapped: no entity has this name or alias"


class Match(Record):
    """The entity, or None. `ambiguous` names every entity that fits as well.

    `confidence` is high for the entity's own name, medium for an alias, a synonym or a
    name that two entities share, low for an alias of several entities and for none.
    """

    entity: Entity | None
    confidence: Confidence
    rationale: str
    ambiguous: tuple[str, ...] = ()


class Matcher:
    """Terms to entities by whole names: own name first, then aliases both ways."""

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
        """The entity that `term`, or failing that a synonym of it, names."""
        key = fold(term)
        if key in self._names:
            return self._by_name(term, self._names[key])
        if key in self._aliases:
            found = sorted(self._aliases[key], key=lambda e: e.order)
            return _by_other(found, f"alias match: {term!r} is an alias of")
        for synonym in sorted(synonyms):
            other = fold(synonym)
            found = self._names.get(other) or sorted(
                self._aliases.get(other, {}), key=lambda e: e.order
            )
            if found:
                said = f"synonym match: the handbook also calls it {synonym!r}, that is"
                return _by_other(found, said)
        return Match(
            entity=None,
            confidence="low",
            rationale=NOT_MAPPED,
        )

    def _by_name(self, term: str, found: Sequence[Entity]) -> Match:
        exact = [e for e in found if normalise(e.name) == normalise(term)]
        chosen = (exact or found)[0]
        how = "direct match" if exact else "direct match but for the plural"
        rationale = f"{how}: the entity is called {chosen.name!r}"
        others = _others(chosen, found)
        if others:
            rationale += f"; ambiguous, also {', '.join(others)}"
        return Match(
            entity=chosen,
            confidence="medium" if others else "high",
            rationale=rationale,
            ambiguous=others,
        )


def _by_other(found: Sequence[Entity], rationale: str) -> Match:
    chosen = found[0]
    others = _others(chosen, found)
    said = f"{rationale} {chosen.name!r}"
    if others:
        said += f"; ambiguous, also {', '.join(others)}"
    return Match(
        entity=chosen,
        confidence="low" if others else "medium",
        rationale=said,
        ambiguous=others,
    )


def _others(chosen: Entity, found: Sequence[Entity]) -> tuple[str, ...]:
    return tuple(e.label for e in found if e != chosen)
