"""Sentences of other documents that answer a question too, with another value.

`grounding/conflicts.py` compares words; two documents that state a rule in different
words share too few of them. Here the sentence reader has read both with the question.
"""

import re
from collections.abc import Sequence

from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.grounding.claim import RivalAnswer
from elt_llm_query.grounding.claim_words import WordRole, read_claim
from elt_llm_query.synthesizers.extractive.candidates import Passage
from elt_llm_query.synthesizers.extractive.claim_spans import claim_of
from elt_llm_query.synthesizers.extractive.differing_values import differing_values
from elt_llm_query.synthesizers.extractive.ranking import ScoredCandidate
from elt_llm_query.synthesizers.extractive.row_rivals import find_row_rivals

# Log odds of the sentence reader, and match with the question, of all its words and of
# the worst one, from which a sentence answers by itself. Chosen on twelve
# contradictions in free words and twelve pairs about two things, see "Conflicts" in
# measurements/proof.md: the contradictions that are read as answers have at least 1.0,
# .74 and .5; other things .66 or .34, except those of another number or day.
ANSWERS, MATCHES, WEAKEST = 1.0, 0.7, 0.45
# Share of the longer sentence's stems from which two sentences have the same wording:
# there a word that each has instead of the other's names another thing, as in "The
# group room closes at 18:00" and "The reading room closes at 20:00" (.75; the
# contradictions in free words have at most .5).
SAME_WORDING = 0.6
NEGATED = "one of them says not"
_VERB = (
    r"\b(?:may|must|can|cannot|shall|should|will|is|are|was|were|has|have|do|does)\b"
)
# "Not only by day" and "without a lead" say yes; a condition, an exception or a
# relative clause, up to the verb behind it, says nothing of the main clause.
_BESIDE = re.compile(
    r"\bnot only\b|\bwithout\b|\b(?:if|unless|when|because|although|while)\b[^,;]*"
    rf"|\bbut\b.*|\b(?:who|which|that)\b(?:(?!{_VERB}).)*(?:{_VERB}(?:(?!{_VERB}).)*)?",
    re.IGNORECASE | re.DOTALL,
)
_WITH_VALUE = frozenset([Form.NUMBER, Form.TIME])


def find_rivals(
    question: QuestionAnalysis,
    chosen: ScoredCandidate,
    scored: Sequence[ScoredCandidate],
    passages: Sequence[Passage],
) -> list[RivalAnswer]:
    """Return the sentences of other documents with another answer, best first.

    Args:
        question: The question; where it asks for a number or time, the values are
            compared, and the negations where it asks for yes or no.
        chosen: The sentence that is quoted as the answer.
        scored: The compared candidates.
        passages: The sources.
    """
    home = passages[chosen.candidate.passage]
    answering = [
        s for s in scored if _answers(s) and not passages[s.candidate.passage].whole
    ]
    rivals = find_row_rivals(question, chosen.candidate, answering, passages)
    if home.whole or not home.place or not _answers(chosen):
        return rivals
    text = chosen.candidate.text_in(passages)
    for one in sorted(scored, key=lambda s: -(s.read or 0.0)):
        where = passages[one.candidate.passage]
        apart = where.place and where.place[0] != home.place[0]
        if not apart or where.whole or where.beside or not _answers(one):
            continue
        other = one.candidate.text_in(passages)
        if _is_of_another(question, where, other) or _is_about_another(text, other):
            continue
        if reason := _difference(question.form, text, other):
            quotes = claim_of(home, chosen.candidate), claim_of(where, one.candidate)
            rivals.append(RivalAnswer(*quotes, reason))
    return rivals


def _answers(scored: ScoredCandidate) -> bool:
    evidence = scored.read, scored.match, scored.weakest_match
    limits = ANSWERS, MATCHES, WEAKEST
    return all(
        value is not None and value >= limit
        for value, limit in zip(evidence, limits, strict=True)
    )


def _is_about_another(one: str, other: str) -> bool:
    """Return whether two sentences of the same wording differ in a word."""
    first, second = read(one).stems, read(other).stems
    if len(first & second) < SAME_WORDING * max(len(first), len(second)):
        return False
    ours, theirs = _words(one), _words(other)
    return bool(ours - theirs) and bool(theirs - ours)


def _words(text: str) -> frozenset[str]:
    kinds = (WordRole.WORD, WordRole.NAME)
    return frozenset(t.key for t in read_claim(text) if t.role in kinds)


def _is_of_another(question: QuestionAnalysis, where: Passage, text: str) -> bool:
    """Return whether a sentence lacks a number or name: another age, class or day."""
    if _numbers(question.text) - _numbers(text):
        return True
    known = where.under(text).stems
    further = question.read.words[1:]  # the first one has its capital from its place
    return any(match(stem(w), known) == 0 for w in further if w[0].isupper())


def _numbers(text: str) -> frozenset[str]:
    return frozenset(t.key for t in read_claim(text) if t.role is WordRole.NUMBER)


def _difference(form: Form, one: str, other: str) -> str:
    """Return what differs between two answers; empty if nothing that is asked for."""
    if form in _WITH_VALUE:
        return "; ".join(differing_values(one, other))
    if form is Form.YES_NO and _is_negated(one) != _is_negated(other):
        return NEGATED
    return ""


def _is_negated(text: str) -> bool:
    """Return whether the main clause says "not"; a condition or addition may."""
    tokens = read_claim(_BESIDE.sub(" ", text))
    return any(t.role is WordRole.GUARD and t.key == "not" for t in tokens)
