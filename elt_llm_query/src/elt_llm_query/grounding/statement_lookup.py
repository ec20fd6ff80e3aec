"""Check whether the sources of a prompt support a statement of its answer.

A quotation, or if nothing is quoted the statement itself, is looked up: first under its
label, then elsewhere. Words around a quotation are a separate claim, and a paraphrase
must be supported by a passage; see `agreement`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from elt_llm_core.results import Support
from elt_llm_query.analysis.foreign_guards import UNKNOWN, Languages, languages_of
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.analysis.quantities import negations, numbers
from elt_llm_query.analysis.stems import words
from elt_llm_query.grounding.claim_support import (
    left_out_condition,
    may_support,
    supporting,
    verdict_on,
)
from elt_llm_query.grounding.claim_words import content_words
from elt_llm_query.grounding.opening_phrases import without_opening
from elt_llm_query.grounding.quote_match import (
    STRENGTH,
    QuoteMatch,
    check_quote,
    stands_whole,
)
from elt_llm_query.grounding.sources import Offered, match_quote
from elt_llm_query.grounding.statements import DraftStatement
from elt_llm_query.grounding.unsupported_words import (
    bare_verdict,
    odd_token,
    tells_nothing,
)

# Words from which a quotation is meaningful alone. Text around a shorter one must be in
# the same passage: 'The fine for dogs is "10 euros"'.
SELF_CONTAINED = 5
FEWEST_AROUND = 2  # content words around it that are looked up separately
FEWEST_WORDS = 4  # of a statement without a label; "20 cents" is in many sources
EVIDENCE = "\0evidence"  # the part that the quotations of a statement share
TOO_SHORT = "too short to be looked up without a label"
_STOP = re.compile(
    r"[.!?](?=\s)|[,:;]\s|\s[-\u2013\u2014]\s|\n\s*\n|\b(?:but|whereas)\b"
    # A predicate of its own: "is handed over and is not used again".
    r"|\band(?=\s+(?:is|are|was|were|has|have|may|must|shall|will|can|should)\b)"
)
_WITHIN = frozenset("'\u2019%)]-")  # a clause does not end with one of these
_ENDS = frozenset(".!?,:;")
_LIMITS = re.compile(r"\b(?:unless|except|without)\b", re.IGNORECASE)


@dataclass(frozen=True)
class ClaimMatch:
    """The lookup of one quotation or claim under one label, and its outcome."""

    label: str
    quote: str
    match: QuoteMatch
    where: Offered
    part: str = ""

    @property
    def stands(self) -> bool:
        """Return True if the source of its label contains it."""
        return self.match.stands


@dataclass(frozen=True)
class StatementCheck:
    """A statement and the outcome of its lookups.

    `leads` is true for a lead-in or heading that any answer may have, `note` is the
    reason if it was not looked up.
    """

    statement: DraftStatement
    matches: tuple[ClaimMatch, ...] = ()
    leads: bool = False
    note: str = ""

    @property
    def stands(self) -> bool:
        """Return True if its sources contain each quotation, or the claim."""
        return bool(self.matches) and _all_hold(self.matches)

    @property
    def claims(self) -> bool:
        """Return False for a lead-in, and for a short heading without a number."""
        plain = self.statement.plain
        heading = (
            self.statement.may_lead
            and len(words(plain)) < FEWEST_WORDS
            and not numbers(plain)
        )
        return not (self.leads or heading or plain.endswith(":"))

    @property
    def labels(self) -> list[str]:
        """Return the labels whose sources contain something of it, in order."""
        return list(dict.fromkeys(m.label for m in self.matches if m.stands))

    @property
    def verdict(self) -> Support:
        """Return the weakest proof that it rests on, or why it is not proven."""
        if self.stands:
            return max(
                (m.match.support for m in self.matches if m.stands),
                key=STRENGTH.index,
            )
        failed = next((m for m in self.matches if not m.stands), None)
        return failed.match.support if failed else Support.UNCITED

    @property
    def reason(self) -> str:
        """Return why it is not proven, or that a judge decided; otherwise empty."""
        if self.stands:
            return next((m.match.reason for m in self.matches if m.stands), "")
        failed = next((m for m in self.matches if not m.stands), None)
        return failed.match.reason if failed else self.note


def check_statement(
    statement: DraftStatement, sources: Sequence[Offered], question: str = ""
) -> StatementCheck:
    """Check a statement against the sources.

    Args:
        statement: A sentence or list item of a model.
        sources: The sources of its prompt.
        question: What was asked; without it "Yes" and "No" alone prove nothing.

    Returns:
        One `ClaimMatch` for each label and part; for an unlabelled claim the first
        source that contains it, or none. A lead-in claims nothing and has none.
    """
    if statement.may_lead and _leads(statement, sources):
        return StatementCheck(statement, leads=True)
    by_label = {o.source.label: o for o in sources}
    parts = _parts(statement)
    if statement.labels:
        matches = _resolve_evidence(statement, sources)
        for part in parts:
            # If no source contains the quotation, the words around it need no lookup.
            if part.quoted or _all_hold(matches):
                matches += (
                    _resolve(part, by_label[label], sources, question)
                    for label in statement.labels
                )
        return StatementCheck(statement, tuple(matches))
    if len(words(statement.plain)) < FEWEST_WORDS:
        return StatementCheck(statement, note=TOO_SHORT)
    return StatementCheck(statement, tuple(_find_unlabelled(parts, sources, question)))


def _resolve_evidence(
    statement: DraftStatement, sources: Sequence[Offered]
) -> list[ClaimMatch]:
    """Look up the quotations given with a statement; one that matches is enough.

    A quotation alone proves nothing: the statement itself is looked up as well.
    """
    by_label = {o.source.label: o for o in sources}
    matches = []
    for one in statement.evidence:
        if one.label in by_label:
            quoted = _Part(one.quote, one.quote, quoted=True)
            match = _resolve(quoted, by_label[one.label], sources, "")
            matches.append(replace(match, part=EVIDENCE))
    return matches


def shown_text(where: Offered) -> str:
    """Return all text that a source shows: its name, section, headers and text."""
    source = where.source
    parts = (source.document, source.section, where.reading, source.text)
    return "\n".join(part for part in parts if part)


@dataclass(frozen=True)
class _Part:
    """A part to look up: a quotation, the words around quotations, or the claim."""

    text: str
    claim: str
    quoted: bool = False


def _all_hold(matches: Sequence[ClaimMatch]) -> bool:
    """Return whether each part is in at least one source."""
    good = {m.part for m in matches if m.stands}
    return all(m.part in good for m in matches)


def _parts(statement: DraftStatement) -> list[_Part]:
    plain, quotes = without_opening(statement.plain), statement.quotes
    around = plain
    for quote in quotes:
        around = around.replace(quote, " ")
    parts = [_Part(quote, plain, quoted=True) for quote in quotes]
    if not parts:
        return [_Part(plain, plain)]
    if not words(around) or tells_nothing(around):
        return parts
    short = any(len(words(quote)) < SELF_CONTAINED for quote in quotes)
    whole = short or content_words(around) < FEWEST_AROUND
    return [*parts, _Part(plain if whole else around, plain)]


def _leads(statement: DraftStatement, sources: Sequence[Offered]) -> bool:
    """Return True for a lead-in or heading that claims nothing or is a source's."""
    plain = statement.plain.rstrip(":").strip()
    if not plain or tells_nothing(plain):
        return True
    headings = [
        part.strip()
        for o in sources
        for part in (o.source.document, *o.source.section.split(">"))
    ]
    known = normalise(plain).text in {normalise(h).text for h in headings}
    leads = statement.plain.endswith(":")
    return known or (leads and any(stands_whole(plain, shown_text(o)) for o in sources))


def _find_unlabelled(
    parts: Sequence[_Part], sources: Sequence[Offered], question: str
) -> list[ClaimMatch]:
    for source in sources:
        matches = [_match(part, source, question) for part in parts]
        if all(m.stands for m in matches):
            label = source.source.label
            return [ClaimMatch(label, "", m, source) for m in matches]
    return []


def _resolve(
    part: _Part, named: Offered, sources: Sequence[Offered], question: str
) -> ClaimMatch:
    """Look the part up in the named source, then in the others."""
    label = named.source.label
    verdict = "" if part.quoted else bare_verdict(part.text)
    if verdict:
        match = verdict_on(question, named, says_yes=verdict == "yes")
        match = _as_said(match, named)
        return ClaimMatch(label, part.text, match, named, part.text)
    match = _match(part, named, question)
    if match.stands:
        return ClaimMatch(label, part.text, match, named, part.text)
    for other in sources:
        elsewhere = QuoteMatch(Support.UNCITED, 0.0)
        if other is not named and (part.quoted or may_support(part.text, other)):
            elsewhere = _match(part, other, question)
        if elsewhere.stands:
            reason = f"cited {label}, but found in {other.source.label}"
            wrong = elsewhere._replace(support=Support.MISATTRIBUTED, reason=reason)
            return ClaimMatch(label, part.text, wrong, other, part.text)
    return ClaimMatch(label, part.text, match, named, part.text)


def _as_said(match: QuoteMatch, where: Offered) -> QuoteMatch:
    """Mark a match in a model's description of a picture as generated."""
    if match.stands and where.source.generated:
        return match._replace(support=Support.GENERATED)
    return match


def _match(part: _Part, where: Offered, question: str) -> QuoteMatch:
    # The words around a quotation may leave out a condition that the quotation states.
    asked = question if part.text == part.claim else f"{question} {part.claim}"
    return _as_said(_match_said(part, where, asked), where)


def _match_said(part: _Part, where: Offered, asked: str) -> QuoteMatch:
    if odd := odd_token(part.text, shown_text(where)):
        reason = f"{odd!r} is not in the source"
        return QuoteMatch(Support.UNSUPPORTED, 0.0, reason=reason)
    match = _match_words(part, where)
    whole = part.quoted or _begins_clause(match, where.source.text)
    if match.support is Support.CONTRADICTED or part.quoted:
        return match
    if match.stands and whole:
        span = match.start, match.end
        opener = left_out_condition(part.text, span, where, asked)
        reason = f"{opener!r} is left out"
        return QuoteMatch(Support.CONTRADICTED, 0.0, reason=reason) if opener else match
    # "Dogs are welcome" is part of "guide dogs are welcome" but has another meaning.
    supported = supporting(part.text, where, asked)
    return match if match.stands and supported.stands else supported


def _match_words(part: _Part, where: Offered) -> QuoteMatch:
    """Match the exact words in a source, with the same "not" around them."""
    text, source = part.text, where.source.text
    match = match_quote(text, where)
    if match.stands and not same_polarity(
        part.claim,
        text,
        source,
        (match.start, match.end),
        languages_of(source, where.language),
    ):
        return QuoteMatch(Support.CONTRADICTED, 0.0, reason="a negation differs")
    if not match.stands and where.reading and check_quote(text, where.reading).stands:
        # Shown with its headers; the row itself is the verbatim quote.
        return QuoteMatch(Support.NORMALISED, 1.0, 0, len(source))
    return match


def _begins_clause(match: QuoteMatch, text: str) -> bool:
    """Return whether no word directly precedes the match."""
    before = text[: match.start].rstrip()
    return not before or not (before[-1].isalnum() or before[-1] in _WITHIN)


def same_polarity(
    claim: str,
    quote: str,
    text: str,
    span: tuple[int, int],
    languages: Languages = UNKNOWN,
) -> bool:
    """Return False if claim and source differ in a "not" around a quote.

    It compares the clause of the claim that contains the quote with the clause of the
    source that contains `span`.
    """
    place = claim.find(quote)
    span_of_quote = (place, place + len(quote)) if place >= 0 else (0, len(claim))
    clauses = _clause(claim, span_of_quote), _clause(text, span)
    ours, theirs = (_is_negated(clause, languages) for clause in clauses)
    return ours == theirs


def _clause(text: str, span: tuple[int, int]) -> str:
    """Widen the span to the punctuation around it."""
    before = [m.end() for m in _STOP.finditer(text, 0, span[0])]
    start = before[-1] if before else 0
    if text[span[1] - 1] in _ENDS:
        return text[start : span[1]]
    after = _STOP.search(text, span[1])
    return text[start : after.start() if after else len(text)]


def _is_negated(text: str, languages: Languages) -> bool:
    # "Unless" and "without" limit a statement; they do not negate it.
    return bool(negations(_LIMITS.sub(" ", text), languages))
