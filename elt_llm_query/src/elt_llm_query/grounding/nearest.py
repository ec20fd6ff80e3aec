"""The passages to read where a question is not answered: quoted, and no answer."""

from collections.abc import Sequence

from elt_llm_core.results import Citation, Status, Support
from elt_llm_query.analysis.read_sentence import Sentence, sentences
from elt_llm_query.analysis.rule_reference import bare_heading
from elt_llm_query.grounding.citations import to_citation
from elt_llm_query.grounding.claim_words import covered_words
from elt_llm_query.grounding.quote_match import QuoteMatch
from elt_llm_query.grounding.sources import Locate, Offered, is_row
from elt_llm_query.grounding.statement_lookup import ClaimMatch

MOST = 3  # a person reads on in the sections; more would hide the refusal
# Characters of a quote: a rule with what it allows and its penalty, seven lines or so.
LONGEST = 600
_ENDS = (".", "!", "?")
_REFUSED = frozenset({Status.INSUFFICIENT, Status.VALIDATION_FAILED})


def quote_nearest(
    status: Status, question: str, sources: Sequence[Offered], locate: Locate
) -> tuple[Citation, ...]:
    """Quote what is nearest to a question that the sources were not seen to answer.

    Args:
        status: How the question ended; only a refusal needs them.
        question: What was asked.
        sources: The ranked sources of the answer.
        locate: Finds the place of a quote.

    Returns:
        At most three quotes of different sections, in the order of the sources: of each
        the sentence with the most words of the question and the whole sentences that go
        on from it, or the table row with its headers. A source without any of these
        words is left out, except the first of all. What a model wrote about a picture
        is not quoted.
    """
    if status not in _REFUSED:
        return ()
    quotes: dict[tuple[str, str], Citation] = {}
    for where in (one for one in sources if not one.source.generated):
        place = where.source.document_id, where.source.section
        if place in quotes:
            continue
        count, start, end = _nearest_stretch(question, where)
        if count or not quotes:
            match = QuoteMatch(Support.VERIFIED, 1.0, start, end)
            quote = where.source.text[start:end]
            claim = ClaimMatch(where.source.label, quote, match, where)
            reading = where.reading if is_row(where) else ""
            cited = to_citation(claim, locate)
            quotes[place] = cited.model_copy(update={"reading": reading})
        if len(quotes) == MOST:
            break
    return tuple(quotes.values())


def _nearest_stretch(question: str, where: Offered) -> tuple[int, int, int]:
    """How many words of the question the nearest sentence has, and what is quoted."""
    text = where.source.text
    parts = () if is_row(where) else sentences(text)
    if not parts:
        return len(covered_words(question, where.reading or text)), 0, len(text)
    counts = [len(covered_words(question, one.text)) for one in parts]
    heading = bare_heading(where.source.section)
    says = [bare_heading(one.text) != heading for one in parts]
    # The first of equals; a line that only repeats the heading where there is no other.
    best = max(range(len(parts)), key=lambda at: (says[at], counts[at], -at))
    return max(counts), parts[best].start, _end_of(text, parts, best)


def _end_of(text: str, parts: Sequence[Sentence], first: int) -> int:
    """The end of the last whole sentence that still belongs to the first one.

    That is the rest of its paragraph, and below a label or lead-in the list.
    """
    end = parts[first].end
    for one in parts[first + 1 :]:
        apart = "\n\n" in text[end : one.start] and text[:end].rstrip().endswith(_ENDS)
        if apart or one.end - parts[first].start > LONGEST:
            break
        end = one.end
    return end
