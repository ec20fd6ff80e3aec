"""Pages and boxes of spans, found by binary search."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from elt_llm_core.document import Block, Page
from elt_llm_core.provenance import boxes_of_span
from elt_llm_core.results import Box


class Places:
    """Looks up the pages and boxes of characters of a document."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = [page for page in pages if page.words]
        self._starts = [[word[0] for word in page.words] for page in self._pages]
        self._last = [max(word[1] for word in page.words) for page in self._pages]

    def of(
        self, start: int, end: int, blocks: Sequence[Block]
    ) -> tuple[int | None, int | None, tuple[Box, ...]]:
        """Return first page, last page and boxes of a span; `blocks` overlap it."""
        pages = self._words(start, end)
        if pages:
            boxes = boxes_of_span(pages, start, end)
            numbers = [page.number for page in pages]
            return min(numbers), max(numbers), boxes
        numbers = [n for b in blocks for n in (b.page, b.end_page) if n is not None]
        if not numbers:
            return None, None, ()
        boxes = tuple(box for block in blocks for box in block.boxes)
        return min(numbers), max(numbers), boxes

    def _words(self, start: int, end: int) -> list[Page]:
        """Return pages with words of the span, with those words only."""
        pages = []
        for page, starts, last in zip(
            self._pages, self._starts, self._last, strict=True
        ):
            if starts[0] >= end or last <= start:
                continue
            low = max(0, bisect_right(starts, start) - 1)
            low = bisect_left(starts, starts[low])  # one word may have two boxes
            high = bisect_left(starts, end)
            words = [word for word in page.words[low:high] if word[1] > start]
            if words:
                pages.append(page.model_copy(update={"words": words}))
        return pages
