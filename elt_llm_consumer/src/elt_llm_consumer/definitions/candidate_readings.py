"""Read candidates: does the sentence say what the term is?

The features of `definition_features` are of form and place; what a sentence says they
do not see. The sentence reader of the answers reads "What is Berth?" beside the
sentence, and its log odds and a weighted sum of its states are two more features. The
weights of `reading_weights.json` are fitted by `benchmarks/glossary_reader.py` with
these features and those of form together.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from elt_llm_consumer.definitions.definition_features import Features
from elt_llm_consumer.definitions.definition_scorer import DefinitionScorer, to_scorer
from elt_llm_consumer.definitions.plain_sentences import is_plain_sentence
from elt_llm_consumer.definitions.proposals import DefinitionProposal, Way
from elt_llm_consumer.definitions.terms import fold
from elt_llm_core.models.sentence_reader import (
    ReadSentence,
    SentenceReading,
    read_context,
    shared_reader,
)
from elt_llm_core.models.weights import default_cache_dir

WEIGHTS = "reading_weights.json"
ANSWERS, SAYS = "reader: answers what it is", "reader: says what it is"
# Of 780 labelled candidates below it five are right.
LEAST_READ = 0.02
# Sentences of one term that are read, the most probable by their form: at most two
# define it, and a term of a long handbook has hundreds.
MOST_READ = 6
# The reader's log odds are not even beyond them (as in the scorer of answers).
LOWEST, HIGHEST = -4.0, 6.0
# Of the reading in the log odds. At 0, .35, .5 and 1 average precision on the labelled
# candidates is .684, .727, .740 and .761, but from .5 on role statements of short
# documents ("The Pier Trust is charged with …") are lost.
SHARE = 0.4
BEFORE = 300  # characters before the sentence; more than the reader takes
# What these propose is decided by its form. Of the labelled candidates of the first two
# 151 of 152 are right; words in brackets are judged worse when the sentence around
# them is read (average precision over all families .748 instead of .762).
UNREAD = frozenset({Way.ACRONYM, Way.STATED, Way.GLOSS})


@dataclass(frozen=True)
class ReadingScorer:
    """Weights of features of form and reading, and the direction in the states."""

    scorer: DefinitionScorer
    direction: NDArray[np.float64]

    def describe(self, reading: SentenceReading) -> dict[str, float]:
        """Return the features of a reading."""
        return {
            ANSWERS: float(np.clip(reading.log_odds, LOWEST, HIGHEST)),
            SAYS: float(reading.states @ self.direction),
        }


def to_pair(candidate: DefinitionProposal) -> tuple[str, ReadSentence]:
    """Return the question and the sentence that are read for a candidate.

    Args:
        candidate: A candidate with a sentence.

    Raises:
        ValueError: If it has none.
    """
    place = candidate.sentence
    if place is None:
        raise ValueError("a candidate without a sentence is not read")
    heading = candidate.definition.section.rsplit(" > ", 1)[-1]
    before = place.unit.text[max(0, place.start - BEFORE) : place.start].strip()
    term, sentence = (
        " ".join(text.split()) for text in (candidate.definition.term, place.text)
    )
    context = read_context(heading, before)
    return f"What is {term}?", ReadSentence(sentence, context)


def places_to_read(
    candidates: Sequence[DefinitionProposal], probabilities: Sequence[float]
) -> list[int]:
    """Return the numbers of the candidates that are worth reading.

    Args:
        candidates: Those of a document.
        probabilities: Of each, by its form.
    """
    sentences: dict[str, set[int]] = defaultdict(set)
    places = []
    order = sorted(range(len(candidates)), key=lambda at: (-probabilities[at], at))
    for at in order:
        one = candidates[at]
        if probabilities[at] < LEAST_READ or not _is_open(one):
            continue
        read = sentences[fold(one.definition.term)]
        if one.at in read or len(read) < MOST_READ:
            read.add(one.at)
            places.append(at)
    return sorted(places)


def _is_open(candidate: DefinitionProposal) -> bool:
    """Return whether its form leaves open if a candidate is a definition."""
    place = candidate.sentence
    if place is None or candidate.way in UNREAD or is_plain_sentence(candidate):
        return False
    # "The Estates Board (EB) advises": taken in place of the long form.
    opening = rf"(?:(?:an?|the)\s+)?{re.escape(candidate.definition.term)}\s*\("
    return re.match(opening, place.text, re.IGNORECASE) is None


def read_candidates(
    candidates: Sequence[DefinitionProposal],
) -> list[SentenceReading]:
    """Return the reading of each candidate; of equal term and sentence it is the same.

    Args:
        candidates: Candidates with a sentence.

    Raises:
        ModelError: If the reader's weights are missing or were changed.
        ValueError: If a candidate has no sentence.
    """
    pairs = [to_pair(one) for one in candidates]
    if not pairs:
        return []
    once = list(dict.fromkeys(pairs))
    readings = shared_reader(default_cache_dir()).read(once)
    by_pair = dict(zip(once, readings, strict=True))
    return [by_pair[pair] for pair in pairs]


def read_probabilities(
    candidates: Sequence[DefinitionProposal],
    rows: Sequence[Features],
    probabilities: Sequence[float],
    weights: ReadingScorer,
) -> dict[int, tuple[Features, float]]:
    """Return features and probability of the candidates that are worth reading.

    Args:
        candidates: Those of a document.
        rows: Their features of form.
        probabilities: Of each, by its form.
        weights: The weights for what is read.
    """
    places = places_to_read(candidates, probabilities)
    readings = read_candidates([candidates[at] for at in places])
    result: dict[int, tuple[Features, float]] = {}
    for at, reading in zip(places, readings, strict=True):
        row = {**rows[at], **weights.describe(reading)}
        result[at] = row, mix(probabilities[at], weights.scorer.probability(row))
    return result


def mix(by_form: float, as_read: float) -> float:
    """Return the probability with a weighted mean of two log odds.

    It stays above `LEAST_READ`, so that a language model reads the same passages.

    Args:
        by_form: The probability by form.
        as_read: That of the weights for what is read.
    """
    odds = (1 - SHARE) * _log_odds(by_form) + SHARE * _log_odds(as_read)
    return max(1 / (1 + math.exp(-odds)), LEAST_READ)


def _log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


@cache
def load_reading_scorer() -> ReadingScorer:
    """Return the scorer with the shipped weights."""
    content = json.loads(files(__package__).joinpath(WEIGHTS).read_text("utf-8"))
    return ReadingScorer(to_scorer(content), np.array(content["direction"]))
