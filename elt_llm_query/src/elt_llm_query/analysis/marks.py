"""Identifiers, numbers and short forms, which a rewrite must preserve."""

import re
import unicodedata
from collections.abc import Iterator

from elt_llm_query.analysis.lexicon import NUMBER_WORDS
from elt_llm_query.analysis.quantities import numbers

# A word with attached parts: BMS-986158, 3.2.1(a), 20:00, 1,000.
_TOKEN = re.compile(r"[^\W_]+(?:[-.'/&:,][^\W_]+|\([^\W_]{1,4}\))*")
_PART = re.compile(r"[^\W_]+")
_SHORT_FORM = re.compile(r"[A-Z][A-Z0-9]+s?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:\D|$))")
_PRONOUNS = frozenset({"one"})
_IDENTIFIER = re.compile(r"(?<![\w-])(?=[^\W_]*[-_/]?\d|\w+[-_/])\w+(?:[-_./]\w+)*")


def identifiers(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Return names with a letter and a digit (`HbA1c`), with positions."""
    for match in _IDENTIFIER.finditer(text):
        name = match[0]
        if any(c.isalpha() for c in name) and any(c.isdigit() for c in name):
            yield match.span(), name


def marks(text: str) -> dict[str, str]:
    """Return the marks of a text in order: normalised, and as written.

    A mark is a word with a digit, a number written out, or a short form in capitals.
    """
    forms: dict[str, str] = {}
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text)):
        whole = any(c.isdigit() for c in token)
        for part in [token] if whole else _PART.findall(token):
            if whole or _is_mark(part):
                forms.setdefault(_form(part), part)
    return forms


def find_missing(question: str, text: str) -> list[str]:
    """Return marks of `question`, as written there, that `text` lacks."""
    have = marks(text).keys() | numbers(text)
    return [written for form, written in marks(question).items() if form not in have]


def find_invented(question: str, text: str) -> list[str]:
    """Return words of `text` with a digit that are not in `question`."""
    have = marks(question).keys() | numbers(question)
    return [
        written
        for form, written in marks(text).items()
        if form not in have and any(c.isdigit() for c in written)
    ]


def _is_mark(token: str) -> bool:
    lowered = token.lower()
    number = lowered in NUMBER_WORDS and lowered not in _PRONOUNS
    return number or bool(_SHORT_FORM.fullmatch(token))


def _form(token: str) -> str:
    lowered = _THOUSANDS.sub("", token.lower())
    return NUMBER_WORDS.get(lowered, lowered)
