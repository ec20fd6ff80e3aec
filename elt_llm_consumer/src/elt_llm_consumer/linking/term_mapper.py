"""Maps terms of a handbook to entities of a model, with one calibrated score.

Glossary, catalogue and coverage all map here. `mapping_features` proposes pairs and
describes them by signals; the weights in `mapping_weights.json` (fitted by
`benchmarks/mapping_scorer.py`) turn these into the probability that term and entity are
one thing. Pairs without a description have weights of their own, fitted as if there
were no descriptions at all; with one it counts that names are equal, and not how. A
probable entity is mapped. If several are about equally
probable, or an entity has the name but hardly the sense of the term, they are listed
and none is mapped; what is only related is listed for the reviewer.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, Literal, NamedTuple

from pydantic import Field

from elt_llm_consumer.definitions.definition_scorer import DefinitionScorer, to_scorer
from elt_llm_consumer.definitions.terms import normalise
from elt_llm_consumer.linking.mapping_features import (
    COMPARED,
    DESCRIPTION,
    EQUAL,
    NEAR,
    SAME_NAMES,
    SHARED,
    MappedTerm,
    PairSignals,
    Signals,
)
from elt_llm_consumer.linking.model_entities import Entity
from elt_llm_consumer.linking.text_vectors import Embed, MissingVector
from elt_llm_consumer.server_patience import AWAY, WaitEndedError
from elt_llm_core.enterprise.element_names import DATA_TYPES
from elt_llm_core.errors import (
    AbandonedError,
    BudgetSpentError,
    EltLlmError,
)
from elt_llm_core.records import Record

WEIGHTS = "mapping_weights.json"
NOT_MAPPED = "Not mapped: no entity has this name or alias"
OTHER_SENSE = "Not mapped: ambiguous, the name fits but the description does not"
# On models that the weights had not seen, 267 of 278 pairs above it were the same
# thing, and 29 were missed; at .5 274 of 291, at .7 255 of 260 ("Terms and entities" in
# measurements/catalogue.md).
SAME = 0.6
RELATED = 0.2  # listed for the reviewer: of ten such pairs about three are the same
MARGIN = 0.1  # of namesakes; between two that fit so alike a person decides
_MOST_LISTED = 5  # entities of a term that is not mapped
_MOST_SIGNALS = 3
_BLOCK = 64  # terms that are mapped at a time; more are embedded in fewer calls
_OWN_NAME = ("name: as written", "name: but for the plural")
Confidence = Literal["high", "medium", "low"]


class Match(Record):
    """The entity that a term means, or None. `ambiguous` are labels of other entities.

    `confidence` is high for the entity's own name; medium for another name, or if other
    entities are probable too; low for both, and for none.
    """

    entity: Entity | None
    confidence: Confidence
    rationale: str
    ambiguous: tuple[str, ...] = ()
    fitting: tuple[Entity, ...] = Field(
        default=(), description="the entity, or those that fit about equally well"
    )
    unlike: tuple[Entity, ...] = Field(
        default=(), description="have the name, but hardly the sense of the term"
    )


class _Candidate(NamedTuple):
    entity: Entity
    signals: Signals
    probability: float

    @property
    def has_other_sense(self) -> bool:
        """Whether the entity has the term's name and an unlike description."""
        is_named = self.signals[EQUAL] and self.signals[COMPARED]
        return bool(is_named) and self.probability < SAME

    def rivals(self, best: "_Candidate") -> bool:
        """Return whether it is as probable as the best, or a namesake of it.

        Probabilities with and without a description are not compared: a name alone is
        as probable as the best description.
        """
        named = self.signals[EQUAL] and best.signals[EQUAL]
        differ = self.signals[COMPARED] != best.signals[COMPARED]
        return best.probability - self.probability < MARGIN or bool(named and differ)


class MappingScorer(NamedTuple):
    """The weights of pairs with a description and a definition, and of all others."""

    described: DefinitionScorer
    plain: DefinitionScorer

    def choose(self, row: Signals) -> DefinitionScorer:
        """Return the weights for a pair with these signals."""
        return self.described if row[COMPARED] else self.plain


class TermMapper:
    """Maps terms to the entities of one model.

    Args:
        entities: The entities.
        aliases: Entity name to synonyms.
        embed: Returns unit vectors; without it no description is compared.
        scorer: Weights other than the shipped ones.
    """

    def __init__(
        self,
        entities: Iterable[Entity],
        aliases: Mapping[str, Sequence[str]] | None = None,
        embed: Embed | None = None,
        scorer: MappingScorer | None = None,
    ) -> None:
        self._signals = PairSignals(entities, aliases, embed)
        self._scorer = scorer or load_mapping_scorer()

    @property
    def missing(self) -> Mapping[str, MissingVector]:
        """Return the descriptions and definitions without a vector, and why.

        Such pairs were compared by their names alone.
        """
        return self._signals.missing

    def lacks_vector(self, term: MappedTerm) -> bool:
        """Return whether a text that matters to the match of a term has no vector.

        Args:
            term: A term that was mapped.
        """
        return self._signals.lacks_vector(term)

    def map_term(self, term: MappedTerm) -> Match:
        """Return the entity that a term means, if one alone is probable.

        Args:
            term: The term with its definition.

        Returns:
            The entity, or None with the entities that a reviewer should look at, most
            probable first; the rationale names the signals with their values.

        Raises:
            ModelError: If the embedder cannot be reached.
            EmbedError: If it has no vectors at all.
        """
        (match,) = self.map_terms([term])
        return match

    def map_terms(self, terms: Sequence[MappedTerm]) -> list[Match]:
        """Return the match of each term, in order; all texts are embedded together.

        Args:
            terms: The terms with their definitions.

        Returns:
            A match for each, as `map_term` returns it.

        Raises:
            ModelError: If the embedder cannot be reached.
            EmbedError: If it has no vectors at all.
        """
        return [self._choose(pairs) for pairs in self._signals.propose_all(terms)]

    def _choose(self, pairs: Iterable[tuple[Entity, Signals]]) -> Match:
        candidates = [
            _Candidate(entity, row, self._scorer.choose(row).probability(row))
            for entity, row in pairs
        ]
        # Rounded, so that the order is that of the model for equal signals.
        candidates.sort(key=lambda c: -round(c.probability, 6))
        probable = [c for c in candidates if c.probability >= SAME]
        if not probable:
            return self._match_none(candidates)
        best = probable[0]
        rivals = _prefer_data([c for c in probable if c.rivals(best)])
        best = rivals[0]
        if len(rivals) > 1:
            reason = f"Not mapped: ambiguous, {len(rivals)} entities fit; they are"
            fitting = tuple(c.entity for c in rivals)
            match = self._list(reason, rivals, len(rivals))
            return match.model_copy(update={"fitting": fitting})
        others = tuple(c.entity.label for c in probable if c is not best)
        rationale = self._explain(best)
        if others:
            rationale += f"; less probable: {', '.join(others)}"
        return Match(
            entity=best.entity,
            confidence=_confidence(best.signals, bool(others)),
            rationale=rationale,
            ambiguous=others,
            fitting=(best.entity,),
        )

    def _match_none(self, candidates: Sequence[_Candidate]) -> Match:
        """List namesakes of another sense, or else what is perhaps related."""
        namesakes = [c for c in candidates if c.has_other_sense]
        if namesakes:
            unlike = tuple(c.entity for c in namesakes)
            match = self._list(OTHER_SENSE, namesakes, len(namesakes))
            return match.model_copy(update={"unlike": unlike})
        related = [c for c in candidates if c.probability >= RELATED]
        reason = f"{NOT_MAPPED}; perhaps related" if related else NOT_MAPPED
        return self._list(reason, related, _MOST_LISTED)

    def _list(self, reason: str, candidates: Sequence[_Candidate], most: int) -> Match:
        """Return `most` candidates, the first of them with their signals."""
        listed = candidates[:most]
        explained = listed[:_MOST_LISTED]
        shown = "; ".join(f"{c.entity.label}, {self._explain(c)}" for c in explained)
        return Match(
            entity=None,
            confidence="low",
            rationale=f"{reason}: {shown}" if shown else reason,
            ambiguous=tuple(c.entity.label for c in listed),
        )

    def _explain(self, candidate: _Candidate) -> str:
        """Return the probability and the strongest signals with their values."""
        row = candidate.signals
        # How the names are equal is told first; where they are, letters tell no more.
        equal = [name for name in SAME_NAMES if row[name]]
        others = [
            name
            for name in self._scorer.choose(row).reasons(row, len(row))
            if name not in (EQUAL, *DESCRIPTION, *SAME_NAMES)
            and not (equal and name.startswith("name:"))
        ]
        signals = [f"{n} {row[n]:.2f}" for n in (*equal, *others)][:_MOST_SIGNALS]
        if row[COMPARED]:
            weights = self._scorer.described.weights
            effect = sum(weights[name].effect(row[name]) for name in (NEAR, SHARED))
            is_like = effect >= 0 and not candidate.has_other_sense
            fits = "fits" if is_like else "hardly fits"
            signals.append(
                f"its description {fits} the definition: meaning {row[NEAR]:.2f}, "
                f"shared words {row[SHARED]:.2f}"
            )
        chance = f"same thing with probability {candidate.probability:.2f}"
        return f"{chance} ({', '.join(signals)})" if signals else chance


def _prefer_data(rivals: list[_Candidate]) -> list[_Candidate]:
    """Return the one rival that data are kept about, among namesakes of other types.

    A handbook that defines a claim means the thing, not the application "Claim".
    """
    names = {normalise(c.entity.name) for c in rivals}
    data = [c for c in rivals if c.entity.kind in DATA_TYPES]
    has_type = all(c.entity.kind for c in rivals)
    return data if len(data) == len(names) == 1 and has_type else rivals


def _confidence(row: Signals, has_others: bool) -> Confidence:
    if any(row[name] for name in _OWN_NAME):
        return "medium" if has_others else "high"
    return "low" if has_others else "medium"


def to_mapping_scorer(content: Mapping[str, Any]) -> MappingScorer:
    """Return the scorer with the weights of a file's content."""
    return MappingScorer(**{name: to_scorer(one) for name, one in content.items()})


class MappingFailedError(Exception):
    """The terms cannot be mapped: the embedder fails, not the texts of one row.

    No `EltLlmError`, so that it ends a batch, in which such an error leaves out a row.

    Attributes:
        error: What failed.
    """

    def __init__(self, error: EltLlmError) -> None:
        super().__init__(error.message)
        self.error = error


class TermMatches:
    """The matches of a list of terms, mapped in blocks when they are needed.

    Args:
        mapper: Maps the terms.
        terms: The terms.
        needed: Numbers of the terms whose match will be asked for, in order; no other
            is mapped with them.
    """

    def __init__(
        self,
        mapper: TermMapper,
        terms: Sequence[MappedTerm],
        needed: Sequence[int],
    ) -> None:
        self._mapper = mapper
        self._terms = terms
        self._needed = needed
        self._matches: dict[int, Match] = {}

    @property
    def missing(self) -> Mapping[str, MissingVector]:
        """Return the texts without a vector of the terms that were mapped."""
        return self._mapper.missing

    def __getitem__(self, number: int) -> Match:
        """Return the match of a term; a block of needed ones is mapped with it.

        Raises:
            MappingFailedError: If the embedder fails, or has no vectors at all.
            WaitEndedError: If its server stays unavailable.
            AbandonedError: If the job is asked to stop.
            BudgetSpentError: If the budget of its calls is spent.
        """
        if number not in self._matches:
            later = (n for n in self._needed if n > number)
            block = [number, *islice(later, _BLOCK - 1)]
            try:
                matches = self._mapper.map_terms([self._terms[n] for n in block])
            except (AbandonedError, BudgetSpentError):
                raise  # the batch ends early, and the next run resumes
            except AWAY as error:  # the embedder was waited for, if it ever answered
                raise WaitEndedError(error) from error
            except EltLlmError as error:
                raise MappingFailedError(error) from error
            self._matches.update(zip(block, matches, strict=True))
        return self._matches[number]

    def is_whole(self, number: int) -> bool:
        """Return whether a mapped term was compared with all its descriptions."""
        return not self._mapper.lacks_vector(self._terms[number])


@cache
def load_mapping_scorer() -> MappingScorer:
    """Return the scorer with the shipped weights."""
    content = files(__package__).joinpath(WEIGHTS).read_text("utf-8")
    return to_mapping_scorer(json.loads(content))
