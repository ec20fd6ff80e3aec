"""Items under review: the generated content, the decision, and both together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from pydantic import Field

from elt_llm_core.identifiers import digest
from elt_llm_core.records import Record
from elt_llm_core.reviews.merging import Merge, merge_fields, one_spaced

STATUS = "status"
NOTES = "notes"
NEEDS_CLARIFICATION = "NEEDS_CLARIFICATION"
"""The status of a generated row that a run could not decide."""

_STATUS_COLUMNS = ("review_status", "status")  # of a generated row
_ID_DIGITS = 16  # of SHA-256: a clash among a million items is one in 10^7


class ReviewStatus(StrEnum):
    """The review status of an item."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"
    NEEDS_WORK = "needs_work"
    REOPENED = "reopened"


_UNDECIDED = frozenset({ReviewStatus.PROPOSED, ReviewStatus.REOPENED})
# Statuses that a person can set; a run reopens items with changed evidence.
SETTABLE = tuple(s for s in ReviewStatus if s is not ReviewStatus.REOPENED)


class ReviewAction(StrEnum):
    """The action that created a revision of a decision."""

    SET = "set"
    IMPORTED = "imported"
    REOPENED = "reopened"
    RESTORED = "restored"
    MOVED = "moved"
    UNDONE = "undone"


class Proposal(Record):
    """The generated content of one item.

    `fields` are the editable texts; `evidence` is a digest of them and of their quotes.
    `content` is the whole row of the product.
    """

    item_id: str
    label: str
    fields: dict[str, str]
    evidence: str
    content: dict[str, Any]


class Decision(Record):
    """The state of an item after one revision.

    `base` are the generated fields at the time of the decision, `evidence` their
    digest, `seen` the digest for which the item was reopened. `edited` are a person's
    texts by field. `offered` are imported texts in conflict with later decisions; they
    stay until the next decision.
    """

    product: str
    item_id: str
    revision: int = Field(ge=1)
    label: str
    action: ReviewAction
    status: ReviewStatus
    reviewer: str = Field(
        description="reviewer of the last decision; empty before the first"
    )
    at: str = Field(
        description="time of the decision in UTC, such as 2026-01-31T12:00:00Z"
    )
    edited: dict[str, str] = Field(default_factory=dict)
    notes: str = ""
    base: dict[str, str] = Field(default_factory=dict)
    evidence: str = ""
    seen: str = ""
    status_before: ReviewStatus | None = Field(
        default=None, description="the status before the item was reopened"
    )
    offered: dict[str, str] = Field(default_factory=dict)
    moved_from: str = Field(default="", description="its previous id")
    recorded_by: str = Field(
        default="",
        description="who imported the revision, if status, texts and notes are earlier",
    )
    recorded_at: str = Field(
        default="",
        description="time of such a revision: of a run or of an import; else empty",
    )


class ReviewChange(Record):
    """A person's change of one item; None leaves a part unchanged.

    `edited` maps a field to its new text, or to None for the generated one. `revision`
    is that of the decision the person saw, 0 if there was none; None skips the check.
    """

    item_id: str
    status: ReviewStatus | None = None
    edited: dict[str, str | None] = Field(default_factory=dict)
    notes: str | None = None
    revision: int | None = None


class ReviewItem(Record):
    """One item with its generated content and its decision."""

    product: str
    item_id: str
    proposal: Proposal | None = Field(
        description="None if the current run does not find it"
    )
    decision: Decision | None = Field(description="None before the first one")

    @property
    def label(self) -> str:
        """Return the display name of the item."""
        one = self.proposal or self.decision
        return one.label if one else ""

    @property
    def status(self) -> ReviewStatus:
        """Return the review status."""
        return self.decision.status if self.decision else ReviewStatus.PROPOSED

    @property
    def unclear(self) -> bool:
        """Return whether the run left the item open and nobody has decided on it."""
        content = self.proposal.content if self.proposal else {}
        is_open = any(content.get(c) == NEEDS_CLARIFICATION for c in _STATUS_COLUMNS)
        return is_open and self.status in _UNDECIDED

    @property
    def revision(self) -> int:
        """Return the number of revisions of the decision; 0 before the first."""
        return self.decision.revision if self.decision else 0

    @property
    def generated_fields(self) -> dict[str, str]:
        """Return the present generated fields, or the last reviewed ones."""
        if self.proposal:
            return self.proposal.fields
        return self.decision.base if self.decision else {}

    @cached_property
    def merge(self) -> Merge:
        """Return the current fields, with changes and conflicts."""
        if self.decision is None:
            return Merge(fields=dict(self.generated_fields))
        return merge_fields(
            self.decision.base, self.generated_fields, self.decision.edited
        )

    @property
    def conflicts(self) -> tuple[str, ...]:
        """Return fields with two texts, between which a person must choose."""
        offered = self.decision.offered if self.decision else {}
        return tuple(sorted({*self.merge.conflicts, *offered}))

    def summary(self) -> dict[str, Any]:
        """Return the item as plain JSON for every interface."""
        decision = self.decision
        return {
            "product": self.product,
            "item_id": self.item_id,
            "label": self.label,
            "status": self.status.value,
            "revision": self.revision,
            "fields": self.merge.fields,
            "generated": self.generated_fields,
            "edited": decision.edited if decision else {},
            "base": decision.base if decision else {},
            "changed": list(self.merge.changed),
            "conflicts": list(self.conflicts),
            "offered": decision.offered if decision else {},
            "notes": decision.notes if decision else "",
            "reviewer": decision.reviewer if decision else "",
            "at": decision.at if decision else "",
            "gone": self.proposal is None,
            "unclear": self.unclear,
        }


class ProductProgress(Record):
    """The progress of a product's review: its items by status."""

    product: str
    items: int
    statuses: dict[str, int]
    conflicts: int = 0
    unclear: int = Field(
        default=0, description="undecided items that the run marks NEEDS_CLARIFICATION"
    )
    gone: int = Field(
        default=0, description="decided items that the current run does not find"
    )

    @classmethod
    def of(cls, product: str, items: Sequence[ReviewItem]) -> "ProductProgress":
        """Count the items of a product."""
        present = [item for item in items if item.proposal]
        statuses = Counter(item.status.value for item in present)
        return cls(
            product=product,
            items=len(present),
            statuses=dict(sorted(statuses.items())),
            conflicts=sum(bool(item.conflicts) for item in present),
            unclear=sum(item.unclear for item in present),
            gone=len(items) - len(present),
        )


class SyncReport(Record):
    """The effects of a run on existing decisions, as item ids."""

    reopened: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def make_item_id(*parts: str) -> str:
    """Return the id of an item from the parts that are stable between runs."""
    return digest(*parts)[:_ID_DIGITS]


def evidence_digest(fields: Mapping[str, str], *quotes: str) -> str:
    """Return the digest of generated fields and quotes, ignoring white space."""
    parts = [f"{name}={one_spaced(text)}" for name, text in sorted(fields.items())]
    return digest(*parts, "", *map(one_spaced, quotes))
