"""Recognise whether a text defines a term, and how clearly.

Only the exact term counts: the definition of a longer term that contains it does not.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.stems import words
from elt_llm_query.analysis.wordings import worded_terms

PLAIN = 0.9  # grade from which the form alone makes a text a definition
TOLD = 0.7  # grade from which it is preferred to texts that only use the term
_SHORTEST_PLURAL = 4  # letters

_PLURAL = re.compile(r"(?<=[^s\W])s$", re.IGNORECASE)
_NUMBER = r"\(?[A-Za-z]{0,2}\d[\w.]*\+*[).]?|\(?[a-z]\)"
_LEAD = r"(?:for\s+the\s+purposes?\s+of|in|under)\s+(?:this|these)\b[^,\n]{1,60},\s*"
_OPENING = (
    rf"\W{{0,9}}(?:(?:{_NUMBER})\W{{1,9}}){{0,2}}(?:{_LEAD})?"
    r"(?:(?:an?|the|term|word|expression)\W{1,9}){0,3}"
)
_CLOSING = r"(?:\s*\([^)]{1,80}\))?[\"'\u201d\u2019*_]*"
_OTHER_NAME = r"(?:\s+or\s+[\"'\u201c\u2018][^\"'\u201d\u2019]{1,40}[\"'\u201d\u2019])?"
_IS = r",?\s+(?:is|are|was|were)\s+"
_MEANS = (
    r",?\s+(?:shall\s+|will\s+)?(?:means?|denotes?|stands?\s+for)\b"
    rf"|{_IS}(?:hereby\s+)?defined\s+as\b|\s*\n:[ \t]"
)
# Patterns after the term with their grades; the first match counts.
_TOLD = (
    (_MEANS, 1.0),
    (r"\t[^\t\n]+\Z|\s+[-\u2013\u2014]\s|\u2014", 0.95),
    (r"\s*:\s+\S|,?\s+refers?\s+to\b", 0.9),
    (rf"{_IS}(?:an?|the|any|one|those|when|where|what)\b", 0.85),
    (r"\t", 0.8),
    (r",?\s+has\s+the\s+meaning\b", 0.7),
    (rf"{_IS}|\s+(?:describes?|commonly)\b", 0.5),
    (r"\s*\(", 0.4),
)
_ITEM = re.compile(r"(?P<term>[^\n]{1,160}?)[ \t]*\n:[ \t]+")


class ListItem(NamedTuple):
    """An entry of a definition list: the term, and where its text begins."""

    term: str
    start: int


def grade(term: str, text: str, wordings: Sequence[str] = ()) -> float:
    """Return how clearly the text begins by defining the term, 0 to 1.

    Args:
        term: The term.
        text: A sentence or a row.
        wordings: Further forms of a definition, in which the term is defined plainly.
    """
    if not words(term):
        return 0.0
    if _is_worded(term, text, wordings):
        return 1.0
    opening = _opening_pattern(term).match(text)
    best = max(
        (_grade_of(opening.lastgroup) if opening else 0.0), _named_later(term, text)
    )
    return max(best, PLAIN) if _is_expansion(term, text) else best


def defined_inside(term: str, text: str, wordings: Sequence[str] = ()) -> bool:
    """Return True if a line or sentence of the text clearly defines the term.

    Args:
        term: The term.
        text: The text.
        wordings: Further forms of a definition.
    """
    if not words(term):
        return False
    if _is_worded(term, text, wordings):
        return True
    # Most texts lack a word of the term, which this detects at a fifth of the cost.
    folded = text.casefold()
    if not all(word in folded for word in _single_words(term)):
        return False
    return any(
        _grade_of(opening.lastgroup) >= PLAIN
        for name in re.finditer(name_pattern(term), text, re.IGNORECASE)
        if (opening := _opening_pattern(term).match(text[_begin(text, name.start()) :]))
    )


def defines(term: str, text: str) -> bool:
    """Return True if the text defines the term: "X means", "X is a", "X: ..."."""
    return grade(term, text) > 0


def _is_worded(term: str, text: str, wordings: Sequence[str]) -> bool:
    """Return whether a sentence of the text defines the term in one of the wordings."""
    if not wordings:
        return False
    name = rf"\W*(?:(?:an?|the)\W+)?{name_pattern(term)}\W*"
    return any(
        re.fullmatch(name, each, re.IGNORECASE) for each in worded_terms(text, wordings)
    )


def list_item(text: str) -> ListItem | None:
    """Return the entry of a definition list ("Term", then ": text" below it)."""
    entry = _ITEM.match(text)
    return ListItem(entry["term"].strip(), entry.end()) if entry else None


@lru_cache(maxsize=64)
def _opening_pattern(term: str) -> re.Pattern[str]:
    return re.compile(_OPENING + _pattern(term), re.IGNORECASE)


def _begin(text: str, place: int) -> int:
    """Return the start of the line or sentence that contains the position."""
    return max(text.rfind(stop, 0, place) for stop in ("\n", ". ", ";")) + 1


def _pattern(term: str) -> str:
    forms = "|".join(f"(?P<told{i}>{form})" for i, (form, _) in enumerate(_TOLD))
    name = rf"{name_pattern(term)}\b{_CLOSING}{_OTHER_NAME}"
    short = rf"[^\n():;.]{{3,80}}\s\({name_pattern(term)}\)(?=\s*\n:|\s*:)"
    return rf"(?:{name}|{short})(?:{forms})"


def _grade_of(group: str | None) -> float:
    return _TOLD[int(group.removeprefix("told"))][1] if group else 0.0


@lru_cache(maxsize=64)
def name_pattern(term: str) -> str:
    """Return a pattern for the term in either number; for an abbreviation as it is.

    Args:
        term: The term.

    Returns:
        The source of a regular expression that ignores case.
    """
    name, last = "", ""
    for word in words(term):
        # "IAL2" is two words without anything between them.
        joined = last and (last[-1].isdigit() != word[0].isdigit())
        gap = r"\W{0,3}" if joined else r"\W{1,3}"
        name += f"{gap * bool(last)}{_either_number(word)}"
        last = word
    return f"(?-i:{name})" if term.isupper() else name


def _either_number(word: str) -> str:
    return re.escape(_without_plural(word)) + r"(?:s|es)?"


@lru_cache(maxsize=64)
def _single_words(term: str) -> tuple[str, ...]:
    """Return the words of the term in one case, without the s of a plural."""
    return tuple(_without_plural(word).casefold() for word in words(term))


def _without_plural(word: str) -> str:
    return _PLURAL.sub("", word) if len(word) >= _SHORTEST_PLURAL else word


def _named_later(term: str, text: str) -> float:
    """Return the grade of "..., which is called X" and of "... (X)"."""
    name = name_pattern(term)
    called = r"\b(?:called|known\s+as|termed|defined\s+as)\W+(?:an?\s+|the\s+)?"
    if re.search(rf"{called}{name}\b", text, re.IGNORECASE):
        return 0.75
    bracketed = re.search(rf"\(\W*{name}\W*\)", text, re.IGNORECASE)
    return 0.6 if bracketed else 0.0


def _is_expansion(term: str, text: str) -> bool:
    """Return True for an abbreviation with its long form, in brackets or before it."""
    if not term.isupper():
        return False
    expansion = rf"{name_pattern(term)}\s*\([A-Za-z][^)]{{3,80}}\)"
    return bool(re.search(expansion, text)) or any(
        _is_spelt_by(term, words(text[: short.start()]))
        for short in re.finditer(rf"\(\W*{name_pattern(term)}\W*\)", text)
    )


def _is_spelt_by(term: str, before: list[str]) -> bool:
    """Return whether the last words begin with the letters of an abbreviation.

    Stop words may be left out: "Power of Attorney (PA)".
    """
    for letter in reversed([c for c in term if c.isalpha()]):
        while before and before[-1][0].upper() != letter and before[-1] in STOP_WORDS:
            before = before[:-1]
        if not before or before[-1][0].upper() != letter:
            return False
        before = before[:-1]
    return True


def is_sheet_of(term: str, text: str) -> bool:
    """Return True if the fact sheet's name is exactly the term."""
    name = text.partition("\n")[0]
    return bool(term) and words(name.casefold()) == words(term.casefold())
