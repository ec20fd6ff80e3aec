"""Review decisions on the rows of a product.

The rows of a run become proposals in the database and are matched with earlier
decisions. Each row then shows its review status; edited texts are in `edited` and never
replace the document's words.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from elt_llm_consumer.definitions.terms import fold
from elt_llm_core.errors import UnknownProductError
from elt_llm_core.jobs import JobContext
from elt_llm_core.records import Record
from elt_llm_core.reviews.review_records import (
    NEEDS_CLARIFICATION,
    Proposal,
    ReviewItem,
    ReviewStatus,
    SyncReport,
    evidence_digest,
    make_item_id,
)

if TYPE_CHECKING:
    from elt_llm_core.store import Store

# Statuses as written in files; a proposed row keeps the status of the run.
WRITTEN = {
    ReviewStatus.APPROVED: "APPROVED",
    ReviewStatus.REJECTED: "REJECTED",
    ReviewStatus.NEEDS_WORK: NEEDS_CLARIFICATION,
    ReviewStatus.REOPENED: "REOPENED",
}


class ReviewedRow(Record):
    """The review columns of a row; empty before the first decision."""

    item_id: str = Field(default="", description="stable between runs")
    review_notes: str = ""
    reviewer: str = ""
    reviewed_at: str = Field(default="", description="UTC, 2026-01-31T12:00:00Z")
    edited: dict[str, str] = Field(
        default_factory=dict, description="edited texts by field"
    )


class ReviewedProduct(NamedTuple):
    """How the rows of a product are reviewed.

    `fields` may be edited, `scope` distinguishes items with the same label, `quotes`
    returns the evidence of a row besides its fields.
    """

    job: str
    label: str
    scope: tuple[str, ...]
    fields: tuple[str, ...]
    quotes: Callable[[Mapping[str, Any]], Sequence[str]]
    status: str = "review_status"


def product_name(job: str, collections: Sequence[str]) -> str:
    """Return the name of a product, such as `glossary:handbook+annex`."""
    return f"{job}:{'+'.join(dict.fromkeys(collections))}"


def make_proposals(
    product: ReviewedProduct, rows: Sequence[Mapping[str, Any]]
) -> list[Proposal]:
    """Return the proposal of each row, in order.

    Rows with the same label and scope are numbered, so that ids differ.
    """
    numbers: Counter[tuple[str, ...]] = Counter()
    proposals = []
    for row in rows:
        label = str(row[product.label])
        key = (fold(label), *(str(row.get(name) or "") for name in product.scope))
        numbers[key] += 1
        fields = {name: field_text(row.get(name)) for name in product.fields}
        proposals.append(
            Proposal(
                item_id=make_item_id(product.job, *key, str(numbers[key])),
                label=label,
                fields=fields,
                evidence=evidence_digest(fields, *product.quotes(row)),
                content=dict(row),
            )
        )
    return proposals


def review_rows(
    context: JobContext | None,
    product: ReviewedProduct,
    collections: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    *,
    is_partial: bool = False,
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Put the rows under review, and return them with their decisions.

    Args:
        context: Its store has the decisions; None for rows without review.
        product: How the rows are reviewed.
        collections: The collections of the product, which determine its name.
        rows: The rows as generated.
        is_partial: The rows are only a part of the product: decisions are shown, but no
            proposals are stored, because the other rows would count as removed.

    Returns:
        New rows in the same order, and non-zero counts for the report: `reopened` for
        changed evidence, `gone` for decisions without an item.
    """
    if context is None:
        return [dict(row) for row in rows], {}
    name = product_name(product.job, collections)
    proposals = make_proposals(product, rows)
    reviews = context.store.reviews
    synced = SyncReport() if is_partial else reviews.sync(name, proposals)
    items = {}
    if proposals:
        with suppress(UnknownProductError):  # part of a product never run as a whole
            items = {item.item_id: item for item in reviews.items(name)}
    reviewed = [
        {**row, **_columns(product, row, items.get(proposal.item_id), proposal)}
        for row, proposal in zip(rows, proposals, strict=True)
    ]
    counts = {
        "reopened": len(synced.reopened),
        "moved": len(synced.moved),
        "gone": len(synced.gone),
    }
    return reviewed, {key: count for key, count in counts.items() if count}


def read_reviewed(
    store: "Store", product: ReviewedProduct, collections: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the rows of the last run with the latest decisions, in order.

    Args:
        store: The data root.
        product: How the rows are reviewed.
        collections: The collections of the product.

    Raises:
        UnknownProductError: If no run has put such a product under review.
    """
    items = store.reviews.items(product_name(product.job, collections))
    return [
        {**row, **_columns(product, row, item, item.proposal)}
        for item in items
        if item.proposal and (row := item.proposal.content)
    ]


def field_text(value: object) -> str:
    """Return a value of a row as editable text."""
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


def _columns(
    product: ReviewedProduct,
    row: Mapping[str, Any],
    item: ReviewItem | None,
    proposal: Proposal,
) -> dict[str, Any]:
    decision = item.decision if item else None
    if decision is None:
        return ReviewedRow(item_id=proposal.item_id).model_dump(mode="json")
    columns = ReviewedRow(
        item_id=proposal.item_id,
        review_notes=decision.notes,
        reviewer=decision.reviewer,
        reviewed_at=decision.at,
        edited=decision.edited,
    ).model_dump(mode="json")
    status = WRITTEN.get(decision.status, row.get(product.status, "PENDING"))
    return {**columns, product.status: status}
