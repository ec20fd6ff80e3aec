"""Maps terms of a glossary to entities of a model, with one calibrated score.

`mapping_features` proposes pairs and describes them by signals; the weights in
`mapping_weights.json` (fitted by `benchmarks/mapping_scorer.py`) turn these into the
probability that term and entity are one thing. A probable entity is mapped. If several
are about equally probable, all are listed and none is mapped; what is only related is
listed for the reviewer.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from elt_llm_consumer.definitions.definition_scorer import DefinitionScorer, to_scorer
from elt_llm_consumer.linking.mapping_features import (
    EQUAL,
    MappedTerm,
    PairSignals,
    Signals,
)
from elt_llm_consumer.linking.model_entities import (
    NOT_MAPPED,
    Confidence,
    Edge,
    Entity,
    Match,
)

WEIGHTS = "mapping_weights.json"
# On models that the weights had not seen, 165 of 173 pairs above it were the same
# thing, and 14 were missed; at .5 168 of 178, at .7 161 of 168 (measurements.md).
SAME = 0.6
RELATED = 0.2  # listed for the reviewer: of ten such pairs about three are the same
MARGIN = 0.1  # of namesakes; their descriptions move the probability by less
_MOST_LISTED = 5  # entities of a term that is not mapped
_MOST_SIGNALS = 3
_OWN_NAME = ("name: as written", "name: but for the plural")


class _Candidate(NamedTuple):
    entity: Entity
    signals: Signals
    probability: float


class TermMapper:
    """Maps terms to the entities of one model.

    Args:
        entities: The entities.
        edges: Their relations.
        aliases: Entity name to synonyms.
        scorer: Weights other than the shipped ones.
    """

    def __init__(
        self,
        entities: Iterable[Entity],
        edges: Sequence[Edge] = (),
        aliases: Mapping[str, Sequence[str]] | None = None,
        scorer: DefinitionScorer | None = None,
    ) -> None:
        self._signals = PairSignals(entities, edges, aliases)
        self._scorer = scorer or load_mapping_scorer()

    def map_term(self, term: MappedTerm) -> Match:
        """Return the entity that a term means, if one alone is probable.

        Args:
            term: The term with its definition.

        Returns:
            The entity, or None with the entities that a reviewer should look at, most
            probable first; the rationale names the signals with their values.
        """
        candidates = [
            _Candidate(entity, row, self._scorer.probability(row))
            for entity, row in self._signals.propose(term)
        ]
        # Rounded, so that the order is that of the model for equal signals.
        candidates.sort(key=lambda c: -round(c.probability, 6))
        listed = [c for c in candidates if c.probability >= RELATED][:_MOST_LISTED]
        probable = [c for c in candidates if c.probability >= SAME]
        if not probable:
            return self._match_none(NOT_MAPPED, "perhaps related", listed)
        best = probable[0]
        rivals = [c for c in probable if best.probability - c.probability < MARGIN]
        if len(rivals) > 1:
            reason = f"Not mapped: ambiguous, {len(rivals)} entities fit"
            return self._match_none(reason, "they are", rivals)
        others = tuple(c.entity.label for c in probable[1:])
        rationale = self._explain(best)
        if others:
            rationale += f"; less probable: {', '.join(others)}"
        confidence = _confidence(best.signals, bool(others))
        return Match(
            entity=best.entity,
            confidence=confidence,
            rationale=rationale,
            ambiguous=others,
        )

    def _match_none(
        self, reason: str, lead: str, listed: Sequence[_Candidate]
    ) -> Match:
        shown = "; ".join(f"{c.entity.label}, {self._explain(c)}" for c in listed)
        return Match(
            entity=None,
            confidence="low",
            rationale=f"{reason}; {lead}: {shown}" if listed else reason,
            ambiguous=tuple(c.entity.label for c in listed),
        )

    def _explain(self, candidate: _Candidate) -> str:
        """Return the probability and the strongest signals with their values."""
        row = candidate.signals
        named = (n for n in self._scorer.reasons(row, len(row)) if n != EQUAL)
        signals = [f"{name} {row[name]:.2f}" for name in named][:_MOST_SIGNALS]
        chance = f"same thing with probability {candidate.probability:.2f}"
        return f"{chance} ({', '.join(signals)})" if signals else chance


def _confidence(row: Signals, has_others: bool) -> Confidence:
    if any(row[name] for name in _OWN_NAME):
        return "medium" if has_others else "high"
    return "low" if has_others else "medium"


@cache
def load_mapping_scorer() -> DefinitionScorer:
    """Return the scorer with the shipped weights."""
    return to_scorer(
        json.loads(files(__package__).joinpath(WEIGHTS).read_text("utf-8"))
    )
