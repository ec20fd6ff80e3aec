"""Running headers, footers and page numbers, found by place and frequency."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from elt_llm_ingest.readers.pdf.geometry import BAND
from elt_llm_ingest.readers.pdf.page_draft import PageDraft
from elt_llm_ingest.readers.pdf.words import Line, Word

PAGE_NUMBER = re.compile(
    r"^\W*(?:page|p\.?|seite)?\s*(?:[0-9]{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:of|/|\|)\s*[0-9]{1,4})?\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Edge:
    page: int
    line: Line
    text: str
    slot: tuple[str, int, float]
    inner: bool  # not in the outermost lines of the page
    in_table: bool

    @property
    def is_number(self) -> bool:
        """Return whether it is a plain page number."""
        return PAGE_NUMBER.match(self.line.text) is not None


def mark_furniture(pages: Sequence[PageDraft]) -> None:
    """Set `furniture` on the words of running headers, footers and page numbers.

    A line in the outer 12 % of the page is one if its text (digits aside) stands there
    on at least three pages and 15 % of all, if its place is that of a running line
    whose text changes from chapter to chapter, or if it is a bare page number. A line
    without a gap to the body must be identical, digits included; one in a table must be
    on half of the pages. Rotated text next to all upright text is furniture too. If no
    page has a body, only page numbers are marked.
    """
    for page in pages:
        _mark_turned(page)
    furniture = _running([edge for page in pages for edge in _edges(page)], len(pages))
    if not _has_body(pages, furniture):
        furniture = [edge for edge in furniture if edge.is_number]
    for edge in furniture:
        for word in edge.line.words:
            word.furniture = True


def _running(edges: Sequence[_Edge], pages: int) -> list[_Edge]:
    """Return the running lines at the edges of pages, and page numbers."""
    texts: dict[tuple[str, str], set[int]] = defaultdict(set)
    slots: dict[tuple[str, int, float], list[_Edge]] = defaultdict(list)
    for edge in edges:
        texts[edge.slot[0], edge.text].add(edge.page)
        texts[edge.slot[0], edge.line.text].add(edge.page)
        slots[edge.slot].append(edge)
    many = max(3, round(0.15 * pages))
    running = {
        slot for slot, furniture in slots.items() if _is_running(furniture, pages)
    }
    furniture: list[_Edge] = []
    for edge in edges:
        text = edge.line.text if edge.inner else edge.text
        often = len(texts[edge.slot[0], text])
        needed = max(many, 0.5 * pages) if edge.in_table else many
        if (edge.inner or edge.in_table) and often < needed:
            continue
        is_number = pages > 1 and edge.is_number
        if often >= many or edge.slot in running or is_number:
            furniture.append(edge)
    return furniture


def _has_body(pages: Sequence[PageDraft], furniture: Sequence[_Edge]) -> bool:
    """Return whether a page has upright text besides these lines."""
    marked = {id(word) for edge in furniture for word in edge.line.words}
    return any(
        id(word) not in marked and not word.furniture
        for page in pages
        for word in page.words
    )


def _mark_turned(page: PageDraft) -> None:
    """Mark rotated words left or right of all upright ones: stamps and side notes.

    Not in a table, and not if most of the page is rotated.
    """
    turned = [word for word in page.words if word.rotated]
    upright = [word for word in page.words if not word.rotated]
    if not turned or len(turned) >= len(upright):
        return
    left = min(word.left for word in upright)
    right = max(word.right for word in upright)
    for word in turned:
        beside = word.right <= left or word.left >= right
        if beside and not _in_table(page, word):
            word.furniture = True


def _is_running(edges: Sequence[_Edge], pages: int) -> bool:
    """Return whether a position has a running line with changing text."""
    if len({edge.page for edge in edges}) < max(3, 0.5 * pages):
        return False
    by_text: dict[str, set[int]] = defaultdict(set)
    for edge in edges:
        by_text[edge.text].add(edge.page)
    repeated = sum(len(on) for on in by_text.values() if len(on) > 1)
    return repeated >= 0.6 * len(edges)


def _edges(page: PageDraft) -> list[_Edge]:
    lines = page.lines
    outer = {id(line) for line in _outermost(lines) + _outermost(lines[::-1])}
    edges = []
    for line in lines:
        middle = (line.top + line.bottom) / 2 / page.height
        if BAND < middle < 1 - BAND:
            continue
        band = "top" if middle <= BAND else "bottom"
        text = re.sub(r"\d+", "#", line.text.casefold())
        slot = (band, round(line.top / 2), line.size)
        inner = id(line) not in outer
        edges.append(_Edge(page.number, line, text, slot, inner, _in_table(page, line)))
    return edges


def _outermost(lines: Sequence[Line]) -> list[Line]:
    """Return the lines from the edge of the page to the first line-high gap."""
    outermost: list[Line] = []
    for line in lines:
        if outermost:
            gap = max(line.top - outermost[-1].bottom, outermost[-1].top - line.bottom)
            if gap >= 0.9 * line.size:
                return outermost
        outermost.append(line)
    return []  # no gap at all: all of it is body


def _in_table(page: PageDraft, line: Line | Word) -> bool:
    x, y = (line.left + line.right) / 2, (line.top + line.bottom) / 2
    return any(
        left <= x <= right and top <= y <= bottom
        for left, top, right, bottom in page.table_boxes
    )
