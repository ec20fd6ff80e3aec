"""Find mentions of entities' names and aliases in a handbook, whole words only."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from elt_llm_consumer.corpus import HandbookPassage
from elt_llm_consumer.definitions.patterns import (
    ARTICLES,
    FIXED_BEFORE,
    NOT_FIRST,
    SMALL,
    VERB_BEFORE,
)
from elt_llm_consumer.definitions.terms import WORD, PhraseIndex, fold, variants
from elt_llm_query.analysis.stems import Piece, pieces

_HYPHENS = "-\u2010\u2011"
_NEXT = re.compile(rf"[ \n]({WORD.pattern})")
_BEFORE = re.compile(rf"({WORD.pattern})[ \n]$")
_FREE_OF = re.compile(r"\bfree[ \n]of[ \n]$", re.IGNORECASE)
_FUNCTION = ARTICLES | SMALL | NOT_FIRST | VERB_BEFORE


def stands_alone(sentence: str, start: int, end: int) -> bool:
    """Return True if the word `sentence[start:end]` is a whole noun phrase."""
    if _is_hyphenated(sentence, start, end):
        return False
    word = sentence[start:end]
    if word[:1].isupper():
        return is_whole_name(sentence, start, end)
    before, _ = _neighbours(sentence, start, end)
    bare = not word.endswith("s")
    fixed = before.lower() in FIXED_BEFORE | VERB_BEFORE
    return not (bare and (fixed or _FREE_OF.search(sentence[:start])))


def is_whole_name(sentence: str, start: int, end: int) -> bool:
    """Return False for part of a longer name: of "Chief Race Officer" the last two."""
    if not sentence[start : start + 1].isupper():
        return True
    before, after = _neighbours(sentence, start, end)
    return not (_in_name(before) or _in_name(after))


def is_capitalised_term(sentence: str, start: int) -> bool:
    """Return True for a capital that is not due to the start of the sentence."""
    opens = not re.search(r"[^\W\d_]{2}", sentence[:start])
    return sentence[start : start + 1].isupper() and not opens


def _is_hyphenated(sentence: str, start: int, end: int) -> bool:
    left, right = sentence[max(0, start - 2) : start], sentence[end : end + 2]
    return any(
        len(pair) > 1 and pair[0] in _HYPHENS and pair[1].isalnum()
        for pair in (left[::-1], right)
    )


def _neighbours(sentence: str, start: int, end: int) -> tuple[str, str]:
    """The words before and after a word, one space apart; "" if there is none."""
    before = _BEFORE.search(sentence[:start])
    after = _NEXT.match(sentence, end)
    return (before[1] if before else "", after[1] if after else "")


def _in_name(word: str) -> bool:
    return word[:1].isupper() and word.lower() not in _FUNCTION


class EntityMention(NamedTuple):
    """`passages[number].text[start:end]` is a mention; `alias` is "" for the name.

    `plain`: a single word without a term's capital, the weakest mention.
    """

    number: int
    start: int
    end: int
    alias: str
    plain: bool = False


class MentionIndex:
    """Every mention of every known name, found in one pass over the passages.

    A longer known name hides a shorter one inside it: "Lease Register" does not mention
    "Lease" if both are known. A single word counts only as a whole noun phrase.

    Args:
        passages: The passages of the handbook.
        names: Names of entities.
        aliases: Synonyms by name.
        terms: Terms of the handbook.
        other_senses: By folded name, the folded aliases that mean another thing in
            these passages; they are no mentions of the name.
    """

    def __init__(
        self,
        passages: Sequence[HandbookPassage],
        names: Iterable[str],
        aliases: Mapping[str, Sequence[str]],
        terms: Iterable[str] = (),
        other_senses: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._aliases = aliases
        self._other_senses = other_senses or {}
        self._passages = passages
        known = sorted(set(names))
        phrases = [*known, *(a for name in known for a in variants(name, aliases))]
        index = PhraseIndex([*phrases, *sorted(set(terms))])
        self._pieces: dict[int, list[Piece]] = {}
        self._mentions: dict[str, list[EntityMention]] = {}
        for number, passage in enumerate(passages):
            for start, end, phrase in index.find(passage.text):
                mention = self._check(EntityMention(number, start, end, ""))
                if mention is not None:
                    self._mentions.setdefault(fold(phrase), []).append(mention)

    def of(self, name: str) -> list[EntityMention]:
        """Return mentions of a name and of its aliases, in text order."""
        mentions = list(self._mentions.get(fold(name), []))
        for alias in self.names(name)[1:]:
            by_alias = self._mentions.get(fold(alias), [])
            mentions += [mention._replace(alias=alias) for mention in by_alias]
        return sorted(mentions)

    def names(self, name: str) -> list[str]:
        """Return a name and its aliases that mean the same in these passages."""
        others = variants(name, self._aliases)
        return [name, *(o for o in others if not self._differ(fold(name), fold(o)))]

    def _differ(self, name: str, alias: str) -> bool:
        """Return whether two folded names mean different things in these passages."""
        senses = self._other_senses
        return alias in senses.get(name, ()) or name in senses.get(alias, ())

    def _check(self, mention: EntityMention) -> EntityMention | None:
        """The mention, or None for a single word that is part of another phrase."""
        text = self._passages[mention.number].text
        if not WORD.fullmatch(text, mention.start, mention.end):
            return mention
        start, end = self.sentence(mention)
        sentence, position = text[start:end], mention.start - start
        if not stands_alone(sentence, position, mention.end - start):
            return None
        plain = not is_capitalised_term(sentence, position)
        return mention._replace(plain=plain)

    def sentence(self, mention: EntityMention) -> tuple[int, int]:
        """Return the span of the sentence around a mention, in its passage's text."""
        text = self._passages[mention.number].text
        if mention.number not in self._pieces:
            self._pieces[mention.number] = pieces(text)
        for piece in self._pieces[mention.number]:
            if piece.start <= mention.start < piece.end:
                return piece.start, max(piece.end, mention.end)
        return 0, len(text)
