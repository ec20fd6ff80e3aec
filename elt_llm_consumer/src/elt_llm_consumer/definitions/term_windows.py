"""Features of the words beside a term: "A mooring *is a* place", "*called a* mooring".

Each neighbour is one of some twenty kinds of word. Of labelled candidates of documents
that the weights have not seen, they raise average precision ("Glossaries" in
measurements/catalogue.md).
"""

import re
from functools import lru_cache

from elt_llm_consumer.definitions.proposals import DefinitionProposal
from elt_llm_consumer.definitions.terms import WORD, find_folded

_KINDS_OF_WORDS = {
    "article": "a an the any one those each every this that these such its their our "
    "his some all no",
    "preposition": "of for to in on at with from by between under within during into "
    "upon through against per as after before about without",
    "be": "is are was were be been being",
    "must": "must shall should",
    "may": "may can could might",
    "will": "will would",
    "have": "has have had",
    "conjunction": "and or nor but",
    "clause": "which who whose where when if whether unless because while",
    "naming": "called termed known defined named considered deemed mean means refer "
    "refers",
}
_KIND_OF_WORD = {
    word: kind for kind, words in _KINDS_OF_WORDS.items() for word in words.split()
}
_ENDINGS = (("ing", "ing"), ("ed", "ed"))
_NO_PLURAL_OR_VERB = ("ss", "us", "is")
_VERBS = frozenset({"be", "must", "may", "will", "have"})
_SIGNS_BEFORE = {"(": "bracket", ",": "comma", '"': "quote", "\u201c": "quote"}
_SIGNS_AFTER = {
    "(": "bracket", ",": "comma", ":": "colon", '"': "quote", "\u201d": "quote",
}  # fmt: skip
_STOPS_BEFORE, _STOPS_AFTER = ":;.\u2013\u2014-", ".;?)\u2013\u2014"
_OPENING = re.compile(r"[\s\"\u201c']*\(?\s*")


def describe_window(candidate: DefinitionProposal, key: str) -> dict[str, float]:
    """Return which kinds of words stand before and behind a candidate's term.

    Args:
        candidate: A candidate.
        key: Its term, folded.

    Returns:
        The features that are not zero, none where the sentence lacks the term;
        `then` is the word behind a verb ("is *a*").
    """
    place = candidate.sentence
    text = place.text if place else candidate.definition.definition
    span = find_folded(key, text)
    if span is None:
        return {}
    low, high = span
    before = _kind_before(text, low)
    after, then = _kinds_after(text, high)
    row = {f"before: {before}": 1.0, f"after: {after}": 1.0}
    if low:
        row["place: position of the term"] = low / len(text)
    if before in {"start", "article"} and after == "be":
        row["opens and be"] = 1.0
    if after in _VERBS:
        row[f"then: {then}"] = 1.0
    return row


def _kind_before(text: str, low: int) -> str:
    before = text[:low].rstrip()
    if _OPENING.fullmatch(before):
        return "bracket" if before.endswith("(") else "start"
    sign = before[-1]
    if sign in _STOPS_BEFORE:
        return "point"
    return _SIGNS_BEFORE.get(sign) or _kind([w for _, w in _words(before)][-1:])


def _kinds_after(text: str, high: int) -> tuple[str, str]:
    words = [word for start, word in _words(text) if start >= high][:2]
    sign = text[high:].lstrip()[:1]
    if sign and sign in _STOPS_AFTER:
        return "point", _kind(words[1:])
    return _SIGNS_AFTER.get(sign) or _kind(words[:1]), _kind(words[1:])


@lru_cache(maxsize=1024)  # a sentence has about six candidates, near each other
def _words(text: str) -> list[tuple[int, str]]:
    return [(match.start(), match.group().lower()) for match in WORD.finditer(text)]


def _kind(words: list[str]) -> str:
    """Return the kind of the only word of a list, "end" where there is none."""
    if not words:
        return "end"
    word = words[0]
    if word in _KIND_OF_WORD:
        return _KIND_OF_WORD[word]
    for ending, kind in _ENDINGS:
        if word.endswith(ending):
            return kind
    is_plural = word.endswith("s") and not word.endswith(_NO_PLURAL_OR_VERB)
    return "s" if is_plural else "other"
