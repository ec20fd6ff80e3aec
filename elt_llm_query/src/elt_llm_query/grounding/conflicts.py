"""Find sources of an answer that contradict each other, to show them side by side.

A sentence of another source conflicts with a cited one if both have the same words and
the same names, and one value differs: a number of the same unit, a date, a "not", a
duty for a permission. A second difference, such as another year or another class,
indicates another subject. Conflicts in other words are those that the sentence reader
read with the question (`RivalAnswer`); further ones are not detected, because false
alarms would teach readers to ignore the notice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from elt_llm_core.results import Citation, Conflict, Statement, Status, Support
from elt_llm_query.analysis.lexicon import MONTHS
from elt_llm_query.analysis.read_sentence import Sentence, sentences
from elt_llm_query.grounding.agreement import compare
from elt_llm_query.grounding.citations import to_citation
from elt_llm_query.grounding.claim import RivalAnswer
from elt_llm_query.grounding.claim_difference import Disagreement
from elt_llm_query.grounding.claim_words import (
    Token,
    WordRole,
    covered_words,
    read_claim,
    read_passage,
)
from elt_llm_query.grounding.quote_match import QuoteMatch
from elt_llm_query.grounding.sources import Locate, Offered
from elt_llm_query.grounding.statement_lookup import ClaimMatch

MOST = 3  # conflicts shown for an answer; readers find more in the documents
# Share of the longer sentence's words that the shorter one has; the shorter one may
# have no other words, which would name another thing. Chosen on planted paragraphs, see
# "Conflicts" in measurements/proof.md.
SAME_MATTER = 0.66
SAME_WORDS = 0.85
# Share of the longer one's stems, stop words included, that the other has unchanged.
# The lowest of the planted conflicts is .55, see "Conflicts" there.
SAME_STEMS = 0.33
FEWEST_WORDS = 3  # common words; texts with fewer are headings or labels
TURNING = frozenset({"not", "must", "may", "should"})
# "A reader may borrow eight" and "each reader borrows six" differ in the number.
BESIDE_NUMBERS = frozenset({"must", "may", "should", "will", "all"})
_ANSWERED = frozenset({Status.ANSWERED, Status.PARTIAL})
_PROVEN = frozenset(
    {Support.VERIFIED, Support.NORMALISED, Support.FUZZY, Support.SUPPORTED}
)
# "3.2", "(a)" and "[12]" number the sentence or a note and carry no meaning.
_NUMBERING = re.compile(r"^\W*(?:\d+(?:\.\d+)*[.)]?(?=\s+[A-Z])|\(\w{1,4}\))\s*")
_NOTE = re.compile(r"\[\d+(?:[,\s-]+\d+)*\]")


class _Passage(NamedTuple):
    """A sentence of a source."""

    where: Offered
    sentence: Sentence

    @property
    def text(self) -> str:
        """Return its words without numbering and notes."""
        return _NOTE.sub("", _NUMBERING.sub("", self.sentence.text))


def find_conflicts(
    status: Status,
    question: str,
    statements: Sequence[Statement],
    sources: Sequence[Offered],
    locate: Locate,
    rivals: Sequence[RivalAnswer] = (),
) -> tuple[Conflict, ...]:
    """Find passages of the sources that contradict the answer.

    Args:
        status: The status of the answer; a refusal has no conflicts.
        question: What was asked.
        statements: The answer, with the citations of each statement.
        sources: The ranked sources of the answer.
        locate: Finds the place of a quote.
        rivals: Other answers that were read beside the quoted one.

    Returns:
        At most three, in the order of the statements, each with the cited passage and
        the first one that conflicts with it; then the rivals.
    """
    conflicts: dict[frozenset[tuple[str, int]], Conflict] = {}
    for statement in statements if status in _ANSWERED else ():
        for citation in statement.citations:
            for one, other, reason in _conflicts_of(question, citation, sources):
                places = frozenset(
                    (p.where.source.node_id, p.sentence.start) for p in (one, other)
                )
                quotes = _quote(one, locate), _quote(other, locate)
                conflict = Conflict(
                    statement=statement.text, reason=reason, quotes=quotes
                )
                conflicts.setdefault(places, conflict)
    for rival in rivals if status in _ANSWERED else ():
        places = frozenset((c.node_id, c.start) for c in rival.claims)
        against = _conflict_with(rival, statements, sources, locate)
        if against is not None:
            conflicts.setdefault(places, against)
    return tuple(conflicts.values())[:MOST]


def _conflict_with(
    rival: RivalAnswer,
    statements: Sequence[Statement],
    sources: Sequence[Offered],
    locate: Locate,
) -> Conflict | None:
    """Return the conflict with a rival; None if its sentence is not quoted or gone."""
    by_node = {one.source.node_id: one for one in sources}
    if any(claim.node_id not in by_node for claim in rival.claims):
        return None
    first, second = (
        _quote_span(by_node[one.node_id], one.start, one.end, locate)
        for one in rival.claims
    )
    for statement in statements:
        for cited in statement.citations:
            same = cited.document_id == first.document_id
            begins, ends = first.span.start, first.span.end
            if same and cited.span.start < ends and begins < cited.span.end:
                return Conflict(
                    statement=statement.text,
                    reason=rival.reason,
                    quotes=(first, second),
                )
    return None


def _conflicts_of(
    question: str, citation: Citation, sources: Sequence[Offered]
) -> Iterator[tuple[_Passage, _Passage, str]]:
    """Return the cited sentences with conflicting sentences of other sources."""
    if citation.support not in _PROVEN:
        return
    cited = next((s for s in sources if s.source.node_id == citation.node_id), None)
    for one in _passages(cited) if cited else ():
        begin = one.where.source.span.start
        inside = (
            begin + one.sentence.start < citation.span.end
            and citation.span.start < begin + one.sentence.end
        )
        if not inside:
            continue
        for where in sources:
            if where.source.node_id == citation.node_id:
                continue
            for other in _passages(where):
                reason = _difference(question, one, other)
                if reason:
                    yield one, other, reason
                    return


def _passages(where: Offered) -> Iterator[_Passage]:
    """Return the sentences of prose sources; table rows differ by nature.

    A model's description of a picture is not the document's text.
    """
    if where.source.kind == "prose" and not where.source.generated:
        yield from (_Passage(where, one) for one in sentences(where.source.text))


def _difference(question: str, one: _Passage, other: _Passage) -> str:
    """Return what differs between two sentences; empty if nothing or too much does."""
    if not _share_stems(one.sentence, other.sentence):
        return ""
    first, second = read_claim(one.text), read_claim(other.text)
    shares = _common_share(first, other.text), _common_share(second, one.text)
    unlike = min(shares) < SAME_MATTER or max(shares) < 1
    if unlike or _is_of_another(one, other) or _lacks(question, one, other):
        return ""
    guards = _guards(first) ^ _guards(second)
    values = read_values(first), read_values(second)
    differing = [u for u in {**values[0], **values[1]} if not _have_same(u, values)]
    differences = [*compare(one.text, [other.text]), *compare(other.text, [one.text])]
    against = [d for d in differences if d.kind is Disagreement.CONTRADICTED]
    if len(differing) == 1 and guards <= BESIDE_NUMBERS:
        written = [list(own.get(differing[0], {}).values()) for own in values]
        alone = all(len(one) == 1 for one in written)
        return " or ".join(one[0] for one in written) if against and alone else ""
    if differing or not guards & TURNING or min(shares) < SAME_WORDS:
        return ""
    return against[0].reason if against else ""


def _share_stems(one: Sentence, other: Sentence) -> bool:
    """Return whether two sentences have enough common words to be compared.

    Most pairs do not, and this costs a hundredth of analysing them as claims.
    """
    longer = max(len(one.stems), len(other.stems))
    return len(one.stems & other.stems) >= SAME_STEMS * longer


def _lacks(question: str, one: _Passage, other: _Passage) -> bool:
    """Return whether only one of two sentences has a word of the question."""
    return covered_words(question, one.text) != covered_words(question, other.text)


def _have_same(unit: str, values: Sequence[Mapping[str, Mapping[str, str]]]) -> bool:
    """Return whether both sentences have the same numbers of a unit."""
    first, second = (own.get(unit, {}).keys() for own in values)
    return first == second


def _common_share(tokens: Sequence[Token], other: str) -> float:
    """Return the share of common words; 0 if a name is not among them."""
    held = read_passage(other)
    words = [t for t in tokens if _is_word(t)]
    common = [token for token in words if held.find(token)]
    strange = [t for t in words if t.role is WordRole.NAME and t not in common]
    if strange or len(common) < FEWEST_WORDS:
        return 0.0
    return len(common) / len(words)


def _is_word(token: Token) -> bool:
    is_word = token.role in (WordRole.WORD, WordRole.NAME)
    return is_word and token.written not in MONTHS and token.key[0].isalnum()


def _is_of_another(one: _Passage, other: _Passage) -> bool:
    """Return whether the sections name different classes, levels or years."""
    ours, theirs = (
        {t.key for t in read_claim(_last(p)) if any(c.isdigit() for c in t.key)}
        for p in (one, other)
    )
    return ours != theirs


def _last(passage: _Passage) -> str:
    """Return the last heading above a passage, without its number."""
    return _NUMBERING.sub("", passage.where.source.section.rpartition(" > ")[2])


def _guards(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(t.key for t in tokens if t.role is WordRole.GUARD)


def read_values(tokens: Sequence[Token]) -> dict[str, dict[str, str]]:
    """Return the numbers of a sentence by unit, each as written.

    Args:
        tokens: The sentence.

    Returns:
        For each unit, which is empty for a bare number, the numbers: as they are
        compared, and as they are written ("45": "45 days").
    """
    values: dict[str, dict[str, str]] = {}
    for at, token in enumerate(tokens):
        if token.role is WordRole.NUMBER:
            unit, number, written = _value(at, tokens)
            values.setdefault(unit, {})[number] = written
    return values


def _value(at: int, tokens: Sequence[Token]) -> tuple[str, str, str]:
    """Return the unit of a number, the number, and both as written."""
    token = tokens[at]
    after = tokens[at + 1] if token.attached and at + 1 < len(tokens) else None
    before = tokens[at - 1] if at and tokens[at - 1].attached else None
    month = next((t for t in (after, before) if t and t.written in MONTHS), None)
    if month:
        return "date", f"{token.key} {month.key}", f"{token.written} {month.written}"
    if before and not before.key[0].isalnum():
        return before.key, token.key, f"{before.written}{token.written}"
    if after and after.role is not WordRole.NUMBER:
        return after.key, token.key, f"{token.written} {after.written}"
    return "", token.key, token.written


def _quote(passage: _Passage, locate: Locate) -> Citation:
    return _quote_span(
        passage.where, passage.sentence.start, passage.sentence.end, locate
    )


def _quote_span(where: Offered, start: int, end: int, locate: Locate) -> Citation:
    match = QuoteMatch(Support.VERIFIED, 1.0, start, end)
    quote = where.source.text[start:end]
    return to_citation(ClaimMatch(where.source.label, quote, match, where), locate)
