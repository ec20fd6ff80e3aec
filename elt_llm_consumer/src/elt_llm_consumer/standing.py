"""Whether a word in a sentence is a noun phrase of its own, or only a part of one.

A name of one word is often also a common word: "charge" is none of its own in "in
charge of", in "free of charge", in "re-charge" or in "Charge Officer".
"""

import re

from elt_llm_consumer.function_words import (
    ARTICLES,
    FIXED_BEFORE,
    NOT_FIRST,
    SMALL,
    VERB_BEFORE,
)
from elt_llm_consumer.phrases import WORD

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
