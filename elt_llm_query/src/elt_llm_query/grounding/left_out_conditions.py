"""A condition or exception of a sentence that a claim leaves out.

"The lease ends" is not said by "if the rent is unpaid for a year, the lease ends". The
question may have stated the condition: "What happens if the rent is unpaid?"
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from elt_llm_query.analysis.foreign_guards import UNKNOWN, Languages
from elt_llm_query.analysis.normalise import normal_text
from elt_llm_query.grounding.claim_words import (
    PassageWords,
    Token,
    WordRole,
    read_claim,
    read_passage,
)

_LIMITS = (
    r"unless|except|provided that|on condition that|as long as"
    r"|but not (?:during|if|when|while|after|before|between)"
)
_OPENERS = rf"{_LIMITS}|if|when|whenever|in case"
_CONDITION = re.compile(
    rf"\b(?P<opener>{_OPENERS})\b(?P<words>(?:[^,;:.()]|[.,:](?=\d))*)"
)
_CLAIMED = re.compile(rf"\b(?:{_OPENERS}|only|where|in the (?:case|event))\b")
_IS_LIMIT = re.compile(_LIMITS)
# "Ask if it is free", "even if it rains", "as if" limit nothing, and what is in
# brackets limits only the word before them.
_NO_LIMIT = re.compile(
    r"\b(?:even|as|what|know|check|see|ask|decide|decides)\s*$|\(\s*$"
)
_PART = re.compile(r"[;:]\s|\.\s")
_CLAUSE = re.compile(
    r",\s+(?:and|but)\b|\band\s+(?:is|are|was|were|has|have|may|must|shall|will|can)\b"
)
_STATED = 0.5  # share of the condition's words that a question must have to state it


class SentenceCondition(NamedTuple):
    """A condition of a sentence, and the words of which it is one."""

    opener: str
    words: PassageWords
    governed: PassageWords

    @property
    def content(self) -> Sequence[int]:
        """Return the places of its words, without guards."""
        words = enumerate(self.words.tokens)
        return [place for place, t in words if t.role is not WordRole.GUARD]


def find_left_out(
    claim: str, sentence: str, asked: str = "", languages: Languages = UNKNOWN
) -> str:
    """Return the opening word of a condition that a claim leaves out, or of a part.

    Args:
        claim: One statement.
        sentence: The sentence that it is compared with.
        asked: The question, which may state the condition.
        languages: Those whose guards count.

    Returns:
        The word as the sentence has it; empty if nothing is left out.
    """
    tokens = [t for t in read_claim(claim, languages) if t.role is not WordRole.GUARD]
    states = bool(_CLAIMED.search(normal_text(claim)))
    for one in read_conditions(sentence, languages):
        inside = {place for t in tokens for place in one.words.find(t)}
        if states and inside:
            if part := _number_left_out(one, tokens):
                return part
        elif inside and (not _limits(one) or inside.issuperset(one.content)):
            continue  # said in other words: "a box that is sealed"
        elif (
            not states
            and _is_governed(one, tokens)
            and not _is_stated(one, asked, languages)
        ):
            return one.opener
    return ""


@lru_cache(maxsize=4096)
def read_conditions(
    sentence: str, languages: Languages = UNKNOWN
) -> tuple[SentenceCondition, ...]:
    """Return the conditions of a sentence, in order."""
    return tuple(_read_conditions(normal_text(sentence), languages))


def _read_conditions(text: str, languages: Languages) -> Iterator[SentenceCondition]:
    ends = [match.start() for match in _PART.finditer(text)]
    for match in _CONDITION.finditer(text):
        if _NO_LIMIT.search(text[: match.start()]):
            continue
        parts = [0, *ends, len(text)]
        start = max(end for end in parts if end <= match.start())
        end = min(end for end in parts if end >= match.end())
        clauses = [m.end() for m in _CLAUSE.finditer(text, start, match.start())]
        start = clauses[-1] if clauses else start
        words = read_passage(match["words"], languages)
        around = f"{text[start : match.start()]}, {text[match.end() : end]}"
        one = SentenceCondition(match["opener"], words, read_passage(around, languages))
        if one.content:
            yield one


def _limits(one: SentenceCondition) -> bool:
    """Return whether a condition limits what the rest says without it."""
    return bool(_IS_LIMIT.fullmatch(one.opener))


def _is_governed(one: SentenceCondition, tokens: Sequence[Token]) -> bool:
    """Return whether more than half of the claim's words stand beside a condition."""
    return sum(bool(one.governed.find(token)) for token in tokens) * 2 > len(tokens)


def _is_stated(one: SentenceCondition, asked: str, languages: Languages) -> bool:
    """Return whether a question states a condition."""
    held = read_passage(asked, languages)
    shared = sum(bool(held.find(one.words.tokens[place])) for place in one.content)
    return shared >= _STATED * len(one.content)


def _number_left_out(one: SentenceCondition, tokens: Sequence[Token]) -> str:
    """Return a number, month or day of a condition that the claim's one lacks."""
    ours = {token.key for token in tokens}
    for token in one.words.tokens:
        counted = token.role in (WordRole.NUMBER, WordRole.NAME)
        if counted and token.key not in ours:
            return token.written
    return ""
