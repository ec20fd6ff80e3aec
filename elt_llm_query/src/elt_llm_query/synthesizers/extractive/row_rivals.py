"""Rows and sentences of other documents that state the asked fact otherwise.

A row states it if the question names the row's key, and all other words of the question
are in the row, its headers or above its table: "How long is a permit kept?" and the row
"Permit | Kept for: 6 years". A sentence states it if the sentence reader read it as an
answer and it names the key.
"""

from collections.abc import Iterator, Mapping, Sequence

from elt_llm_core.tables.numbers import lacks_value
from elt_llm_query.analysis.noun_phrases import telling_words
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.grounding.claim import RivalAnswer
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage
from elt_llm_query.synthesizers.extractive.claim_spans import claim_of
from elt_llm_query.synthesizers.extractive.differing_values import differing_values
from elt_llm_query.synthesizers.extractive.ranking import ScoredCandidate
from elt_llm_query.synthesizers.extractive.row_keys import holds, to_keyed

# The texts that may have the value: a sentence, or the cells of a row by the stems of
# their headers.
_Texts = Mapping[frozenset[str] | None, str]


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
    ours = _texts_of(question, chosen, passages)
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
        theirs = _texts_of(question, other, passages)
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
    asked = question.read.stem_line
    keys = {k for k in row.keys if holds(asked, k)} if (row := to_keyed(home)) else ()
    for i, where in enumerate(passages):
        apart = where.place and home.place and where.place[0] != home.place[0]
        row = to_keyed(where)
        if not apart or where.beside or row is None or not {*keys} & {*row.keys}:
            continue
        theirs = _asked_cell(question, where)
        if lacks_value(ours) or lacks_value(theirs):
            continue
        # "Ann Berg" is "Berg, Ann"; a row of another place or year is no rival.
        same = read(ours).stems == read(theirs).stems
        if not same and _is_asked(question, where, passages):
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


def _texts_of(
    question: QuestionAnalysis, candidate: Candidate, passages: Sequence[Passage]
) -> _Texts:
    """Return a sentence that names the thing, or the cells of a row of it."""
    passage = passages[candidate.passage]
    if not passage.whole:
        text = candidate.text_in(passages)
        line = read(text).stem_line
        names = any(holds(line, key) for key in _keys(question, passages))
        return {None: text} if names else {}
    if not _is_asked(question, passage, passages):
        return {}
    above = read(passage.cells[0].header).stems
    cells = [
        (read(c.header).stems - above, f"{c.header}: {passage.text[c.start : c.end]}")
        for c in passage.cells[1:]
    ]
    named = [one for one in cells if one[0] & {*question.weights}]
    return dict(named or cells)


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


def _differing(ours: _Texts, theirs: _Texts) -> Iterator[str]:
    """Yield each pair of different values, of two rows under equal headers only.

    A hire for one price does not contradict a deposit of another.
    """
    if ours and theirs and (None in ours or None in theirs):
        yield from differing_values(
            ". ".join(ours.values()), ". ".join(theirs.values())
        )
        return
    for header, text in ours.items():
        if header in theirs:
            yield from differing_values(text, theirs[header])
