"""Sentences of a document, and where in them a term and its meaning stand."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from elt_llm_consumer.definitions.definition_records import TextUnit
from elt_llm_query.analysis.stems import pieces

# "4.2", "(a)", "12a5b)", "2i1b+)", and a label between brackets or before a colon.
_MARKS = re.compile(
    r"\s*(?:(?:[-*\u2022\u00b7\u25aa\uf0b7]|"
    r"\(?(?=[\w.+]*\d|[a-zA-Z]\)|[ivx]+\))[\w.+]{1,10}[.)]|\d+(?:\.\d+)+)\s+)*"
    r"(?:\[[A-Z][A-Z ]*\]\s+)?"
    r"(?:(?:definitions?|note|nb|clarification|explanation)\s*:\s+)?",
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
        for number, piece in enumerate(pieces(unit.text)):
            marks = _MARKS.match(unit.text, piece.start, piece.end)
            start = marks.end() if marks else piece.start
            if start < piece.end:
                mark = unit.text[piece.start : start]
                yield SentencePlace(unit, start, piece.end, number, below, mark)
                below += 1
