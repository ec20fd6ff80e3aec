"""What a found definition is made of."""

import re
from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from elt_llm_core.records import Record


class DefinitionSource(StrEnum):
    """Which shape a definition was found in."""

    PROSE = "prose"
    TABLE = "table"
    ACRONYM = "acronym"
    REFERENCE = "reference"
    TEXTBOOK = "textbook"


class Place(Record):
    """Words elsewhere in the same document: `text == document_text[start:end]`."""

    text: str
    start: int
    end: int
    page: int | None = None
    section: str = ""


class Definition(Record):
    """A term and what the document says it means.

    `definition` is the text of `spans` (one span unless a page break or an empty table
    cell cuts it), joined by a line break. `reference` names the place a definition
    points to ("Rule 4.2"), whether it could be followed or not.
    """

    term: str
    definition: str
    source: DefinitionSource
    spans: tuple[tuple[int, int], ...] = Field(min_length=1)
    page: int | None = None
    section: str = ""
    synonyms: tuple[str, ...] = ()
    reference: str = ""
    resolved: Place | None = Field(
        default=None, description="the words a reference points to, where found"
    )
    named_at: tuple[int, int] | None = Field(
        default=None, description="where the term stands, of a sentence that explains"
    )
    confidence: float = Field(
        default=1, ge=0, le=1, description="below 1 for a sentence that only explains"
    )

    @property
    def start(self) -> int:
        """First character of the defining text in the document."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """One past its last character."""
        return self.spans[-1][1]


class Found(Record):
    """A candidate inside a unit, before its end is known."""

    term: str
    synonyms: tuple[str, ...] = ()
    head: int = Field(description="where the term begins, in the unit")
    start: int = Field(description="where the defining text begins, in the unit")
    source: DefinitionSource = DefinitionSource.PROSE
    whole: bool = Field(default=False, description="runs to the end of the unit")
    listed: bool = Field(default=False, description="stands in a list of definitions")


def verbatim(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text of the spans, joined by a line break."""
    return "\n".join(text[start:end] for start, end in spans)


def joined(text: str, spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The spans without the empty, those with only white space between them as one."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if start >= end:
            continue
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space around it."""
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return start, max(start, start + len(inner.strip()))


def without_stop(body: str) -> str:
    """A phrase without the full stop of its sentence; whole sentences keep theirs."""
    said = body.rstrip()
    sentences = re.search(r"[.!?][\"'\u2019\u201d)]*\s+[A-Z\"\u201c(]", said)
    phrase = said.lstrip()[:1].islower() and sentences is None
    return said[:-1].rstrip() if phrase and said.endswith((".", ";")) else said
