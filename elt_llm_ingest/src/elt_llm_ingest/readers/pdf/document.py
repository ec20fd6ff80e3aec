"""A PDF's bytes to one parsed document."""

import contextlib
import gc
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from mmap import mmap
from pathlib import Path

from liteparse import __version__ as liteparse_version

from elt_llm_core.document import Block, BlockKind, Blocks, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.records import changed
from elt_llm_ingest import quota
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.ocr import recognition
from elt_llm_ingest.readers.pdf.blocks import NUMBER, with_numbers
from elt_llm_ingest.readers.pdf.boilerplate import noise_in, quiet
from elt_llm_ingest.readers.pdf.figures import with_plates
from elt_llm_ingest.readers.pdf.headings import Levels, mark_leads, with_leads
from elt_llm_ingest.readers.pdf.liteparse import (
    DAMAGE_CURE,
    PART,
    Data,
    layouts_of,
    opened,
    outline_of,
)
from elt_llm_ingest.readers.pdf.pages import OCR_CURE, Noted, in_order, sheets_of
from elt_llm_ingest.readers.pdf.sheets import Sheet
from elt_llm_ingest.readers.pdf.writer import Writer
from elt_llm_ingest.readers.text_builder import MAX_TITLE, one_line, sectioned

TAIL = 4096
START = re.compile(rb"startxref\s+(\d{1,12})")
TABLE = re.compile(rb"\s*(?:xref\b|\d+\s+\d+\s+obj\b)")
WARNING = "the PDF is damaged and was repaired; pages or text may be missing"


def damage(data: bytes | mmap) -> tuple[str, ...]:
    """A warning where the file's end or its table of objects is not where it says."""
    found = START.findall(data[-TAIL:])
    if not found or b"%%EOF" not in data[-TAIL:]:
        return (WARNING,)
    place = int(found[-1])
    before = max(data.find(b"%PDF-"), 0)  # what stands before the file counts or not
    sound = any(TABLE.match(data, start) for start in (place, place + before))
    return () if sound else (WARNING,)


PARSER = f"liteparse {liteparse_version}, layer 8"
FEW_PAGES = 3  # a short document may say little on its pages


def parse(path: Path, data: Data, limits: Limits) -> list[ParsedDocument]:
    """The document of a PDF file. Raises LoadError with the reason and the cure."""
    with _no_collection():
        return _parse(path, data, limits)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Nothing here makes cycles, and looking for them costs a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _parse(path: Path, data: Data, limits: Limits) -> list[ParsedDocument]:
    noted, writer = Noted(), Writer()
    with opened(path, data) as file:
        levels = Levels(outline_of(file.pdf))
        quota.more(quota.SECONDS_AHEAD * min(len(file.pdf), PART))
        layouts = layouts_of(path, data, limits, len(file.pdf))
        with contextlib.closing(
            sheets_of(layouts, file, data, limits.timeout, noted)
        ) as parts:
            for draft, continued in in_order(_levelled(parts, levels, writer)):
                writer.add(draft, continued)
    _check_text(path, data, noted)
    writer.settle()
    document = _written(_title(noted) or path.stem, noted, writer, levels.settled())
    blank = [] if noted.read.warnings else noted.blank
    warned = (
        *damage(data),
        *noted.hidden,
        *noted.garbled,
        *(
            (recognition.CURE,)
            if noted.garbled and recognition.languages() is None
            else ()
        ),
        *noted.unread,
        *noted.read.warnings,
        *blank,
        *noted.recovered,
        *noted.doubtful,
    )
    document = document.model_copy(update={"warnings": warned})
    return [recognition.finished(document, noted.read)]


def _levelled(
    parts: Iterable[list[Sheet]], levels: Levels, writer: Writer
) -> Iterator[list[Sheet]]:
    """The parts as they come; their headings and sizes are noted before."""
    for sheets in parts:
        _note(sheets, levels, writer)
        yield sheets


def _note(sheets: Iterable[Sheet], levels: Levels, writer: Writer) -> None:
    for sheet in sheets:
        page = sheet.words
        writer.sizes[page.number] = page.width, page.height
        levels.take(sheet.drafts)
        mark_leads(sheet.drafts)


def _check_text(path: Path, data: Data, noted: Noted) -> None:
    """Raises LoadError for a document that says nothing, with the reason."""
    pages = len(noted.sides)
    if noted.letters and (pages <= FEW_PAGES or noted.letters >= 5 * pages):
        return
    if damage(data) or noted.unread:
        raise LoadError(
            path.name, "the PDF is damaged, and no text can be read in it", DAMAGE_CURE
        )
    if noted.blank or noted.read.pages or noted.read.warnings:
        why = [w for w in noted.read.warnings if recognition.CURE not in w]
        raise LoadError(
            path.name,
            "; ".join(("no text: its pages are pictures (a scan, perhaps)", *why)),
            OCR_CURE if recognition.languages() else recognition.CURE,
        )
    if noted.hidden:
        raise LoadError(
            path.name,
            "no text that a reader of its pages sees",
            "open it: if its pages show text, print it to a new PDF",
        )
    raise LoadError(
        path.name,
        "no text: its pages are empty, or what stands on them is damaged",
        "open it: if its pages show text, print it to a new PDF",
    )


def _written(
    title: str, noted: Noted, writer: Writer, levels: Sequence[int]
) -> ParsedDocument:
    text = writer.text
    pages = [
        Page.model_construct(  # a check would copy the rows of millions of words
            number=side.number,
            width=side.width,
            height=side.height,
            label=side.label,
            words=writer.words(side.number),
        )
        for side in noted.sides
    ]
    kept: Callable[[Iterable[Block]], Sequence[Block]] = (
        Blocks if isinstance(writer.blocks, Blocks) else list
    )
    blocks = _quiet(text, writer.blocks, pages, levels)
    plated = with_plates(blocks, pages, noted.plates)
    return ParsedDocument.model_construct(  # nor of as many cells
        title=title,
        text=text,
        blocks=kept(with_leads(with_numbers(text, sectioned(text, plated)))),
        pages=pages,
        parser=PARSER,
    )


def _quiet(
    text: str, blocks: Sequence[Block], pages: Sequence[Page], levels: Sequence[int]
) -> Iterator[Block]:
    """The blocks with the levels of headings, noise labelled."""
    is_noise = noise_in(text, blocks, pages)
    left = iter(levels)
    for block in blocks:
        level = next(left) if block.kind is BlockKind.HEADING else 0
        if is_noise(block):
            yield quiet(block)
        else:
            yield changed(block, level=level) if level else block


def _title(noted: Noted) -> str:
    """The largest text of the first page, if it is clearly larger than the body."""
    lines = [line for d in noted.opening for line in d.lines]
    sizes = [line.size for line in lines]
    if not sizes or noted.style is None or max(sizes) < 1.3 * noted.style.size:
        return ""
    largest = [line for line in lines if line.size >= max(sizes) - 0.5]
    text = one_line(" ".join(line.text for line in largest[:3]))
    return "" if len(text) > MAX_TITLE or NUMBER.match(text) else text
