"""Marks that refer to a document's own list of references: "[3]", "[2,3]", "[4-6]".

Numbers in brackets are marks only if the document lists its references, or has many
marks, and only up to their last number. A range "[0, 1]", an amount in brackets and
brackets at the start of a line are left unchanged.
"""

import re
from itertools import chain
from typing import NamedTuple

Span = tuple[int, int]

_HEADING = re.compile(
    r"^[ \t#*]*(?:\d{1,2}\.?[ \t]+)?"
    r"(?:references(?: and notes| cited)?|bibliography|(?:literature|works) cited"
    r"|literatur(?:verzeichnis)?|referencias(?: bibliogr\u00e1ficas)?"
    r"|bibliograf\u00eda|r\u00e9f\u00e9rences(?: bibliographiques)?)[ \t:*]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ENTRY = re.compile(r"^[ \t]*(?:[-*][ \t]+)?\[?(\d{1,3})(?:\]|\.(?=\s))", re.MULTILINE)
_NUMBERS = r"\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*"
# Behind a word or the end of a sentence, never at the beginning of a line.
_MARK = re.compile(
    rf"(?<=[^\W\d_]|[.,;:!?)%\"\u201d\u2019\]])[ \t]?"
    rf"\[\s*{_NUMBERS}\s*\](?:\s*,?\s*\[\s*{_NUMBERS}\s*\])*"
)
_NUMBER = re.compile(r"\d+")
FEWEST_ENTRIES = 3  # a numbered list of two after such a heading may be anything
# Different numbers of marks in a document whose list is not there, as an extract.
FEWEST_USED = 5
_LOST_ENTRIES = 3  # in a row, that were read into the entry before
_LONGEST_ENTRY = 3_000  # characters from one entry to the next


class Unmarked(NamedTuple):
    """A text without its marks; `text[i]` is character `offsets[i]` of the original."""

    text: str
    offsets: list[int]

    def original(self, start: int, end: int) -> Span:
        """The span of the original that `text[start:end]` was made from."""
        return self.offsets[start], self.offsets[end - 1] + 1


def is_reference_heading(section: str) -> bool:
    """Return whether a section, or the last part of its path, lists references."""
    return bool(_HEADING.fullmatch(section.rpartition(" > ")[2].strip()))


def count_references(document: str) -> int:
    """Return how many numbered entries the list of references of a document has.

    Args:
        document: The whole text.

    Returns:
        The last number of the longest run 1, 2, 3 ... behind a heading such as
        "References". Without such a list the highest number of its marks, where there
        are `FEWEST_USED` different ones and no 0; else 0.
    """
    counts = [_count_entries(document, h.end()) for h in _HEADING.finditer(document)]
    most = max(counts, default=0)
    return most if most >= FEWEST_ENTRIES else _count_used(document)


def may_hold_marks(text: str) -> bool:
    """Return whether a part of a document has numbers in brackets after words."""
    return "[" in text and _MARK.search(text) is not None


def find_reference_marks(text: str, last: int) -> tuple[Span, ...]:
    """Return the spans of the marks in a part of a document.

    Args:
        text: The part.
        last: The last number of the document's references; 0 finds nothing.
    """
    return tuple(
        mark.span()
        for mark in (_MARK.finditer(text) if last and "[" in text else ())
        if all(1 <= int(number) <= last for number in _NUMBER.findall(mark[0]))
    )


def remove_spans(text: str, spans: tuple[Span, ...]) -> Unmarked:
    """Return the text without the spans, with the way back to the original."""
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    kept = [range(end, start) for end, start in zip(ends, starts, strict=True)]
    whole = "".join(text[part.start : part.stop] for part in kept)
    return Unmarked(whole, list(chain.from_iterable(kept)))


def _count_entries(document: str, start: int) -> int:
    last = 0
    for entry in _ENTRY.finditer(document, start):
        if entry.start() - start > _LONGEST_ENTRY:
            break
        if last < int(entry[1]) <= last + _LOST_ENTRIES + 1:
            last = int(entry[1])
            start = entry.end()
    return last


def _count_used(document: str) -> int:
    """Return the highest number of marks without a list, if there are many."""
    used = {int(n) for m in _MARK.finditer(document) for n in _NUMBER.findall(m[0])}
    return max(used) if len(used) >= FEWEST_USED and min(used) > 0 else 0
