"""Three-way merge of a generated text and a person's edit.

Base is the text that the person saw, theirs the present generated text, ours the
person's text. As in `git merge-file`, a change on one side is applied; different
changes on both sides are a conflict, in which the person's text stays and both are
shown.
"""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import Field

from elt_llm_core.records import Record


class Merge(Record):
    """The merged fields, those that changed since, and those in conflict."""

    fields: dict[str, str]
    changed: tuple[str, ...] = Field(
        default=(), description="the generated text changed since the review"
    )
    conflicts: tuple[str, ...] = Field(
        default=(),
        description="the generated text changed, and the edited text differs",
    )


class CellMerge(NamedTuple):
    """The merge of one cell of an imported sheet."""

    text: str
    is_edit: bool
    is_conflict: bool


def one_spaced(text: str) -> str:
    """Return the text with single spaces, so that line breaks do not count."""
    return " ".join(text.split())


def merge_fields(
    base: Mapping[str, str], theirs: Mapping[str, str], ours: Mapping[str, str]
) -> Merge:
    """Merge the fields of one item.

    Args:
        base: The generated fields that the person saw; a missing field counts as
            unchanged.
        theirs: The present generated fields.
        ours: The person's texts, only for fields that the person edited.

    Returns:
        The merged fields, with `theirs` for unedited ones.
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
        base: The exported cell; None if it is no longer known.
        theirs: The cell that an export would write now.
        ours: The cell of the imported sheet.

    Returns:
        The merged text; an edit if it is the sheet's and differs from `theirs`, a
        conflict if both sides changed it or there is no base.
    """
    if ours in (theirs, base):
        return CellMerge(theirs, is_edit=False, is_conflict=False)
    if base == theirs:
        return CellMerge(ours, is_edit=True, is_conflict=False)
    return CellMerge(theirs, is_edit=False, is_conflict=True)
