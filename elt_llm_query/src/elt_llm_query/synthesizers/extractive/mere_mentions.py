"""Answers that only mention what a question is about ("What is a X?")."""

import re
from collections.abc import Sequence

from elt_llm_query.analysis.explained_term import (
    asks_for_a_kind,
    asks_what_a_thing_is,
    begins_with_amount,
    explains,
)
from elt_llm_query.analysis.question import QuestionAnalysis, analyse
from elt_llm_query.analysis.read_sentence import read, sentence_before
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.candidates import Passage
from elt_llm_query.synthesizers.extractive.contents_asked import PLACED
from elt_llm_query.synthesizers.extractive.ranking import (
    ScoredCandidate,
    is_heading_of,
)

_PRONOUN = re.compile(r"^\W*(?:it|they|this|these)\b", re.IGNORECASE)

# "What does the case contain?", "What do the rooms consist of?"
_WHAT_DOES = re.compile(
    r"^\W*what\s+(?:do|does|did|must|may|can|should|shall|will)\s+(?:\S+\s+)+?"
    r"(?P<verb>[^\W\d_]+)(?:\s+(?:of|in|up|out|for|to|with))?\W*$",
    re.IGNORECASE,
)


def tells_only_where(question: QuestionAnalysis, claims: Sequence[Claim]) -> bool:
    """Return whether a thing is asked for what it does, and only its place is told.

    "What does the porter check?" is not answered by "The porter is behind the stage".

    Args:
        question: The question.
        claims: The quotes of the answer.
    """
    asked = _WHAT_DOES.match(question.text)
    if asked is None:
        return False
    text = " ".join(claim.text for claim in claims)
    return bool(PLACED.search(text)) and not match(
        stem(asked["verb"]), read(text).stems
    )


def only_mentions(
    question: QuestionAnalysis,
    best: ScoredCandidate,
    claims: Sequence[Claim],
    passages: Sequence[Passage],
) -> bool:
    """Return whether an answer uses the term and does not say what it is.

    A fact sheet is about what its name says, and the first sentence below a question
    with the term is about the term, as is "it" below a heading with it. A row with the
    term says what it is, unless an amount is beside it.

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
    if _is_asked_above(question, best, passage):
        return False
    text = " ".join(claim.text for claim in claims)
    if is_heading_of(question.term, passage.section):
        text = _PRONOUN.sub(question.term, text)
    return not explains(question.term, text)


def _is_asked_above(
    question: QuestionAnalysis, best: ScoredCandidate, passage: Passage
) -> bool:
    """Return whether the line above is a question with the words of the term."""
    above = sentence_before(passage.text, best.candidate.start)
    if not above.rstrip().endswith("?"):
        return False
    stems = read(above).stems
    return all(match(one, stems) for one in analyse(question.term).weights)
