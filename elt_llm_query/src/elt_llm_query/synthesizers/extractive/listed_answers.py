"""Lists whose number of items, or all of whose items, a question asks for.

"How many courses are there?" is answered by the list below "The school offers the
following courses:", and "What is the most I can borrow?" by all items below "Members
may borrow at most:".
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.term_match import coverage, match
from elt_llm_query.synthesizers.extractive.candidates import Passage
from elt_llm_query.synthesizers.extractive.ranking import ScoredCandidate

# The scorer divides what is likely among equal items; of the whole list it is as sure
# as it is of a sentence that has all words of the question, but never entirely.
SUREST = 0.95


def names_item(question: QuestionAnalysis, lead: str, item: str) -> bool:
    """Return whether a question has a word of an item that its lead-in lacks.

    "How many tapes may I borrow?" asks for one item of "Members may borrow: a) one book
    b) two tapes", and "What is the most I can borrow?" for all of them.

    Args:
        question: The question.
        lead: The lead-in of a list.
        item: An item of it.
    """
    own, opening = read(item).stems, read(lead).stems
    return any(match(t, own) and not match(t, opening) for t in question.weights)


def credit_leads(
    question: QuestionAnalysis,
    scored: Iterable[ScoredCandidate],
    passages: Sequence[Passage],
) -> list[ScoredCandidate]:
    """Return the candidates, lead-ins as probable as all items of their lists.

    Only where a number is asked for and the lead-in has every word of the question:
    each item is then a part of the answer, and none is the one that is meant.

    Args:
        question: The question.
        scored: Its candidates with their probabilities.
        passages: The sources.
    """
    every = [*scored]
    if question.form is not Form.NUMBER:
        return every
    return [
        _with_items(one, every, passages)
        if _asks_for_all(question, one, passages)
        else one
        for one in every
    ]


def _asks_for_all(
    question: QuestionAnalysis, scored: ScoredCandidate, passages: Sequence[Passage]
) -> bool:
    candidate = scored.candidate
    if not candidate.below or scored.sure is None:
        return False
    lead = read(candidate.text_in(passages)).stems
    return coverage(question.weights, ((lead, 1.0),)) >= 1


def _with_items(
    lead: ScoredCandidate, every: Sequence[ScoredCandidate], passages: Sequence[Passage]
) -> ScoredCandidate:
    items = [
        one.sure or 0.0
        for one in every
        if one is not lead and one.candidate.text_in(passages) in lead.candidate.below
    ]
    return replace(
        lead, sure=max(lead.sure or 0.0, min(SUREST, sum(items, lead.sure or 0.0)))
    )
