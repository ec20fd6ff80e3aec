"""Match the words of a question in a text, with weights."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from elt_llm_query.analysis.lexicon import (
    EQUIVALENT,
    LOWER_PHRASES,
    RINGS,
    UPPER_PHRASES,
)
from elt_llm_query.analysis.stems import stem, words

Vocabulary = frozenset[str]
Layers = Sequence[tuple[Vocabulary, float]]

# A listed synonym counts nearly as much as the word; a word with the same root may have
# another meaning ("policy", "police"), so it alone is not enough.
SYNONYM, ROOT = 0.85, 0.5
# Set by hand; what each does: "Thresholds" in measurements/answer-choice.md.
EVERYWHERE = 0.4  # share of the weight of a word that every source contains
WORDS_BETWEEN = 10  # between the terms: this many halve their closeness
ROOT_LENGTH = 5
_LONGEST_ENDING = 4
_STEMS = 65_536  # that stay known; a long-lived server meets ever more words


def phrases(of: Iterable[str]) -> str:
    """Return a pattern for any of the phrases; their last word may be inflected."""
    return "|".join(r"\s+".join(p.split()) + r"\w*" for p in of)


def may_contain(text: str, of: Iterable[str]) -> bool:
    """Return False if a text has none of the phrases, at a sixth of a pattern's cost.

    Args:
        text: Any text; case and line breaks do not matter.
        of: Phrases in lower case, their words separated by one space.
    """
    folded = _fold(text)
    return any(phrase in folded for phrase in of)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


_BOUNDS = tuple(
    (of, re.compile(rf"\b(?:{phrases(of)})\b", re.IGNORECASE), stem(name))
    for of, name in ((UPPER_PHRASES, "maximum"), (LOWER_PHRASES, "minimum"))
)


def vocabulary(text: str) -> Vocabulary:
    """Return the stems of all words of a text; "at most" also counts as "maximum"."""
    return frozenset([*map(stem, words(text)), *bounds(text)])


def bounds(text: str) -> list[str]:
    """Return the stems that phrases of a text stand for, such as "at most"."""
    folded = _fold(text)
    return [
        name
        for of, pattern, name in _BOUNDS
        if any(phrase in folded for phrase in of) and pattern.search(text)
    ]


def rarity(
    weights: Mapping[str, float], vocabularies: Sequence[Vocabulary]
) -> dict[str, float]:
    """Return the weight of each stem among these sources, highest for rare ones.

    Args:
        weights: Weights of the stems in English, 0 to 1.
        vocabularies: The stems of each source.
    """
    count = len(vocabularies)
    rare = {}
    for term, weight in weights.items():
        df = sum(1 for v in vocabularies if match(term, v) > 0)
        idf = math.log(1 + (count - df + 0.5) / (df + 0.5)) / math.log(2 * count + 2)
        rare[term] = weight * (EVERYWHERE + (1 - EVERYWHERE) * idf)
    return rare


@lru_cache(maxsize=_STEMS)
def stems_match(term: str, other: str) -> float:
    """Return how well one stem matches another; as `match` for one word."""
    return match(term, frozenset([other]))


@lru_cache(maxsize=_STEMS)
def synonyms(word_stem: str) -> Vocabulary:
    """Return the synonyms of a stem."""
    return _rings(RINGS).get(word_stem, frozenset()) - {word_stem}


def match(term: str, vocabulary: Vocabulary) -> float:
    """Return 1 for the same stem, less for a synonym or a word with the same root."""
    if term in vocabulary:
        return 1.0
    equivalent, other_words = _kin(term)
    if equivalent and not vocabulary.isdisjoint(equivalent):
        return 1.0
    if other_words and not vocabulary.isdisjoint(other_words):
        return SYNONYM
    if len(term) >= ROOT_LENGTH:
        near = _by_beginning(vocabulary).get(term[:ROOT_LENGTH], ())
        return ROOT if any(same_root(term, other) for other in near) else 0.0
    return 0.0


def alike(term: str, stems: Collection[str]) -> list[str]:
    """Return those of some different stems that match a stem; see `match`."""
    same = [one for one in _same(term) if one in stems]
    if len(term) < ROOT_LENGTH:
        return same
    beginning = term[:ROOT_LENGTH]
    near = [one for one in stems if one.startswith(beginning) and one not in same]
    return same + [one for one in near if same_root(term, one)]


def list_missing(terms: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """Return the stems that match nothing in a vocabulary, in their order."""
    return [term for term in terms if not match(term, vocabulary)]


@lru_cache(maxsize=4096)
def _by_beginning(vocabulary: Vocabulary) -> Mapping[str, Sequence[str]]:
    """The stems that are long enough to share a root with another, by their start."""
    stems_of: dict[str, list[str]] = {}
    for one in vocabulary:
        if len(one) >= ROOT_LENGTH:
            stems_of.setdefault(one[:ROOT_LENGTH], []).append(one)
    return stems_of


def coverage(weights: Mapping[str, float], layers: Layers) -> float:
    """Return the share of the weights whose stems occur, each in its best layer."""
    total = sum(weights.values())
    if not total:
        return 0.0
    return sum([weight * _best(t, layers) for t, weight in weights.items()]) / total


def _best(term: str, layers: Layers) -> float:
    """Return how well the best layer matches a stem."""
    best = 0.0
    for layer, share in layers:
        if share > best:  # a match is at most 1, so that no other layer is better
            best = max(best, share * match(term, layer))
    return best


def coverages(
    weights: Mapping[str, float], own: tuple[Vocabulary, float], further: Layers
) -> tuple[float, float]:
    """Return the coverage of a text with its surroundings, and of its own words."""
    return coverage(weights, (own, *further)), coverage(weights, (own,))


def closeness(terms: Iterable[str], stem_list: Sequence[str]) -> float:
    """Return how close together the terms are in a text, 0 to 1.

    Args:
        terms: Stems of the question.
        stem_list: Stems of the text's words, in order.

    Returns:
        The share of the terms that occur, reduced by the words between them.
    """
    wanted = sorted(terms)
    matched: dict[str, list[str]] = {}
    different = set(stem_list)
    for term in wanted:
        for one in alike(term, different):
            matched.setdefault(one, []).append(term)
    places = [(i, term) for i, s in enumerate(stem_list) for term in matched.get(s, ())]
    there = {term for _, term in places}
    if not there:
        return 0.0
    between = _shortest(places, len(there)) - len(there)
    return len(there) / len(wanted) / (1 + max(between, 0) / WORDS_BETWEEN)


def _shortest(places: Sequence[tuple[int, str]], count: int) -> int:
    """Return the length in words of the shortest span with all `count` terms."""
    best = places[-1][0] - places[0][0] + 1
    last: dict[str, int] = {}
    for place, term in places:
        last[term] = place
        if len(last) == count:
            best = min(best, place - min(last.values()) + 1)
    return best


@cache
def _rings(rings: tuple[tuple[str, ...], ...]) -> Mapping[str, Vocabulary]:
    """All stems of the rings that each stem is in."""
    together: dict[str, frozenset[str]] = {}
    for ring in rings:
        stems = frozenset(map(stem, ring))
        for one in stems:
            together[one] = together.get(one, frozenset()) | stems
    return together


@lru_cache(maxsize=_STEMS)
def _kin(term: str) -> tuple[Vocabulary, Vocabulary]:
    """The stems that stand for the same word, and its synonyms."""
    return _rings(EQUIVALENT).get(term, frozenset()) - {term}, synonyms(term)


@lru_cache(maxsize=_STEMS)
def _same(term: str) -> tuple[str, ...]:
    """The stem with those that stand for the same word and its synonyms."""
    return tuple(dict.fromkeys([term, *sorted(frozenset().union(*_kin(term)))]))


def same_root(one: str, other: str) -> bool:
    """Return whether two stems share their beginning and differ by an ending."""
    if len(other) < ROOT_LENGTH or one[:ROOT_LENGTH] != other[:ROOT_LENGTH]:
        return False
    short, long = sorted((len(one), len(other)))
    shared = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), short
    )
    return shared >= short - 1 and long - shared <= _LONGEST_ENDING
