"""Sentences that continue an answer without its verb.

"Hens are permitted. Rabbits, goats and pigs are not." answers which animals are
forbidden only as a whole.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import sentence_index, sentences
from elt_llm_query.analysis.stems import leaves_out
from elt_llm_query.synthesizers.extractive.candidates import Candidate, Passage

_SELECTS = re.compile(r"^\W*(?:which|what|who|whom|whose)\b", re.IGNORECASE)
_FORMS = frozenset([Form.OPEN, Form.PERSON])


def with_continuations(
    question: QuestionAnalysis,
    pieces: Sequence[Candidate],
    passages: Sequence[Passage],
) -> list[Candidate]:
    """Return the quotes of a question for things or persons, each with what goes on.

    Args:
        question: The question.
        pieces: The sentences that answer.
        passages: The sources.
    """
    selects = question.several or bool(_SELECTS.match(question.text))
    if question.form not in _FORMS or not selects:
        return [*pieces]
    return [replace(p, end=_end(p, passages[p.passage])) for p in pieces]


def _end(piece: Candidate, passage: Passage) -> int:
    """Return the end of the last sentence after a piece that leaves out its verb."""
    end, at = piece.end, sentence_index(passage.text, piece.start)
    if passage.whole or piece.exact or at is None:
        return end
    for one in sentences(passage.text)[at + 1 :]:
        if "\n\n" in passage.text[end : one.start] or not leaves_out(one.text):
            break
        end = max(end, one.end)
    return end
