"""Boxes of a page in an address: `left,top,right,bottom;…` as fractions."""

from collections.abc import Iterable

from pydantic import ValidationError

from elt_llm_core.errors import UsageError
from elt_llm_core.results import Box

MAX_BOXES = 200  # a quote has one for each line: this is about four pages


def parse_boxes(text: str, page: int) -> list[Box]:
    """Read the boxes of an address.

    Args:
        text: Four fractions of the page's sides for each box, joined by `;`.
        page: The page they are on, from 1.

    Raises:
        UsageError: If there are over 200 boxes, or one is not a box of a page.
    """
    parts = [part for part in text.split(";") if part]
    if len(parts) > MAX_BOXES:
        raise UsageError(f"at most {MAX_BOXES} boxes")
    return [_parse_box(part, page) for part in parts]


def format_boxes(boxes: Iterable[Box]) -> str:
    """Write boxes as `parse_boxes` reads them; four decimals are a tenth of a line."""
    return ";".join(
        f"{box.left:.4f},{box.top:.4f},{box.right:.4f},{box.bottom:.4f}"
        for box in boxes
    )


def _parse_box(text: str, page: int) -> Box:
    try:
        left, top, right, bottom = (float(number) for number in text.split(","))
        box = Box(page=page, left=left, top=top, right=right, bottom=bottom)
    except (ValueError, ValidationError) as error:
        raise UsageError("four fractions between 0 and 1") from error
    if box.left > box.right or box.top > box.bottom:
        raise UsageError("left must not exceed right, nor top bottom")
    return box
