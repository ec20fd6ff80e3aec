"""Answers to "What is a X?" that only mention X."""

from collections.abc import Sequence

from elt_llm_query.analysis.explained_term import (
    asks_for_a_kind,
    asks_what_a_thing_is,
    begins_with_amount,
    explains,
)
from elt_llm_query.analysis.question import QuestionAnalysis, analyse
from elt_llm_query.analysis.read_sentence import read, sentence_before
from elt_llm_query.analysis.term_match import match
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.candidates import Passage
from elt_llm_query.synthesizers.extractive.ranking import (
    ScoredCandidate,
    is_heading_of,
)


def only_mentions(
    question: QuestionAnalysis,
    best: ScoredCandidate,
    claims: Sequence[Claim],
    passages: Sequence[Passage],
) -> bool:
    """Return whether an answer uses the term and does not say what it is.

    A fact sheet is about what its name says, and the first sentence below a heading or
    a question with the term is about the term. A row with the term says what it is,
    unless an amount is beside it.

    Args:
        question: The question.
        best: The best sentence or row of the answer.
        claims: The quotes of the answer.
        passages: The sources.
    """
    passage = passages[best.candidate.passage]
    if passage.whole:
        value = best.candidate.text_in(passages).partition("\t")[2]
        return asks_for_a_kind(question) and begins_with_amount(value)
    if best.plain or not asks_what_a_thing_is(question):
        return False
    if _is_introduced(question, best, passage):
        return False
    return not explains(question.term, " ".join(claim.text for claim in claims))


def _is_introduced(
    question: QuestionAnalysis, best: ScoredCandidate, passage: Passage
) -> bool:
    """Return whether the line above names the term: a heading, or a question for it."""
    above = sentence_before(passage.text, best.candidate.start)
    if above.rstrip().endswith("?"):
        stems = read(above).stems
        return all(match(one, stems) for one in analyse(question.term).weights)
    starts = not above or above.strip() in passage.section
    return starts and is_heading_of(question.term, passage.section)
