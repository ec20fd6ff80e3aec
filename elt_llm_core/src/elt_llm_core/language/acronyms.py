"""Acronyms and their long forms, as documents introduce them.

The idea is that of Schwartz and Hearst, "A simple algorithm for identifying
abbreviation definitions in biomedical text" (2003): a short form in parentheses, and
the fewest words before it that its letters can represent. There are two matchings for
two purposes, and neither contains the other:

* `capitals` is precise. The capitals and digits of the short form start words, or parts
  of hyphenated words, in order: "BofE (Bank of England)". It is used for definitions.
* `initials` is wide. The whole short form is the initials of the words in any case:
  "SOP (standard operating procedure)". It is used to expand searches.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.stop_words import stop_words

Matching = Literal["capitals", "initials"]

SHORT_FORM = re.compile(r"\b[A-Z][A-Z0-9]{1,9}\b")
# A short form of one letter, or of more than ten, is more often a label or a heading.
_FEWEST_LETTERS, _MOST_LETTERS, _FEWEST_WORDS = 2, 10, 2
_SPARE = 4  # small words of a long form that have no initial in the short form

_WORD = re.compile(r"[^\W_]+")
_NAME_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
# "Long Name (LN)" and "LN (Long Name)", for each matching.
_LONG_SHORT = re.compile(
    r"(?P<long>(?:[A-Za-z][\w'\u2019&/-]*\s+){1,8})\(\s*[\"\u201c\u2018']?"
    r"(?P<short>[A-Z][A-Za-z0-9&-]{1,9})[\"\u201d\u2019']?\s*\)"
)
_SHORT_LONG = re.compile(
    r"\b(?P<short>[A-Z][A-Za-z0-9&-]{1,9})\s+\(\s*"
    r"(?P<long>[A-Z][\w'\u2019&/-]*(?:\s+[\w'\u2019&/-]+){1,7})\s*\)"
)
_BEFORE_INITIALS = re.compile(
    r"\(\s*[\"'\u201c\u2018]?(?P<short>[A-Z][A-Z0-9]{1,9})s?[\"'\u201d\u2019]?\s*\)"
)
_AFTER_INITIALS = re.compile(
    r"\b(?P<short>[A-Z][A-Z0-9]{1,9})s?\s+\((?P<long>[^()\n]{4,120})\)"
)


class Acronym(NamedTuple):
    """`text[start:end]` is the long form; `long` has it with single spaces."""

    short: str
    long: str
    start: int
    end: int


def find_acronyms(
    text: str, matching: Matching = "capitals", language: str = ENGLISH
) -> list[Acronym]:
    """Return every "Long Name (LN)" and "LN (Long Name)" of a text.

    Args:
        text: Running text.
        matching: `capitals` or `initials`; see the module.
        language: The language whose small words may be missing in a short form.

    Returns:
        With `capitals` in text order, each pair once. With `initials` the pairs with
        the short form in parentheses first, repeated where the text repeats them.
    """
    if matching == "initials":
        return list(_find_by_initials(text, language))
    if "(" not in text:
        return []
    hits = [_long_before(match, language) for match in _LONG_SHORT.finditer(text)]
    hits += [_long_after(match, language) for match in _SHORT_LONG.finditer(text)]
    unique: dict[tuple[str, str], Acronym] = {}
    for hit in sorted((h for h in hits if h is not None), key=lambda h: h.start):
        unique.setdefault((hit.short, hit.long.casefold()), hit)
    return list(unique.values())


def stands_for(
    short: str, long: str, matching: Matching = "capitals", language: str = ENGLISH
) -> bool:
    """Return True if `short` is a short form of `long`.

    With `capitals` the first letter starts the first word, every letter starts a word
    (or a part of a hyphenated word), and only small words are skipped. With `initials`
    the characters are the initials of all words, or of all but the small ones.
    """
    if matching == "capitals":
        return _capitals_match(short, long, stop_words(language, "name"))
    small = stop_words(language, "acronym")
    words = _WORD.findall(long.lower())
    initials = "".join(word[0] for word in words)
    main_initials = "".join(word[0] for word in words if word not in small)
    return len(words) > 1 and short.lower() in {initials, main_initials}


def _capitals_match(short: str, long: str, small: frozenset[str]) -> bool:
    letters = [c for c in short if c.isupper() or c.isdigit()]
    words = _NAME_WORD.findall(_POSSESSIVE.sub("", long))
    if not _FEWEST_LETTERS <= len(letters) <= _MOST_LETTERS:
        return False
    if len(words) < _FEWEST_WORDS:
        return False
    position = 0
    for letter in letters:
        while position < len(words) and words[position][:1].upper() != letter:
            if position == 0 or words[position].lower() not in small:
                return False
            position += 1
        if position == len(words):
            return False
        position += 1
    return all(word.lower() in small for word in words[position:])


def _long_before(match: re.Match[str], language: str) -> Acronym | None:
    """Return the longest long form of "Long Name (LN)" that starts with a capital."""
    base = match.start("long")
    for word in re.finditer(r"\S+", match["long"]):
        long = re.sub(r"['\u2019]s$", "", match["long"][word.start() :].rstrip())
        is_name = word.group()[0].isupper()
        if is_name and stands_for(match["short"], long, language=language):
            start = base + word.start()
            return Acronym(match["short"], _flatten(long), start, start + len(long))
    return None


def _long_after(match: re.Match[str], language: str) -> Acronym | None:
    if not stands_for(match["short"], match["long"], language=language):
        return None
    return Acronym(match["short"], _flatten(match["long"]), *match.span("long"))


def _find_by_initials(text: str, language: str) -> Iterator[Acronym]:
    for match in _BEFORE_INITIALS.finditer(text):
        start = _start_of_long(text[: match.start()], match["short"], language)
        if start is not None:
            long = _flatten(text[start : match.start()]).strip(" \"'")
            yield Acronym(match["short"], long, start, match.start())
    for match in _AFTER_INITIALS.finditer(text):
        if stands_for(match["short"], match["long"], "initials", language):
            long = _flatten(match["long"])
            yield Acronym(match["short"], long, *match.span("long"))


def _start_of_long(text: str, short: str, language: str) -> int | None:
    """Return where the fewest final words of `text` start that match `short`."""
    small = stop_words(language, "acronym")
    for word in reversed([*_WORD.finditer(text)][-(len(short) + _SPARE) :]):
        long = text[word.start() :]
        if word[0].lower() not in small and stands_for(
            short, long, "initials", language
        ):
            return word.start()
    return None


def _flatten(text: str) -> str:
    return " ".join(text.split())
