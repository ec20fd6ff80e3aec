"""From an answer and its sources to citations: each claim looked up, none believed.

The order of the checks: is the label known; does that source contain the quotation,
or, where nothing is quoted, the claim itself, without a "not" more or less around it;
else does a sentence of the source hold its words, with every number and negation the
same. Words around a quotation, and paraphrases, must be known to the source
too. What another source contains is misattributed, what none contains fabricated (a
quotation) or uncited (a claim).

Under the policy `strict` nothing of a model is shown that these checks did not pass. A
refusal is our own sentence, whatever the model wrote around its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from elt_llm_core.results import Citation, RemovedClaim, Status, Support
from elt_llm_core.store import Store
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.grounding.claim import (
    CLAIMS_KEY,
    UNSERVED_KEY,
    WRITTEN_BY_KEY,
    Claim,
)
from elt_llm_query.grounding.claims import Statement, statements
from elt_llm_query.grounding.labels import escape_labels, parse_labels, remove_labels
from elt_llm_query.grounding.plain_text import plain_text
from elt_llm_query.grounding.quote_match import check_quote
from elt_llm_query.grounding.sources import (
    Locate,
    Offered,
    TextOf,
    is_row,
    locator,
    row_said,
    texts,
)
from elt_llm_query.grounding.statement_lookup import ClaimMatch, StatementCheck, look_up
from elt_llm_query.prompts import REFUSAL

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


def cite_claims(
    answer: str,
    claims: Iterable[Claim],
    sources: Sequence[Offered],
    locate: Locate,
    text_of: TextOf,
) -> Checked:
    """Citations of verbatim claims, each looked up like any other; none is a refusal.

    The quote of a table row is the row verbatim. The answer shows it with those of
    its headers that the document contains; `text_of` returns its text by its id.
    """
    by_label = {o.source.label: o for o in sources}
    found_claims, removed = [], []
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
        if text[match.start : match.end] == quote:  # the text may contain it twice
            match = match._replace(start=claim.start, end=claim.end)
        wording = claim.text
        if is_row(where) and not claim.derived:
            wording = row_said(where, text_of(where.source.document_id))
        answer = answer.replace(claim.text, escape_labels(wording), 1)
        found_claims.append(
            _citation(ClaimMatch(claim.label, quote, match, where), locate)
        )
    status = Status.ANSWERED if found_claims else Status.INSUFFICIENT
    if removed:
        answer = answer.strip() or NOTHING_STANDS
        status = Status.PARTIAL if found_claims else Status.VALIDATION_FAILED
    return Checked(answer, status, tuple(found_claims), tuple(removed))


def cite_answer(
    answer: str, sources: Sequence[Offered], locate: Locate, policy: Policy
) -> Checked:
    """A generated answer with every claim looked up, under the policy.

    Args:
        answer: What the model wrote.
        sources: The sources of its prompt, with their labels.
        locate: Finds the place of a quote.
        policy: What becomes of a statement that is not proved.

    Returns:
        The answer as plain text. Under `strict` it holds statements that are proved, or
        one fixed sentence of ours.
    """
    parsed = parse_labels(plain_text(answer), [o.source.label for o in sources])
    unknown = [RemovedClaim(text=x, reason="unknown label") for x in parsed.removed]
    refused = _refuses(parsed.text)
    written = list(statements(parsed.text))
    kept = _keep_statements(written, [not _is_refusal(s) for s in written])
    outcomes = [look_up(s, sources) for s in kept]
    claimed = [one for one in outcomes if not one.statement.frame]
    good = any(one.stands for one in claimed)
    failed = [_to_removed(one) for one in claimed if not one.stands]
    if not claimed:
        failed = [RemovedClaim(text=s.plain, reason=TOO_SHORT) for s in kept if s.plain]
    text = _rebuild(outcomes, policy)
    if not good:
        text = _refusal_text(text, policy, refused=refused)
    shown = [
        f
        for one in claimed
        for f in one.found
        if policy != "strict" or (f.stands and one.stands)
    ]
    citations = tuple(dict.fromkeys(_citation(f, locate) for f in shown))
    if good:
        status = _OVERVIEW[not failed and not refused]
    else:
        status = Status.INSUFFICIENT if refused else Status.VALIDATION_FAILED
    removed = unknown + (failed if policy == "strict" else [])
    return Checked(text, status, citations, tuple(removed))


def _refusal_text(text: str, policy: Policy, *, refused: bool) -> str:
    """What is shown if no statement is proved; a refusal is our own sentence."""
    ours = REFUSAL if refused else NOTHING_STANDS
    if policy == "strict":
        return ours
    return "\n\n".join(part for part in (REFUSAL if refused else "", text) if part)


def _refuses(text: str) -> bool:
    return normalise(REFUSAL.rstrip(".")).text in normalise(text).text


def _is_refusal(statement: Statement) -> bool:
    """True for our sentence alone; anything added to it is a claim."""
    plain = normalise(statement.plain).text.strip(" .!\"'")
    return plain == normalise(REFUSAL).text.strip(" .")


def _citation(lookup: ClaimMatch, locate: Locate) -> Citation:
    where, match = lookup.where, lookup.match
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
        label=lookup.label,
        document=source.document,
        document_id=source.document_id,
        collection=source.collection,
        page=place.page,
        section=source.section,
        quote=source.text[start:end] if match.end else lookup.quote,
        support=match.support,
        score=match.score,
        node_id=source.node_id,
        span=span,
        boxes=place.boxes,
        reading_order=source.reading_order,
    )


def _to_removed(one: StatementCheck) -> RemovedClaim:
    plain = one.statement.plain
    if not one.found:
        return RemovedClaim(text=plain, reason=Support.UNCITED.value)
    first = next(f for f in one.found if not f.stands).match
    detail = f": {first.reason}" if first.reason else ""
    return RemovedClaim(text=plain, reason=f"{first.support.value}{detail}")


def _rebuild(outcomes: Sequence[StatementCheck], policy: Policy) -> str:
    """The statements that stay, in order; a lead-in stays with what follows it."""
    shown: list[Statement] = []
    keeps: list[bool] = []
    for one in reversed(outcomes):
        statement, keep = one.statement, True
        if statement.frame:
            keep = policy != "strict" or (any(keeps) and one.leads)
        elif one.stands:
            statement = _with_good_labels(one, policy)
        elif policy == "flag":
            statement = replace(statement, text=f"{statement.text} {UNVERIFIED}")
        else:
            keep = policy == "lenient"
        shown.append(statement)
        keeps.append(keep)
    kept = _keep_statements(shown[::-1], keeps[::-1])
    return "".join(s.gap + s.text for s in kept).strip()


def _keep_statements(
    all_statements: Sequence[Statement], keeps: Sequence[bool]
) -> list[Statement]:
    """Return the statements to keep; a gap outlives the statement it stood before.

    Without it two statements that were paragraphs of their own would run together.
    """
    kept: list[Statement] = []
    gap = ""
    for statement, keep in zip(all_statements, keeps, strict=True):
        gap = max(gap, statement.gap, key=len)
        if keep:
            kept.append(replace(statement, gap=gap))
            gap = ""
    return kept


def _with_good_labels(one: StatementCheck, policy: Policy) -> Statement:
    """With the proved labels; an unlabelled one gets the label of its source."""
    statement, good = one.statement, one.labels
    if not statement.labels:
        added = "".join(f" [{label}]" for label in good)
        return replace(statement, text=statement.text + added)
    if policy != "strict":
        return statement
    bad = [label for label in statement.labels if label not in good]
    return replace(statement, text=remove_labels(statement.text, bad))


NOTHING_FOUND = "Nothing was found in the collections for this question."


def check_answer(
    response: Any, sources: Sequence[Offered], store: Store, policy: Policy
) -> Checked:
    """The checked answer of a LlamaIndex response over `sources`."""
    if not sources:
        return Checked(NOTHING_FOUND, Status.NO_SOURCES)
    metadata = response.metadata or {}
    answer, locate = str(response), locator(store)
    if metadata.get(WRITTEN_BY_KEY, True) is False and CLAIMS_KEY in metadata:
        claims = metadata[CLAIMS_KEY]
        checked = cite_claims(answer, claims, sources, locate, texts(store))
        if UNSERVED_KEY in metadata and checked.status is Status.ANSWERED:
            # Passages that are shown because nothing could pick an answer are none.
            return replace(checked, status=Status.PARTIAL)
        return checked
    return cite_answer(answer, sources, locate, policy)
