"""Questions and passages in a language that the rules of the answerer do not know.

The rules that take a question apart and weigh sentences are written for English. Where
they do not serve, the nearest passages are shown as what they are, with the reason.
"""

from collections.abc import Sequence

from elt_llm_core.language.detect import question_language
from elt_llm_core.language.languages import ENGLISH, name_of
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_query.grounding.claim import Claim
from elt_llm_query.synthesizers.extractive.candidates import Passage

SERVED = frozenset([ENGLISH])
LEAD = "No answer was picked: {reason}. The nearest passages, as they stand:"
_RULES = "the rules that pick an answer know English only"
_INSTEAD = "the nearest passages are shown instead; a language model may answer"


def is_served(passage: Passage) -> bool:
    """Whether the rules know the language of a passage."""
    return (passage.language or ENGLISH) in SERVED


def reason_unserved(question: str, passages: Sequence[Passage]) -> str:
    """Why the rules cannot answer the question from the passages.

    Args:
        question: The question as it was asked.
        passages: What was found for it.

    Returns:
        One clause that names the language: that of the nearest passage, or that of the
        question. Empty where the rules serve both: passages further down in another
        language do not keep an English question from being refused.
    """
    if passages and not is_served(passages[0]):
        return (
            f"{_RULES}, and the nearest passage is in {name_of(passages[0].language)}"
        )
    asked = question_language(question, {p.language or ENGLISH for p in passages})
    if asked and asked not in SERVED:
        return f"{_RULES}, and the question is in {name_of(asked)}"
    return ""


def nearest_claims(passages: Sequence[Passage], most: int) -> list[Claim]:
    """The first `most` passages, each quoted whole."""
    return [
        Claim(p.label, p.node_id, 0, len(p.text), " ".join(p.text.split()))
        for p in passages[:most]
    ]


def degradation(reason: str) -> Degradation:
    """What is told of a question whose language is not served."""
    kind = DegradationKind.LANGUAGE_NOT_SERVED
    return Degradation(kind=kind, detail=f"{reason}; {_INSTEAD}")
