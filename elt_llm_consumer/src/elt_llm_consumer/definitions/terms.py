"""Names and terms as people write them: normal forms, plurals, short forms, matching.

Matching is by whole words with the plural folded, never by substring: "act" is not in
"contract" and not in "active".
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from elt_llm_consumer.definitions import patterns
from elt_llm_core.language.acronyms import find_acronyms
from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.stop_words import stop_words

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
# "&" counts as the word "and", as in the normal form of a name.
_WORD_OR_SIGN = re.compile(rf"{WORD.pattern}|&")
# Between "Purchase" and "Order", "PDF" and "File"; each part has two letters or more.
_CAPITAL_INSIDE = re.compile(
    r"(?<=[a-z]{2})(?=[A-Z]{2}|[A-Z][a-z])|(?<=[A-Z]{2})(?=[A-Z][a-z])"
)
_SHORTEST_FORM = 3  # letters
_SHORTEST_PLURAL = 3  # "gas" and "bus" are no plurals; shorter words hardly ever are
_KEPT_S = ("ss", "us", "is", "news", "series", "species", "means")


class PhraseMatch(NamedTuple):
    """`text[start:end]` mentions `phrase`, spelt as it was given."""

    start: int
    end: int
    phrase: str


def clean(text: str) -> str:
    """Return `text` with single spaces, without space around it."""
    return " ".join(text.split())


@lru_cache(maxsize=2**16)  # a long document has some ten thousand words
def fold_word(word: str) -> str:
    """Return a word in lower case, without its possessive and its plural."""
    lowered = unicodedata.normalize("NFKC", word).casefold().replace("\u2019", "'")
    lowered = lowered.removesuffix("'s").strip("'").replace("'", "")
    return "and" if lowered == "&" else _singular(lowered)


def _singular(word: str) -> str:
    if (
        len(word) <= _SHORTEST_PLURAL
        or not word.endswith("s")
        or word.endswith(_KEPT_S)
    ):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST_PLURAL + 1:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=2**16)
def normalise(name: str) -> str:
    """Return the name in lower case, "&" as "and", without a leading article."""
    lowered = unicodedata.normalize("NFKC", name).casefold().replace("&", " and ")
    words = [w.replace("\u2019", "'") for w in WORD.findall(lowered)]
    if len(words) > 1 and words[0] in patterns.ARTICLES:
        words = words[1:]
    return " ".join(words)


@lru_cache(maxsize=2**16)  # a candidate's term is folded some ten times
def fold(name: str) -> str:
    """Return the normal form with every plural folded: the key for matching."""
    return " ".join(fold_word(word) for word in normalise(name).split())


def fold_all(names: Sequence[str]) -> list[str]:
    """Return `fold` of every name."""
    return [fold(name) for name in names]


def counts_things(phrase: str) -> bool:
    """Return whether a phrase counts things and names none: "two pieces", "first".

    Args:
        phrase: A phrase as the document writes it; capitals make a name of a count.
    """
    first, _, rest = phrase.partition(" ")
    if not rest:
        return first.lower() in patterns.ORDINALS
    return first.lower() in patterns.COUNTS and rest[0].islower()


class PhraseIndex:
    """Finds many phrases in a text in one pass, longest first, whole words only."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        seen: set[tuple[str, ...]] = set()
        for phrase in phrases:
            key = tuple(fold(phrase).split())
            if key and key not in seen:
                seen.add(key)
                self._by_first[key[0]].append((key, phrase))
        for candidates in self._by_first.values():
            candidates.sort(key=lambda item: (-len(item[0]), item[1]))

    def find(self, text: str) -> list[PhraseMatch]:
        """Return matches in text order; a longer phrase hides a shorter one in it."""
        words = _folded_words(text)
        matches: list[PhraseMatch] = []
        position = 0
        while position < len(words):
            known = words[position][2] in self._by_first
            hit = self._at(words, position) if known else None
            if hit is None:
                position += 1
                continue
            length, phrase = hit
            matches.append(
                PhraseMatch(words[position][0], words[position + length - 1][1], phrase)
            )
            position += length
        return matches

    def _at(
        self, words: Sequence[tuple[int, int, str]], position: int
    ) -> tuple[int, str] | None:
        for key, phrase in self._by_first[words[position][2]]:
            span = words[position : position + len(key)]
            if tuple(word for _, _, word in span) == key:
                return len(key), phrase
        return None


@lru_cache(maxsize=2**10)  # the same sentence is searched for several phrases
def _folded_words(text: str) -> Sequence[tuple[int, int, str]]:
    """Start, end and folded form of each word."""
    return [
        (match.start(), match.end(), fold_word(match.group()))
        for match in _WORD_OR_SIGN.finditer(text)
    ]


def find_folded(key: str, text: str) -> tuple[int, int] | None:
    """Return where a text first has a phrase, in whole words.

    Args:
        key: The phrase, folded.
        text: The text as it is written.

    Returns:
        Start and end, or None.
    """
    words, wanted = _folded_words(text), key.split()
    size = len(wanted)
    for at in range(len(words) - size + 1) if wanted else ():
        if words[at][2] == wanted[0] and wanted == [
            word for _, _, word in words[at : at + size]
        ]:
            return words[at][0], words[at + size - 1][1]
    return None


def spellings(name: str) -> tuple[str, ...]:
    """Return other spellings that a name of a model implies, sorted.

    "PurchaseOrder" is also written "Purchase Order", and a long name with its short
    form in brackets by either of them. A short form of two letters, or one that is an
    ordinary word ("WHO"), would be found everywhere and is left out.

    Args:
        name: A name as the model has it.
    """
    parts = [_CAPITAL_INSIDE.sub(" ", word) for word in clean(name).split()]
    others = {" ".join(parts)}
    for pair in find_acronyms(name):
        short = pair.short
        is_word = short.casefold() in stop_words(ENGLISH)
        others |= {pair.long} if len(short) < _SHORTEST_FORM or is_word else {*pair[:2]}
    return tuple(sorted(o for o in others if fold(o) != fold(name)))


def variants(name: str, aliases: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return other names of `name`, sorted: its aliases and the names it is one of.

    The spellings that the name implies are among them.
    """
    key = fold(name)
    others_by_key = {fold(other): other for other in spellings(name)}
    for main, others in aliases.items():
        group = [main, *others]
        if any(fold(other) == key for other in group):
            for other in group if fold(main) == key else [main]:
                others_by_key.setdefault(fold(other), clean(other))
    others_by_key.pop(key, None)
    return tuple(sorted(others_by_key.values()))
