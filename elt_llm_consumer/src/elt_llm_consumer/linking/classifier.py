"""Where in the model a term belongs that only the handbook knows, without a model call.

The term with its definition is compared with every entity by calibrated cosine: 0 is
the mean over all entities, 1 the same text.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from elt_llm_consumer.definitions.names import clean, fold
from elt_llm_consumer.entity import Entity
from elt_llm_consumer.linking.similarity import Semantics, Vector, calibrated
from elt_llm_core.records import Record

UNASSIGNED = "UNASSIGNED"
CERTAIN, POSSIBLE = 0.45, 0.30
MARGIN = 0.05
_BEST = 3


class Place(Record):
    """The inferred place. Tier is existing or unknown; confidence high, medium, low."""

    domain: str
    subgroup: str
    tier: str
    confidence: str
    reasoning: str
    alternative: str


NOWHERE = Place(
    domain=UNASSIGNED,
    subgroup="",
    tier="unknown",
    confidence="low",
    reasoning="there is no model to place the term in",
    alternative="",
)


class Placer:
    """Places terms among the entities of a model."""

    def __init__(self, entities: Sequence[Entity], semantics: Semantics) -> None:
        self._entities = entities
        self._semantics = semantics

    @cached_property
    def _vectors(self) -> Vector:
        return self._semantics.texts([_described(e) for e in self._entities])

    def place(self, term: str, definition: str) -> Place:
        """The domain of the nearest entities. Raises ModelError or EmbedError.

        A domain's score is that of its best entity, with 0.1 more for an entity that
        shares the term's last word.
        """
        if not self._entities:
            return NOWHERE
        vector = self._semantics.texts([f"{term}: {clean(definition)}"])[0]
        scores = calibrated(self._vectors @ vector)
        best: dict[str, tuple[float, int]] = {}
        for number, entity in enumerate(self._entities):
            score = float(np.round(scores[number], 4)) + _kin(term, entity.name)
            held = best.get(entity.domain)
            if held is None or score > held[0]:
                best[entity.domain] = (score, number)
        ranked = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
        return self._decided(ranked)

    def _decided(self, ranked: Sequence[tuple[str, tuple[float, int]]]) -> Place:
        domain, (score, number) = ranked[0]
        second, (next_score, _) = ranked[1] if len(ranked) > 1 else ("", (0.0, 0))
        nearest = self._entities[number]
        said = f"nearest entity is {nearest.name!r} ({domain}), score {score:.2f}"
        if second:
            said += f"; next domain {second}, score {next_score:.2f}"
        if score < POSSIBLE:
            return NOWHERE.model_copy(update={"reasoning": said, "alternative": domain})
        clear = score >= CERTAIN and score - next_score >= MARGIN
        return Place(
            domain=domain,
            subgroup=nearest.subtype,
            tier="existing",
            confidence="high" if clear else "medium",
            reasoning=said,
            alternative=second if score - next_score < MARGIN else "",
        )


def _kin(term: str, name: str) -> float:
    """A little more for the same last word: a Reading Pass is a kind of Pass."""
    ours, theirs = fold(term).split(), fold(name).split()
    return 0.1 if ours and theirs and ours[-1] == theirs[-1] else 0.0


def _described(entity: Entity) -> str:
    said = f"{entity.name} ({entity.subtype or entity.domain.title()})"
    return f"{said}: {entity.description}" if entity.description else said


def review_status(place: Place) -> str:
    """PENDING for a sure place, else NEEDS_CLARIFICATION."""
    sure = place.tier == "existing" and place.confidence == "high"
    return "PENDING" if sure else "NEEDS_CLARIFICATION"
