"""Greetings, thanks and the like: they are answered politely and never searched."""

import csv
import re
import unicodedata
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("courtesies.tsv")
MOST = 80  # characters of a message without a question; phrases are shorter

_WORD = re.compile(r"[^\W_]+(?:['\u200c][^\W_]+)*")
# "Thanks! And the fee?": a mark must follow, because "Good Friday" is none.
_BEFORE = re.compile(
    r"\s*(?P<phrase>[^,;:.!\u2026\u3002\uff01\u3001\uff0c]+)"
    r"[,;:.!\u2026\u3002\uff01\u3001\uff0c]+\s*(?=\S)"
)


class CourtesyKind(StrEnum):
    """What a courtesy is; the value is the column of its phrases."""

    GREETING = "greetings"
    THANKS = "thanks"
    AGREEMENT = "agreement"
    FAREWELL = "farewells"


class Courtesy(NamedTuple):
    """A courtesy and the language that it is in."""

    kind: CourtesyKind
    language: str


def find_courtesy(message: str) -> Courtesy | None:
    """Find what kind of courtesy a message is.

    Args:
        message: A message.

    Returns:
        The kind and language of its first phrase, rather not of an "ok"; None if the
        message says or asks anything else.
    """
    if len(message) > MOST or set("?\uff1f\u061f\u037e") & set(message):
        return None
    words = _normalise(message)
    if not words:
        return None
    courtesies: list[Courtesy] = []
    while words:
        match = _longest(words)
        if match is None:
            return None
        size, courtesy = match
        courtesies.append(courtesy)
        words = words[size:]
    telling = (one for one in courtesies if one.kind is not CourtesyKind.AGREEMENT)
    return next(telling, courtesies[0])


def without_courtesy(message: str) -> str:
    """Return a message without the courtesies before its question.

    "Thanks! And the fee?" is "And the fee?".
    """
    rest = message
    while (match := _BEFORE.match(rest)) and find_courtesy(match["phrase"]):
        rest = rest[match.end() :]
    return rest


def reply_to(courtesy: Courtesy) -> str:
    """Return a polite reply in the language of a courtesy."""
    row = _rows()[courtesy.language]
    first = {
        CourtesyKind.GREETING: row["hello"],
        CourtesyKind.THANKS: row["welcome"],
        CourtesyKind.AGREEMENT: "",
        CourtesyKind.FAREWELL: row["bye"],
    }[courtesy.kind]
    last = "" if courtesy.kind is CourtesyKind.FAREWELL else row["invitation"]
    gap = "" if first.endswith("\u3002") else " "
    return gap.join(part for part in (first, last) if part)


def _longest(words: tuple[str, ...]) -> tuple[int, Courtesy] | None:
    """Return the longest phrase that words begin with, and its length."""
    for size in range(len(words), 0, -1):
        courtesy = _phrases().get(words[:size])
        if courtesy is not None:
            return size, courtesy
    return None


def _normalise(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFC", text).replace("\u2019", "'").casefold()
    return tuple(_WORD.findall(plain))


@cache
def _rows() -> dict[str, dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines, delimiter="\t")
        return {row["language"]: row for row in reader}


@cache
def _phrases() -> dict[tuple[str, ...], Courtesy]:
    """Return every phrase as its words; English first where languages share one."""
    phrases: dict[tuple[str, ...], Courtesy] = {}
    for language, row in _rows().items():
        for kind in CourtesyKind:
            for phrase in row[kind.value].split("|"):
                phrases.setdefault(_normalise(phrase), Courtesy(kind, language))
    return phrases
