"""Short forms and what they stand for."""

import re
from typing import NamedTuple

from elt_llm_consumer.definitions import function_words, patterns
from elt_llm_consumer.definitions.names import WORD, clean

FEWEST_LETTERS, MOST_LETTERS, FEWEST_WORDS = 2, 10, 2
LONGEST_FORM = 120


class Acronym(NamedTuple):
    """`text[start:end]` is the long form, which `long` has with single spaces."""

    short: str
    long: str
    start: int
    end: int


def acronyms(text: str) -> list[Acronym]:
    """Every "Long Name (LN)" and "LN (Long Name)", once each, in order of place."""
    found: dict[tuple[str, str], Acronym] = {}
    hits = [_long_first(match) for match in patterns.LONG_SHORT.finditer(text)]
    hits += [_short_first(match) for match in patterns.SHORT_LONG.finditer(text)]
    for hit in sorted((h for h in hits if h is not None), key=lambda h: h.start):
        found.setdefault((hit.short, hit.long.casefold()), hit)
    return list(found.values())


def _long_first(match: re.Match[str]) -> Acronym | None:
    base = match.start("long")
    for word in re.finditer(r"\S+", match["long"]):
        long = re.sub(r"['\u2019]s$", "", match["long"][word.start() :].rstrip())
        starts = word.group()[0]
        if starts.isupper() and stands_for(match["short"], long):
            start = base + word.start()
            return Acronym(match["short"], clean(long), start, start + len(long))
    return None


def _short_first(match: re.Match[str]) -> Acronym | None:
    if not stands_for(match["short"], match["long"]):
        return None
    return Acronym(match["short"], clean(match["long"]), *match.span("long"))


def stands_for(short: str, long: str) -> bool:
    """Whether the capitals and digits of `short` are initials of `long`, in order.

    The first letter starts the first word, every letter starts a word (or a part of a
    hyphenated word), and only small words are left out.
    """
    letters = [c for c in short if c.isupper() or c.isdigit()]
    words = WORD.findall(re.sub(r"['\u2019]s\b", "", long))
    if not FEWEST_LETTERS <= len(letters) <= MOST_LETTERS:
        return False
    if len(words) < FEWEST_WORDS:
        return False
    position = 0
    for letter in letters:
        while position < len(words) and words[position][:1].upper() != letter:
            if position == 0 or words[position].lower() not in function_words.SMALL:
                return False
            position += 1
        if position == len(words):
            return False
        position += 1
    return all(word.lower() in function_words.SMALL for word in words[position:])


def is_short_form(term: str, definition: str) -> bool:
    """Whether a definition only spells out an abbreviation."""
    if not patterns.ACRONYM.fullmatch(term) or len(definition) > LONGEST_FORM:
        return False
    return stands_for(term.rstrip("s"), clean(definition).rstrip(".;,"))
