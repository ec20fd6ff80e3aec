"""Rows that are about another thing than the question, by their keys.

The key of a row is its first cell, or also the second where the first is an identifier.
"How long is a loan record kept?" is not answered by the row "Repair record", which
shares only the head of the noun, nor "who owns the loans" by a table of colours that
has a row "Loans" too. Nor do an example or a nameless row answer for a count or a name.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.noun_phrases import telling_words
from elt_llm_query.analysis.person_names import (
    asked_role,
    core_of,
    is_name_cell,
    names_holder,
    role_stems,
)
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage

_IDENTIFIER = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])\S{2,}")
_EXAMPLE = re.compile(r"\W*examples?\s*(?:\d+\s*)?:", re.IGNORECASE)
_ASKS_EXAMPLE = re.compile(r"\bexamples?\b", re.IGNORECASE)
# Words of a duty to something: "who owns" asks for its owner or holder.
_ACCOUNTABLE = frozenset(
    map(stem, words("own owner ownership holder responsible accountable charge"))
)


class KeyedRow(NamedTuple):
    """A row of a table with its keys, each as the stems of its words.

    `table` is the same for the rows of one table.
    """

    table: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    passage: Passage


def drop_rows_of_others(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the candidates without rows whose keys are of other things.

    Args:
        question: The question.
        candidates: Pieces of the passages.
        passages: The sources.
    """
    rows = [row for p in passages if (row := to_keyed(p)) is not None]
    return [
        c
        for c in candidates
        if (row := to_keyed(passages[c.passage])) is None
        or not (_is_of_another(question, row, rows) or _is_aside(question, row, rows))
    ]


def drop_examples(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the candidates without examples, where a number is asked for.

    "Example: two vans ..." does not say how many vans there are.
    """
    if question.form is not Form.NUMBER or _ASKS_EXAMPLE.search(question.text):
        return list(candidates)
    return [c for c in candidates if not _EXAMPLE.match(c.text_in(passages))]


def drop_nameless(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the candidates with a person's name, where one is asked for."""
    role = asked_role(question.text)
    if not role:
        return list(candidates)
    return [c for c in candidates if _has_name(role, c, passages[c.passage])]


def _has_name(role: str, candidate: Candidate, passage: Passage) -> bool:
    if passage.parts:
        return False
    text = passage.text[candidate.start : candidate.end]
    cells = [(c.header, passage.text[c.start : c.end]) for c in passage.cells]
    if cells and passage.whole:
        headers = " ".join(header for header, _ in cells)
        about = f"{passage.heading} {headers} {passage.reading} {passage.text}"
        held = all(match(one, read(about).stems) for one in role_stems(role))
        core = role_stems(core_of(role))
        return held and any(
            {*core} <= read(f"{header} {passage.text}").stems
            and is_name_cell(header, value, role)
            for header, value in cells
        )
    return names_holder(text, role)


def to_keyed(passage: Passage) -> KeyedRow | None:
    """Return a row with its keys; None for prose, sheets and whole tables."""
    if passage.sheet or passage.parts or not passage.whole or not passage.cells:
        return None
    values = [passage.text[c.start : c.end] for c in passage.cells]
    keys = values[: 1 + bool(_IDENTIFIER.fullmatch(values[0].strip()))]
    headers = tuple(c.header for c in passage.cells)
    stems = (tuple(read(key).stem_list) for key in keys)
    told = tuple(key for key in stems if len("".join(key)) > 1)
    return KeyedRow((passage.heading, *headers), told, passage)


def _is_of_another(
    question: QuestionAnalysis, row: KeyedRow, rows: Iterable[KeyedRow]
) -> bool:
    """Return whether a row shares only the head of its key with the question.

    Then another row is meant if the question names one, and none if several rows of
    the table have that head: they are other kinds of it.
    """
    asked = question.read.stem_line
    heads = {k[-1] for k in row.keys if len(k) > 1 and not holds(asked, k)}
    if not heads or any(holds(asked, k) for k in row.keys):
        return False
    headers = read(" ".join(row.table)).stems
    own = read(row.passage.text).stems
    shared = {w for w in question.weights if match(w, own)}
    if not shared or any(w not in heads and not match(w, headers) for w in shared):
        return False
    beside = [r for r in rows if r.table == row.table and r.keys != row.keys]
    return any(
        holds(asked, key) or (len(key) > 1 and key[-1] in heads & shared)
        for other in beside
        for key in other.keys
    )


def is_row_of(question: QuestionAnalysis, passage: Passage) -> bool:
    """Return whether a passage is the row whose key the question names.

    Then the number is in this row, and not in others that have as many of its words:
    of "How long is a claim kept?" the row "Claim" says more than "Claim of a minor".

    Args:
        question: The question.
        passage: The source that is chosen as the answer.
    """
    row = to_keyed(passage)
    counted = question.counted or frozenset()
    return row is not None and any(
        holds(question.read.stem_line, key) and not counted.issuperset(key)
        for key in row.keys
    )


def holds(asked: str, key: Sequence[str]) -> bool:
    """Return whether a line of stems has all stems of a key, in its order."""
    return bool(key) and f" {' '.join(key)} " in asked


def _is_aside(
    question: QuestionAnalysis, row: KeyedRow, rows: Iterable[KeyedRow]
) -> bool:
    """Return whether a row of a key in several tables lacks what is asked of it.

    Who owns the loans is told by a table of owners, not by one of their colours.
    """
    if question.form is not Form.PERSON:
        return False
    asked = question.read.stem_line
    named = {k for k in row.keys if holds(asked, k)}
    elsewhere = any(r.table != row.table and named & {*r.keys} for r in rows)
    duty = _asked_duty(question.text)
    if not elsewhere or not duty:
        return False
    known = read(
        f"{' '.join(row.table)} {row.passage.reading} {row.passage.text}"
    ).stems
    return not any(match(word, known) for word in duty)


def _asked_duty(question: str) -> frozenset[str]:
    """Return the stems of the first telling word after "who", with its equivalents."""
    telling = [w for w in telling_words(question) if w not in STOP_WORDS]
    if not telling:
        return frozenset()
    first = stem(telling[0])
    return _ACCOUNTABLE if first in _ACCOUNTABLE else frozenset([first])
