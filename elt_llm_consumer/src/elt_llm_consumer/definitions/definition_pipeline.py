"""Extract the definitions of a document: candidates, scores, selection.

A term is defined once, by its most probable candidate; only formal definitions may give
a term a second meaning. A short form and its long form are one term.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_features import (
    Features,
    describe_all,
    kind,
)
from elt_llm_consumer.definitions.definition_records import Definition, text_units
from elt_llm_consumer.definitions.definition_scorer import DefinitionScorer, load_scorer
from elt_llm_consumer.definitions.extract import add_synonyms, without_repeats
from elt_llm_consumer.definitions.proposals import (
    DefinitionProposal,
    Way,
    find_candidates,
)
from elt_llm_consumer.definitions.terms import fold
from elt_llm_consumer.definitions.usage import Usage
from elt_llm_core.document import Block

# Three of four rows are right at SURE, on labelled documents that the weights have not
# seen; of those that LIKELY adds in the gold documents one in four (measurements.md).
SURE, LIKELY = 0.35, 0.15
# Of 328 candidates with a formal shape ("X means") on unseen documents 322 are right,
# and all 33 of those below SURE; only what is next to impossible is refused.
FORMAL = 0.02
SPELT = 0.15  # of a short form with its long form
_FORMAL_WAYS = frozenset({Way.STATED, Way.ACRONYM})
BESIDE = 0.6  # of a second term of one sentence; most such sentences define one


class Scored(NamedTuple):
    """A candidate with its features and its probability.

    `notes` are reasons that no feature gives.
    """

    candidate: DefinitionProposal
    features: Features
    probability: float
    notes: tuple[str, ...] = ()


class Candidates(NamedTuple):
    """The candidates of one document, with their scores."""

    text: str
    usage: Usage
    scored: Sequence[Scored]


def find_definitions(
    text: str,
    blocks: Sequence[Block],
    threshold: float = SURE,
    scorer: DefinitionScorer | None = None,
) -> list[Definition]:
    """Return the definitions of one document, in text order.

    Args:
        text: The text of the document.
        blocks: Its blocks; their spans refer to `text`.
        threshold: The minimum probability of a definition, between 0 and 1.
        scorer: Weights other than the shipped ones.

    Returns:
        The definitions with their confidence, the shape that found them and the
        features that speak for them; their spans refer to `text`.
    """
    weights = scorer or load_scorer()
    return chosen_definitions(score_document(text, blocks, weights), threshold, weights)


def score_document(
    text: str, blocks: Sequence[Block], scorer: DefinitionScorer
) -> Candidates:
    """Return every candidate of a document with its probability.

    Args:
        text: The text of the document.
        blocks: Its blocks; their spans refer to `text`.
        scorer: The weights.
    """
    units = text_units(text, blocks)
    usage = Usage(text, blocks, units)
    candidates = find_candidates(text, blocks, units, usage)
    return Candidates(text, usage, score_candidates(candidates, usage, scorer))


def chosen_definitions(
    candidates: Candidates, threshold: float, scorer: DefinitionScorer
) -> list[Definition]:
    """Return the definitions among the candidates of a document, in text order.

    Args:
        candidates: The candidates of the document.
        threshold: The minimum probability of a definition.
        scorer: The weights, which determine the reasons.
    """
    definitions = [
        one.candidate.definition.model_copy(
            update={
                "confidence": round(one.probability, 3),
                "found_by": kind(one.candidate),
                "reasons": (*one.notes, *scorer.reasons(one.features)),
            }
        )
        for one in choose(candidates.scored, candidates.usage, threshold)
    ]
    return without_repeats(add_synonyms(definitions, candidates.text))


def score_candidates(
    candidates: Sequence[DefinitionProposal], usage: Usage, scorer: DefinitionScorer
) -> list[Scored]:
    """Return each candidate with its features and probability, in order."""
    return [
        Scored(candidate, row, scorer.probability(row))
        for candidate, row in zip(
            candidates, describe_all(candidates, usage), strict=True
        )
    ]


def choose(judged: Sequence[Scored], usage: Usage, threshold: float) -> list[Scored]:
    """Return the candidates that become definitions, in text order.

    Args:
        judged: The candidates of one document.
        usage: How the document uses its words.
        threshold: The minimum probability.

    Returns:
        The best candidate of each term that says something; of each sentence the
        best, and others above `BESIDE`.
    """
    taken: dict[str, Way] = {}  # by folded term
    per_place: dict[int, list[str]] = defaultdict(list)
    chosen = []
    for one in sorted(judged, key=_rank):
        key, way = fold(one.candidate.definition.term), one.candidate.way
        if one.probability < _least(way, threshold) or not key:
            continue
        # Of six such rows of three unlike documents five defined nothing.
        if way not in _FORMAL_WAYS and is_empty(one.candidate.definition.definition):
            continue
        if not _is_free(way, taken.get(key), taken.get(usage.spelt_out.get(key, ""))):
            continue
        there = per_place[one.candidate.at]
        if way not in _FORMAL_WAYS and not _has_room(one, key, there):
            continue
        taken[key] = way
        there.append(key)
        chosen.append(one)
    return sorted(chosen, key=lambda one: one.candidate.definition.start)


def is_empty(definition: str) -> bool:
    """Return whether a text only points to words that are not part of it.

    It ends in a colon, because its list or table is left out, or says no more than
    where to look ("... are attached in Appendix I").

    Args:
        definition: The text of a candidate.
    """
    words = " ".join(definition.split())
    return words.endswith(":") or patterns.ONLY_POINTS.fullmatch(words) is not None


def _is_free(way: Way, own: Way | None, other: Way | None) -> bool:
    """Whether a term may be defined, given what defines it and its other form.

    A term may be stated in different words. A short form of a stated term has a row of
    its own, as in a list of abbreviations.
    """
    if own is not None:
        return way is Way.STATED and own is Way.STATED
    return other is None or (way in _FORMAL_WAYS and other in _FORMAL_WAYS)


def _least(way: Way, threshold: float) -> float:
    """Return the minimum probability for a form."""
    shapes = {Way.STATED: FORMAL, Way.ACRONYM: SPELT}
    return min(threshold, shapes.get(way, threshold))


def _has_room(one: Scored, key: str, there: Sequence[str]) -> bool:
    """Return whether a sentence that defines the terms `there` may define one more."""
    if any(key in name or name in key for name in there):
        return False
    return not there or one.probability >= BESIDE


def _rank(one: Scored) -> tuple[bool, float, int, str, str]:
    definition, way = one.candidate.definition, one.candidate.way
    stated = way is Way.STATED
    return (not stated, -one.probability, definition.start, definition.term, way)
