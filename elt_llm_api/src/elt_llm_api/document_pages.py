"""A document for the viewer: one page at a time, with its blocks and boxes.

A document without pages is split into screens of a fixed number of blocks, which are
used as pages.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from elt_llm_api.schemas import Wire
from elt_llm_core.document import Block, Page
from elt_llm_core.errors import NothingThereError
from elt_llm_core.provenance import boxes_of_span
from elt_llm_core.results import Box
from elt_llm_core.store import DocumentRow, Store

SCREEN = 60  # blocks of a document without pages: about three screens of text
MOST_MATCHES = 200  # matches of a search; use longer words to narrow it
AROUND = 60  # characters before and after a match
KEPT = 3  # open documents; one of 700 pages takes about 20 MB


class PageBlock(Wire):
    """A block of a page: `text` is characters `[start, end)` of the document."""

    kind: str
    start: int
    end: int
    text: str
    section: str
    level: int
    table: int = Field(description="number of the table of a row, else 0")
    cells: list[str] = Field(description="of a row of a table")
    columns: list[str] = Field(description="the heading above each cell, or empty")
    box: Box | None = Field(description="bounding box of its part on this page")
    confidence: float | None = Field(description="of text recognition")
    doubtful: bool = Field(
        description="true if the reading order of its page is uncertain"
    )


class PageOut(Wire):
    """A page of a document, or a screen of one without pages."""

    document_id: str
    document: str
    title: str
    collection: str
    number: int
    pages: int
    has_pages: bool
    image: str | None = Field(description="the page as a picture, without marks")
    blocks: list[PageBlock]


class OutlineEntry(Wire):
    """A heading of a document and its page."""

    title: str
    level: int
    page: int


class Outline(Wire):
    """The headings of a document in order."""

    data: list[OutlineEntry]


class TextMatch(Wire):
    """A match in the text; `text[at:at + length]` are the matching words."""

    page: int
    start: int
    text: str
    at: int
    length: int


class MatchList(Wire):
    """Matches in the order of the document."""

    data: list[TextMatch]
    total: int = Field(description="total number of places, regardless of the limit")


@dataclass(frozen=True)
class OpenDocument:
    """The text of a document and its blocks by page."""

    row: DocumentRow
    text: str
    blocks: Sequence[Block]
    pages: dict[int, list[Block]]

    @property
    def page_count(self) -> int:
        """Return the number of pages, or of screens."""
        return max(self.row.page_count, *self.pages, 1)

    def page_of(self, block_number: int) -> int:
        """Return the page on which a block begins."""
        if self.row.page_count:
            return self.blocks[block_number].page or 1
        return block_number // SCREEN + 1


class OpenDocuments:
    """The most recently opened documents. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, str], OpenDocument] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, row: DocumentRow) -> OpenDocument:
        """Return a document with its blocks by page; it is read once."""
        key = row.document_id, row.sha256
        with self._lock:
            if key not in self._kept:
                self._kept[key] = _open(self._store, row)
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]


def _open(store: Store, row: DocumentRow) -> OpenDocument:
    blocks = store.blocks(row.document_id)
    pages: dict[int, list[Block]] = {}
    for number, block in enumerate(blocks):
        if row.page_count:
            first = block.page or 1
            on = range(first, (block.end_page or first) + 1)
        else:
            on = range(number // SCREEN + 1, number // SCREEN + 2)
        for page in on:
            pages.setdefault(page, []).append(block)
    return OpenDocument(row, store.document_text(row.document_id), blocks, pages)


def read_page(
    store: Store, opened: OpenDocument, number: int, *, has_image: bool
) -> PageOut:
    """Return a page with its blocks.

    Args:
        store: The data root.
        opened: The document.
        number: The page, from 1.
        has_image: Whether its pages can be drawn.

    Raises:
        NothingThereError: If the document has no such page.
    """
    row = opened.row
    if not 1 <= number <= opened.page_count:
        raise NothingThereError(
            f"{row.name} has no page {number}", f"it has 1 to {opened.page_count}"
        )
    words = store.pages(row.document_id, [number]) if row.page_count else []
    blocks = opened.pages.get(number, [])
    path = f"/v1/documents/{row.document_id}/pages/{number}.jpg"
    return PageOut(
        document_id=row.document_id,
        document=row.name,
        title=row.title,
        collection=row.collection,
        number=number,
        pages=opened.page_count,
        has_pages=bool(row.page_count),
        image=path if has_image else None,
        blocks=[_show(opened.text, block, words, number) for block in blocks],
    )


def read_outline(opened: OpenDocument) -> Outline:
    """Return the headings of a document."""
    return Outline(
        data=[
            OutlineEntry(
                title=" ".join(opened.text[block.start : block.end].split()),
                level=max(1, block.level),
                page=opened.page_of(number),
            )
            for number, block in enumerate(opened.blocks)
            if block.kind == "heading"
        ]
    )


def search_text(opened: OpenDocument, words: str) -> MatchList:
    """Return where words occur in a document, ignoring case and spacing."""
    folded, places = _fold(opened.text)
    wanted = _fold(words)[0].strip()
    starts = []
    at = folded.find(wanted) if wanted else -1
    while at >= 0:
        starts.append(at)
        at = folded.find(wanted, at + len(wanted))
    numbers = _number_blocks(opened.blocks, [places[at] for at in starts])
    matches = [
        _match(opened, places[at], places[at + len(wanted) - 1] + 1, number)
        for at, number in zip(starts[:MOST_MATCHES], numbers, strict=False)
    ]
    return MatchList(data=matches, total=len(starts))


def _show(text: str, block: Block, words: Sequence[Page], number: int) -> PageBlock:
    boxes = [box for box in block.boxes if box.page == number]
    boxes = boxes or list(boxes_of_span(words, block.start, block.end))
    return PageBlock(
        kind=block.kind.value,
        start=block.start,
        end=block.end,
        text=text[block.start : block.end],
        section=block.section,
        level=block.level,
        table=block.table_number,
        cells=[text[cell.start : cell.end] for cell in block.cells],
        columns=[
            "" if block.attributes.get("row") == "header" else cell.header
            for cell in block.cells
        ],
        box=_enclose(number, boxes) if boxes else None,
        confidence=block.confidence,
        doubtful=block.attributes.get("reading_order") == "doubtful",
    )


def _enclose(page: int, boxes: Sequence[Box]) -> Box:
    return Box(
        page=page,
        left=min(box.left for box in boxes),
        top=min(box.top for box in boxes),
        right=max(box.right for box in boxes),
        bottom=max(box.bottom for box in boxes),
    )


def _fold(text: str) -> tuple[str, list[int]]:
    """Return text in lower case with single spaces, and the original positions."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        if letter.isspace():
            if letters and letters[-1] == " ":
                continue
            letter = " "  # noqa: PLW2901  # the gap as one blank
        for one in letter.lower():
            letters.append(one)
            places.append(place)
    return "".join(letters), places


def _number_blocks(blocks: Sequence[Block], starts: Sequence[int]) -> list[int]:
    """Return the number of the block that contains or precedes each position."""
    numbers, number = [], 0
    for start in starts:
        while number + 1 < len(blocks) and blocks[number + 1].start <= start:
            number += 1
        numbers.append(number)
    return numbers


def _match(opened: OpenDocument, start: int, end: int, number: int) -> TextMatch:
    begin = max(0, start - AROUND)
    return TextMatch(
        page=opened.page_of(number) if opened.blocks else 1,
        start=start,
        text=opened.text[begin : end + AROUND],
        at=start - begin,
        length=end - start,
    )
