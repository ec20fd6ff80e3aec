"""Errors of reviews: products, items, revisions and sheets."""

from collections.abc import Iterable, Mapping
from typing import Any

from elt_llm_core.errors.base_error import EltLlmError, suggest


class ReviewError(EltLlmError):
    """The review of a product's items cannot be shown or saved."""

    code = "REV001"
    exit_code = 65
    status = 422


class UnknownProductError(ReviewError):
    """The data root has no product of that name, or several begin with it."""

    code = "REV002"
    status = 404

    def __init__(self, product: str, known: Iterable[str]) -> None:
        names = sorted(known)
        begun = [name for name in names if name.startswith(product)]
        if len(begun) > 1:
            several = f"{len(begun)} products begin with {product!r}"
            super().__init__(several, f"name one of them: {', '.join(begun)}")
            return
        hint = suggest(product, names)
        if hint.startswith("none"):
            hint = "generate one first: elt-llm glossary --collection NAME"
        super().__init__(f"no product {product!r} has items to review", hint)


class UnknownItemError(ReviewError):
    """A product has no such item, or the item has no decision to withdraw."""

    code = "REV003"
    status = 404

    def __init__(self, product: str, item: str, reason: str = "") -> None:
        what = reason or f"{product!r} has no item {item!r}"
        head = f"{item!r} of {product!r}: {what}" if reason else what
        super().__init__(head, f"see: elt-llm review list {product}")


class StaleReviewError(ReviewError):
    """The item was changed after it was read; the message shows both versions.

    `current` is the item now, `refused` the change that was not saved.
    """

    code = "REV004"
    exit_code = 75
    status = 412

    def __init__(
        self,
        label: str,
        revision: int,
        current: Mapping[str, Any],
        refused: Mapping[str, Any],
    ) -> None:
        now = current.get("revision")
        super().__init__(
            f"{label!r} has revision {now}, not {revision}: another decision was "
            "saved meanwhile",
            "compare both and decide again",
            [f"now: {_in_short(current)}", f"refused: {_in_short(refused)}"],
        )
        self.current = dict(current)
        self.refused = dict(refused)


def _in_short(one: Mapping[str, Any]) -> str:
    """Return the non-empty fields of a decision."""
    names = ("status", "edited", "notes", "reviewer", "at")
    return ", ".join(f"{n} {one[n]!r}" for n in names if one.get(n)) or "as generated"


class SheetError(ReviewError):
    """A file cannot be imported as a review sheet."""

    code = "REV005"

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        super().__init__(f"cannot import {path}: {reason}", hint)
        self.reason = reason


class EditedSheetError(ReviewError):
    """The target of an export is an edited sheet; it was not overwritten."""

    code = "REV006"
    exit_code = 73
    status = 409

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} was edited, or is not an export of this program; it was not "
            "overwritten",
            f"import its decisions first: elt-llm review import {path}, or name "
            "another file with --to",
        )
