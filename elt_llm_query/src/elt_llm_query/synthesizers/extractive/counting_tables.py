"""Tables that state a number of what a question counts.

"How many members are there?" is not answered by the fees of full and junior members.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage

_HOW_MANY = re.compile(r"\bhow\s+many\s+(?!times\b)", re.IGNORECASE)
_BARE_NUMBER = re.compile(r"\s*\d[\d.,\s\u2013-]*")


def drop_uncounted_tables(
    question: QuestionAnalysis,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the candidates without whole tables that count something else.

    Args:
        question: The question.
        candidates: Sentences, rows and whole tables.
        passages: The sources, then the tables.
    """
    if not question.counted or not _HOW_MANY.search(question.text):
        return [*candidates]
    return [
        c
        for c in candidates
        if not passages[c.passage].parts
        or _counts(question, passages[c.passage], passages)
    ]


def _counts(
    question: QuestionAnalysis, table: Passage, passages: Sequence[Passage]
) -> bool:
    """Return whether a cell, a column or a row of a table counts the noun."""
    columns: dict[str, list[str]] = defaultdict(list)
    for i, _, _ in table.parts:
        row = passages[i]
        texts = [row.text[cell.start : cell.end].strip() for cell in row.cells]
        if any(read(text).numbers and _names(question, text) for text in texts):
            return True  # "25 days"
        label, *values = texts or [""]
        if _names(question, label) and any(map(_BARE_NUMBER.fullmatch, values)):
            return True
        for cell, text in zip(row.cells, texts, strict=True):
            if text:
                columns[cell.header].append(text)
    above = f"{table.section.rpartition(' > ')[2]} {table.reading_of_head}"
    return any(
        all(map(_BARE_NUMBER.fullmatch, texts))
        and (_names(question, header) or _names(question, above))
        for header, texts in columns.items()
    )


def _names(question: QuestionAnalysis, text: str) -> bool:
    """Return whether a text has the noun that is counted."""
    stems = read(text).stems
    return any(match(noun, stems) for noun in question.counted)
