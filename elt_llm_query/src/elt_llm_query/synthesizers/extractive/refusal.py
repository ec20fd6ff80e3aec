"""The refusal of a question: that nothing answers, the nearest sections, and why."""

from collections.abc import Sequence

from elt_llm_query.prompts import NO_SURE_ANSWER
from elt_llm_query.synthesizers.extractive.candidates import Passage
from elt_llm_query.synthesizers.extractive.ranking import ScoredCandidate


def refusal(
    passages: Sequence[Passage],
    best: Sequence[ScoredCandidate] = (),
    reason: str = "",
) -> str:
    """Return a refusal with the nearest headings, and its reason if it is known.

    Args:
        passages: The sources.
        best: The candidates, best first; their headings are named first.
        reason: A sentence about the kind of question.
    """
    order = [s.candidate.passage for s in best] + list(range(len(passages)))
    headings = (passages[i].heading for i in order if passages[i].heading)
    nearest = list(dict.fromkeys(headings))[:3]
    places = f"Nearest: {'; '.join(nearest)}." if nearest else ""
    return " ".join(part for part in (NO_SURE_ANSWER, places, reason) if part)
