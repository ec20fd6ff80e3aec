"""Sentences that may answer a question, and how well each does.

A candidate is a verbatim piece of one source. Its own words count fully, those of its
heading, its neighbours and the rest of its source less.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from elt_llm_core.provenance import RuleSpan
from elt_llm_query.analysis.question import Form, Question
from elt_llm_query.analysis.term_match import (
    Layers,
    Vocabulary,
    closeness,
    coverage,
    match,
    vocabulary,
)
from elt_llm_query.analysis.text import leans, pieces, words
from elt_llm_query.synthesizers.extractive.constraints import (
    Said,
    agrees,
    form_fit,
    meets,
    said_otherwise,
)
from elt_llm_query.synthesizers.extractive.fact_sheet import Pick, asks_for_cell, pick

_NUMBERED = re.compile(r"\W*\d[\d.]*\W*\s[A-Z]")
_CAPTION = re.compile(r"Table\s+\w{1,6}\s*[:.\u2013-]\s.*[^.!?]")
_LONGEST_TITLE = 8  # words
_TITLE_WORD = 4  # letters of a word that a title writes with a capital

AROUND = 3  # sentences each side that may tell what a sentence is about
OWN, HEADING, NEIGHBOUR, REST = 1.0, 0.9, 0.6, 0.4


class Placed(NamedTuple):
    """A cell of a table: `text[start:end]` of a passage, under `header`."""

    start: int
    end: int
    header: str


@dataclass(frozen=True)
class Passage:
    """One source as the synthesizer reads it.

    `text` is verbatim and quoted from; `heading` is where it stands (title, section);
    `reading` is searched where it says more than the text (a table row with its
    headers). A `whole` passage is quoted as one piece, of a `sheet` the line that is
    asked for. `about` holds words that name what kind of thing it is, `cells` are those
    of the rows in it, `rules` tell which part of the text is of which rule, `goes_on`
    that the rule asked for has more than the passages hold. `language` is empty for
    English.
    """

    label: str
    node_id: str
    text: str
    heading: str = ""
    reading: str = ""
    whole: bool = False
    about: str = ""
    sheet: bool = False
    cells: tuple[Placed, ...] = ()
    rules: tuple[RuleSpan, ...] = ()
    goes_on: bool = False
    language: str = ""


@dataclass(frozen=True)
class Candidate:
    """`passages[passage].text[start:end]`.

    `coverage` of the question's words and `fit` to the form it asks for are 0 to 1.
    `said` is how an answer says it where that is not the text; `close` tells how near
    to each other the question's words stand, and `own` what share of them its own words
    are, 0 to 1. An `opposed` one negates what the question does not, or the reverse.
    """

    passage: int
    start: int
    end: int
    coverage: float
    fit: float
    said: str = ""
    close: float = 1.0
    own: float = 1.0
    opposed: bool = False


def passage_vocabulary(passage: Passage) -> Vocabulary:
    """Stems of a source with its heading."""
    return vocabulary(
        f"{passage.heading} {passage.about} {passage.reading} {passage.text}"
    )


def candidates(
    question: Question, passages: Sequence[Passage], weights: Mapping[str, float]
) -> list[Candidate]:
    """Pieces in reading order, without those far from what the question names.

    The row of a table that holds the headers answers nothing.
    """
    headers = {_line(" ".join(c.header for c in p.cells)) for p in passages}
    return [
        candidate
        for index, passage in enumerate(passages)
        if not (passage.whole and _line(passage.text) in headers)
        for candidate in (
            _of_whole(question, index, passage, weights)
            if passage.whole
            else _of_prose(question, index, passage, weights)
        )
    ]


def _line(text: str) -> str:
    return " ".join(words(text)).casefold()


def _of_whole(
    question: Question, index: int, passage: Passage, weights: Mapping[str, float]
) -> Iterator[Candidate]:
    """The passage as one candidate; of a fact sheet what is asked for."""
    heading = vocabulary(f"{passage.heading} {passage.about}")
    said = f"{passage.reading}\n{passage.text}"
    own = vocabulary(said) | said_otherwise(question, said)
    if any(not match(n, own | heading) for n in question.names):
        return
    about = f"{passage.heading} {passage.about}"
    if not meets(question, Said(said, about, said)):
        return
    covered = coverage(weights, ((own, OWN), (heading, HEADING)))
    found = pick(question, passage.text) if passage.sheet else None
    if passage.sheet and not found and question.form is Form.PERSON:
        return  # no line of it tells who
    found = found or Pick(0, len(passage.text), "", _row_fit(question, passage))
    yield Candidate(
        index,
        found.start,
        found.end,
        covered,
        found.fit,
        found.said,
        own=coverage(weights, ((own, OWN),)),
        opposed=not agrees(question, said, about, said),
    )


def _row_fit(question: Question, passage: Passage) -> float:
    if question.form is Form.OPEN and asks_for_cell(question, passage.reading):
        return 1.0
    reading = passage.reading or passage.text
    return max(form_fit(question, t) for t in (reading, passage.text))


def _of_prose(
    question: Question, index: int, passage: Passage, weights: Mapping[str, float]
) -> Iterator[Candidate]:
    """Sentences and list items; a heading answers nothing."""
    spans = [(p.start, p.end) for p in pieces(passage.text)]
    own = [vocabulary(passage.text[a:b]) for a, b in spans]
    heading = vocabulary(f"{passage.heading} {passage.about}")
    rest: Vocabulary = frozenset().union(*own)
    for place, (start, end) in enumerate(spans):
        near = frozenset().union(*own[max(place - 1, 0) : place + 2])
        if any(not match(n, near | heading) for n in question.names):
            continue  # what the question names stands elsewhere in the source
        text = passage.text[start:end]
        if _is_heading(text, passage.heading) or _is_header(passage, text):
            continue
        said = _said(passage, spans, place)
        if not meets(question, said):
            continue
        layers = (
            (own[place], OWN),
            (heading, HEADING),
            (near, NEIGHBOUR),
            (rest, REST),
        )
        measured = _measured(question, text, said, layers, weights)
        yield Candidate(index, start, end, **measured)


def _measured(
    question: Question,
    text: str,
    said: Said,
    layers: Layers,
    weights: Mapping[str, float],
) -> dict[str, Any]:
    """How well a sentence answers; the first layer holds its own words."""
    opposed = not agrees(question, said.own, said.heading, said.near)
    (own, share), *further = layers
    its = (own | said_otherwise(question, text), share)
    return {
        "coverage": coverage(weights, (its, *further)),
        "fit": form_fit(question, text),
        "close": closeness(question.weights, text),
        "own": coverage(weights, ((own, OWN) if opposed else its,)),
        "opposed": opposed,
    }


def _said(passage: Passage, spans: Sequence[tuple[int, int]], place: int) -> Said:
    """The sentence, with the one before it where it leans on that."""
    start, end = spans[place]
    before = spans[max(place - 1, 0)][0]
    after = spans[min(place + 1, len(spans) - 1)][1]
    own = passage.text[before if leans(passage.text[start:end]) else start : end]
    heading = f"{passage.heading} {passage.about}"
    return Said(own, heading, passage.text[before:after])


def surroundings(passage: Passage, candidate: Candidate) -> str:
    """A candidate with its heading and, of prose, the sentences around it."""
    above = f"{passage.heading} {passage.about}"
    if passage.whole:
        return f"{above}\n{passage.reading}\n{passage.text}"
    spans = [(p.start, p.end) for p in pieces(passage.text)]
    place = spans.index((candidate.start, candidate.end))
    start = spans[max(place - AROUND, 0)][0]
    end = spans[min(place + AROUND, len(spans) - 1)][1]
    return f"{above}\n{passage.text[start:end]}"


def _is_header(passage: Passage, text: str) -> bool:
    """True for the caption of a table in prose, and for the row of its headers."""
    headers = {_line(w) for c in passage.cells for w in words(c.header)}
    said = {_line(w) for w in words(text)}
    return bool(_CAPTION.fullmatch(text)) or (bool(said) and said <= headers)


def _is_heading(text: str, heading: str) -> bool:
    """True for a line that its source's heading repeats, or that is set like one."""
    said = words(text)
    line, above = _line(text), _line(heading)
    titled = _NUMBERED.match(text) and all(
        w[0].isupper() for w in said if len(w) >= _TITLE_WORD and w.isalpha()
    )
    short = len(said) <= _LONGEST_TITLE and text[-1].isalnum()
    return f" {line} " in f" {above} " or bool(titled and short)
