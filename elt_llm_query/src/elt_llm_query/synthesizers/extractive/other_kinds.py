"""Sentences about another kind of the thing that a question names.

"Short loans are approved by the director" shares nearly all words with "Who approves
long loans?" and says nothing about long loans.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from elt_llm_query.analysis.lexicon import CONTRASTS, STOP_WORDS
from elt_llm_query.analysis.read_sentence import Sentence, read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import SYNONYM, match, stems_match

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*|[^\w\s*_\"]")
# "How long", "as high as" and "no later" restrict no noun.
_DEGREES = frozenset(["how", "as", "no", "not", "too", "so", "than", "very"])
# "All others need the trustees" covers the kinds that a sentence does not name, and
# "Only small dogs are allowed" excludes them.
_REST = frozenset(
    ["other", "others", "otherwise", "rest", "remaining", "else", "both", "all", "only"]
)
_RANGES = frozenset(["to", "until", "till", "through", "\u2013", "\u2014", "-"])
# "120 euros for a year" tells about an annual fee.
_PERIODS = frozenset(
    ["hourly", "daily", "weekly", "monthly", "quarterly", "annual", "yearly"]
)
_NEAR = 2  # words from a modifier to its noun: "long foreign loans"


class Modified(NamedTuple):
    """A word of a ring of contrasts, and the stems of the nouns it may restrict."""

    word: str
    nouns: tuple[str, ...]


def is_of_another_kind(question: str, own: Sentence, heading: Sentence) -> bool:
    """Return whether a sentence is about another kind of what a question asks for.

    That is so if both restrict the same noun by words that exclude each other, and the
    word of the question is not in the sentence, nor that of the sentence in the
    question. A heading with the question's word alone names the kind for the sentences
    below it.

    Args:
        question: The question.
        own: The sentence, with the one before it if it refers back.
        heading: The headings and lead-ins above it.
    """
    modified = _modifiers_of(question)
    if not modified or not own.lower_words.isdisjoint(_REST):
        return False
    asked = read(question)
    others = [one for one in _modifiers_of(own.text) if not _names(one.word, asked)]
    return any(
        _excludes(one, other)
        and not _names(one.word, own)
        and not _is_named_above(one.word, other.word, heading)
        for one in modified
        for other in others
    )


def _is_named_above(asked: str, other: str, heading: Sentence) -> bool:
    return _names(asked, heading) and not _names(other, heading)


def _names(kind: str, sentence: Sentence) -> bool:
    """Return whether a sentence has the word of a kind or one of the same meaning."""
    words = _same(kind)
    if any(f" {word.replace('-', ' ')} " in sentence.folded_line for word in words):
        return True
    return any(match(stem(word), sentence.stems) == 1 for word in words & _PERIODS)


def _excludes(one: Modified, other: Modified) -> bool:
    """Return whether two modifiers of one noun exclude each other."""
    if other.word in _same(one.word) or other.word not in _others(one.word):
        return False
    return any(
        stems_match(noun, its) >= SYNONYM for noun in one.nouns for its in other.nouns
    )


@lru_cache(maxsize=1024)
def _modifiers_of(text: str) -> tuple[Modified, ...]:
    return tuple(_iterate_modifiers(text))


def _iterate_modifiers(text: str) -> Iterator[Modified]:
    tokens = [token.lower() for token in _TOKEN.findall(text)]
    for place, token in enumerate(tokens):
        if token not in _words() or _is_degree_or_range(tokens, place):
            continue
        nouns = []
        for word in tokens[place + 1 : place + 1 + _NEAR]:
            if word in STOP_WORDS or not word[0].isalpha():
                break
            nouns.append(stem(word))
        if nouns:
            yield Modified(token, tuple(nouns))


def _is_degree_or_range(tokens: list[str], place: int) -> bool:
    """Return whether a word is no kind: "how long", "Monday to Friday evenings"."""
    before = tokens[place - 1] if place else ""
    if before in _DEGREES or not _RANGES.isdisjoint([before, *tokens[place + 1 :][:1]]):
        return True
    return before == "and" and "between" in tokens[max(place - 3, 0) : place]


@cache
def _words() -> frozenset[str]:
    return frozenset(word for ring in CONTRASTS for one in ring for word in one)


@cache
def _same(word: str) -> frozenset[str]:
    """Return a word with those of the same meaning."""
    same = [one for ring in CONTRASTS for one in ring if word in one]
    return frozenset([word]).union(*same)


@cache
def _others(word: str) -> frozenset[str]:
    """Return the words that exclude a word."""
    rings = [ring for ring in CONTRASTS if any(word in one for one in ring)]
    return frozenset().union(*(one for ring in rings for one in ring)) - _same(word)
