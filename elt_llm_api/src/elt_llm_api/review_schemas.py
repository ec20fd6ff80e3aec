"""Request and response schemas of reviews."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from elt_llm_api.schemas import Wire
from elt_llm_core.reviews.review_records import (
    Decision,
    ProductProgress,
    ReviewChange,
    ReviewItem,
    ReviewStatus,
)
from elt_llm_core.sheets.review_sheet import place_of

REVIEWER: Any = Field(min_length=1, max_length=200, description="who decides")
# One-word fields of a row, used as facets.
FACETS = (
    "domain",
    "entity_domain",
    "source",
    "definition_source",
    "found_by",
    "mapping_confidence",
    "mapped_entity",
    "inference_tier",
    "quote_support",
    "collection",
)
LONGEST_FACET = 80  # characters; longer texts are not used as choices
LONGEST = 100_000  # characters of a text; the longest definition met has 4,000


class ProductList(Wire):
    """The products under review."""

    data: list[ProductProgress]


class ItemRow(Wire):
    """One item in a list: its current texts and its review status."""

    item_id: str
    label: str
    status: ReviewStatus
    revision: int
    fields: dict[str, str]
    edited: tuple[str, ...] = Field(description="fields edited by a reviewer")
    changed: tuple[str, ...]
    conflicts: tuple[str, ...]
    notes: str
    reviewer: str
    at: str
    gone: bool
    unclear: bool = Field(description="undecided, and marked NEEDS_CLARIFICATION")
    document: str
    page: str
    section: str
    facets: dict[str, str] = Field(description="kind, source, domain … of the row")

    @classmethod
    def of(cls, item: ReviewItem) -> "ItemRow":
        """The row of an item."""
        decision = item.decision
        content = item.proposal.content if item.proposal else {}
        return cls(
            item_id=item.item_id,
            label=item.label,
            status=item.status,
            revision=item.revision,
            fields=item.merge.fields,
            edited=tuple(decision.edited) if decision else (),
            changed=item.merge.changed,
            conflicts=item.conflicts,
            notes=decision.notes if decision else "",
            reviewer=decision.reviewer if decision else "",
            at=decision.at if decision else "",
            gone=item.proposal is None,
            unclear=item.unclear,
            facets=_read_facets(content),
            **place_of(content),
        )


def _read_facets(content: Mapping[str, Any]) -> dict[str, str]:
    values = {name: content.get(name) for name in FACETS}
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, str) and 0 < len(value) <= LONGEST_FACET
    }


class ItemList(Wire):
    """Items of a product, and how far its review is."""

    progress: ProductProgress
    data: list[ItemRow]
    total: int = Field(description="number of matching items, regardless of the limit")
    next_cursor: int | None = None


class EvidenceOut(Wire):
    """A quote that an item rests on, and its place."""

    field: str
    quote: str
    document: str
    section: str
    page: int | None
    support: str
    document_id: str = Field(description="empty if it is not here in this edition")
    newer_id: str = Field(description="the document as it is now, if the row is older")
    note: str = Field(description="why the quote has no place, and what to do")
    image: str | None = Field(description="picture of the page with the quote marked")


class ItemOut(ItemRow):
    """One item with both sides of the merge, its evidence and its history."""

    generated: dict[str, str]
    base: dict[str, str] = Field(
        description="generated text at the time of the last decision"
    )
    offered: dict[str, str] = Field(
        description="texts of a sheet that were not adopted"
    )
    evidence: list[EvidenceOut]
    history: list[Decision]
    row: dict[str, Any] = Field(description="the generated row, without its evidence")


class ItemPatch(Wire):
    """A decision on one item; omitted fields stay."""

    reviewer: str = REVIEWER
    status: ReviewStatus | None = None
    edited: dict[str, str | None] = Field(
        default_factory=dict,
        max_length=32,
        description="texts by field; null reverts to the generated text",
    )
    notes: str | None = Field(default=None, max_length=LONGEST)


class ItemsPatch(Wire):
    """Decisions on several items: all are recorded, or none."""

    reviewer: str = REVIEWER
    changes: list[ReviewChange] = Field(min_length=1, max_length=5_000)


class ItemUndo(Wire):
    """The reviewer who withdraws the last decision."""

    reviewer: str = REVIEWER


class ItemsOut(Wire):
    """Items after decisions on them."""

    data: list[ItemRow]
