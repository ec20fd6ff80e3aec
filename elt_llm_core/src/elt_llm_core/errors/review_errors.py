"""Errors of reviews: products, items, revisions and sheets."""

from collections.abc import Iterable, Mapping
from typing import Any

from elt_llm_core.errors.base_error import EltLlmError, suggest


class ReviewError(EltLlmError):
    """A review of a product's items cannot be shown or recorded."""

    code = "REV001"
    exit_code = 65
    status = 422


class UnknownProductError(ReviewError):
    """No run generated a product of that name in this data root."""

    code = "REV002"
    status = 404

    def __init__(self, product: str, known: Iterable[str]) -> None:
        hint = suggest(product, known)
        if hint.startswith("none"):
            hint = "generate one first: elt-llm glossary --collection NAME"
        super().__init__(f"no product {product!r} has items to review", hint)


class UnknownItemError(ReviewError):
    """A product has no such item, or nothing to take back of it."""

    code = "REV003"
    status = 404

    def __init__(self, product: str, item: str, reason: str = "") -> None:
        what = reason or f"{product!r} has no item {item!r}"
        head = f"{item!r} of {product!r}: {what}" if reason else what
        super().__init__(head, f"see: elt-llm review list {product}")


class StaleReviewError(ReviewError):
    """Somebody decided on the item since it was read; both are told.

    `current` is the item as it is, `refused` the change that was not made.
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
            f"{label!r} has revision {now} and not {revision}: somebody decided on it "
            "meanwhile",
            "look at both and decide again",
            [f"it is: {_in_short(current)}", f"refused: {_in_short(refused)}"],
        )
        self.current = dict(current)
        self.refused = dict(refused)


def _in_short(one: Mapping[str, Any]) -> str:
    """Return what a decision says, without what is empty."""
    names = ("status", "edited", "notes", "reviewer", "at")
    return ", ".join(f"{n} {one[n]!r}" for n in names if one.get(n)) or "as generated"


class SheetError(ReviewError):
    """A sheet cannot be read as an export that came back."""

    code = "REV005"

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        super().__init__(f"cannot import {path}: {reason}", hint)
        self.reason = reason


class EditedSheetError(ReviewError):
    """A sheet that people edited is in the place of an export; it was not replaced."""

    code = "REV006"
    exit_code = 73
    status = 409

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} was edited, or is no export of ours, and was not replaced",
            f"take its decisions first: elt-llm review import {path}, "
            "or name another file with --to",
        )
