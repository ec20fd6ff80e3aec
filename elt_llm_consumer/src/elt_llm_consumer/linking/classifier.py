"""Infer the domain of a term that no entity has, by similarity to the entities.

The term with its definition is compared with every entity by calibrated cosine: 0 is
the mean over all entities, 1 the same text. No language model is called.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from elt_llm_consumer.definitions.terms import clean, fold
from elt_llm_consumer.linking.model_entities import Entity
from elt_llm_consumer.linking.similarity import SemanticIndex, Vector, calibrate
from elt_llm_core.records import Record

UNASSIGNED = "UNASSIGNED"
# Calibrated scores, chosen by eye on the sample's terms; they decide only whether a
# person is asked to review.
_CERTAIN, _POSSIBLE = 0.45, 0.30
_MARGIN = 0.05  # to the next domain; closer ones are named as the alternative
_SAME_HEAD = 0.1  # twice the margin: a Reading Pass is a kind of Pass


class Placement(Record):
    """The inferred domain. Tier: existing, unknown; confidence: high, medium, low."""

    domain: str
    subgroup: str
    tier: str
    confidence: str
    reasoning: str
    alternative: str


_UNPLACED = Placement(
    domain=UNASSIGNED,
    subgroup="",
    tier="unknown",
    confidence="low",
    reasoning="there is no model to place the term in",
    alternative="",
)


class TaxonomyClassifier:
    """Infers the domain of terms from the entities of a model."""

    def __init__(self, entities: Sequence[Entity], semantics: SemanticIndex) -> None:
        self._entities = entities
        self._semantics = semantics

    @cached_property
    def _vectors(self) -> Vector:
        return self._semantics.texts([_describe(e) for e in self._entities])

    def place(self, term: str, definition: str) -> Placement:
        """Return the domain of the nearest entity. Raises ModelError or EmbedError.

        A domain's score is that of its best entity, raised by 0.1 for an entity that
        shares the term's last word.
        """
        if not self._entities:
            return _UNPLACED
        vector = self._semantics.texts([f"{term}: {clean(definition)}"])[0]
        scores = calibrate(self._vectors @ vector)
        best: dict[str, tuple[float, int]] = {}
        for number, entity in enumerate(self._entities):
            score = float(np.round(scores[number], 4)) + _head_bonus(term, entity.name)
            if entity.domain not in best or score > best[entity.domain][0]:
                best[entity.domain] = (score, number)
        ranked = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
        return self._decide(ranked)

    def _decide(self, ranked: Sequence[tuple[str, tuple[float, int]]]) -> Placement:
        domain, (score, number) = ranked[0]
        second, (next_score, _) = ranked[1] if len(ranked) > 1 else ("", (0.0, 0))
        nearest = self._entities[number]
        reasoning = f"nearest entity is {nearest.name!r} ({domain}), score {score:.2f}"
        if second:
            reasoning += f"; next domain {second}, score {next_score:.2f}"
        if score < _POSSIBLE:
            return _UNPLACED.model_copy(
                update={"reasoning": reasoning, "alternative": domain}
            )
        clear = score >= _CERTAIN and score - next_score >= _MARGIN
        return Placement(
            domain=domain,
            subgroup=nearest.subtype,
            tier="existing",
            confidence="high" if clear else "medium",
            reasoning=reasoning,
            alternative=second if score - next_score < _MARGIN else "",
        )


def _head_bonus(term: str, name: str) -> float:
    """A bonus for the same last word: a Reading Pass is a kind of Pass."""
    ours, theirs = fold(term).split(), fold(name).split()
    return _SAME_HEAD if ours and theirs and ours[-1] == theirs[-1] else 0.0


def _describe(entity: Entity) -> str:
    text = f"{entity.name} ({entity.subtype or entity.domain.title()})"
    return f"{text}: {entity.description}" if entity.description else text


def review_status(place: Placement) -> str:
    """Return PENDING for a certain placement, else NEEDS_CLARIFICATION."""
    certain = place.tier == "existing" and place.confidence == "high"
    return "PENDING" if certain else "NEEDS_CLARIFICATION"
