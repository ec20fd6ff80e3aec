"""The pages of a PDF, batch by batch: words, then regions, then blocks.

read_batches -> _read_batch (words; recognition of pictures) -> build_blocks (furniture,
regions, reading order, tables, figures) -> blocks_in_order (across page breaks)
"""

import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from elt_llm_core.document import BlockKind, Page
from elt_llm_ingest import quota
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.ocr import recognition
from elt_llm_ingest.readers.pdf.blocks import (
    Draft,
    Style,
    goes_on_over_page,
    make_drafts,
    style_of,
)
from elt_llm_ingest.readers.pdf.boilerplate import mark_contents
from elt_llm_ingest.readers.pdf.figures import find_figures, label_figures
from elt_llm_ingest.readers.pdf.formulas import add_formulas
from elt_llm_ingest.readers.pdf.geometry import FigureBox, Region
from elt_llm_ingest.readers.pdf.hidden_text import find_hidden_words
from elt_llm_ingest.readers.pdf.liteparse import Data, PdfFile, layout_batches, open_pdf
from elt_llm_ingest.readers.pdf.lost_words import find_lost_words
from elt_llm_ingest.readers.pdf.page_breaks import continue_over_page
from elt_llm_ingest.readers.pdf.page_draft import PageDraft
from elt_llm_ingest.readers.pdf.page_furniture import mark_furniture
from elt_llm_ingest.readers.pdf.pdfium import (
    OpenPage,
    PrefetchedPages,
    correct_bold,
    open_page,
    prefetch_pages,
)
from elt_llm_ingest.readers.pdf.raised_marks import separate_raised_marks
from elt_llm_ingest.readers.pdf.reading_order import order_drafts
from elt_llm_ingest.readers.pdf.tables.drawn_lines import rules_of
from elt_llm_ingest.readers.pdf.tables.grid import grids_of
from elt_llm_ingest.readers.pdf.tables.merge import (
    is_continued_table,
    join,
    repair_tables,
)
from elt_llm_ingest.readers.pdf.tables.side_by_side import split_side_by_side
from elt_llm_ingest.readers.pdf.undecoded_text import count_undecoded
from elt_llm_ingest.readers.pdf.words import Restorer, Word, lines_of, page_words
from elt_llm_ingest.readers.text_builder import one_line

TEXT = attrgetter("text")
OCR_SHARE = 0.7  # share of a file's time for OCR; the rest is for the layout
GARBLED = 0.03  # share of undecoded characters from which a page is recognised instead
AHEAD = 60  # pages opened in advance; each takes half a megabyte
OCR_CURE = (
    "scan it again with 200 to 300 dots an inch, or make its text selectable: "
    "ocrmypdf IN.pdf OUT.pdf"
)
WarningKind = Literal[
    "hidden", "undecoded", "unreadable", "blank", "recovered", "order"
]


@dataclass
class DocumentNotes:
    """Data of the pages that is kept after their blocks are written."""

    pages: list[Page] = field(default_factory=list)  # without words
    letters: int = 0
    warnings: dict[WarningKind, list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )
    figures: dict[int, list[FigureBox]] = field(default_factory=dict)
    recognised: recognition.Recognised = field(default_factory=recognition.Recognised)
    opening: Sequence[Draft] = ()  # blocks of the first page
    style: Style | None = None  # of the first batch

    def add_batch(self, pages: Sequence[PageDraft], style: Style) -> None:
        """Keep the sizes, figures and warnings of a batch of pages."""
        if self.style is None and pages:
            self.opening, self.style = pages[0].blocks, style
        for page in pages:
            self.pages.append(
                Page.model_construct(
                    number=page.number,
                    width=page.width,
                    height=page.height,
                    label=page.label,
                )
            )
            self.letters += sum(map(len, map(TEXT, page.words)))
            for kind, message in _page_warnings(page):
                self.warnings[kind].append(message)
            if page.figures:
                self.figures[page.number] = page.figures

    def add_recognised(self, recognised: recognition.Recognised) -> None:
        """Keep pages that text recognition read."""
        self.recognised = recognition.merge_recognised(self.recognised, recognised)


def read_batches(
    layouts: Iterable[Any],
    file: PdfFile,
    data: Data,
    timeout: float,
    notes: DocumentNotes,
) -> Generator[list[PageDraft], None, None]:
    """Reads the pages of each batch as far as their blocks.

    The generator must be closed before the file is.

    Args:
        layouts: LiteParse's results, one a batch.
        file: The file in PDFium.
        data: The file's content, for text recognition.
        timeout: Seconds that the file may take.
        notes: Filled with the data to keep.
    """
    deadline = time.monotonic() + OCR_SHARE * timeout
    page_count = len(file.pdf)
    last: Draft | None = None
    with prefetch_pages() as prefetched:
        for layout in layouts:
            quota.add_pages_done(layout.num_pages)
            prefetched.wait()
            seconds = max(deadline - time.monotonic(), 0.0)
            pages = _read_batch(layout, file, data, seconds, notes, prefetched)
            if following := _following_pages(pages, page_count):
                file.go_on(following[0])
                prefetched.prefetch(file.pdf, following)
            del layout  # hundreds of megabytes
            notes.add_batch(pages, build_blocks(pages, last))
            last = next((p.blocks[-1] for p in reversed(pages) if p.blocks), last)
            yield pages
            del pages


def _read_batch(
    layout: Any,
    file: PdfFile,
    data: Data,
    seconds: float,
    notes: DocumentNotes,
    prefetched: PrefetchedPages,
) -> list[PageDraft]:
    """Return the pages of a batch with their words; pictures of text are recognised."""
    began = time.monotonic()
    layouts, recognised = recognition.read_pictures(
        file.pdf, data, layout.pages, seconds
    )
    notes.warnings["unreadable"].extend(_layout_errors(layout))
    notes.add_recognised(recognised)
    pages = [
        read_page(
            page,
            None
            if page.page_num in recognised.pages
            else prefetched.take(file.pdf, page.page_num),
        )
        for page in layouts
    ]
    prefetched.discard()
    return _recognise_undecoded(
        pages, data, seconds - (time.monotonic() - began), notes
    )


def _recognise_undecoded(
    pages: list[PageDraft], data: Data, seconds: float, notes: DocumentNotes
) -> list[PageDraft]:
    """Recognise pages with many undecoded characters by OCR.

    Without a language file they are unchanged, and a warning names them.
    """
    numbers = [
        page.number
        for page in pages
        if page.undecoded_characters > GARBLED * sum(len(w.text) for w in page.words)
    ]
    if not numbers or seconds <= 0 or recognition.languages() is None:
        return pages
    recognised = recognition.recognise(data, numbers, seconds)
    notes.add_recognised(recognised)
    replaced: list[PageDraft] = []
    for page in pages:
        layout = recognised.pages.get(page.number)
        if layout is not None and page.undecoded_characters:
            notes.warnings["undecoded"].append(
                _undecoded_warning(page, "it was read from its rendered image")
            )
        replaced.append(page if layout is None else read_page(layout, None))
    return replaced


def read_page(layout: Any, opened: OpenPage | None) -> PageDraft:
    """Reads the words, rules and grids of a page.

    Args:
        layout: The page as LiteParse lays it out.
        opened: The same page in PDFium, which is closed here. None if PDFium cannot
            open it, or if its text was recognised from a picture.
    """
    undecoded = count_undecoded(opened.layer, opened.plain) if opened is not None else 0
    words, hidden = _read_words(layout, opened)
    rules = rules_of(getattr(layout, "vector_graphics", None))
    return PageDraft(
        number=layout.page_num,
        width=layout.width,
        height=layout.height,
        words=words,
        label=layout.page_label or "",
        layout=list(layout.blocks or []),
        grids=grids_of(rules),
        rules=rules,
        hidden_words=hidden,
        undecoded_characters=undecoded,
    )


def _read_words(layout: Any, opened: OpenPage | None) -> tuple[list[Word], int]:
    """The visible words of a page, and the number of the hidden ones.

    They are LiteParse's words in PDFium's spelling, and words that LiteParse lost.
    """
    if opened is None:
        return page_words(layout, Restorer("")), 0  # plain quotes and dashes stay
    page, layer, plain = opened
    try:
        words = page_words(layout, Restorer(plain))
        words = add_formulas(page, layer, layout, words)
        lost = find_lost_words(page, layer, plain, layout.page_num, words)
        correct_bold(page, layer, words)
        words = separate_raised_marks(page, layer, words)
        words += lost
        graphics = getattr(layout, "vector_graphics", None)
        hidden = find_hidden_words(page, graphics, words)
        if hidden:
            words = [word for word in words if id(word) not in hidden]
        return words, len(hidden)
    finally:
        opened.close()


def _following_pages(pages: Sequence[PageDraft], page_count: int) -> range:
    """Return the first pages of the next batch, if there is one."""
    if not pages:
        return range(0)
    first = pages[-1].number + 1
    return range(first, min(first + len(pages), first + AHEAD, page_count + 1))


def build_blocks(pages: Sequence[PageDraft], last: Draft | None = None) -> Style:
    """Makes the blocks of every page of a batch.

    Args:
        pages: The pages of the batch.
        last: The last block of the page before them.

    Returns:
        The letter height and line distance of the batch's body text.
    """
    mark_furniture(pages)
    style = style_of([line for page in pages for line in page.body_lines])

    def draft_blocks(regions: Sequence[Region]) -> list[Draft]:
        blocks = mark_contents(make_drafts(regions, style))
        return repair_tables(
            [part for block in blocks for part in split_side_by_side(block)],
            style.pitch,
        )

    for page in pages:
        page.blocks = order_drafts(page, draft_blocks)
        continue_over_page(last, page)
        last = page.blocks[-1] if page.blocks else last
        body, size = page.body, (page.width, page.height)
        label_figures(page.blocks, page.layout, body, size)
        page.figures = find_figures(page.blocks, page.layout, body, size)
        page.furniture = lines_of([word for word in page.words if word.furniture])
    return style


def blocks_in_order(
    batches: Iterable[list[PageDraft]],
) -> Iterator[tuple[Draft, bool]]:
    """Every block once, and whether it is a table continued from the page before.

    Empties the batches. The furniture of a page comes before its content; where a
    paragraph continues from the page before, right after that paragraph. The last
    block of a page waits for the next page with content, which may add to it.
    """
    waiting: list[tuple[Draft, bool]] = []
    last: Draft | None = None
    for pages in batches:
        pages.reverse()
        while pages:  # frees each page as soon as its blocks are written
            page = pages.pop()
            blocks = list(page.blocks)
            goes_on = last is not None and bool(blocks) and _join_over(last, blocks)
            waiting.extend(
                (Draft(BlockKind.FURNITURE, [line]), False) for line in page.furniture
            )
            waiting.extend((b, goes_on and i == 0) for i, b in enumerate(blocks))
            if blocks:
                last = blocks[-1]
                yield from waiting[:-1]
                del waiting[:-1]
    yield from waiting


def _join_over(last: Draft, blocks: list[Draft]) -> bool:
    """Join the first block of a page to the last one before it, if they are one.

    Returns True if a table continues; a joined paragraph is removed from `blocks`.
    """
    first = blocks[0]
    if last.table and first.table:
        if not is_continued_table(last.table, first.table):
            return False
        join(last.table, first.table)
        if not first.table.rows:
            del blocks[0]
            return False
        return True
    if not last.table and not first.table and goes_on_over_page(last, first):
        last.lines.extend(first.lines)
        last.attributes |= first.attributes
        del blocks[0]
    return False


def _page_warnings(page: PageDraft) -> Iterator[tuple[WarningKind, str]]:
    """Return warnings about a page for readers of the document."""
    where = f"page {page.number}"
    if not page.words and any(block.kind == "figure" for block in page.layout):
        yield "blank", f"{where} contains a picture and no text; {OCR_CURE}"
    if lost := sum([w.run < 0 and not w.furniture for w in page.words]):
        words = "words were" if lost != 1 else "word was"
        yield (
            "recovered",
            f"{where}: {lost} {words} recovered from the plain text layer",
        )
    if hidden := page.hidden_words:
        word, was = ("word", "was") if hidden == 1 else ("words", "were")
        yield (
            "hidden",
            f"{where}: {hidden} {word} that no reader of the page sees {was} left out",
        )
    if page.undecoded_characters:
        yield "undecoded", _undecoded_warning(page, "the text is wrong there")
    if page.is_order_doubtful:
        cause = "the layout of the page and the order of the text in the file disagree"
        yield "order", f"{where}: its reading order is doubtful: {cause}"


def _undecoded_warning(page: PageDraft, consequence: str) -> str:
    return (
        f"page {page.number}: {page.undecoded_characters} characters are in a font "
        f"that does not say which letters they are; {consequence}"
    )


def _layout_errors(layout: Any) -> list[str]:
    return [
        f"page {error.page_num} could not be read: {one_line(error.message)[:200]}"
        for error in layout.page_errors
    ]


def read_pages(path: Path, data: bytes, limits: Limits) -> Iterator[PageDraft]:
    """Reads the pages of a PDF as far as their words.

    Raises:
        LoadError: If the file is damaged, locked or too long.
    """
    with open_pdf(path, data) as file:
        for batch in layout_batches(path, data, limits, len(file.pdf)):
            for layout in batch.pages:
                yield read_page(layout, open_page(file.pdf, layout.page_num))
