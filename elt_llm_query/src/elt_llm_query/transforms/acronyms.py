"""Short forms and what they stand for, as documents introduce them."""

import re
from collections.abc import Iterator

SHORT_FORM = re.compile(r"\b[A-Z][A-Z0-9]{1,9}\b")
_AFTER = re.compile(
    r"\(\s*[\"'\u201c\u2018]?([A-Z][A-Z0-9]{1,9})s?[\"'\u201d\u2019]?\s*\)"
)
_BEFORE = re.compile(r"\b([A-Z][A-Z0-9]{1,9})s?\s+\(([^()\n]{4,120})\)")
_WORD = re.compile(r"[^\W_]+")
_SMALL = frozenset(
    ("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to")
)
_SPARE = 4  # small words a long form may have beside its initials


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """Short and long form of every "Long Name (LN)" and "LN (Long Name)", in order."""
    for found in _AFTER.finditer(text):
        long = _long_before(text[: found.start()], found[1])
        if long:
            yield found[1], long
    for found in _BEFORE.finditer(text):
        if stands_for(found[1], found[2]):
            yield found[1], " ".join(found[2].split())


def stands_for(short: str, long: str) -> bool:
    """Whether the characters of `short` are the initials of `long`, in order.

    Small words ("of", "and") may be left out.
    """
    words = _WORD.findall(long.lower())
    initials = "".join(word[0] for word in words)
    telling = "".join(word[0] for word in words if word not in _SMALL)
    return len(words) > 1 and short.lower() in {initials, telling}


def _long_before(text: str, short: str) -> str:
    """The fewest words at the end of `text` that `short` stands for."""
    words = [*_WORD.finditer(text)][-(len(short) + _SPARE) :]
    for first in reversed(words):
        if first[0].lower() not in _SMALL and stands_for(short, text[first.start() :]):
            return " ".join(text[first.start() :].split()).strip(" \"'")
    return ""
