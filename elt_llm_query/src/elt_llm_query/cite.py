"""From an answer and its sources to citations: each claim looked up, none believed.

The order of the checks: is the label known; does the quotation stand in that source,
or, where nothing is quoted, the claim itself, without a "not" more or less around it;
else does a sentence of the source hold its words, with every number and negation the
same. What stands elsewhere is misattributed, what stands nowhere fabricated (a
quotation) or uncited (a claim).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from elt_llm_core.results import Citation, RemovedClaim, Status, Support
from elt_llm_query.labels import parse_labels, remove_labels
from elt_llm_query.prompts import REFUSAL
from elt_llm_query.rows import TextOf, is_row, row_said
from elt_llm_query.sources import Locate, Offered
from elt_llm_query.statements import Statement, statements
from elt_llm_query.support import same_polarity, supporting
from elt_llm_query.synthesizers.spans import Claim
from elt_llm_query.verify import QuoteMatch, check_quote

Policy = Literal["strict", "flag", "lenient"]

UNVERIFIED = "[unverified]"
TOO_SHORT = f"{Support.UNCITED.value}: too short to be looked up without a label"
NOTHING_STANDS = "No statement of the generated answer stands in the sources."
_OVERVIEW = {True: Status.ANSWERED, False: Status.PARTIAL}


@dataclass(frozen=True)
class Checked:
    """An answer after the checks."""

    answer: str
    status: Status
    citations: tuple[Citation, ...] = ()
    removed: tuple[RemovedClaim, ...] = ()


@dataclass(frozen=True)
class Found:
    """Where one quotation or claim was looked up under one label, and the outcome."""

    label: str
    quote: str
    match: QuoteMatch
    where: Offered

    @property
    def stands(self) -> bool:
        """True where it stands in the source its label names."""
        return self.match.stands


@dataclass(frozen=True)
class Told:
    """What is looked up: a quotation of a claim, or the claim itself."""

    text: str
    claim: str

    @property
    def quoted(self) -> bool:
        """True for a quotation."""
        return self.text != self.claim


def cite_claims(
    answer: str,
    claims: Iterable[Claim],
    sources: Sequence[Offered],
    locate: Locate,
    text_of: TextOf,
) -> Checked:
    """Citations of verbatim claims, each looked up like any other; none is a refusal.

    The quote of a table row is the row as it stands. The answer shows it with those of
    its headers that stand in the document, whose text `text_of` tells by its id.
    """
    by_label = {o.source.label: o for o in sources}
    found, removed = [], []
    for claim in claims:
        where = by_label[claim.label]
        text = where.source.text
        quote = text[claim.start : claim.end]
        match = check_quote(quote, text)
        if not match.stands:
            reason = match.support.value
            removed.append(RemovedClaim(text=claim.text, reason=reason))
            answer = answer.replace(f"{claim.text} [{claim.label}]", "", 1)
            continue
        if text[match.start : match.end] == quote:  # which may stand there twice
            match = match._replace(start=claim.start, end=claim.end)
        if is_row(where) and not claim.derived:
            said = row_said(where, text_of(where.source.document_id))
            answer = answer.replace(claim.text, said, 1)
        found.append(_citation(Found(claim.label, quote, match, where), locate))
    status = Status.ANSWERED if found else Status.INSUFFICIENT
    if removed:
        answer = answer.strip() or NOTHING_STANDS
        status = Status.PARTIAL if found else Status.VALIDATION_FAILED
    return Checked(answer, status, tuple(found), tuple(removed))


def cite_answer(
    answer: str, sources: Sequence[Offered], locate: Locate, policy: Policy
) -> Checked:
    """A generated answer with every claim looked up, under the policy."""
    parsed = parse_labels(answer, [o.source.label for o in sources])
    unknown = [RemovedClaim(text=x, reason="unknown label") for x in parsed.removed]
    refused = REFUSAL.rstrip(".").lower() in parsed.text.lower()
    told = [s for s in statements(parsed.text) if not _is_refusal(s)]
    looked_up = [(s, _look_up(s, sources)) for s in told]
    claimed = [(s, found) for s, found in looked_up if not s.frame]
    good = sum(1 for _, found in claimed if any(f.stands for f in found))
    if refused and not good:
        return Checked(parsed.text, Status.INSUFFICIENT, (), tuple(unknown))
    failed = [_removed(s, f) for s, f in claimed if not any(x.stands for x in f)]
    if not claimed:
        failed = [RemovedClaim(text=s.plain, reason=TOO_SHORT) for s in told if s.plain]
    text = _rebuilt(looked_up, policy)
    if policy == "strict":
        text = text if good else NOTHING_STANDS
    shown = [f for _, found in claimed for f in found if f.stands or policy != "strict"]
    citations = tuple(dict.fromkeys(_citation(f, locate) for f in shown))
    status = _OVERVIEW[not failed and not refused] if good else Status.VALIDATION_FAILED
    removed = unknown + (failed if policy == "strict" else [])
    return Checked(text, status, citations, tuple(removed))


def _is_refusal(statement: Statement) -> bool:
    return REFUSAL.rstrip(".").lower() in statement.plain.lower()


def _look_up(statement: Statement, sources: Sequence[Offered]) -> list[Found]:
    """One outcome per label and quotation.

    Of an unlabelled claim it is the first source that holds it, or nothing.
    """
    if statement.frame:
        return []
    by_label = {o.source.label: o for o in sources}
    plain = statement.plain
    told = [Told(q, plain) for q in statement.quotes] or [Told(plain, plain)]
    found = [
        _resolve(one, by_label[label], sources)
        for label in statement.labels
        for one in told
    ]
    if found:
        return found
    for source in sources:
        matches = [_match(one, source) for one in told]
        if all(m.stands for m in matches):
            return [Found(source.source.label, "", m, source) for m in matches]
    return []


def _resolve(told: Told, named: Offered, sources: Sequence[Offered]) -> Found:
    """What is told in the source that is named, else in another, else nowhere."""
    label, text = named.source.label, told.text
    match = _match(told, named)
    if match.stands:
        return Found(label, text, match, named)
    for other in sources:
        elsewhere = _match(told, other)
        if elsewhere.stands:
            wrong = elsewhere._replace(
                support=Support.MISATTRIBUTED,
                reason=f"cited {label}, stands in {other.source.label}",
            )
            return Found(label, text, wrong, other)
    if not told.quoted:
        match = match._replace(support=Support.UNCITED)
    return Found(label, text, match, named)


def _match(told: Told, where: Offered) -> QuoteMatch:
    text, source = told.text, where.source.text
    match = check_quote(text, source)
    if match.stands:
        if same_polarity(told.claim, text, source, (match.start, match.end)):
            return match
        return QuoteMatch(Support.UNCITED, 0.0, reason="a negation differs")
    if where.reading and check_quote(text, where.reading).stands:
        # Shown with its headers; the row itself is the verbatim quote.
        return QuoteMatch(Support.NORMALISED, 1.0, 0, len(source))
    return match if told.quoted else supporting(text, source, where.reading)


def _citation(found: Found, locate: Locate) -> Citation:
    where, match = found.where, found.match
    source = where.source
    start, end = (match.start, match.end) if match.end else (0, len(source.text))
    place = locate(where, start, end)
    span = source.span.model_copy(
        update={
            "start": source.span.start + start,
            "end": source.span.start + end,
            "page": place.page,
        }
    )
    return Citation(
        label=found.label,
        document=source.document,
        document_id=source.document_id,
        collection=source.collection,
        page=place.page,
        section=source.section,
        quote=source.text[start:end] if match.end else found.quote,
        support=match.support,
        score=match.score,
        node_id=source.node_id,
        span=span,
        boxes=place.boxes,
    )


def _removed(statement: Statement, found: Sequence[Found]) -> RemovedClaim:
    if not found:
        return RemovedClaim(text=statement.plain, reason=Support.UNCITED.value)
    first = found[0].match
    detail = f": {first.reason}" if first.reason else ""
    return RemovedClaim(text=statement.plain, reason=f"{first.support.value}{detail}")


def _rebuilt(told: Sequence[tuple[Statement, list[Found]]], policy: Policy) -> str:
    """The statements that stay, in order; a lead-in stays with what follows it."""
    kept: list[Statement] = []
    for statement, found in reversed(told):
        stands = any(f.stands for f in found)
        if statement.frame:
            if kept or policy != "strict":
                kept.append(statement)
        elif stands:
            kept.append(_relabelled(statement, found, policy))
        elif policy == "flag":
            kept.append(replace(statement, text=f"{statement.text} {UNVERIFIED}"))
        elif policy == "lenient":
            kept.append(statement)
    return "".join(s.gap + s.text for s in reversed(kept)).strip()


def _relabelled(
    statement: Statement, found: Sequence[Found], policy: Policy
) -> Statement:
    """With the labels that stand; an unlabelled one gets the label of its source."""
    good = list(dict.fromkeys(f.label for f in found if f.stands))
    if not statement.labels:
        added = "".join(f" [{label}]" for label in good)
        return replace(statement, text=statement.text + added)
    if policy != "strict":
        return statement
    bad = [label for label in statement.labels if label not in good]
    return replace(statement, text=remove_labels(statement.text, bad))
