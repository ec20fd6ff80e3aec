"""Where the names and aliases of entities stand in a handbook, whole words only."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from elt_llm_consumer.corpus import Passage
from elt_llm_consumer.definitions.function_words import (
    ARTICLES,
    FIXED_BEFORE,
    NOT_FIRST,
    SMALL,
    VERB_BEFORE,
)
from elt_llm_consumer.definitions.names import WORD, PhraseIndex, fold, variants
from elt_llm_query.analysis.text import Piece, pieces

_HYPHENS = "-\u2010\u2011"
_NEXT = re.compile(rf"[ \n]({WORD.pattern})")
_BEFORE = re.compile(rf"({WORD.pattern})[ \n]$")
_FREE_OF = re.compile(r"\bfree[ \n]of[ \n]$", re.IGNORECASE)
_FUNCTION = ARTICLES | SMALL | NOT_FIRST | VERB_BEFORE


def stands_alone(sentence: str, start: int, end: int) -> bool:
    """Whether the single word `sentence[start:end]` is a noun phrase of its own."""
    if _hyphenated(sentence, start, end):
        return False
    before, after = _neighbours(sentence, start, end)
    word = sentence[start:end]
    if word[:1].isupper():
        return not (_in_name(before) or _in_name(after))
    bare = not word.endswith("s")
    fixed = before.lower() in FIXED_BEFORE | VERB_BEFORE
    return not (bare and (fixed or _FREE_OF.search(sentence[:start])))


def as_term(sentence: str, start: int) -> bool:
    """Whether the word at `start` has a capital that its place does not give it."""
    opens = not re.search(r"[^\W\d_]{2}", sentence[:start])
    return sentence[start : start + 1].isupper() and not opens


def _hyphenated(sentence: str, start: int, end: int) -> bool:
    left, right = sentence[max(0, start - 2) : start], sentence[end : end + 2]
    return any(
        len(pair) > 1 and pair[0] in _HYPHENS and pair[1].isalnum()
        for pair in (left[::-1], right)
    )


def _neighbours(sentence: str, start: int, end: int) -> tuple[str, str]:
    """The words next to a word with one space between, or ""."""
    before = _BEFORE.search(sentence[:start])
    after = _NEXT.match(sentence, end)
    return (before[1] if before else "", after[1] if after else "")


def _in_name(word: str) -> bool:
    return word[:1].isupper() and word.lower() not in _FUNCTION


class Hit(NamedTuple):
    """`passages[number].text[start:end]` is a mention; `alias` is "" for the name.

    `plain`: a single word without the capital of a term; the weakest of mentions.
    """

    number: int
    start: int
    end: int
    alias: str
    plain: bool = False


class Mentions:
    """Every mention of every known name, found in one pass over the passages.

    A longer known name hides a shorter one inside it: "Lease Register" is no mention of
    "Lease" where both are known. A single word counts only as a noun phrase of its own.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        names: Iterable[str],
        aliases: Mapping[str, Sequence[str]],
        terms: Iterable[str] = (),
    ) -> None:
        self._aliases = aliases
        self._passages = passages
        known = sorted(set(names))
        phrases = [*known, *(a for name in known for a in variants(name, aliases))]
        index = PhraseIndex([*phrases, *sorted(set(terms))])
        self._pieces: dict[int, list[Piece]] = {}
        self._places: dict[str, list[Hit]] = {}
        for number, passage in enumerate(passages):
            for start, end, phrase in index.find(passage.text):
                hit = self._judged(Hit(number, start, end, ""))
                if hit is not None:
                    self._places.setdefault(fold(phrase), []).append(hit)

    def of(self, name: str) -> list[Hit]:
        """Mentions of a name and of its aliases, in the order of the text."""
        found = list(self._places.get(fold(name), []))
        for alias in variants(name, self._aliases):
            hits = self._places.get(fold(alias), [])
            found += [hit._replace(alias=alias) for hit in hits]
        return sorted(found)

    def _judged(self, hit: Hit) -> Hit | None:
        """The mention, or None where a single word does not stand for itself."""
        text = self._passages[hit.number].text
        if not WORD.fullmatch(text, hit.start, hit.end):
            return hit
        start, end = self.sentence(hit)
        said, at = text[start:end], hit.start - start
        if not stands_alone(said, at, hit.end - start):
            return None
        return hit._replace(plain=not as_term(said, at))

    def sentence(self, hit: Hit) -> tuple[int, int]:
        """The sentence around a mention, in its passage's text."""
        text = self._passages[hit.number].text
        if hit.number not in self._pieces:
            self._pieces[hit.number] = pieces(text)
        for piece in self._pieces[hit.number]:
            if piece.start <= hit.start < piece.end:
                return piece.start, max(piece.end, hit.end)
        return 0, len(text)
