"""The result of an imported sheet: decisions, conflicts, and rejected rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from elt_llm_core.records import Record
from elt_llm_core.reviews.deciding import decide
from elt_llm_core.reviews.merging import merge_cell
from elt_llm_core.reviews.review_records import (
    NOTES,
    SETTABLE,
    STATUS,
    Decision,
    ReviewChange,
    ReviewItem,
    ReviewStatus,
)
from elt_llm_core.sheets.review_sheet import (
    CUT,
    FORMULA_CELL,
    ITEM,
    REVISION,
    as_cell,
    editable_cells,
)

PARTIAL = 2
# Statuses as written by people and in the files of products.
_STATUSES = {
    "": None,
    "pending": ReviewStatus.PROPOSED,
    "proposed_new_taxonomy": ReviewStatus.PROPOSED,
    "approve": ReviewStatus.APPROVED,
    "reject": ReviewStatus.REJECTED,
    "needs_clarification": ReviewStatus.NEEDS_WORK,
    **{status.value: status for status in ReviewStatus},
}


class RowEdit(Record):
    """A cell that a reviewer changed; `row` is its number in the sheet, from 1."""

    row: int
    item_id: str
    label: str
    column: str
    before: str
    after: str


class RowConflict(Record):
    """A cell that both the sheet and somebody else changed; `current` stays."""

    row: int
    item_id: str
    label: str
    column: str
    exported: str | None = Field(description="None where the export is not known")
    current: str
    offered: str


class RowProblem(Record):
    """A row, or a cell of it, that was not imported."""

    row: int
    reason: str


class ImportReport(Record):
    """The result of an import. Nothing was recorded if `dry_run` is set."""

    product: str
    rows: int
    unchanged: int
    items_changed: int
    known_export: bool = Field(description="whether the merge had its base")
    edits: tuple[RowEdit, ...] = ()
    conflicts: tuple[RowConflict, ...] = ()
    problems: tuple[RowProblem, ...] = ()
    dry_run: bool = False

    @property
    def exit_code(self) -> int:
        """Return 0; 2 if there are conflicts or rejected rows."""
        return PARTIAL if self.conflicts or self.problems else 0


class ImportPlan(Record):
    """The revisions to record, the revisions they follow, and the report."""

    decisions: tuple[Decision, ...]
    seen: dict[str, int]
    report: ImportReport


@dataclass
class _Reading:
    """The rows read so far."""

    edits: list[RowEdit] = field(default_factory=list)
    conflicts: list[RowConflict] = field(default_factory=list)
    problems: list[RowProblem] = field(default_factory=list)
    decisions: dict[str, Decision] = field(default_factory=dict)
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    unchanged: int = 0


def plan_import(
    product: str,
    rows: Sequence[tuple[int, Mapping[str, str]]],
    items: Sequence[ReviewItem],
    base: Mapping[str, Any] | None,
    author: tuple[str, str],
) -> ImportPlan:
    """Return the changes of a sheet, cell by cell, by a three-way merge.

    Args:
        product: The name of the product.
        rows: Number and cells of each row, from `read_sheet`.
        items: The current items.
        base: The exported content, as `ReviewSheet.base`; if None, a row of an older
            revision, and every changed text, is a conflict.
        author: The reviewer and the time.

    Returns:
        A plan; nothing is recorded. Conflicting cells keep their value, and the text of
        the sheet is added to the decision's `offered`.
    """
    known = {item.item_id: item for item in items}
    reading = _Reading()
    for number, row in rows:
        item = _item_of(number, row, known, reading)
        if item is not None:
            one = (base or {}).get(item.item_id)
            _read_row(number, row, item, one, author, reading)
    report = ImportReport(
        product=product,
        rows=len(rows),
        unchanged=reading.unchanged,
        items_changed=len(reading.decisions),
        known_export=base is not None,
        edits=tuple(reading.edits),
        conflicts=tuple(reading.conflicts),
        problems=tuple(reading.problems),
    )
    return ImportPlan(
        decisions=tuple(reading.decisions.values()),
        seen={item_id: known[item_id].revision for item_id in reading.decisions},
        report=report,
    )


def parse_status(text: str) -> ReviewStatus | None:
    """Parse a status in any case; None for an empty cell.

    Raises:
        ValueError: If it is unknown; the message names the known ones.
    """
    key = "_".join(text.strip().casefold().replace("-", " ").split())
    if key not in _STATUSES:
        known = ", ".join(SETTABLE)
        msg = f"unknown status {text!r}; known: {known}"
        raise ValueError(msg)
    return _STATUSES[key]


def _item_of(
    number: int,
    row: Mapping[str, str],
    known: Mapping[str, ReviewItem],
    reading: _Reading,
) -> ReviewItem | None:
    """Return the item of a row, or None with a recorded problem."""
    key = row.get(ITEM, "")
    reason = ""
    if not key:
        reason = f"it has no {ITEM}, so its item is unknown"
    elif key not in known:
        reason = f"there is no item {key!r} and no decision on it"
    elif key in reading.rows:
        if reading.rows[key] != row:
            reason = f"duplicate row of {known[key].label!r}; the first one was used"
    else:
        reading.rows[key] = dict(row)
        return known[key]
    if reason:
        reading.problems.append(RowProblem(row=number, reason=reason))
    return None


def _read_row(
    number: int,
    row: Mapping[str, str],
    item: ReviewItem,
    base: Mapping[str, Any] | None,
    author: tuple[str, str],
    reading: _Reading,
) -> None:
    edits, offered = _merge_row(number, row, item, base, reading)
    if not edits and not offered:
        reading.unchanged += 1
        return
    change = _change(item, edits)
    made = decide(item.product, item, change, *author, offered=offered)
    if made is None:
        return
    if change.status and base and base["evidence"] != made.evidence:
        made = made.model_copy(update=_on_exported(made, base))
    reading.decisions[item.item_id] = made


def _merge_row(
    number: int,
    row: Mapping[str, str],
    item: ReviewItem,
    base: Mapping[str, Any] | None,
    reading: _Reading,
) -> tuple[dict[str, str], dict[str, str]]:
    """Return changed cells and conflicts."""
    edits: dict[str, str] = {}
    offered: dict[str, str] = {}
    for column, theirs in editable_cells(item).items():
        if column not in row:
            continue
        ours = _own_cell(number, column, row[column], theirs, reading)
        exported = base["cells"].get(column) if base else _guess(row, item, column)
        merged = merge_cell(exported, theirs, ours)
        place = {"row": number, "item_id": item.item_id, "label": item.label}
        if merged.is_edit:
            edits[column] = merged.text
            reading.edits.append(
                RowEdit(**place, column=column, before=theirs, after=ours)
            )
        elif merged.is_conflict:
            offered[column] = ours
            reading.conflicts.append(
                RowConflict(
                    **place,
                    column=column,
                    exported=exported,
                    current=theirs,
                    offered=ours,
                )
            )
    return edits, offered


def _own_cell(
    number: int, column: str, cell: str, theirs: str, reading: _Reading
) -> str:
    """Return the sheet's cell, or the current one if it cannot be imported."""
    reason = ""
    if column == STATUS:
        try:
            status = parse_status(cell)
        except ValueError as error:
            reason = f"column {column!r}: {error}"
        else:
            return status.value if status else theirs
    elif cell == FORMULA_CELL:
        reason = (
            f"column {column!r}: it contains a formula; write it as text, "
            "starting with '="
        )
    elif cell != theirs and cell.endswith(CUT):
        reason = (
            f"column {column!r}: the text exceeds the maximum length of a "
            "cell and was truncated"
        )
    if not reason:
        return cell
    reading.problems.append(RowProblem(row=number, reason=reason))
    return theirs


def _guess(row: Mapping[str, str], item: ReviewItem, column: str) -> str | None:
    """Return the exported cell if the export is unknown; None if undeterminable.

    A row of the current revision was exported from the current cells. Before the first
    decision only the generated texts may have changed, not status and notes.
    """
    revision = row.get(REVISION, "0") or "0"
    if revision != str(item.revision):
        return None
    if item.revision or column in {STATUS, NOTES}:
        return editable_cells(item)[column]
    return None


def _change(item: ReviewItem, edits: Mapping[str, str]) -> ReviewChange:
    texts = {k: v for k, v in edits.items() if k not in {STATUS, NOTES}}
    generated = {name: as_cell(text) for name, text in item.generated_fields.items()}
    status = parse_status(edits.get(STATUS, ""))
    return ReviewChange(
        item_id=item.item_id,
        status=None if status is ReviewStatus.REOPENED else status,
        edited={k: None if generated.get(k) == v else v for k, v in texts.items()},
        notes=edits.get(NOTES),
    )


def _on_exported(made: Decision, base: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes that make a decision refer to the exported evidence."""
    return {
        "base": base["generated"],
        "evidence": base["evidence"],
        "status": ReviewStatus.REOPENED,
        "status_before": made.status,
    }
