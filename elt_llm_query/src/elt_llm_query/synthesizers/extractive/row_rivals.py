"""Rows and sentences of other documents that state the asked fact otherwise.

A row states it if the question names the row's key, and all other words of the question
are in the row, its headers or above its table: "How long is a permit kept?" and the row
"Permit | Kept for: 6 years". A sentence states it if the sentence reader read it as an
answer and it names the key.
"""

from collections.abc import Iterator, Mapping, Sequence

from elt_llm_query.analysis.noun_phrases import telling_words
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.grounding.claim import RivalAnswer
from elt_llm_query.grounding.claim_words import read_claim
from elt_llm_query.grounding.conflicts import read_values
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.claim_spans import claim_of
from elt_llm_query.synthesizers.extractive.ranking import ScoredCandidate
from elt_llm_query.synthesizers.extractive.row_keys import holds, to_keyed

_Values = Mapping[str, Mapping[str, str]]


def find_row_rivals(
    question: QuestionAnalysis,
    chosen: Candidate,
    answering: Sequence[ScoredCandidate],
    passages: Sequence[Passage],
) -> list[RivalAnswer]:
    """Return what contradicts a chosen sentence or row, if one of the two is a row.

    Args:
        question: The question; numbers and times are compared, and persons of rows.
        chosen: The sentence or row that is quoted as the answer.
        answering: The sentences that were read as answers by themselves.
        passages: The sources.
    """
    home = passages[chosen.passage]
    if question.form is Form.PERSON and home.whole and home.cells:
        return list(_other_persons(question, chosen, passages))
    if question.form not in {Form.NUMBER, Form.TIME} or home.sheet or home.parts:
        return []
    ours = _values_of(question, chosen, passages)
    if not ours:
        return []
    rows = [
        Candidate(i, 0, len(p.text), 1.0, 1.0)
        for i, p in enumerate(passages)
        if p.whole and p.cells and not p.beside
    ]
    others = [*rows, *(s.candidate for s in answering if home.whole)]
    rivals = []
    for other in others:
        where = passages[other.passage]
        if not (where.place and home.place and where.place[0] != home.place[0]):
            continue
        theirs = _values_of(question, other, passages)
        if reason := "; ".join(_differing(ours, theirs)):
            quotes = claim_of(home, chosen), claim_of(where, other)
            rivals.append(RivalAnswer(*quotes, reason))
    return rivals


def _other_persons(
    question: QuestionAnalysis, chosen: Candidate, passages: Sequence[Passage]
) -> Iterator[RivalAnswer]:
    """Yield the rows of other documents with another name in the asked column."""
    home = passages[chosen.passage]
    ours = _asked_cell(question, home)
    keys = row.keys if (row := to_keyed(home)) else ()
    for i, where in enumerate(passages):
        apart = where.place and home.place and where.place[0] != home.place[0]
        row = to_keyed(where)
        if not apart or where.beside or row is None or not {*keys} & {*row.keys}:
            continue
        theirs = _asked_cell(question, where)
        if ours and theirs and read(ours).stem_list != read(theirs).stem_list:
            other = Candidate(i, 0, len(where.text), 1.0, 1.0)
            quotes = claim_of(home, chosen), claim_of(where, other)
            yield RivalAnswer(*quotes, f"{ours} or {theirs}")


def _asked_cell(question: QuestionAnalysis, passage: Passage) -> str:
    """Return the only cell, beside the key, whose header the question names in full.

    Words of the header above the keys need not be in it; a "deputy warden" is no
    warden.
    """
    known = frozenset(question.weights) | read(passage.cells[0].header).stems
    cells = [
        passage.text[c.start : c.end]
        for c in passage.cells[1:]
        if (stems := [stem(w) for w in telling_words(c.header)])
        and all(match(one, known) for one in stems)
    ]
    return cells[0] if len(cells) == 1 else ""


def _values_of(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> _Values:
    """Return the values of a sentence, or those of a row of the asked thing."""
    passage = passages[candidate.passage]
    if not passage.whole:
        text = candidate.text_in(passages)
        names = any(
            holds(read(text).stem_line, key) for key in _keys(question, passages)
        )
        return read_values(read_claim(text)) if names else {}
    if not _is_asked(question, passage, passages):
        return {}
    cells = [passage.text[c.start : c.end] for c in passage.cells[1:]]
    return read_values(read_claim(". ".join(cells)))


def _keys(
    question: QuestionAnalysis, passages: Sequence[Passage]
) -> set[tuple[str, ...]]:
    """Return the keys of rows that the question names."""
    rows = filter(None, map(to_keyed, passages))
    asked = question.read.stem_line
    return {key for row in rows for key in row.keys if holds(asked, key)}


def _is_asked(
    question: QuestionAnalysis, passage: Passage, passages: Sequence[Passage]
) -> bool:
    """Return whether a row is the only one of its table of what is asked."""
    row = to_keyed(passage)
    asked = question.read.stem_line
    named = [key for key in row.keys if holds(asked, key)] if row else []
    if row is None or not named:
        return False
    rows = [r for p in passages if p is not passage and (r := to_keyed(p)) is not None]
    twins = [r for r in rows if r.table == row.table]
    # Of "crane" and "mobile crane" the question may mean the longer one.
    keys = [k for r in rows for k in r.keys if holds(asked, k)]
    longer = any(len(k) > len(named[0]) and {*named[0]} < {*k} for k in keys)
    if longer or any(named[0] in r.keys for r in twins):
        return False
    about = " ".join([*row.table, passage.reading, passage.text, passage.section])
    known = read(about).stems
    return all(match(word, known) for word in question.weights)


def _differing(ours: _Values, theirs: _Values) -> Iterator[str]:
    """Yield each pair of different values of one unit, as written."""
    for unit, values in ours.items():
        others = theirs.get(unit, {})
        if not unit or len(values) != 1 or len(others) != 1:
            continue
        (one, written), (other, written_there) = *values.items(), *others.items()
        if one.lstrip("0") != other.lstrip("0"):
            yield f"{written} or {written_there}"
