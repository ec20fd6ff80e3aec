"""An answer of verbatim quotes as labelled text."""

from collections.abc import Sequence
from typing import NamedTuple

from llama_index.core.schema import TextNode

from elt_llm_core.results import QuotedList
from elt_llm_query.grounding.claim import Claim, RivalAnswer
from elt_llm_query.prompts import UNSURE_ANSWER
from elt_llm_query.synthesizers.extractive.whole_lists import ListExtent, WholeLists

SHOWN = "{shown} of {total} items of this list are shown."


class QuotedAnswer(NamedTuple):
    """An answer or a refusal: its text, its quotes, and what belongs to its lists.

    Attributes:
        text: The labelled text.
        claims: Its quotes; empty for a refusal.
        extents: How much of each list it quotes.
        brought: The chunks that were added to complete a list.
        sure: The probability that it answers; None if it was not estimated.
        unsure: Whether the text says that it may not answer.
        rivals: Other answers, of other documents.
    """

    text: str
    claims: Sequence[Claim] = ()
    extents: Sequence[ListExtent] = ()
    brought: Sequence[TextNode] = ()
    sure: float | None = None
    unsure: bool = False
    rivals: Sequence[RivalAnswer] = ()


def write_answer(
    claims: Sequence[Claim],
    extents: Sequence[ListExtent] = (),
    *,
    unsure: bool = False,
) -> str:
    """Return the labelled quotes; a list that is not whole is followed by its count."""
    cut = {one.last: one for one in extents if one.shown < one.total}
    lines = []
    for claim in claims:
        lines.append(f"{claim.text} [{claim.label}]")
        if claim in cut:
            one = cut[claim]
            lines.append(SHOWN.format(shown=one.shown, total=one.total))
    return "\n".join([*lines, *([UNSURE_ANSWER] if unsure else ())])


def to_answer(
    whole: WholeLists, sure: float | None = None, *, unsure: bool = False
) -> QuotedAnswer:
    """Return quotes as an answer.

    Args:
        whole: The quotes, with how much of each list they are.
        sure: The probability that they answer; None if it was not estimated.
        unsure: Whether the text says that they may not answer.
    """
    text = write_answer(whole.claims, whole.extents, unsure=unsure)
    return QuotedAnswer(text, whole.claims, whole.extents, whole.brought, sure, unsure)


def to_quoted_list(extent: ListExtent) -> QuotedList:
    """Return how much of a list is quoted, as a value of the result."""
    return QuotedList(
        lead=extent.lead,
        node_id=extent.last.node_id,
        shown=extent.shown,
        total=extent.total,
    )
