"""Move decisions to items whose id changed, for example with a renamed document."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from elt_llm_core.reviews.merging import one_spaced
from elt_llm_core.reviews.review_records import Decision, Proposal, ReviewAction

T = TypeVar("T", Decision, Proposal)


def successors(
    proposals: Sequence[Proposal], decisions: Mapping[str, Decision], now: str
) -> list[Decision]:
    """Return first revisions of items that take over the decision of a lost item.

    An item without a decision takes over that of a missing item with the same label:
    first if the evidence is the same too, then if both are the only ones left with that
    label. Other decisions keep their id. Reviewer and time stay those of the decision.

    Args:
        proposals: The present generated items.
        decisions: The newest decision by item id; not changed.
        now: The time at which the revisions are recorded.
    """
    ids = {proposal.item_id for proposal in proposals}
    moved = {decision.moved_from for decision in decisions.values()}
    lost = _by_label(d for k, d in decisions.items() if k not in ids | moved)
    fresh = _by_label(p for p in proposals if p.item_id not in decisions)
    made = []
    for label, old in sorted(lost.items()):
        for decision, proposal in _pairs(old, fresh.get(label, [])):
            changes = {
                "item_id": proposal.item_id,
                "revision": 1,
                "label": proposal.label,
                "action": ReviewAction.MOVED,
                "recorded_by": "",
                "recorded_at": now,
                "moved_from": decision.item_id,
            }
            made.append(decision.model_copy(update=changes))
    return made


def _pairs(
    old: Sequence[Decision], new: Sequence[Proposal]
) -> list[tuple[Decision, Proposal]]:
    pairs = []
    left = list(new)
    rest = []
    for decision in sorted(old, key=lambda one: one.item_id):
        same = [p for p in left if p.evidence in (decision.evidence, decision.seen)]
        if same:
            left.remove(same[0])
            pairs.append((decision, same[0]))
        else:
            rest.append(decision)
    if len(rest) == len(left) == 1:
        pairs.append((rest[0], left[0]))
    return pairs


def _by_label(ones: Iterable[T]) -> dict[str, list[T]]:
    grouped: dict[str, list[T]] = {}
    for one in ones:
        grouped.setdefault(one_spaced(one.label).casefold(), []).append(one)
    return grouped
