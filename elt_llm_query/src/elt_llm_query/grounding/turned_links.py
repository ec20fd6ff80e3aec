"""Small words that are no content words and still turn a claim round.

"And" for "or" between the same two words, "by the end of May" for "from the end of
May".
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from elt_llm_query.analysis.lexicon import DAYS, MONTHS, NUMBER_WORDS, TIME_UNITS
from elt_llm_query.analysis.normalise import normal_text
from elt_llm_query.grounding.claim_words import PassageWords, Token, WordRole

# "May borrow books or maps" allows both, "not books or maps" denies both.
_DISTRIBUTES = frozenset({"not", "may", "any", "both", "except", "unless"})
_TIMES = "|".join(sorted(DAYS | MONTHS | TIME_UNITS | frozenset(NUMBER_WORDS)))
_WHEN = rf"(?:\d[\d.,:/]*|{_TIMES}|end|beginning|start|close|am|pm)"
_BOUND = re.compile(
    rf"\b(by|until|from|since|as of)\s+(?:the\s+)?"
    rf"({_WHEN}(?:\s+(?:of\s+|the\s+)*{_WHEN})*)\b"
)
_DEADLINES = frozenset({"by", "until"})


def find_other_link(
    tokens: Sequence[Token],
    occurrences: Sequence[Sequence[int]],
    held: PassageWords,
) -> tuple[str, str] | None:
    """Return the "and" of the claim and the "or" of the sentence, or the reverse.

    Args:
        tokens: The words of the claim.
        occurrences: The places of each in the sentence.
        held: The sentence.
    """
    keys = {token.key for token in (*tokens, *held.tokens)}
    if keys & _DISTRIBUTES:
        return None
    for (i, one), (j, _) in pairwise(enumerate(tokens)):
        after = set(occurrences[j])
        links = {
            held.tokens[place].link
            for place in occurrences[i]
            if place + 1 in after and not _describes(held.tokens, place + 1)
        }
        if one.link and links and one.link not in links and "" not in links:
            return one.link, links.pop()
    return None


def _describes(tokens: Sequence[Token], place: int) -> bool:
    """Return whether a word belongs to the next one: "public or private schools"."""
    word = tokens[place].role is WordRole.WORD and tokens[place].attached
    return word and tokens[place + 1].role is not WordRole.GUARD


def find_other_bound(claim: str, sentence: str) -> str:
    """Return the time until which the claim says what the sentence says from it on.

    Args:
        claim: One statement.
        sentence: The sentence that it is compared with.

    Returns:
        The time as it is compared; empty if each is bounded alike, or on both sides.
    """
    theirs = _bounds(sentence)
    for deadline, time in _bounds(claim):
        kinds = {kind for kind, other in theirs if other == time}
        if kinds and deadline not in kinds:
            return time
    return ""


@lru_cache(maxsize=4096)
def _bounds(text: str) -> tuple[tuple[bool, str], ...]:
    """Return each time of a sentence that bounds something, and whether it ends it."""
    return tuple(_read_bounds(normal_text(text)))


def _read_bounds(text: str) -> Iterator[tuple[bool, str]]:
    for match in _BOUND.finditer(text):
        words = (w for w in match[2].split() if w not in ("of", "the"))
        yield match[1] in _DEADLINES, " ".join(words)
