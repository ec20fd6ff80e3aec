"""What people decided, carried by the rows of a product.

The rows of a run become proposals in the database, where decisions on earlier runs meet
them. Each row then tells where its review stands; what a person wrote is in `edited`,
and never in the place of the document's words.
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
    Proposal,
    ReviewItem,
    ReviewStatus,
    SyncReport,
    evidence_digest,
    make_item_id,
)

if TYPE_CHECKING:
    from elt_llm_core.store import Store

# How the files of products write a status; a proposed row keeps what the run wrote.
WRITTEN = {
    ReviewStatus.APPROVED: "APPROVED",
    ReviewStatus.REJECTED: "REJECTED",
    ReviewStatus.NEEDS_WORK: "NEEDS_CLARIFICATION",
    ReviewStatus.REOPENED: "REOPENED",
}


class ReviewedRow(Record):
    """The columns of a row that tell of its review; empty before the first decision."""

    item_id: str = Field(default="", description="stable between runs")
    review_notes: str = ""
    reviewer: str = ""
    reviewed_at: str = Field(default="", description="UTC, 2026-01-31T12:00:00Z")
    edited: dict[str, str] = Field(
        default_factory=dict, description="edited texts by field"
    )


class ReviewedProduct(NamedTuple):
    """How the rows of a product are reviewed.

    `fields` may be edited, `scope` tells items of the same label apart, `quotes`
    returns what a row rests on beside its fields.
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
    """Put the rows under review, and return them with what was decided.

    Args:
        context: Its store keeps the decisions; None for rows that nobody reviews.
        product: How the rows are reviewed.
        collections: Whose documents the product is of: they name it.
        rows: The rows as generated.
        is_partial: They are some of the product only: decisions are shown in them, and
            nothing is put under review, which would take the others for gone.

    Returns:
        New rows in the same order, and counts for the report: `reopened` where evidence
        changed in this run, `gone` for decisions without an item; without zeros.
    """
    if context is None:
        return [dict(row) for row in rows], {}
    name = product_name(product.job, collections)
    proposals = make_proposals(product, rows)
    reviews = context.store.reviews
    synced = SyncReport() if is_partial else reviews.sync(name, proposals)
    items = {}
    if proposals:
        with suppress(UnknownProductError):  # a part, and never a whole run
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
    """Return the rows of the last run with every decision of now, in their order.

    Args:
        store: The data root.
        product: How the rows are reviewed.
        collections: Whose documents the product is of.

    Raises:
        UnknownProductError: No run put such a product under review.
    """
    items = store.reviews.items(product_name(product.job, collections))
    return [
        {**row, **_columns(product, row, item, item.proposal)}
        for item in items
        if item.proposal and (row := item.proposal.content)
    ]


def field_text(value: object) -> str:
    """Return a value of a row as the text that a person edits."""
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
