"""Whether the sources that a model was shown contain its statement.

A quotation is looked up, or where nothing is quoted the claim itself, first under the
label it carries, then elsewhere. Words around a quotation, and paraphrases,
must be known to the source too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from elt_llm_core.results import Support
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.grounding.claims import Statement, same_polarity, supporting
from elt_llm_query.grounding.quote_match import QuoteMatch, check_quote, stands_whole
from elt_llm_query.grounding.sources import Offered
from elt_llm_query.grounding.unsupported_words import surplus, tells_nothing


@dataclass(frozen=True)
class ClaimMatch:
    """Where one quotation or claim was looked up under one label, and the outcome."""

    label: str
    quote: str
    match: QuoteMatch
    where: Offered
    told: str = ""

    @property
    def stands(self) -> bool:
        """True if the source that its label names contains it."""
        return self.match.stands


@dataclass(frozen=True)
class ClaimPart:
    """What is looked up: a quotation of a claim, or the claim itself.

    `beside` is what the claim says around its quotations.
    """

    text: str
    claim: str
    beside: str = ""

    @property
    def quoted(self) -> bool:
        """True for a quotation."""
        return self.text != self.claim


@dataclass(frozen=True)
class StatementCheck:
    """A statement and what was found of it.

    `leads` is true for a lead-in or heading that any answer may have.
    """

    statement: Statement
    found: tuple[ClaimMatch, ...] = ()
    leads: bool = False

    @property
    def stands(self) -> bool:
        """True if each quotation, or the claim, is in a source of its labels."""
        good = {f.told for f in self.found if f.stands}
        return bool(self.found) and all(f.told in good for f in self.found)

    @property
    def labels(self) -> list[str]:
        """The labels whose sources contain something of it, in order."""
        return list(dict.fromkeys(f.label for f in self.found if f.stands))


def look_up(statement: Statement, sources: Sequence[Offered]) -> StatementCheck:
    """What the sources say of a statement.

    Args:
        statement: A sentence or list item of a model.
        sources: The sources of its prompt.

    Returns:
        One `ClaimMatch` for each label and quotation; of an unlabelled claim the first
        source that holds it, or none. A frame claims nothing and has none.
    """
    if statement.frame:
        return StatementCheck(statement, leads=_may_lead(statement, sources))
    return StatementCheck(statement, tuple(_look_up_parts(statement, sources)))


def _may_lead(statement: Statement, sources: Sequence[Offered]) -> bool:
    """True for a lead-in or heading that claims nothing, or that a source has."""
    plain = statement.plain.rstrip(":").strip()
    if not plain or tells_nothing(plain):
        return True
    leads = statement.plain.endswith(":")
    headings = [
        part.strip()
        for o in sources
        for part in (o.source.document, *o.source.section.split(">"))
    ]
    known = normalise(plain).text in {normalise(h).text for h in headings}
    return known or (leads and any(stands_whole(plain, everything(o)) for o in sources))


def _look_up_parts(
    statement: Statement, sources: Sequence[Offered]
) -> list[ClaimMatch]:
    by_label = {o.source.label: o for o in sources}
    claims = _claim_parts(statement)
    lookups = [
        _resolve(one, by_label[label], sources)
        for label in statement.labels
        for one in claims
    ]
    if lookups:
        return lookups
    for source in sources:
        matches = [_match(one, source) for one in claims]
        if all(m.stands for m in matches):
            label = source.source.label
            return [ClaimMatch(label, "", m, source) for m in matches]
    return []


def _claim_parts(statement: Statement) -> list[ClaimPart]:
    plain = statement.plain
    quotes = statement.quotes
    beside = plain
    for quote in quotes:
        beside = beside.replace(quote, " ")
    return [ClaimPart(q, plain, beside) for q in quotes] or [ClaimPart(plain, plain)]


def _resolve(
    claim: ClaimPart, named: Offered, sources: Sequence[Offered]
) -> ClaimMatch:
    """The claim in the source that is named, else in another, else in none."""
    label, text = named.source.label, claim.text
    match = _match(claim, named)
    if match.stands:
        return ClaimMatch(label, text, match, named, text)
    for other in sources:
        elsewhere = _match(claim, other)
        if elsewhere.stands:
            wrong = elsewhere._replace(
                support=Support.MISATTRIBUTED,
                reason=f"cited {label}, stands in {other.source.label}",
            )
            return ClaimMatch(label, text, wrong, other, text)
    if not claim.quoted:
        match = match._replace(support=Support.UNCITED)
    return ClaimMatch(label, text, match, named, text)


def _match(claim: ClaimPart, where: Offered) -> QuoteMatch:
    """Its match in the source, unless the words around it are not supported."""
    match = _words_match(claim, where)
    if not match.stands:
        return match
    words = claim.beside
    if not words and match.support is Support.FUZZY:
        words = claim.text
    more = surplus(words, everything(where), least=1 if claim.quoted else 2)
    return QuoteMatch(Support.UNCITED, 0.0, reason=more) if more else match


def _words_match(claim: ClaimPart, where: Offered) -> QuoteMatch:
    text, source = claim.text, where.source.text
    match = check_quote(text, source)
    if match.stands:
        if same_polarity(claim.claim, text, source, (match.start, match.end)):
            return match
        return QuoteMatch(Support.UNCITED, 0.0, reason="a negation differs")
    if where.reading and check_quote(text, where.reading).stands:
        # Shown with its headers; the row itself is the verbatim quote.
        return QuoteMatch(Support.NORMALISED, 1.0, 0, len(source))
    return match if claim.quoted else supporting(text, source, where.reading)


def everything(where: Offered) -> str:
    """All that a source shows of itself: its name, section, headers and text."""
    source = where.source
    parts = (source.document, source.section, where.reading, source.text)
    return "\n".join(part for part in parts if part)
