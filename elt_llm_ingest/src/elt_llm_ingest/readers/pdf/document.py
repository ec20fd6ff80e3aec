"""Convert a PDF's bytes to one parsed document."""

import contextlib
import gc
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from mmap import mmap
from pathlib import Path

from liteparse import __version__ as liteparse_version

from elt_llm_core.document import Block, BlockKind, Blocks, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.records import replace_fields
from elt_llm_ingest import quota
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.ocr import recognition
from elt_llm_ingest.readers.pdf.blocks import NUMBER, add_rule_numbers
from elt_llm_ingest.readers.pdf.boilerplate import (
    find_boilerplate,
    mark_furniture_block,
)
from elt_llm_ingest.readers.pdf.figures import add_figures
from elt_llm_ingest.readers.pdf.headings import (
    HeadingLevels,
    add_run_in_headings,
    mark_run_in_headings,
)
from elt_llm_ingest.readers.pdf.liteparse import (
    BATCH,
    DAMAGE_CURE,
    Data,
    layout_batches,
    open_pdf,
    read_outline,
)
from elt_llm_ingest.readers.pdf.page_draft import PageDraft
from elt_llm_ingest.readers.pdf.pages import (
    OCR_CURE,
    DocumentNotes,
    blocks_in_order,
    read_batches,
)
from elt_llm_ingest.readers.pdf.writer import DocumentWriter
from elt_llm_ingest.readers.text_builder import MAX_TITLE, assign_sections, one_line

TAIL = 4096  # bytes at the end of a file with the position of its object table
START = re.compile(rb"startxref\s+(\d{1,12})")
TABLE = re.compile(rb"\s*(?:xref\b|\d+\s+\d+\s+obj\b)")
WARNING = "the PDF is damaged and was repaired; pages or text may be missing"


def describe_damage(data: bytes | mmap) -> tuple[str, ...]:
    """Return a warning if the file's end or its object table is misplaced."""
    offsets = START.findall(data[-TAIL:])
    if not offsets or b"%%EOF" not in data[-TAIL:]:
        return (WARNING,)
    place = int(offsets[-1])
    before = max(data.find(b"%PDF-"), 0)  # offsets may include bytes before the header
    sound = any(TABLE.match(data, start) for start in (place, place + before))
    return () if sound else (WARNING,)


PARSER = f"liteparse {liteparse_version}, layer 13"
FEW_PAGES = 3  # a short document may say little on its pages


def parse(path: Path, data: Data, limits: Limits) -> list[ParsedDocument]:
    """Return the document of a PDF file. Raises LoadError with reason and hint."""
    with _no_collection():
        return _parse(path, data, limits)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Disable garbage collection: nothing here creates cycles, and it takes a tenth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _parse(path: Path, data: Data, limits: Limits) -> list[ParsedDocument]:
    notes, writer = DocumentNotes(), DocumentWriter()
    with open_pdf(path, data) as file:
        levels = HeadingLevels(read_outline(file.pdf))
        quota.allow_more_time(quota.SECONDS_AHEAD * min(len(file.pdf), BATCH))
        layouts = layout_batches(path, data, limits, len(file.pdf))
        with contextlib.closing(
            read_batches(layouts, file, data, limits.timeout, notes)
        ) as batches:
            noted_batches = _note_headings(batches, levels, writer)
            for block, goes_on in blocks_in_order(noted_batches):
                writer.add(block, goes_on)
    _check_text(path, data, notes)
    writer.settle()
    title = _find_title(notes) or path.stem
    document = _build_document(title, notes, writer, levels.assign_levels())
    warnings = (*describe_damage(data), *_list_warnings(notes))
    document = document.model_copy(update={"warnings": warnings})
    return [recognition.finish_document(document, notes.recognised)]


def _list_warnings(notes: DocumentNotes) -> Iterator[str]:
    """Return the warnings by kind, each in page order."""
    yield from notes.warnings["hidden"]
    yield from notes.warnings["undecoded"]
    if notes.warnings["undecoded"] and recognition.languages() is None:
        yield recognition.CURE
    yield from notes.warnings["unreadable"]
    yield from notes.recognised.warnings
    if not notes.recognised.warnings:  # they name the blank pages
        yield from notes.warnings["blank"]
    yield from notes.warnings["recovered"]
    yield from notes.warnings["order"]


def _note_headings(
    batches: Iterable[list[PageDraft]], levels: HeadingLevels, writer: DocumentWriter
) -> Iterator[list[PageDraft]]:
    """Yield the batches, recording their headings and page sizes."""
    for pages in batches:
        _note_batch(pages, levels, writer)
        yield pages


def _note_batch(
    pages: Iterable[PageDraft], levels: HeadingLevels, writer: DocumentWriter
) -> None:
    # A separate function, so that no variable keeps a page alive over the yield.
    for page in pages:
        writer.sizes[page.number] = page.width, page.height
        levels.take(page.blocks)
        mark_run_in_headings(page.blocks)


def _check_text(path: Path, data: Data, notes: DocumentNotes) -> None:
    """Raise LoadError for a document without text, with the reason."""
    pages = len(notes.pages)
    if notes.letters and (pages <= FEW_PAGES or notes.letters >= 5 * pages):
        return
    if describe_damage(data) or notes.warnings["unreadable"]:
        raise LoadError(
            path.name, "the PDF is damaged, and no text can be read", DAMAGE_CURE
        )
    if notes.warnings["blank"] or notes.recognised.pages or notes.recognised.warnings:
        why = [w for w in notes.recognised.warnings if recognition.CURE not in w]
        raise LoadError(
            path.name,
            "; ".join(("no text: its pages are pictures (probably a scan)", *why)),
            OCR_CURE if recognition.languages() else recognition.CURE,
        )
    if notes.warnings["hidden"]:
        raise LoadError(
            path.name,
            "no visible text",
            "open it: if its pages show text, print it to a new PDF",
        )
    raise LoadError(
        path.name,
        "no text: its pages are empty or damaged",
        "open it: if its pages show text, print it to a new PDF",
    )


def _build_document(
    title: str, notes: DocumentNotes, writer: DocumentWriter, levels: Sequence[int]
) -> ParsedDocument:
    text = writer.text
    # Validation would copy the rows of millions of words, and as many cells.
    pages = [
        page.model_copy(update={"words": writer.words(page.number)})
        for page in notes.pages
    ]
    kept: Callable[[Iterable[Block]], Sequence[Block]] = (
        Blocks if isinstance(writer.blocks, Blocks) else list
    )
    blocks = _set_levels(text, writer.blocks, pages, levels)
    with_figures = add_figures(blocks, pages, notes.figures)
    numbered = add_rule_numbers(text, assign_sections(text, with_figures))
    return ParsedDocument.model_construct(
        title=title,
        text=text,
        blocks=kept(add_run_in_headings(numbered)),
        pages=pages,
        parser=PARSER,
    )


def _set_levels(
    text: str, blocks: Sequence[Block], pages: Sequence[Page], levels: Sequence[int]
) -> Iterator[Block]:
    """Return the blocks with heading levels set and boilerplate relabelled."""
    is_boilerplate = find_boilerplate(text, blocks, pages)
    left = iter(levels)
    for block in blocks:
        level = next(left) if block.kind is BlockKind.HEADING else 0
        if is_boilerplate(block):
            yield mark_furniture_block(block)
        else:
            yield replace_fields(block, level=level) if level else block


def _find_title(notes: DocumentNotes) -> str:
    """Return the largest text of the first page, if clearly larger than the body."""
    lines = [line for block in notes.opening for line in block.lines]
    sizes = [line.size for line in lines]
    if not sizes or notes.style is None or max(sizes) < 1.3 * notes.style.size:
        return ""
    largest = [line for line in lines if line.size >= max(sizes) - 0.5]
    text = one_line(" ".join(line.text for line in largest[:3]))
    return "" if len(text) > MAX_TITLE or NUMBER.match(text) else text
