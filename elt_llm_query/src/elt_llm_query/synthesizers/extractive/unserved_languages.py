"""Questions and passages in languages for which the answering rules are not written."""

from collections.abc import Sequence

from elt_llm_core.language.detect import question_language
from elt_llm_core.language.languages import ENGLISH, name_of
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.candidates import Passage

# The rules that analyse a question and score sentences are written for English. For
# other languages the nearest sentences are shown, labelled as such, with the reason.
SERVED = frozenset([ENGLISH])
LEAD = "No answer was picked: {reason}. The nearest sentences, verbatim:"
_RULES = "the rules that pick an answer know English only"
_INSTEAD = "the nearest sentences are shown instead; a language model may answer"


def to_degradation(reason: str) -> Degradation:
    """Return the note that the nearest sentences are shown instead of an answer."""
    kind = DegradationKind.LANGUAGE_NOT_SERVED
    return Degradation(kind=kind, detail=f"{reason}; {_INSTEAD}")


def is_served(passage: Passage) -> bool:
    """Return whether the rules support the language of a passage."""
    return (passage.language or ENGLISH) in SERVED


def reason_unserved(question: str, passages: Sequence[Passage]) -> str:
    """Return why the rules cannot answer the question from the passages.

    Args:
        question: The question as it was asked.
        passages: The retrieved passages.

    Returns:
        One clause that names the language: that of the nearest passage, or that of the
        question. Empty if the rules support both: lower passages in another language do
        not prevent the refusal of an English question.
    """
    if passages and not is_served(passages[0]):
        return (
            f"{_RULES}, and the nearest passage is in {name_of(passages[0].language)}"
        )
    asked = question_language(question, {p.language or ENGLISH for p in passages})
    if asked and asked not in SERVED:
        return f"{_RULES}, and the question is in {name_of(asked)}"
    return ""


def quote_whole(passages: Sequence[Passage]) -> list[Claim]:
    """Return each passage as one quote."""
    return [
        Claim(p.label, p.node_id, 0, len(p.text), " ".join(p.text.split()))
        for p in passages
    ]
