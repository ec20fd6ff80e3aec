"""The two ends of a range: "from 1 May to 30 June" is not "from 30 June to 1 May".

All words of the two are the same, and nothing but the connective stands between the
ends, so that comparing words and their neighbours shows no difference.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from elt_llm_query.analysis.lexicon import DAYS, MONTHS, NUMBER_WORDS
from elt_llm_query.analysis.normalise import normal_text
from elt_llm_query.grounding.claim_words import read_passage

# Words of an end: "the second Monday in May", "30 June 2025", "9 pm".
_LONGEST_END = 5
_ENDS_CLAUSE = re.compile(r"[;:()\[\]\"]|[.,](?!\d)")
# "To" in the languages that the guards are listed for, between two counted ends.
_TO = re.compile(
    r"(?<=\s)(?:to|until|till|through|-|bis(?: zum)?|tot|al|au|a|\u00e0|at\u00e9)(?=\s)"
)
_BETWEEN = re.compile(r"\bbetween\b((?:(?!\band\b)[^;:])+)\band\b")
_FROM = re.compile(r"\bfrom\b(?!.*\bfrom\b)")
_FURTHER = re.compile(r"\b(?:from|to|and|or)\b")
_COUNTED = re.compile(
    rf"\d|\b(?:{'|'.join(sorted(DAYS | MONTHS | frozenset(NUMBER_WORDS)))})\b"
)
_COUNTED_WITHIN = 2  # words of an end beside its connective: "1 May to", "to May 1"


class Range(NamedTuple):
    """The keys of the words of both ends."""

    first: frozenset[str]
    last: frozenset[str]

    def reverse(self) -> "Range":
        """Return the range from its last end to its first."""
        return Range(self.last, self.first)


def find_turned(claim: str, sentence: str) -> str:
    """Return a word of a range whose ends a claim has the other way round.

    Args:
        claim: One statement, without labels.
        sentence: The sentence that it is compared with.

    Returns:
        A word of its first end, as it is compared; empty if no range is turned round.
        A sentence that has both directions turns none.
    """
    theirs = read_ranges(sentence)
    for ours in read_ranges(claim) if theirs else ():
        if any(
            _own(ours.first, one) and _own(ours.last, one.reverse()) for one in theirs
        ):
            continue
        for one in theirs:
            turned = _own(ours.first, one.reverse())
            if turned and _own(ours.last, one):
                return min(turned)
    return ""


def _own(end: frozenset[str], of: Range) -> frozenset[str]:
    """Return the words of an end that only the first end of a range has."""
    return (end & of.first) - of.last


@lru_cache(maxsize=4096)
def read_ranges(text: str) -> tuple[Range, ...]:
    """Return the ranges of a sentence, in order."""
    plain = normal_text(text)
    ends = [*_split_at_to(plain), *_split_between(plain)]
    ranges = (Range(_keys(first), _keys(last)) for first, last in ends)
    return tuple(one for one in ranges if one.first and one.last)


def _split_at_to(text: str) -> Iterator[tuple[str, str]]:
    """Return the ends around each "to" after a "from", or between counted ends."""
    for to in _TO.finditer(text):
        before = _ENDS_CLAUSE.split(text[: to.start()])[-1]
        last = _first_words(text[to.end() :])
        begun = _FROM.search(before)
        if begun and len(before[begun.end() :].split()) <= _LONGEST_END:
            yield before[begun.end() :], last
            continue
        beside = before.split()[-_COUNTED_WITHIN:]
        first = " ".join(beside)
        if _COUNTED.search(first) and _begins_counted(last):
            yield first, " ".join(last.split()[:_COUNTED_WITHIN])


def _split_between(text: str) -> Iterator[tuple[str, str]]:
    """Return the ends of each "between" that are counted; places have no order."""
    for between in _BETWEEN.finditer(text):
        last = _first_words(text[between.end() :])
        if _COUNTED.search(between[1]) and _begins_counted(last):
            yield between[1], last


def _begins_counted(end: str) -> bool:
    return bool(_COUNTED.search(" ".join(end.split()[:_COUNTED_WITHIN])))


def _first_words(text: str) -> str:
    """Return the words after a connective that may be of its end."""
    end = _FURTHER.split(_ENDS_CLAUSE.split(text)[0])[0]
    return " ".join(end.split()[:_LONGEST_END])


def _keys(end: str) -> frozenset[str]:
    return frozenset(token.key for token in read_passage(end).tokens)  # "may", too
