"""Questions about all rows of a table ("how many", "the total").

One row does not answer them unless it is itself the total or average, or the question
names it. A row is also no answer if no word of the question distinguishes it from the
others.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from elt_llm_query.analysis.date_limits import date_range_of
from elt_llm_query.analysis.lexicon import NUMBER_WORDS, STOP_WORDS
from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.analysis.table_question import (
    NEGATIONS,
    Ask,
    TableQuestion,
    limit_of,
)
from elt_llm_query.analysis.term_match import Vocabulary, match, vocabulary
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage

_TOTAL = re.compile(r"\btotal\b", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"\b(?:how\s+many|number\s+of)\s+(?P<what>[^,?;]*)", re.IGNORECASE
)
_SUMS = "total sum overall combined altogether all"
_SMALL = re.compile(r"\d{1,3}")
_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
_BARE = re.compile(r"\d[\d.,' \u00a0]*")
_BEST = "highest largest biggest greatest most maximum max latest top longest"
_WORST = "lowest smallest least fewest minimum min earliest shortest"
_STATED = {
    Ask.SUM: vocabulary(_SUMS),
    Ask.AVERAGE: vocabulary("average mean"),
    Ask.MOST: vocabulary(_BEST),
    Ask.LEAST: vocabulary(_WORST),
}


_ASKS_FOR_ROWS = re.compile(
    r"^\W*(?:(?:in|at|for|on|of|to|by)\s+)?(?:which|what|who|whose|list|name|show|give)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"^\W*(?:(?:in|at|for|on|of|to|by)\s+)?(?:which|what(?!\s+(?:is|are|was|were|does|do|did)\b)"
    r"|list|name|show(?:\s+me)?|give(?:\s+me)?)\b",
    re.IGNORECASE,
)
_BEFORE_NOUNS = frozenset(["all", "the", "of", "me", "other", "and"])
_PLURAL = re.compile(r"(?:[^sui]s|ies|[cs]es|people|children|staff)$")


@dataclass(frozen=True)
class CandidateRow:
    """A candidate that is a row of a table.

    Attributes:
        label: The stems of its label, in order.
        label_header: The stems of the header above the labels.
        headers: The stems of the other headers.
        cells: The stems of its cells, without the next.
        numbers: Each cell that is a number below 1000, with the stems of its header.
        reading: Its cells with their headers.
        values: The headers and texts of the cells after its label. Serial numbers are
            in the first cell, so that they are none of them.
        title: The title of its table, with its headers.
    """

    label: str
    label_header: Vocabulary
    headers: Vocabulary
    cells: Vocabulary
    numbers: tuple[tuple[str, Vocabulary], ...]
    reading: str
    values: tuple[tuple[str, str], ...] = ()
    title: str = ""


def of_all_rows(question: QuestionAnalysis) -> TableQuestion | None:
    """Return what is asked about all rows of a table, or None if one may answer."""
    asked = question.table
    if asked is None or asked.ask is Ask.ROWS:
        return asked if asked and asked.subject else None
    if asked.ask is Ask.CELL and _TOTAL.search(question.text):
        return replace(asked, ask=Ask.SUM)
    if asked.ask is Ask.CELL:
        return asked if _HOW_MANY.search(question.text) else None
    return asked


def selects_rows(question: QuestionAnalysis) -> bool:
    """Return whether rows would have to be selected, of which one tells no more.

    "Which vehicles" may be several; "not", "no" and "before 2018" exclude others.
    """
    if _ASKS_FOR_ROWS.match(question.text) is None:
        return False
    return excludes_rows(question) or _is_plural(question.text)


def excludes_rows(question: QuestionAnalysis) -> bool:
    """Return whether a question has a negation or a comparison with a date."""
    dates, _ = date_range_of(question.text)
    negations = NEGATIONS | {"no"}
    negated = any(w.lower() in negations for w in words(question.text))
    return negated or (dates is not None and dates.compared)


def _is_plural(question: str) -> bool:
    """Return whether "which" or "list" is followed by a noun in the plural."""
    opened = _OPENS.match(question)
    for word in words(question[opened.end() :]) if opened else []:
        if _PLURAL.search(word.lower()) and word.lower() not in STOP_WORDS:
            return True
        if word.lower() in STOP_WORDS - _BEFORE_NOUNS:
            return False
    return False


def split_unnamed_rows(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> tuple[list[Candidate], list[Candidate]]:
    """Split off the rows that the question does not distinguish from others.

    Returns:
        The other candidates, and those rows.
    """
    asked = of_all_rows(question)
    if asked is not None and asked.ask is not Ask.CELL:
        return list(candidates), []
    rows = [_to_row(c, passages[c.passage]) for c in candidates]
    below: dict[str, list[CandidateRow]] = {}
    for candidate, row in zip(candidates, rows, strict=True):
        if row is not None:
            below.setdefault(passages[candidate.passage].heading, []).append(row)
    shared = {heading: _shared_stems(several) for heading, several in below.items()}
    named: list[Candidate] = []
    unnamed: list[Candidate] = []
    for candidate, row in zip(candidates, rows, strict=True):
        passage = passages[candidate.passage]
        if row is None or _is_named(
            question, row, passage.above.stems | shared[passage.heading]
        ):
            named.append(candidate)
        else:
            unnamed.append(candidate)
    return named, unnamed


def is_rivalled(
    question: QuestionAnalysis, passages: Sequence[Passage], number: int
) -> bool:
    """Return whether a row lacks a content word of the question that another row has.

    "Which records are kept permanently?" is not answered by a row about records kept
    for eight years if other rows, or their headings, have "permanently".
    """
    row = passages[number]
    if not row.whole or row.parts:
        return False
    telling = [term for term, weight in question.weights.items() if weight == 1]
    missing = [term for term in telling if not match(term, row.stems)]
    others = [p for p in passages if p.whole and not p.parts and p is not row]
    return any(match(term, other.stems) for term in missing for other in others)


def drop_single_rows(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the candidates without single rows for questions about all rows.

    Rows that state the result themselves are kept.
    """
    asked, selecting = of_all_rows(question), selects_rows(question)
    if asked is None and not selecting:
        return list(candidates)
    rows = [_to_row(c, passages[c.passage]) for c in candidates]
    named = _named_labels(question, [r.label for r in rows if r is not None])

    def answers(row: CandidateRow, passage: Passage) -> bool:
        stated = asked is None or _states(asked, row, named, passage)
        # A row without known cells begins with its label.
        first = " ".join(read(passage.text.partition("\t")[0]).stem_list)
        keyed = row.label in named or bool(
            not row.label and _named_labels(question, [first])
        )
        return stated and (keyed or not selecting)

    return [
        candidate
        for candidate, row in zip(candidates, rows, strict=True)
        if row is None or answers(row, passages[candidate.passage])
    ]


def counts_in_rows(
    question: QuestionAnalysis, rows: Sequence[Candidate], passages: Sequence[Passage]
) -> bool:
    """Return whether the rows of a table state the count that is asked for."""
    noun = _counted_stems(question.text)
    known = [_to_row(c, passages[c.passage]) for c in rows]
    return any(row is not None and _has_count(noun, row) for row in known)


def names_a_row(
    question: QuestionAnalysis, rows: Sequence[Candidate], passages: Sequence[Passage]
) -> bool:
    """Return whether the question has the label of one of the rows."""
    known = [_to_row(c, passages[c.passage]) for c in rows]
    labels = [row.label for row in known if row is not None]
    return bool(_named_labels(question, [x for x in labels if not _SMALL.fullmatch(x)]))


def _shared_stems(rows: Sequence[CandidateRow]) -> Vocabulary:
    """Return stems of the headers of rows under one heading, and those in all rows."""
    headers = frozenset[str]().union(*(r.label_header | r.headers for r in rows))
    if len({row.reading for row in rows}) == 1:
        return headers
    return headers | frozenset.intersection(*(row.cells for row in rows))


def _is_named(
    question: QuestionAnalysis, row: CandidateRow, shared: Vocabulary
) -> bool:
    """Return True if a word of the question distinguishes the row from the others.

    Words of the headings and headers, or of every row, apply to all rows: "What is the
    dress code?" is not answered by one line of a table of that name. A number names a
    row only if the question has a word of its header: "aged 8" names no row of 8
    months.
    """
    if _TOTAL.search(row.reading):
        return True
    if not _SMALL.fullmatch(row.label) and _named_labels(question, [row.label]):
        return True
    cells = row.cells | {
        number
        for number, header in row.numbers
        if any(match(word, header) for word in question.weights)
    }
    return any(
        match(word, cells) and not match(word, shared) for word in question.weights
    )


def _states(
    asked: TableQuestion, row: CandidateRow, named: Sequence[str], passage: Passage
) -> bool:
    """Return True if the row is itself the answer."""
    if asked.limit is not None:
        limit, _ = limit_of(row.reading)
        if limit is None or limit.amount != asked.limit.amount:
            return False
        return asked.ask is not Ask.COUNT or _counts(asked, row, named, passage)
    if asked.ask in {Ask.COUNT, Ask.CELL}:
        return _counts(asked, row, named, passage)
    return _sums_up(asked, row, named, passage)


def _counts(
    asked: TableQuestion,
    row: CandidateRow,
    named: Sequence[str],
    passage: Passage,
) -> bool:
    """Return True if a cell has the count.

    Its header names what is counted ("Crew: 6"), the cell itself does ("20 days"), or
    the heading does and the cell is a bare number. A serial number counts nothing.
    """
    noun = _counted_stems(asked.text)
    if asked.ask is Ask.COUNT and row.label not in named:
        return False
    if _has_count(noun, row):
        return True
    if any(match(n, row.label_header) for n in noun):
        return False
    # A number of a row that the question does not name counts other things.
    bare = [v for _, v in row.values if _BARE.fullmatch(v.strip())]
    headed = not noun or _speaks_of(noun, f"{passage.heading} {row.title}")
    return headed and row.label in named and len(bare) == 1


def _has_count(noun: Sequence[str], row: CandidateRow) -> bool:
    """Return True if a cell has a number, and it or its header names the noun."""
    if noun and any(match(n, row.label_header) for n in noun[-1:]):
        return False
    return any(
        _NUMBER.search(value)
        and (_speaks_of(noun, value) or bool(noun and match(noun[-1], read(h).stems)))
        for h, value in row.values
    )


def _speaks_of(noun: Sequence[str], text: str) -> bool:
    return any(match(n, read(text).stems) for n in noun)


def _sums_up(
    asked: TableQuestion, row: CandidateRow, named: Sequence[str], passage: Passage
) -> bool:
    """Return True for the total, and for the one row that the question names."""
    alone = [*named] == [row.label]
    known = vocabulary(f"{passage.heading} {row.reading}")
    other = any(w not in known for w in words(asked.text) if w.isdigit())
    if asked.between or other or (named and not alone):
        return False
    stated = bool(_STATED[asked.ask] & vocabulary(row.reading))
    return stated or (alone and asked.ask is not Ask.AVERAGE)


def _counted_stems(question: str) -> list[str]:
    """Return the stems of the counted noun, up to the first stop word."""
    match_ = _HOW_MANY.search(question)
    noun: list[str] = []
    for word in words(match_["what"]) if match_ else []:
        if word.lower() in STOP_WORDS and noun:
            break
        noun += [] if word.lower() in STOP_WORDS else [stem(word)]
    return noun


def _named_labels(question: QuestionAnalysis, labels: Iterable[str]) -> list[str]:
    """Return the labels in the question, as often as rows have them.

    Of overlapping labels the longest is used.
    """
    asked = question.read.stem_line
    there = [label for label in labels if label and f" {label} " in asked]
    return [
        label
        for label in there
        if not any(label != o and f" {label} " in f" {o} " for o in there)
    ]


def _to_row(candidate: Candidate, passage: Passage) -> CandidateRow | None:
    """Return the row of a candidate; None for prose, sheets and whole tables."""
    if passage.sheet or passage.parts:
        return None
    cells = [
        (c.header, passage.text[c.start : c.end])
        for c in passage.cells
        if candidate.start < c.end and c.start < candidate.end
    ]
    if not cells and not passage.whole:
        return None
    header, label = cells[0] if cells else ("", "")
    reading = " | ".join(f"{h}: {value}" for h, value in cells) or passage.reading
    others = " ".join(h for h, _ in cells[1:])
    stems = " ".join(read(label).stem_list)
    numbers = [(v.strip(), read(h).stems) for h, v in cells if h and _is_small(v)]
    written = " ".join(v for h, v in cells if not (h and _is_small(v)))
    written = f"{written if cells else passage.text} {passage.within_ranges}"
    return CandidateRow(
        stems,
        read(header).stems,
        read(others).stems,
        read(written).stems,
        tuple(numbers),
        reading,
        tuple(cells[1:]) or (("", passage.text),),
        passage.reading.rpartition(" - ")[0],
    )


def _is_small(cell: str) -> bool:
    """Return whether a cell is a number that is no year."""
    return bool(_SMALL.fullmatch(cell.strip()))
