"""Check every statement of an answer against its sources.

The unit of proof is the statement. The order of the checks: is the label known; does
that source contain the quotation or, if nothing is quoted, the statement itself,
without an additional or missing "not" around it; otherwise does a passage of a few
sentences support it, with every number, name, negation, duty and quantity the same.
Words around a quotation are a claim of their own. A statement that only another source
contains is misattributed.

Under the policy `strict` no text of a model is shown that did not pass these checks. A
refusal is a fixed sentence of the program, whatever else the model wrote.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from elt_llm_core.results import Citation, RemovedClaim, Statement, Status, Support
from elt_llm_core.store import Store
from elt_llm_query.analysis.normalise import normalise
from elt_llm_query.grounding.claim import (
    CLAIMS_KEY,
    STATEMENTS_KEY,
    UNSERVED_KEY,
    WRITTEN_BY_KEY,
    Claim,
)
from elt_llm_query.grounding.labels import escape_labels, parse_labels, remove_labels
from elt_llm_query.grounding.plain_text import plain_text
from elt_llm_query.grounding.quote_match import STRENGTH, check_quote
from elt_llm_query.grounding.sources import (
    Locate,
    Offered,
    TextOf,
    is_row,
    locator,
    row_as_text,
    texts,
    without_references,
)
from elt_llm_query.grounding.statement_lookup import (
    ClaimMatch,
    StatementCheck,
    check_statement,
)
from elt_llm_query.grounding.statements import DraftStatement, split_statements
from elt_llm_query.prompts import NO_SURE_ANSWER, REFUSAL

Policy = Literal["strict", "flag", "lenient"]
Confirm = Callable[[Sequence[StatementCheck]], list[StatementCheck]]

UNVERIFIED = "[unverified]"
NOTHING_STANDS = "No statement of the generated answer stands in the sources."
NOTHING_WRITTEN = "The model gave an empty answer."
NOTHING_FOUND = "Nothing was found in the collections for this question."
_NO_DATA = re.compile(r"\[insufficient data\b[^\]]*\]")  # a mark that models recognise
_LABELS = re.compile(r"(?:\[[SF]\d+\])+")


@dataclass(frozen=True)
class Checked:
    """An answer after the checks."""

    answer: str
    status: Status
    statements: tuple[Statement, ...] = ()
    citations: tuple[Citation, ...] = ()
    removed: tuple[RemovedClaim, ...] = ()


@dataclass(frozen=True)
class _Piece:
    """A statement that is shown, and the white space before it."""

    gap: str
    text: str
    verdict: Support
    reason: str = ""
    citations: tuple[Citation, ...] = ()


def check_answer(
    response: Any,
    sources: Sequence[Offered],
    store: Store,
    policy: Policy,
    question: str = "",
    confirm: Confirm = list,
) -> Checked:
    """Return the checked answer of a LlamaIndex response over `sources`.

    Args:
        response: The response; its metadata records its author and its quotes.
        sources: The sources of its prompt, with their labels.
        store: The data root, for pages and texts.
        policy: What happens to a statement that is not proved.
        question: What was asked.
        confirm: A second check of statements that a model wrote.
    """
    if not sources:
        return _assemble([_notice(NOTHING_FOUND)], Status.NO_SOURCES, ())
    metadata = response.metadata or {}
    # LlamaIndex writes an empty response as "None".
    answer = str(response) if getattr(response, "response", response) else ""
    locate = locator(store)
    if metadata.get(WRITTEN_BY_KEY, True) is False and CLAIMS_KEY in metadata:
        claims = metadata[CLAIMS_KEY]
        checked = cite_claims(answer, claims, sources, locate, texts(store))
        if UNSERVED_KEY in metadata and checked.status is Status.ANSWERED:
            # Passages that are shown because no answer could be chosen are no answer.
            return replace(checked, status=Status.PARTIAL)
        return checked
    if STATEMENTS_KEY in metadata:
        written = metadata[STATEMENTS_KEY]
        return cite_statements(written, sources, locate, policy, question, confirm)
    return cite_answer(answer, sources, locate, policy, question, confirm)


def cite_answer(
    answer: str,
    sources: Sequence[Offered],
    locate: Locate,
    policy: Policy,
    question: str = "",
    confirm: Confirm = list,
) -> Checked:
    """Return a generated answer with every statement looked up, under the policy.

    Args:
        answer: The model's text.
        sources: The sources of its prompt, with their labels.
        locate: Finds the place of a quote.
        policy: What happens to a statement that is not proved.
        question: What was asked; a bare "No" is checked against it.
        confirm: A second check; by default none.

    Returns:
        The answer as plain text, and its statements. Under `strict` all are proved, or
        the answer is one fixed sentence.
    """
    if not answer.strip():
        return _assemble([_notice(NOTHING_WRITTEN)], Status.VALIDATION_FAILED, ())
    parsed = parse_labels(plain_text(answer), [o.source.label for o in sources])
    drafts = split_statements(parsed.text)
    refused = _refuses(parsed.text)
    written = _Written(drafts, refused, parsed.removed)
    checks = confirm(_look_up_all(written, sources, question))
    return _cite_written(written, checks, locate, policy)


def cite_statements(
    statements: Sequence[DraftStatement],
    sources: Sequence[Offered],
    locate: Locate,
    policy: Policy,
    question: str = "",
    confirm: Confirm = list,
) -> Checked:
    """Return a model's statements with their quotations, each looked up.

    Args:
        statements: In order; an empty list is a refusal.
        sources: The sources of their prompt, with their labels.
        locate: Finds the place of a quote.
        policy: What happens to a statement that is not proved.
        question: What was asked; a bare "No" is checked against it.
        confirm: A second check; by default none.
    """
    known = [o.source.label for o in sources]
    drafts: list[DraftStatement] = []
    removed: dict[str, None] = {}
    for one in statements:
        parsed = parse_labels(one.text, known)
        removed.update(dict.fromkeys(parsed.removed))
        drafts.append(replace(one, text=parsed.text))
    refused = not drafts or any(_is_refusal(one) for one in drafts)
    written = _Written(drafts, refused, tuple(removed))
    checks = confirm(_look_up_all(written, sources, question))
    return _cite_written(written, checks, locate, policy)


@dataclass(frozen=True)
class _Written:
    """A model's statements, whether it refused, and labels without a source."""

    statements: Sequence[DraftStatement]
    refused: bool
    unknown: tuple[str, ...]


def _look_up_all(
    written: _Written, sources: Sequence[Offered], question: str
) -> list[StatementCheck]:
    """Look up every statement except refusals."""
    keeps = [not _is_refusal(s) for s in written.statements]
    kept = _keep_gaps(written.statements, keeps)
    return [check_statement(statement, sources, question) for statement in kept]


def _cite_written(
    written: _Written,
    checks: Sequence[StatementCheck],
    locate: Locate,
    policy: Policy,
) -> Checked:
    unknown = [RemovedClaim(text=x, reason="unknown label") for x in written.unknown]
    refused = written.refused
    claimed = [one for one in checks if one.claims]
    good = any(one.stands for one in claimed)
    gone = [_to_removed(one) for one in checks if not (one.leads or one.stands)]
    pieces = _shown_pieces(checks, policy, locate)
    if not good and policy == "strict":
        pieces = [_notice(NO_SURE_ANSWER if refused else NOTHING_STANDS)]
    elif not good and refused:
        gap = "\n\n"
        pieces = [
            _notice(NO_SURE_ANSWER),
            *(replace(p, gap=p.gap or gap) for p in pieces),
        ]
    if good:
        complete = not refused and all(one.stands for one in claimed)
        status = Status.ANSWERED if complete else Status.PARTIAL
    else:
        status = Status.INSUFFICIENT if refused else Status.VALIDATION_FAILED
    return _assemble(pieces, status, unknown + (gone if policy == "strict" else []))


def cite_claims(
    answer: str,
    claims: Iterable[Claim],
    sources: Sequence[Offered],
    locate: Locate,
    text_of: TextOf,
) -> Checked:
    """Return verbatim claims, each looked up; an empty list is a refusal.

    The quote of a table row is the row verbatim. The answer shows it with those of
    its headers that the document contains; `text_of` returns its text by its id.
    """
    by_label = {o.source.label: o for o in sources}
    proven: list[tuple[Claim, str, Citation]] = []
    removed = []
    for claim in claims:
        where = by_label[claim.label]
        text = where.source.text
        quote = text[claim.start : claim.end]
        match = check_quote(quote, text)
        if not match.stands:
            reason, verdict = match.support.value, match.support
            removed.append(
                RemovedClaim(text=claim.text, reason=reason, verdict=verdict)
            )
            answer = answer.replace(f"{claim.text} [{claim.label}]", "", 1)
            continue
        if text[match.start : match.end] == quote:  # the text may contain it twice
            match = match._replace(start=claim.start, end=claim.end)
        wording = claim.text
        if is_row(where) and not claim.derived:
            wording = row_as_text(where, text_of(where.source.document_id))
        wording = escape_labels(without_references(wording, where))
        answer = answer.replace(claim.text, wording, 1)
        citation = to_citation(ClaimMatch(claim.label, quote, match, where), locate)
        proven.append((claim, wording, citation))
    status = Status.ANSWERED if proven else Status.INSUFFICIENT
    if removed:
        answer = answer.strip() or NOTHING_STANDS
        status = Status.PARTIAL if proven else Status.VALIDATION_FAILED
    return _assemble(_claimed_pieces(answer, proven), status, removed)


def _claimed_pieces(
    answer: str, proven: Sequence[tuple[Claim, str, Citation]]
) -> list[_Piece]:
    """Split the answer after each group of labels; text without a quote is a notice."""
    pieces: list[_Piece] = []
    left = list(proven)
    position = 0
    for labels in _LABELS.finditer(answer):
        text = answer[position : labels.end()]
        position = labels.end()
        mine = [
            (claim, wording, citation)
            for claim, wording, citation in left
            if f"[{citation.label}]" in labels[0] and (claim.derived or wording in text)
        ]
        left = [one for one in left if one not in mine]
        derived = any(claim.derived for claim, _, _ in mine)
        if mine and not derived:
            # A sentence of the program before the first quote is not part of it.
            first = min(text.index(wording) for _, wording, _ in mine)
            pieces += _notices(text[:first])
            text = text[len(text[:first].rstrip()) :]
        citations = tuple(dict.fromkeys(citation for _, _, citation in mine))
        # A sentence computed from cells is the program's; the cells that it cites are
        # verbatim.
        verdict = Support.SUPPORTED if derived else Support.NOTICE
        if citations and not derived:
            verdict = max((c.support for c in citations), key=STRENGTH.index)
        bare = text.lstrip()
        gap = text[: len(text) - len(bare)]
        pieces.append(_Piece(gap, bare, verdict, "", citations))
    return pieces + _notices(answer[position:])


def _notices(text: str) -> list[_Piece]:
    """Return a sentence of the program as a statement, or an empty list."""
    gap = text[: len(text) - len(text.lstrip())]
    return [_Piece(gap, text.strip(), Support.NOTICE)] if text.strip() else []


def _assemble(
    pieces: Sequence[_Piece], status: Status, removed: Iterable[RemovedClaim]
) -> Checked:
    """Join the pieces to an answer and set their spans."""
    answer = ""
    statements: list[Statement] = []
    for piece in pieces:
        answer += piece.gap if answer else ""
        statements.append(
            Statement(
                text=piece.text,
                start=len(answer),
                end=len(answer) + len(piece.text),
                verdict=piece.verdict,
                reason=piece.reason,
                citations=piece.citations,
            )
        )
        answer += piece.text
    citations = dict.fromkeys(c for s in statements for c in s.citations)
    return Checked(answer, status, tuple(statements), tuple(citations), tuple(removed))


def _notice(text: str) -> _Piece:
    return _Piece("", text, Support.NOTICE)


def _shown_pieces(
    checks: Sequence[StatementCheck], policy: Policy, locate: Locate
) -> list[_Piece]:
    """Return the statements that stay, in order; a lead-in joins the next one."""
    shown = [_to_piece(one, policy, locate) for one in checks]
    kept = [piece is not None for piece in shown]
    drafts = _keep_gaps([one.statement for one in checks], kept)
    pieces: list[_Piece] = []
    lead = ""
    staying = ((o, p) for o, p in zip(checks, shown, strict=True) if p is not None)
    for draft, (one, piece) in zip(drafts, staying, strict=True):
        if one.leads:
            lead += draft.gap + piece.text
            continue
        text = f"{lead}{draft.gap}{piece.text}"
        bare = text.lstrip()
        gap = text[: len(text) - len(bare)]
        pieces.append(replace(piece, gap=gap, text=bare))
        lead = ""
    if lead.strip() and policy != "strict":
        pieces.append(_Piece("\n", lead.strip(), Support.UNCITED))
    return pieces


def _to_piece(one: StatementCheck, policy: Policy, locate: Locate) -> _Piece | None:
    """Return the statement as the policy shows it, or None if it is removed."""
    draft = one.statement
    if one.leads:
        return _Piece(draft.gap, draft.text, Support.NOTICE)
    cited = [
        to_citation(match, locate)
        for match in one.matches
        if policy != "strict" or match.stands
    ]
    citations = tuple(dict.fromkeys(c for c in cited if not _holds_another(c, cited)))
    text = draft.text
    if one.stands:
        text = _with_good_labels(one, policy)
    elif policy == "strict":
        return None
    elif policy == "flag":
        text = f"{text} {UNVERIFIED}"
    return _Piece(draft.gap, text, one.verdict, one.reason, citations)


def _holds_another(one: Citation, cited: Sequence[Citation]) -> bool:
    """Return True for the passage of a quotation that is cited itself."""
    return one.support is Support.SUPPORTED and any(
        other.node_id == one.node_id
        and (other.span != one.span or other.support is not Support.SUPPORTED)
        and one.span.start <= other.span.start
        and other.span.end <= one.span.end
        for other in cited
    )


def _refuses(text: str) -> bool:
    plain = normalise(text).text
    return normalise(REFUSAL.rstrip(".")).text in plain or bool(_NO_DATA.search(plain))


def _is_refusal(statement: DraftStatement) -> bool:
    """Return True for a refusal without any addition; an addition is a claim."""
    plain = normalise(statement.plain).text.strip(" .!\"'")
    return plain == normalise(REFUSAL).text.strip(" .") or bool(
        _NO_DATA.fullmatch(plain)
    )


def to_citation(lookup: ClaimMatch, locate: Locate) -> Citation:
    """Return the citation of a text that was looked up, with its page and boxes."""
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
        kind=source.kind,
        quote=source.text[start:end] if match.end else lookup.quote,
        support=match.support,
        score=match.score,
        node_id=source.node_id,
        span=span,
        boxes=place.boxes,
        reading_order=source.reading_order,
        suspicious=source.suspicious,
        attributes=source.attributes,
    )


def _to_removed(one: StatementCheck) -> RemovedClaim:
    detail = f": {one.reason}" if one.reason else ""
    return RemovedClaim(
        text=one.statement.plain,
        reason=f"{one.verdict.value}{detail}",
        verdict=one.verdict,
    )


def _keep_gaps(
    statements: Sequence[DraftStatement], keeps: Sequence[bool]
) -> list[DraftStatement]:
    """Return the statements to keep, with the gap before each removed one.

    Otherwise two statements from separate paragraphs would run together.
    """
    kept: list[DraftStatement] = []
    gap = ""
    for statement, keep in zip(statements, keeps, strict=True):
        gap = max(gap, statement.gap, key=len)
        if keep:
            kept.append(replace(statement, gap=gap))
            gap = ""
    return kept


def _with_good_labels(one: StatementCheck, policy: Policy) -> str:
    """Return the text with the proved labels; an unlabelled one gets its source's."""
    statement, good = one.statement, one.labels
    if not statement.labels:
        return statement.text + "".join(f" [{label}]" for label in good)
    if policy != "strict":
        return statement.text
    bad = [label for label in statement.labels if label not in good]
    return remove_labels(statement.text, bad)
