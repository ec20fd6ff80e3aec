"""Normalise text for comparison, with a mapping back to the original.

Two texts that differ only in white space, ligatures, quotation marks, dashes, soft
hyphens or case have the same normal form.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_SAME = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u0060\u00b4\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}
_NOTHING = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
_LONGEST_KEPT = 8000  # characters; whole documents are compared once
_RUN = re.compile(r"\S+")
_LINE_HYPHEN = re.compile(r"(?<=\w)[-\u2010][ \t]*\r?\n[ \t]*(?=[^\W\d_])")


class Normal(NamedTuple):
    """`text[i]` comes from character `offsets[i]` of the original."""

    text: str
    offsets: list[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original for `text[start:end]`."""
        return self.offsets[start], self.offsets[end - 1] + 1


def normalise(text: str, *, join_hyphens: bool = True) -> Normal:
    """Return the normal form of `text`.

    A hyphen at the end of a line is dropped together with the break (`join_hyphens`),
    or kept without the break: both readings of such a word are possible.
    """
    # The statements of an answer are looked up in the same few chunks.
    if len(text) <= _LONGEST_KEPT:
        return _normalise_chunk(text, join_hyphens)
    return _normalise(text, join_hyphens)


def normal_text(text: str) -> str:
    """Return the text of the normal form, where offsets are not needed."""
    if text.isascii() and ("\n" not in text or _LINE_HYPHEN.search(text) is None):
        return " ".join(text.split()).lower().replace("`", "'")
    return normalise(text).text


def _normalise(text: str, join_hyphens: bool) -> Normal:
    skipped = _line_hyphens(text, keep_hyphen=not join_hyphens)
    if text.isascii() and not skipped:
        return _normalise_ascii(text)
    out: list[str] = []
    offsets: list[int] = []
    for index, char in enumerate(text):
        if index in skipped or char in _NOTHING:
            continue
        for made in _form(char):
            if made == " " and (not out or out[-1] == " "):
                continue
            out.append(made)
            offsets.append(index)
    while out and out[-1] == " ":
        out.pop()
        offsets.pop()
    return Normal("".join(out), offsets)


def _normalise_ascii(text: str) -> Normal:
    """As `_normalise` for a text where only white space, marks and case can differ."""
    runs: list[str] = []
    offsets: list[int] = []
    space = 0
    for run in _RUN.finditer(text):
        if runs:
            runs.append(" ")
            offsets.append(space)
        runs.append(run[0])
        offsets.extend(range(run.start(), run.end()))
        space = run.end()
    return Normal("".join(runs).lower().replace("`", "'"), offsets)


_normalise_chunk = lru_cache(maxsize=256)(_normalise)


def _form(char: str) -> str:
    if char.isspace():
        return " "
    if char in _SAME:
        return _SAME[char]
    if char.isascii():
        return char.lower()
    folded = unicodedata.normalize("NFKC", char).casefold()
    return "".join(" " if c.isspace() else _SAME.get(c, c) for c in folded)


def _line_hyphens(text: str, *, keep_hyphen: bool) -> frozenset[int]:
    """Return indexes of line-end hyphens and breaks to leave out."""
    return frozenset(
        index
        for hyphen in _LINE_HYPHEN.finditer(text)
        for index in range(hyphen.start() + keep_hyphen, hyphen.end())
    )
