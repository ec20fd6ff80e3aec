"""Which figures of a document a stretch of it holds, and which it mentions."""

from bisect import bisect_left
from itertools import pairwise

from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.language.figure_numbers import (
    caption_label,
    caption_number,
    mentioned_figures,
)

_CAPTIONS = frozenset({BlockKind.FIGURE, BlockKind.CAPTION})


class FigureMentions:
    """The figures of one document that have a number."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self._text = parsed.text
        captions = [
            (block.start, number)
            for block in parsed.blocks
            if block.kind in _CAPTIONS or block.kind is BlockKind.PARAGRAPH
            if block.attributes.get("generated") != "true"
            if (number := self._caption(block))
        ]
        self._starts = [start for start, _ in captions]
        self._numbers = [number for _, number in captions]
        self._labels = [len(caption_label(parsed.text[at:])) for at in self._starts]
        self._known = frozenset(self._numbers)

    def _caption(self, block: Block) -> str:
        """The number of a caption; a reader may give one as a paragraph."""
        text = self._text[block.start : block.end]
        return caption_number(text, marked=block.kind is BlockKind.PARAGRAPH)

    def number(self, start: int, end: int) -> str:
        """Return the number of the first figure whose caption begins in a span."""
        first = bisect_left(self._starts, start)
        held = first < len(self._starts) and self._starts[first] < end
        return self._numbers[first] if held else ""

    def mentions(self, start: int, end: int) -> tuple[str, ...]:
        """Return the figures that a span names outside of the labels of captions.

        A section whose sentence says "Figure 1 shows the valve" mentions the figure,
        also where it has the picture with its caption as well.
        """
        if not self._known:
            return ()
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        edges = [start, *self._starts[first:last], end]
        labels = [0, *(self._labels[first:last])]
        parts = [
            self._text[one + label : two]
            for (one, two), label in zip(pairwise(edges), labels, strict=True)
        ]
        return mentioned_figures("\n\n".join(parts), self._known)
