"""What `elt-llm review` prints: items, decisions, progress and imports as text."""

from typing import TYPE_CHECKING

from elt_llm_core.cli.terminal import escape_line

if TYPE_CHECKING:
    from elt_llm_core.reviews.review_records import (
        Decision,
        ProductProgress,
        ReviewItem,
    )
    from elt_llm_core.sheets.sheet_import import ImportReport

SHOWN = 60  # characters of a text in a list
STATUSES = ("proposed", "approved", "rejected", "needs_work", "reopened")


def progress_line(progress: "ProductProgress") -> str:
    """Return how many items of a product are decided, by status."""
    statuses, items = progress.statuses, progress.items
    decided = items - statuses.get("proposed", 0) - statuses.get("reopened", 0)
    counts = ", ".join(f"{statuses[s]} {s}" for s in STATUSES if statuses.get(s))
    unclear = f"; {progress.unclear} need clarification" if progress.unclear else ""
    return f"{decided} of {items} decided ({counts}{unclear})" if items else "no items"


def item_row(item: "ReviewItem") -> tuple[str, ...]:
    """Return an item as a row of a list: id, status, name, text, reviewer, notes."""
    fields = item.merge.fields
    text = next((t for n, t in fields.items() if t and t != item.label), "")
    notes = [
        *(["needs clarification"] if item.unclear else []),
        *(["gone"] if item.proposal is None else []),
        *(f"conflict: {name}" for name in item.conflicts),
        *(f"changed: {n}" for n in item.merge.changed if n not in item.conflicts),
        *(["edited"] if item.decision and item.decision.edited else []),
    ]
    by = item.decision.reviewer if item.decision else ""
    one_line = " ".join(text.split())
    cut = one_line if len(one_line) <= SHOWN else one_line[: SHOWN - 1] + "…"
    return item.item_id, item.status.value, item.label, cut, by, ", ".join(notes)


def revision_line(item: "ReviewItem") -> str:
    """Return the name, the status and the revision of an item."""
    return escape_line(f"{item.label}: {item.status.value} (revision {item.revision})")


def item_text(item: "ReviewItem") -> str:
    """Format one item: the current texts, and the others next to them."""
    from elt_llm_core.sheets.review_sheet import place_of

    decision = item.decision
    place = place_of(item.proposal.content if item.proposal else {})
    where = ", ".join(v if k != "page" else f"page {v}" for k, v in place.items() if v)
    lines = [f"{escape_line(item.label)}  [{item.item_id}]"]
    unclear = ", needs clarification" if item.unclear else ""
    lines.append(f"  {item.status.value}{unclear}, revision {item.revision}")
    if decision and decision.reviewer:
        lines[-1] += f", {escape_line(decision.reviewer)}, {decision.at}"
    lines.append(f"  from: {escape_line(where)}" if where else "  from: no passage")
    for name, text in item.merge.fields.items():
        lines.append(f"  {name}: {text}")
        lines += _other_texts(item, name, text)
    if decision and decision.offered.get("status"):
        lines.append(f"  offered status: {decision.offered['status']}")
    if decision and decision.notes:
        lines.append(f"  notes: {decision.notes}")
    return "\n".join(lines)


def _other_texts(item: "ReviewItem", name: str, text: str) -> list[str]:
    decision = item.decision
    others = [("generated now", item.generated_fields.get(name, ""))]
    if decision and name in item.merge.changed:
        others.append(("reviewed on", decision.base.get(name, "")))
    if decision:
        others.append(("offered by a sheet", decision.offered.get(name, "")))
    return [f"    {what}: {other}" for what, other in others if other and other != text]


def decision_line(one: "Decision") -> str:
    """Return a decision as a line of the history."""
    edited = ", ".join(f"{k}={v!r}" for k, v in one.edited.items())
    parts = [
        one.recorded_at or one.at,
        one.item_id,
        f"revision {one.revision}",
        one.action.value,
        one.status.value,
        f"by {one.reviewer}" if one.reviewer else "",
        f"decided {one.at}" if one.recorded_at and one.reviewer else "",
        f"imported by {one.recorded_by}" if one.recorded_by else "",
        one.label,
        edited,
        f"notes {one.notes!r}" if one.notes else "",
    ]
    return escape_line("  ".join(part for part in parts if part))


def import_text(report: "ImportReport") -> str:
    """Return what an import changed or would change, with its conflicts."""
    verb = "would change" if report.dry_run else "changed"
    head = (
        f"{report.product}: {report.items_changed} items {verb}, "
        f"{report.unchanged} rows unchanged, {len(report.conflicts)} conflicts, "
        f"{len(report.problems)} rows or cells rejected"
    )
    lines = [escape_line(head)]
    if not report.known_export:
        lines.append(
            "  this data root does not have the export, so texts were only compared"
        )
    for edit in report.edits:
        change = f"{edit.before!r} -> {edit.after!r}"
        lines.append(
            escape_line(f"  row {edit.row} {edit.label}: {edit.column} {change}")
        )
    for one in report.conflicts:
        texts = f"it is {one.current!r}, the sheet says {one.offered!r}"
        where = f"  row {one.row} {one.label}: CONFLICT {one.column}: {texts}"
        lines.append(escape_line(where))
    lines += [escape_line(f"  row {p.row}: {p.reason}") for p in report.problems]
    return "\n".join(lines)
