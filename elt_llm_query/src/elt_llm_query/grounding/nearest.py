"""The passages to read where a question is not answered: quoted, and no answer."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from elt_llm_core.models.sentence_reader import ReadSentence, read_context
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
COMPARED = 10  # sources of which the sentences are compared
# Likest sentences that are read with the question: twice those of an answer, a tenth of
# a second. Set by hand.
READ = 16
SHARED, LATER = 0.1, 0.02  # for all shared words; for each rank of the source
ANSWERS = 0.05  # for a unit of the sentence reader
_ENDS = (".", "!", "?")
REFUSED = frozenset({Status.INSUFFICIENT, Status.VALIDATION_FAILED})


class TextComparison(NamedTuple):
    """Compares texts with a question.

    Attributes:
        likeness: Returns the similarity of each text with the question, at most 1.
        read: Returns how well each sentence answers; higher is better. None for
            questions that are not in English.
    """

    likeness: Callable[[Sequence[str]], Sequence[float]]
    read: Callable[[Sequence[ReadSentence]], Sequence[float]] | None = None


class _Stretch(NamedTuple):
    """A sentence of a source or a whole row, and what is quoted with it."""

    where: Offered
    rank: int
    sentence: str
    repeats_heading: bool
    start: int
    end: int
    before: str = ""

    def to_read(self) -> ReadSentence:
        """Return its sentence below its heading, with the sentence before it."""
        heading = self.where.source.section.rpartition(" > ")[2]
        return ReadSentence(self.sentence, read_context(heading, self.before))


def quote_nearest(
    status: Status,
    question: str,
    sources: Sequence[Offered],
    locate: Locate,
    compare: TextComparison | None = None,
) -> tuple[Citation, ...]:
    """Quote what is nearest to a question that the sources were not seen to answer.

    Args:
        status: How the question ended; only a refusal needs them.
        question: What was asked.
        sources: The ranked sources of the answer.
        locate: Finds the place of a quote.
        compare: Compares texts with the question; without it sentences are compared by
            their words alone.

    Returns:
        At most three quotes of different sources, nearest first; without `compare` of
        different sections, in the order of the sources. Each is the nearest sentence
        and the whole sentences that go on from it, or the table row with its headers.
        Without `compare`, a source with no word of the question is left out, except the
        first of all. What a model wrote about a picture is not quoted.
    """
    if status not in REFUSED:
        return ()
    offered = [one for one in sources if not one.source.generated][:COMPARED]
    stretches = [s for rank, one in enumerate(offered) for s in _stretches(one, rank)]
    counts = [len(covered_words(question, one.sentence)) for one in stretches]
    if compare is None:
        order = _order_by_words(stretches, counts)
    else:
        order = _order_by_likeness(stretches, counts, compare)
    quotes: dict[tuple[str, str], Citation] = {}
    for one in order:
        source = one.where.source
        part = source.section if compare is None else source.node_id
        place = source.document_id, part
        if place not in quotes:
            quotes[place] = _quote(one, locate)
        if len(quotes) == MOST:
            break
    return tuple(quotes.values())


def _stretches(where: Offered, rank: int) -> Iterator[_Stretch]:
    text = where.source.text
    parts = () if is_row(where) else sentences(text)
    # A chunk begins with all headings above it, not only with its own.
    section = where.source.section
    headings = {bare_heading(one) for one in (section, *section.split(" > "))}
    for at, part in enumerate(parts):
        repeats = bare_heading(part.text) in headings
        end = _end_of(text, parts, at)
        before = parts[at - 1].text if at else ""
        yield _Stretch(where, rank, part.text, repeats, part.start, end, before)
    if not parts:
        yield _Stretch(where, rank, where.reading or text, False, 0, len(text))


def _order_by_words(
    stretches: Sequence[_Stretch], counts: Sequence[int]
) -> list[_Stretch]:
    """Return the best of each source, without those that have no word but the first."""
    best: dict[int, tuple[bool, int, int]] = {}
    for at, (one, count) in enumerate(zip(stretches, counts, strict=True)):
        score = not one.repeats_heading, count, -at
        best[one.rank] = max(best.get(one.rank, score), score)
    named = {s.rank for s, count in zip(stretches, counts, strict=True) if count}
    chosen = [(rank, -at) for rank, (_, _, at) in best.items()]
    return [stretches[at] for rank, at in chosen if rank in named or rank == 0]


def _order_by_likeness(
    stretches: Sequence[_Stretch], counts: Sequence[int], compare: TextComparison
) -> list[_Stretch]:
    """Return the stretches by similarity, with the words and the source's rank.

    How well the likest answer is added. The weights were chosen among a few on
    questions of our own ("What a refusal shows" in measurements/answers.md); those of
    words and rank change the count of shown answers by at most 6 of 174.
    """
    alike = compare.likeness([one.sentence for one in stretches])
    most = max([*counts, 1])
    scores = [
        like + SHARED * count / most - LATER * one.rank - one.repeats_heading
        for one, count, like in zip(stretches, counts, alike, strict=True)
    ]
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    likest = order[:READ] if compare.read else []
    if compare.read:
        answers = compare.read([stretches[at].to_read() for at in likest])
        for at, answer in zip(likest, answers, strict=True):
            scores[at] += ANSWERS * answer
    likest = sorted(likest, key=lambda at: (-scores[at], at))
    return [stretches[at] for at in [*likest, *order[len(likest) :]]]


def _quote(one: _Stretch, locate: Locate) -> Citation:
    match = QuoteMatch(Support.VERIFIED, 1.0, one.start, one.end)
    source = one.where.source
    quote = source.text[one.start : one.end]
    cited = to_citation(ClaimMatch(source.label, quote, match, one.where), locate)
    reading = one.where.reading if is_row(one.where) else ""
    return cited.model_copy(update={"reading": reading})


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
