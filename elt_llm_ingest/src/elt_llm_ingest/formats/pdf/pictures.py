"""Figures: their place and what kind they are, kept with their captions."""

import re
from collections.abc import Sequence
from typing import Any

from elt_llm_core.document import BlockKind
from elt_llm_ingest.formats.pdf.flow import Draft
from elt_llm_ingest.formats.pdf.region import Rectangle, rectangle
from elt_llm_ingest.formats.pdf.words import Word

PICTURE = re.compile(r"^(figure|fig\.|chart|graph|diagram)\s+[0-9A-Z]", re.IGNORECASE)
SMALL = 0.01  # of the page; smaller ones are marks and logos
NEAR = 60  # points from a figure to its caption
LABELS = 5  # words in a figure that make it a diagram, numbers that make it a chart


def label_figures(
    drafts: Sequence[Draft],
    blocks: Sequence[Any],
    words: Sequence[Word],
    size: tuple[float, float],
) -> None:
    """Make figures of the captions that stand at one, with its box and kind.

    The kind is `chart`, `diagram` or `picture`, by what is written in it. A caption
    has one figure, the nearest.
    """
    boxes = [rectangle(b.bbox) for b in blocks if b.kind == "figure" and b.bbox]
    large = [
        b for b in boxes if (b[2] - b[0]) * (b[3] - b[1]) > SMALL * size[0] * size[1]
    ]
    for draft in drafts:
        if draft.kind is BlockKind.CAPTION and PICTURE.match(draft.text):
            near = [(gap, b) for b in large if (gap := _gap(draft, b)) is not None]
            if near:
                _, box = min(near)
                draft.kind = BlockKind.FIGURE
                draft.box = box
                draft.attributes = {"figure": _kind(box, words)}


def _gap(draft: Draft, box: Rectangle) -> float | None:
    """Points between a caption and a figure over or under it; None if it is neither."""
    left = min(line.left for line in draft.lines)
    right = max(line.right for line in draft.lines)
    if right < box[0] or left > box[2]:
        return None
    top = min(line.top for line in draft.lines)
    bottom = max(line.bottom for line in draft.lines)
    gap = max(top - box[3], box[1] - bottom)
    return max(gap, 0.0) if gap <= NEAR else None


def _kind(box: Rectangle, words: Sequence[Word]) -> str:
    held = [
        word
        for word in words
        if box[0] <= word.middle[0] <= box[2] and box[1] <= word.middle[1] <= box[3]
    ]
    numbers = sum(any(c.isdigit() for c in word.text) for word in held)
    if numbers >= LABELS:
        return "chart"
    return "diagram" if len(held) >= LABELS else "picture"
