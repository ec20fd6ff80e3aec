"""Quote the nearest passages if a question is refused, marked as no answer."""

from collections.abc import Sequence

from elt_llm_core.results import Citation, Status, Support
from elt_llm_query.analysis.read_sentence import sentences
from elt_llm_query.grounding.citations import to_citation
from elt_llm_query.grounding.claim_words import covered_words
from elt_llm_query.grounding.quote_match import QuoteMatch
from elt_llm_query.grounding.sources import Locate, Offered, is_row
from elt_llm_query.grounding.statement_lookup import ClaimMatch

MOST = 3  # readers continue in the sections; more would hide the refusal
_REFUSED = frozenset({Status.INSUFFICIENT, Status.VALIDATION_FAILED})


def quote_nearest(
    status: Status, question: str, sources: Sequence[Offered], locate: Locate
) -> tuple[Citation, ...]:
    """Quote the passages nearest to a question that was refused.

    Args:
        status: The status of the answer; only a refusal has nearest passages.
        question: What was asked.
        sources: The ranked sources of the answer.
        locate: Finds the place of a quote.

    Returns:
        At most three quotes of different sections, in the order of the sources: of each
        the sentence or table row with the most words of the question. A source without
        any of them is left out, except the first. A model's description of a picture is
        not quoted.
    """
    if status not in _REFUSED:
        return ()
    quotes: dict[tuple[str, str], Citation] = {}
    for where in (one for one in sources if not one.source.generated):
        place = where.source.document_id, where.source.section
        if place in quotes:
            continue
        count, start, end = _nearest_sentence(question, where)
        if count or not quotes:
            match = QuoteMatch(Support.VERIFIED, 1.0, start, end)
            quote = where.source.text[start:end]
            claim = ClaimMatch(where.source.label, quote, match, where)
            quotes[place] = to_citation(claim, locate)
        if len(quotes) == MOST:
            break
    return tuple(quotes.values())


def _nearest_sentence(question: str, where: Offered) -> tuple[int, int, int]:
    """Return the span of the nearest sentence and its number of question words."""
    text = where.source.text
    parts = () if is_row(where) else sentences(text)
    if not parts:
        return len(covered_words(question, where.reading or text)), 0, len(text)
    counts = [len(covered_words(question, one.text)) for one in parts]
    best = max(range(len(parts)), key=counts.__getitem__)  # the first of equals
    return counts[best], parts[best].start, parts[best].end
