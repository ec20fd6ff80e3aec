"""Questions of all rows of a table ("how many", "the total"): one row is no answer.

A row may say it all the same: "Total", "Average", or the one row the question names.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.table_question import Ask, Wanted, limit_of, wanted
from elt_llm_query.analysis.term_match import Vocabulary, match, vocabulary
from elt_llm_query.analysis.text import stem, words
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage

_TOTAL = re.compile(r"\btotal\b", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"\b(?:how\s+many|number\s+of)\s+(?P<what>[^,?;]*)", re.IGNORECASE
)
_SUMS = "total sum overall combined altogether all"
_BEST = "highest largest biggest greatest most maximum max latest top longest"
_WORST = "lowest smallest least fewest minimum min earliest shortest"
_STATED = {
    Ask.SUM: vocabulary(_SUMS),
    Ask.AVERAGE: vocabulary("average mean"),
    Ask.MOST: vocabulary(_BEST),
    Ask.LEAST: vocabulary(_WORST),
}


@dataclass(frozen=True)
class Row:
    """A row of a table by its words: the stems of its label in order, its headers."""

    label: str
    labelled: Vocabulary
    headers: Vocabulary
    said: str


def of_all_rows(question: str) -> Wanted | None:
    """What is asked of all rows of a table, or None where one may answer."""
    asked = wanted(question)
    if asked is None or asked.ask is Ask.ROWS:
        return asked if asked and asked.subject else None
    if asked.ask is Ask.CELL and _TOTAL.search(question):
        return replace(asked, ask=Ask.SUM)
    if asked.ask is Ask.CELL:
        return asked if _HOW_MANY.search(question) else None
    return asked


def without_single_rows(
    question: str, found: Sequence[Candidate], passages: Sequence[Passage]
) -> list[Candidate]:
    """The candidates without rows that do not state what is asked of all of them."""
    asked = of_all_rows(question)
    if asked is None:
        return list(found)
    rows = [_row(c, passages[c.passage]) for c in found]
    named = _named(question, [r.label for r in rows if r is not None])
    return [
        candidate
        for candidate, row in zip(found, rows, strict=True)
        if row is None or _states(asked, row, named, passages[candidate.passage])
    ]


def _states(asked: Wanted, row: Row, named: Sequence[str], passage: Passage) -> bool:
    """True where the row is itself the answer."""
    if asked.limit is not None:
        limit, _ = limit_of(row.said)
        return limit is not None and limit.amount == asked.limit.amount
    if asked.ask in {Ask.COUNT, Ask.CELL}:
        return _counts(asked, row, alone=[*named] == [row.label])
    return _sums_up(asked, row, named, passage)


def _counts(asked: Wanted, row: Row, *, alone: bool) -> bool:
    """True where a cell holds the count, or the question is not of the rows."""
    noun = _counted(asked.text)
    if any(match(n, row.headers) for n in noun):
        return True
    of_rows = any(match(n, row.labelled) for n in noun)
    return not of_rows and (alone or asked.ask is Ask.CELL)


def _sums_up(asked: Wanted, row: Row, named: Sequence[str], passage: Passage) -> bool:
    """True for the total, and for the one row that the question is of."""
    alone = [*named] == [row.label]
    known = vocabulary(f"{passage.heading} {row.said}")
    other = any(w not in known for w in words(asked.text) if w.isdigit())
    if asked.between or other or (named and not alone):
        return False
    told = bool(_STATED[asked.ask] & vocabulary(row.said))
    return told or (alone and asked.ask is not Ask.AVERAGE)


def _counted(question: str) -> list[str]:
    """Stems of what is counted, up to the first stop word."""
    found = _HOW_MANY.search(question)
    noun: list[str] = []
    for word in words(found["what"]) if found else []:
        if word.lower() in STOP_WORDS and noun:
            break
        noun += [] if word.lower() in STOP_WORDS else [stem(word)]
    return noun


def _named(question: str, labels: Iterable[str]) -> list[str]:
    """Labels that stand in the question, as often as rows have them.

    Of overlapping ones the longest.
    """
    asked = f" {' '.join(map(stem, words(question)))} "
    found = [label for label in labels if label and f" {label} " in asked]
    return [
        label
        for label in found
        if not any(label != o and f" {label} " in f" {o} " for o in found)
    ]


def _row(candidate: Candidate, passage: Passage) -> Row | None:
    """The row that a candidate is, None for prose and sheets."""
    if passage.sheet:
        return None
    cells = [
        (c.header, passage.text[c.start : c.end])
        for c in passage.cells
        if candidate.start < c.end and c.start < candidate.end
    ]
    if not cells and not passage.whole:
        return None
    header, label = cells[0] if cells else ("", "")
    said = " | ".join(f"{h}: {value}" for h, value in cells) or passage.reading
    others = " ".join(h for h, _ in cells[1:])
    stems = " ".join(map(stem, words(label)))
    return Row(stems, vocabulary(header), vocabulary(others), said)
