"""Create the next revision of a decision, by a person or by a run."""

from collections.abc import Mapping, Sequence
from typing import Any

from elt_llm_core.errors import UnknownItemError, UsageError
from elt_llm_core.reviews.review_records import (
    SETTABLE,
    Decision,
    Proposal,
    ReviewAction,
    ReviewChange,
    ReviewItem,
    ReviewStatus,
)

# Fields that are no part of the decision: reviewer, time and action.
_DECIDED = ("status", "edited", "notes", "base", "evidence", "offered")
_BY_A_RUN = (ReviewAction.REOPENED, ReviewAction.RESTORED, ReviewAction.MOVED)


def decide(
    product: str,
    item: ReviewItem | None,
    change: ReviewChange,
    reviewer: str,
    now: str,
    offered: Mapping[str, str] | None = None,
) -> Decision | None:
    """Return the revision for a person's change; None if it changes nothing.

    A status is a decision on the present evidence. An edit alone leaves a reopened item
    open, with its earlier evidence.

    Args:
        product: The name of the product.
        item: The current item.
        change: The person's change.
        reviewer: The name of the reviewer.
        now: The time of the revision.
        offered: The conflicting texts of an imported sheet.

    Raises:
        UnknownItemError: If `item` is None.
        UsageError: If the item lacks a field of the change, or only a run can set the
            status.
    """
    if item is None:
        raise UnknownItemError(product, change.item_id)
    _refuse_unknown(item, change)
    before = item.decision or _nothing_decided(product, item)
    changes: dict[str, Any] = {
        "revision": item.revision + 1,
        "label": item.label,
        "action": ReviewAction.SET if offered is None else ReviewAction.IMPORTED,
        "reviewer": reviewer,
        "at": now,
        "edited": _edits(item, change.edited),
        "notes": before.notes if change.notes is None else change.notes,
        "seen": _evidence_now(item),
        "offered": before.offered if not offered else dict(offered),
        "recorded_by": "",
        "recorded_at": "",
    }
    if change.status is not None:
        changes |= {
            "status": change.status,
            "base": item.generated_fields,
            "evidence": _evidence_now(item),
            "status_before": None,
            "offered": dict(offered or {}),
        }
    made = before.model_copy(update=changes)
    if is_same(before, made):
        return None
    return _keep_decision(before, made) if offered else made


def _keep_decision(before: Decision, made: Decision) -> Decision:
    """Return a revision with the earlier reviewer if an import only offers something.

    A new text or new notes are those of the reviewer of the sheet.
    """
    offers_only = is_same(before, made.model_copy(update={"offered": before.offered}))
    if not before.reviewer or not offers_only:
        return made
    changes = {
        "reviewer": before.reviewer,
        "at": before.at,
        "recorded_by": made.reviewer,
        "recorded_at": made.at,
    }
    return made.model_copy(update=changes)


def reopen(decision: Decision | None, proposal: Proposal, now: str) -> Decision | None:
    """Return the revision for a run's evidence; None if it is unchanged.

    If the evidence is again that of the decision, the decision is restored.
    """
    if decision is None or _is_untouched(decision):
        return None
    if proposal.evidence == decision.evidence:
        if decision.status_before is None:
            return None
        action, status, before = (
            ReviewAction.RESTORED,
            decision.status_before,
            None,
        )
    elif proposal.evidence == decision.seen and decision.status_before is not None:
        return None
    else:
        before = decision.status_before or decision.status
        action, status = ReviewAction.REOPENED, ReviewStatus.REOPENED
    changes = {
        "revision": decision.revision + 1,
        "action": action,
        "status": status,
        "recorded_by": "",
        "recorded_at": now,
        "seen": proposal.evidence,
        "status_before": before,
    }
    return decision.model_copy(update=changes)


def undo(
    product: str, item_id: str, past: Sequence[Decision], reviewer: str, now: str
) -> Decision:
    """Return a revision with the content of the one before the last.

    Repeated calls go further back, skipping undone revisions. Before the first revision
    an item is proposed, without texts and notes. Revisions made by a run cannot be
    undone, because the next run would repeat them.

    Raises:
        UnknownItemError: If there is no decision, all of it was undone, or a run made
            the last revision.
    """
    standing: list[Decision] = []
    for one in past:
        if one.action is ReviewAction.UNDONE and standing:
            standing.pop()
        elif one.action is not ReviewAction.UNDONE:
            standing.append(one)
    if not standing or standing[-1].action in _BY_A_RUN:
        raise UnknownItemError(product, item_id, "there is nothing to undo")
    last = standing[-1]
    back = standing[-2] if len(standing) > 1 else _initial_state(last)
    changes = {
        "revision": past[-1].revision + 1,
        "action": ReviewAction.UNDONE,
        "reviewer": reviewer,
        "at": now,
        "recorded_by": "",
        "recorded_at": "",
    }
    return back.model_copy(update=changes)


def is_same(before: Decision, after: Decision) -> bool:
    """Return whether two revisions contain the same decision."""
    return all(getattr(before, name) == getattr(after, name) for name in _DECIDED)


def _nothing_decided(product: str, item: ReviewItem) -> Decision:
    """Return the state of an item before its first revision."""
    return Decision(
        product=product,
        item_id=item.item_id,
        revision=1,
        label=item.label,
        action=ReviewAction.SET,
        status=ReviewStatus.PROPOSED,
        reviewer="",
        at="",
        base=item.generated_fields,
        evidence=_evidence_now(item),
        seen=_evidence_now(item),
    )


def _is_untouched(decision: Decision) -> bool:
    """Return whether all decisions were undone, so that nothing can be reopened."""
    written = decision.edited or decision.notes or decision.offered
    return decision.status is ReviewStatus.PROPOSED and not written


def _initial_state(decision: Decision) -> Decision:
    empty: dict[str, Any] = {
        "status": ReviewStatus.PROPOSED,
        "edited": {},
        "notes": "",
        "offered": {},
        "status_before": None,
    }
    return decision.model_copy(update=empty)


def _evidence_now(item: ReviewItem) -> str:
    if item.proposal:
        return item.proposal.evidence
    return item.decision.evidence if item.decision else ""


def _edits(item: ReviewItem, asked: Mapping[str, str | None]) -> dict[str, str]:
    """Return the edited texts after a change, without those equal to the generated."""
    edited = dict(item.decision.edited) if item.decision else {}
    for name, text in asked.items():
        if text is None or text == item.generated_fields.get(name):
            edited.pop(name, None)
        else:
            edited[name] = text
    return dict(sorted(edited.items()))


def _refuse_unknown(item: ReviewItem, change: ReviewChange) -> None:
    known = {*item.generated_fields, *(item.decision.edited if item.decision else {})}
    for name in change.edited:
        if name not in known:
            raise UsageError(
                f"{name!r} is not an editable field of {item.label!r}",
                f"known: {', '.join(sorted(known))}",
            )
    if change.status is ReviewStatus.REOPENED:
        raise UsageError(
            "an item is reopened only by a run that finds different evidence",
            f"known: {', '.join(SETTABLE)}",
        )
