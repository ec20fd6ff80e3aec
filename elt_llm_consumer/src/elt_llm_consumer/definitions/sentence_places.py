"""Sentences of a document, and where in them a term and its meaning stand."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elt_llm_consumer.definitions.definition_records import TextUnit
from elt_llm_consumer.definitions.patterns import (
    DETERMINER,
    QUOTE_CLOSE,
    QUOTE_OPEN,
    WORD,
)
from elt_llm_query.analysis.stems import pieces

# "4.2", "(a)", "12a5b)", "2i1b+)", and a label between brackets or before a colon.
_MARKS = re.compile(
    r"\s*(?:(?:[-*\u2022\u00b7\u25aa\uf0b7]|"
    r"\(?(?=[\w.+]*\d|[a-zA-Z]\)|[ivx]+\))[\w.+]{1,10}[.)]|\d+(?:\.\d+)+)\s+)*"
    r"(?:\[[A-Z][A-Z ]*\]\s+)?"
    r"(?:(?:definitions?|note|nb|clarification|explanation)\s*:\s+)?",
    re.IGNORECASE,
)
_SEMICOLON = re.compile(r";\s+(?:and\s+)?")
# "The upper mark is the value at which …": a sentence that says what its subject is.
# "It" and "this" are what the first half is about.
_SAYS_WHAT = re.compile(
    r"(?!(?:it|they|he|she|there|which|who)\b|"
    r"(?:this|that|these|those|such)\s+(?:is|are|means?|denotes?|refers?)\b)"
    rf"(?:{DETERMINER})?{QUOTE_OPEN}?{WORD}(?:\s+{WORD}){{0,5}}?{QUOTE_CLOSE}?\s+"
    r"(?:means?|denotes?|refers?\s+to|(?:is|are)\s+(?=(?:an?|the|any|one|those)\s))",
    re.IGNORECASE,
)


class SentencePlace(NamedTuple):
    """A sentence of a unit, without the marks that number or label it.

    `start` and `end` are positions in the unit's text. `number` counts the sentences of
    the unit, `below` those since the heading. `mark` is what was skipped in front.
    """

    unit: TextUnit
    start: int
    end: int
    number: int
    below: int
    mark: str

    @property
    def whole(self) -> tuple[int, int]:
        """The positions of all its words."""
        return 0, self.end - self.start

    @property
    def text(self) -> str:
        """The words of the sentence."""
        return self.unit.text[self.start : self.end]


class DefinitionSpans(NamedTuple):
    """Positions in a sentence: the term's and the defining words'.

    `name` is the term where its words do not stand together.
    """

    term: tuple[int, int]
    meaning: tuple[int, int]
    verb: str = ""
    name: str = ""


def sentence_places(units: Sequence[TextUnit]) -> Iterator[SentencePlace]:
    """Yield the sentences of all units, numbered within unit and section."""
    section, below = None, 0
    for unit in units:
        if unit.section != section:
            section, below = unit.section, 0
        for number, (first, last) in enumerate(_sentences(unit.text)):
            marks = _MARKS.match(unit.text, first, last)
            start = marks.end() if marks else first
            if start < last:
                mark = unit.text[first:start]
                yield SentencePlace(unit, start, last, number, below, mark)
                below += 1


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end; one that defines two terms is two of them."""
    for piece in pieces(text):
        start = piece.start
        for stop in _SEMICOLON.finditer(text, piece.start, piece.end):
            marks = _MARKS.match(text, start, stop.start())
            begins = marks.end() if marks else start
            defines = _SAYS_WHAT.match(text, begins, stop.start())
            if defines and _SAYS_WHAT.match(text, stop.end(), piece.end):
                yield start, stop.start()
                start = stop.end()
        yield start, piece.end
