"""Lists in a text: the lead-in ("No reader shall:") that each of their items completes.

An item such as "(a) smoke;" is incomplete, or means the opposite, without its stem.
List marks and punctuation identify both, in any language; nested lists have a stem of
several parts, including the parent item.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from elt_llm_core.language.languages import ENGLISH
from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    DENIALS,
    EXCEPTIONS,
    LACKS,
    NEGATIONS,
    STOP_WORDS,
)
from elt_llm_query.analysis.stems import BULLETS, words

_LABEL = r"[0-9]{1,3}|[A-Za-z]|[ivx]{2,5}"
_MARK = re.compile(
    rf"\s*(?:(?P<bullet>[{BULLETS}])|(?P<left>\(?)(?P<label>{_LABEL})(?P<right>[.)]))\s+"
)
_INLINE = re.compile(rf"(?<!\w)\((?P<label>{_LABEL})\)\s")
_ENDED = re.compile(r"[.!?][\"'\u201d\u2019)\]*_]*$")
# The end of an item that continues in the next one, or in the rest of the sentence.
_GOES_ON = re.compile(r"(?:[;,]|[;,]?\s(?:and|or|and/or|und|oder|et|ou|y|o))$")
_NESTS = re.compile(r"[:\u2013\u2014]$|\s-$")
# "Below" before an article or a number is a preposition: "below the age of 18".
_ANNOUNCES = re.compile(
    r"\b(?:following|follows?|below(?!\s+(?:the|an?|this|that|these|those|its|their|any"
    r"|each|every|\d\S*)\b))\b",
    re.IGNORECASE,
)
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_FIRST = frozenset(["1", "a", "A", "i"])
_DENYING = NEGATIONS | DENIALS | EXCEPTIONS | LACKS


class SourceLine(NamedTuple):
    """A sentence or list item, as input for the list analysis.

    Attributes:
        text: Its text, including its mark.
        begins_line: Whether it begins a line.
        heading: Whether it repeats the heading of its passage, which is no stem.
        language: ISO 639-1 code.
    """

    text: str
    begins_line: bool = True
    heading: bool = False
    language: str = ENGLISH


class EnumerationItem(NamedTuple):
    """The context that a list item needs.

    Attributes:
        stems: Positions of the lines to quote before it, in order; empty for a complete
            sentence.
        fragment: Whether it lacks a stem and is incomplete without one.
        above: Places of the lines that lead in its list, whether it needs them or not.
    """

    stems: tuple[int, ...] = ()
    fragment: bool = False
    above: tuple[int, ...] = ()


class ListMark(NamedTuple):
    """The mark of a list item: its bullet or brackets, and its number or letter."""

    shape: str
    label: str


@dataclass
class _List:
    """An open list: its stem, and the mark of its latest item."""

    stems: tuple[int, ...]
    mark: ListMark | None = None
    labelled: bool = False  # the last part of the stem is a line below the lead-in
    completes: bool = False  # an item of it is no sentence
    closed: bool = False  # only the item that is next in order goes on with it

    def takes(self, mark: ListMark) -> bool:
        """Return whether an item with this mark is its next one."""
        if self.mark is None:
            return not self.closed
        if self.mark.shape != mark.shape:
            return False
        next_one = follows(self.mark.label, mark.label)
        if self.closed or next_one:
            return next_one
        restarts = mark.label in _FIRST and self.mark.label != mark.label
        return not restarts and _kind(self.mark.label) == _kind(mark.label)


def read_lists(lines: Sequence[SourceLine]) -> tuple[EnumerationItem | None, ...]:
    """Return for each line its context as a list item; None for other lines.

    Args:
        lines: Sentences and list items in reading order.
    """
    return _read_lists(tuple(lines))


@lru_cache(maxsize=256)  # an answer needs the lists of its sources three times
def _read_lists(lines: Sequence[SourceLine]) -> tuple[EnumerationItem | None, ...]:
    items: list[EnumerationItem | None] = []
    lists: list[_List] = []
    for at, line in enumerate(lines):
        mark = _mark_of(line, lists)
        if line.heading:
            lists = []
        elif mark is None:
            lists = _after_prose(lists, lines, at)
        else:
            nests = at > 0 and items[-1] is not None
            lists = _after_item(lists, lines, at, mark, nests=nests)
        is_item = mark is not None and not line.heading
        items.append(_to_item(lists[-1], lines, at) if is_item else None)
    return tuple(items)


def mark_of_item(text: str) -> ListMark | None:
    """Return the mark that a text begins with, "(a)" or a bullet; or None."""
    match = _MARK.match(text)
    if match is None:
        return None
    left, right = match["left"] or "", match["right"] or ""
    return ListMark(match["bullet"] or f"{left}{right}", match["label"] or "")


def announces_list(text: str) -> bool:
    """Return whether the last sentence of a text ends with "as follows" or the like."""
    last = re.split(r"(?<=[.!?])\s", text.rstrip())[-1]
    return bool(_ANNOUNCES.search(last)) and _ENDED.search(text.rstrip()) is not None


def is_ended(text: str) -> bool:
    """Return whether a text ends like a sentence, or like an item before another."""
    return bool(_ENDED.search(text.rstrip())) or text.rstrip().endswith(";")


def is_first(label: str) -> bool:
    """Return whether a label is the first of a list: 1, a, A or i."""
    return label in _FIRST


def opens_list(text: str, after: str) -> bool:
    """Return whether a sentence is the lead-in of the following item."""
    leads = not _MARK.match(text) and not _ENDED.search(text) and text[-1] != ";"
    return leads and bool(_MARK.match(after))


def _mark_of(line: SourceLine, lists: Sequence[_List]) -> ListMark | None:
    """Return the mark of an item; a lower-case line after a lead-in has none."""
    if mark := mark_of_item(line.text):
        return mark
    open_ones = bool(lists) and not lists[-1].closed
    below = open_ones and line.begins_line and begins_lower(line.text)
    return ListMark("", "") if below else None


def _after_prose(
    lists: list[_List], lines: Sequence[SourceLine], at: int
) -> list[_List]:
    """Return the open lists after a sentence: its own, or those around it."""
    if _ENDED.search(lines[at].text):
        return _after_sentence(lists, lines[at], at)
    last = lists[-1] if lists else None
    if last and last.mark is None and last.stems[-1:] == (at - 1,):
        return [_List((*last.stems, at), labelled=True)]
    if last and last.labelled and lines[at].text[-1].isalnum():
        return [_List((*last.stems[:-1], at), labelled=True)]
    return [_List((at,))]


def _after_sentence(lists: list[_List], line: SourceLine, at: int) -> list[_List]:
    """Return the same after a complete sentence, which is rarely a lead-in."""
    if lists and not line.begins_line:
        return lists  # a further sentence of an item
    if inline := list(_INLINE.finditer(line.text)):
        mark = ListMark("()", inline[-1]["label"])
        return [_List((at,), mark, completes=True, closed=True)]
    if _ANNOUNCES.search(line.text):
        return [_List((at,))]
    for one in lists:
        one.closed = True
    return lists


def _after_item(
    lists: list[_List],
    lines: Sequence[SourceLine],
    at: int,
    mark: ListMark,
    *,
    nests: bool,
) -> list[_List]:
    """Return the open lists after an item; the last one is its own."""
    before = lines[at - 1].text if at else ""
    if lists and nests and _NESTS.search(before):
        return [*lists, _List((*lists[-1].stems, at - 1), mark)]
    for depth in reversed(range(len(lists))):
        if lists[depth].takes(mark):
            lists[depth].mark, lists[depth].closed = mark, False
            return lists[: depth + 1]
    restarts = bool(lists) and lists[-1].mark and lists[-1].mark.shape == mark.shape
    deeper = bool(lists) and nests and not lists[-1].closed
    if deeper and not (restarts and _kind(mark.label) != "roman"):
        above = () if _ENDED.search(before) or before[-1] == ";" else (at - 1,)
        return [*lists, _List((*lists[-1].stems, *above), mark)]
    return [_List((), mark)]


def _to_item(its_list: _List, lines: Sequence[SourceLine], at: int) -> EnumerationItem:
    line = lines[at]
    text = _MARK.sub("", line.text, count=1)
    goes_on = begins_lower(text) or bool(_GOES_ON.search(text))
    its_list.completes |= goes_on or not _ENDED.search(text)
    if its_list.stems:
        stem = " ".join(lines[place].text for place in its_list.stems)
        needed = its_list.completes or line.language != ENGLISH or _changes(stem)
        stems = its_list.stems
        return EnumerationItem(stems if needed else (), above=stems)
    finite = not AUXILIARIES.isdisjoint(word.lower() for word in words(text))
    return EnumerationItem(fragment=begins_lower(text) or (goes_on and not finite))


def _changes(stem: str) -> bool:
    """Return whether the stem changes the meaning even of a whole sentence."""
    in_stem = [word.lower().replace("\u2019", "'") for word in words(stem)]
    denies = not _DENYING.isdisjoint(in_stem)
    return denies or (bool(in_stem) and in_stem[-1] in STOP_WORDS)


def begins_lower(text: str) -> bool:
    """Return whether it begins with a lower-case word; "pH" is a name."""
    first = text.lstrip("\"'\u201c\u2018*_([ ")
    word = re.match(r"[^\W\d_]+", first)
    return word is not None and word[0].islower()


def _kind(label: str) -> str:
    if not label:
        return "bullet"
    if label.isdigit():
        return "number"
    if len(label) > 1 or label == "i":
        return "roman"
    return "upper" if label.isupper() else "letter"


def follows(label: str, following: str) -> bool:
    """Return whether one label follows another: 1, 2; h, i; iii, iv."""
    if not label or not following:
        return False
    if label.isdigit() and following.isdigit():
        return int(following) == int(label) + 1
    if (label, following) in pairwise(_ROMAN):
        return True
    single = len(label) == len(following) == 1
    return single and ord(following) == ord(label) + 1
