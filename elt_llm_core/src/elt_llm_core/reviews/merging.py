"""The three-way merge of a generated text with what a person made of it.

Base is what the person saw, theirs is what is generated now, ours is the person's text.
As in `git merge-file`: what only one side changed is taken, what both changed in
different ways is a conflict, of which the person's text holds and both are shown.
"""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import Field

from elt_llm_core.records import Record


class Merge(Record):
    """The fields that hold, those that changed since, and those in conflict."""

    fields: dict[str, str]
    changed: tuple[str, ...] = Field(
        default=(), description="the generated text changed since the review"
    )
    conflicts: tuple[str, ...] = Field(
        default=(),
        description="the generated text changed, and the edited text differs",
    )


class CellMerge(NamedTuple):
    """What becomes of one cell of a sheet that came back."""

    text: str
    is_edit: bool
    is_conflict: bool


def one_spaced(text: str) -> str:
    """Return the text with single blanks: another line break is no other text."""
    return " ".join(text.split())


def merge_fields(
    base: Mapping[str, str], theirs: Mapping[str, str], ours: Mapping[str, str]
) -> Merge:
    """Merge the fields of one item.

    Args:
        base: The generated fields that the person saw; a field that is not there was
            not known then and counts as unchanged.
        theirs: The fields as generated now.
        ours: The person's texts, only for fields that the person edited.

    Returns:
        The merged fields, with `theirs` for what was not edited.
    """
    merged = dict(theirs)
    changed, conflicts = [], []
    for name, text in theirs.items():
        if one_spaced(base.get(name, text)) != one_spaced(text):
            changed.append(name)
            if name in ours and one_spaced(ours[name]) != one_spaced(text):
                conflicts.append(name)
        merged[name] = ours.get(name, text)
    merged.update({name: text for name, text in ours.items() if name not in theirs})
    return Merge(fields=merged, changed=tuple(changed), conflicts=tuple(conflicts))


def merge_cell(base: str | None, theirs: str, ours: str) -> CellMerge:
    """Merge one cell of a sheet.

    Args:
        base: The cell as it was exported; None where that is not known any more.
        theirs: The cell as an export would write it now.
        ours: The cell of the sheet that came back.

    Returns:
        The text that holds; an edit where that is the sheet's and differs from
        `theirs`, a conflict where both sides changed it, and always without a base.
    """
    if ours in (theirs, base):
        return CellMerge(theirs, is_edit=False, is_conflict=False)
    if base == theirs:
        return CellMerge(ours, is_edit=True, is_conflict=False)
    return CellMerge(theirs, is_edit=False, is_conflict=True)
