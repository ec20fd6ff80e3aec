"""A PDF's bytes to one parsed document."""

import contextlib
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from liteparse import __version__ as liteparse_version

from elt_llm_core.document import BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.formats import ocr
from elt_llm_ingest.formats.build import MAX_TITLE, one_line, with_sections
from elt_llm_ingest.formats.pdf.contents import mark_contents
from elt_llm_ingest.formats.pdf.flow import (
    NUMBER,
    Draft,
    Style,
    drafts_of,
    goes_on_over_page,
    style_of,
)
from elt_llm_ingest.formats.pdf.furniture import mark_furniture
from elt_llm_ingest.formats.pdf.headings import Outline, set_levels
from elt_llm_ingest.formats.pdf.layout import layout_of, opened, outline_of
from elt_llm_ingest.formats.pdf.noise import without_noise
from elt_llm_ingest.formats.pdf.numbered import with_numbers
from elt_llm_ingest.formats.pdf.pictures import label_figures
from elt_llm_ingest.formats.pdf.regions import regions_of
from elt_llm_ingest.formats.pdf.sheets import Sheet, sheet_of
from elt_llm_ingest.formats.pdf.tables import continues, join, tidy
from elt_llm_ingest.formats.pdf.words import Line, lines_of
from elt_llm_ingest.formats.pdf.writing import Writer
from elt_llm_ingest.formats.repaired import damage
from elt_llm_ingest.safety import Limits

PARSER = f"liteparse {liteparse_version}, layer 3"
FEW_PAGES = 3  # a short document may say little on its pages
OCR_SHARE = 0.7  # of the time a file may take
OCR_CURE = (
    "scan it again with 200 to 300 dots an inch, or make its text selectable: "
    "ocrmypdf IN.pdf OUT.pdf"
)


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
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


def _parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
    result = layout_of(path, data, limits)
    with opened(path, data) as pdf:
        seconds = OCR_SHARE * limits.timeout
        pages, read = ocr.read_pictures(pdf, data, result.pages, seconds)
        sheets = [sheet_of(page, pdf, page.page_num in read.pages) for page in pages]
        unread = _page_warnings(result)
        del result, pages  # a large file's are hundreds of megabytes
        outline = outline_of(pdf)
        _check_text(path, sheets)
        style = _set_out(sheets, outline)
        order = _in_order(sheets)
    document = _written(_title(sheets, style) or path.stem, sheets, order)
    blank = [] if read.warnings else _blank(sheets)
    warned = (
        *damage(data),
        *unread,
        *read.warnings,
        *blank,
        *_recovered(sheets),
    )
    return [ocr.finished(document.model_copy(update={"warnings": warned}), read)]


def _set_out(sheets: Sequence[Sheet], outline: Outline) -> Style:
    """Make drafts of every sheet; returns what is ordinary in the document."""
    mark_furniture([sheet.words for sheet in sheets])
    style = style_of([line for s in sheets for line in _body(s)])
    for sheet in sheets:
        _draft(sheet, style)
    set_levels([d for sheet in sheets for d in sheet.drafts], outline)
    return style


def _recovered(sheets: Sequence[Sheet]) -> Iterator[str]:
    """A warning for each page on which words were lost that are no page number."""
    for sheet in sheets:
        count = sum(w.run < 0 and not w.furniture for w in sheet.words.words)
        said = "words were" if count != 1 else "word was"
        if count:
            yield (
                f"page {sheet.words.number}: {count} {said} recovered from the plain "
                "text layer"
            )


def _body(sheet: Sheet) -> list[Line]:
    return [
        line
        for line in sheet.words.lines
        if not line.words[0].rotated and not any(w.furniture for w in line.words)
    ]


def _draft(sheet: Sheet, style: Style) -> None:
    body = [w for w in sheet.words.words if not w.furniture]
    regions = regions_of(
        sheet.blocks, body, sheet.grids, sheet.rules, sheet.words.lines
    )
    drafts = mark_contents(drafts_of(regions, style))
    sheet.drafts = tidy(drafts, style.pitch)
    size = sheet.words.width, sheet.words.height
    label_figures(sheet.drafts, sheet.blocks, body, size)
    sheet.furniture = lines_of([w for w in sheet.words.words if w.furniture])


def _check_text(path: Path, sheets: Sequence[Sheet]) -> None:
    letters = sum(len(w.text) for s in sheets for w in s.words.words)
    if letters == 0 or (len(sheets) > FEW_PAGES and letters < 5 * len(sheets)):
        raise LoadError(
            path.name,
            "no text: its pages are pictures (a scan, perhaps)",
            OCR_CURE if ocr.languages() else ocr.CURE,
        )


def _writer(sheets: Sequence[Sheet], order: Sequence[tuple[Draft, bool]]) -> Writer:
    sizes = {s.words.number: (s.words.width, s.words.height) for s in sheets}
    writer = Writer(sizes)
    for draft, continued in order:
        writer.add(draft, continued)
    return writer


def _written(
    title: str, sheets: Sequence[Sheet], order: Sequence[tuple[Draft, bool]]
) -> ParsedDocument:
    writer = _writer(sheets, order)
    text = writer.text
    pages = [
        Page.model_construct(  # a check would copy the rows of millions of words
            number=s.words.number,
            width=s.words.width,
            height=s.words.height,
            label=s.label,
            words=writer.words.get(s.words.number, []),
        )
        for s in sheets
    ]
    quiet = without_noise(text, writer.blocks, pages)
    return ParsedDocument(
        title=title,
        text=text,
        blocks=list(with_numbers(text, with_sections(text, quiet))),
        pages=pages,
        parser=PARSER,
    )


def _in_order(sheets: Sequence[Sheet]) -> list[tuple[Draft, bool]]:
    """Every draft once, and whether it is a table that goes on.

    A page's furniture stands before its content, or, where a paragraph comes over from
    the page before, right after that.
    """
    done: list[tuple[Draft, bool]] = []
    last: Draft | None = None
    for sheet in sheets:
        drafts = list(sheet.drafts)
        goes_on = False
        if last is not None and drafts:
            goes_on = _join_over(last, drafts)
        done.extend((Draft(BlockKind.FURNITURE, [f]), False) for f in sheet.furniture)
        done.extend((d, goes_on and i == 0) for i, d in enumerate(drafts))
        last = drafts[-1] if drafts else last
    return done


def _join_over(last: Draft, drafts: list[Draft]) -> bool:
    """Join the first draft of a page to the last one before, where it belongs to it.

    True if a table goes on; a paragraph that was swallowed leaves `drafts`.
    """
    first = drafts[0]
    if last.table and first.table:
        if not continues(last.table, first.table):
            return False
        join(last.table, first.table)
        if not first.table.rows:
            del drafts[0]
            return False
        return True
    if not last.table and not first.table and goes_on_over_page(last, first):
        last.lines.extend(first.lines)
        del drafts[0]
    return False


def _title(sheets: Sequence[Sheet], style: Style) -> str:
    """The largest text of the first page, if it is clearly larger than the body."""
    lines = [line for d in sheets[0].drafts for line in d.lines]
    sizes = [line.size for line in lines]
    if not sizes or max(sizes) < 1.3 * style.size:
        return ""
    largest = [line for line in lines if line.size >= max(sizes) - 0.5]
    text = one_line(" ".join(line.text for line in largest[:3]))
    return "" if len(text) > MAX_TITLE or NUMBER.match(text) else text


def _page_warnings(result: Any) -> list[str]:
    return [
        f"page {error.page_num} could not be read: {one_line(error.message)[:200]}"
        for error in result.page_errors
    ]


def _blank(sheets: Sequence[Sheet]) -> list[str]:
    """A warning for each page that shows a picture and holds no text."""
    return [
        f"page {sheet.words.number} holds a picture and no text; {OCR_CURE}"
        for sheet in sheets
        if not sheet.words.words
        and any(block.kind == "figure" for block in sheet.blocks)
    ]
