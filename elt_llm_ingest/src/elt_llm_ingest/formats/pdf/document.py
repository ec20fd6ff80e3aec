"""A PDF's bytes to one parsed document."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pypdfium2
from liteparse import LiteParse, ParseError
from liteparse import __version__ as liteparse_version

from elt_llm_core.document import BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError
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
from elt_llm_ingest.formats.pdf.furniture import PageWords, mark_furniture
from elt_llm_ingest.formats.pdf.headings import Outline, set_levels
from elt_llm_ingest.formats.pdf.recovery import bring_back, says_less
from elt_llm_ingest.formats.pdf.regions import rectangle, regions_of
from elt_llm_ingest.formats.pdf.tables import continues, join, tidy
from elt_llm_ingest.formats.pdf.words import Line, Restorer, lines_of, page_words
from elt_llm_ingest.formats.pdf.writing import Writer
from elt_llm_ingest.safety import Limits, hidden_characters

PARSER = f"liteparse {liteparse_version}, layer 2"
FEW_PAGES = 3  # a short document may say little on its pages
OCR_CURE = "make its text selectable first, for example: ocrmypdf IN.pdf OUT.pdf"


@dataclass
class _Sheet:
    """A page on its way: LiteParse's view, our words, what became of them."""

    layout: Any
    words: PageWords
    drafts: list[Draft] = field(default_factory=list)
    furniture: list[Line] = field(default_factory=list)
    plain: str = ""  # PDFium's own text of the page


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
    """The document of a PDF file. Raises LoadError with the reason and the cure."""
    result = _layout(path, data, limits)
    with _opened(path, data) as pdf:
        sheets = [_sheet(page, pdf) for page in result.pages]
        outline = _outline(pdf)
        _check_text(path, sheets)
        style = _set_out(sheets, outline)
        order = _in_order(sheets)
        missing = _bring_back(pdf, sheets, order)
    document = _written(_title(sheets, style) or path.stem, sheets, order)
    hidden = hidden_characters([document.text])
    warned = (*_page_warnings(result), *_blank(sheets), *missing, *hidden)
    return [document.model_copy(update={"warnings": warned})]


def _set_out(sheets: Sequence[_Sheet], outline: Outline) -> Style:
    """Make drafts of every sheet; returns what is ordinary in the document."""
    mark_furniture([sheet.words for sheet in sheets])
    style = style_of([line for s in sheets for line in lines_of(_body(s))])
    for sheet in sheets:
        _draft(sheet, style)
    set_levels([d for sheet in sheets for d in sheet.drafts], outline)
    return style


def _bring_back(
    pdf: pypdfium2.PdfDocument,
    sheets: Sequence[_Sheet],
    order: list[tuple[Draft, bool]],
) -> list[str]:
    """Add to `order` what PDFium's text of a page has and ours lost; the warnings."""
    written = _writer(sheets, order)
    text = written.text
    warnings: list[str] = []
    for sheet in sheets:
        ours = " ".join(text[w[0] : w[1]] for w in written.words[sheet.words.number])
        if says_less(ours, sheet.plain):
            warnings += bring_back(pdf, sheet.words, ours, order)
    return warnings


def _layout(path: Path, data: bytes, limits: Limits) -> Any:
    parser = LiteParse(
        ocr_enabled=False,
        quiet=True,
        output_format="markdown",
        extract_blocks=True,
        emit_word_boxes=True,
        max_pages=limits.max_pages,
        continue_on_page_error=True,
        keep_headers_footers=True,
        num_workers=1,
    )
    try:
        result = parser.parse(data)
    except ParseError as error:
        raise _refused(path, str(error)) from error
    if result.total_pages > limits.max_pages:
        raise LoadError(
            path.name,
            f"{result.total_pages} pages are more than the limit of {limits.max_pages}",
            "split the file or raise ingest.max_pages",
        )
    if not result.pages:
        reason = result.page_errors[0].message if result.page_errors else "no pages"
        raise LoadError(path.name, f"none of its pages can be read ({reason})")
    return result


def _refused(path: Path, message: str) -> LoadError:
    if "password" in message.lower():
        return LoadError(
            path.name,
            "it is protected by a password",
            "save a copy without the password",
        )
    return LoadError(
        path.name,
        "the PDF is damaged or incomplete",
        "download it again, or open it and print it to a new PDF",
    )


@contextlib.contextmanager
def _opened(path: Path, data: bytes) -> Iterator[pypdfium2.PdfDocument]:
    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _refused(path, str(error)) from error
    try:
        yield pdf
    finally:
        pdf.close()


def _sheet(page: Any, pdf: pypdfium2.PdfDocument) -> _Sheet:
    plain = _plain_text(pdf, page.page_num)
    words = page_words(page, Restorer(plain))
    tables = tuple(
        rectangle(b.bbox) for b in page.blocks or [] if b.kind == "table" and b.bbox
    )
    found = PageWords(page.page_num, page.width, page.height, words, tables)
    return _Sheet(page, found, plain=plain)


def _plain_text(pdf: pypdfium2.PdfDocument, number: int) -> str:
    try:
        page = pdf[number - 1]
        text_page = page.get_textpage()
    except (pypdfium2.PdfiumError, IndexError):
        return ""  # the page then keeps LiteParse's plain quotes and dashes
    try:
        return str(text_page.get_text_range())
    finally:
        text_page.close()
        page.close()


def _outline(pdf: pypdfium2.PdfDocument) -> Outline:
    found = []
    for bookmark in pdf.get_toc(max_depth=8):
        target = bookmark.get_dest()
        index = target.get_index() if target is not None else None
        if index is not None:
            found.append((bookmark.level + 1, bookmark.get_title(), index + 1))
    return found


def _body(sheet: _Sheet) -> list[Any]:
    return [w for w in sheet.words.words if not w.furniture and not w.rotated]


def _draft(sheet: _Sheet, style: Style) -> None:
    body = [w for w in sheet.words.words if not w.furniture]
    regions = regions_of(sheet.layout.blocks or [], body)
    drafts = mark_contents(drafts_of(regions, style))
    sheet.drafts = tidy(drafts, style.pitch)
    sheet.furniture = lines_of([w for w in sheet.words.words if w.furniture])


def _check_text(path: Path, sheets: Sequence[_Sheet]) -> None:
    letters = sum(len(w.text) for s in sheets for w in s.words.words)
    if letters == 0 or (len(sheets) > FEW_PAGES and letters < 5 * len(sheets)):
        raise LoadError(
            path.name, "no text: its pages are pictures (a scan, perhaps)", OCR_CURE
        )


def _writer(sheets: Sequence[_Sheet], order: Sequence[tuple[Draft, bool]]) -> Writer:
    sizes = {s.words.number: (s.words.width, s.words.height) for s in sheets}
    writer = Writer(sizes)
    for draft, continued in order:
        writer.add(draft, continued)
    return writer


def _written(
    title: str, sheets: Sequence[_Sheet], order: Sequence[tuple[Draft, bool]]
) -> ParsedDocument:
    writer = _writer(sheets, order)
    text = writer.text
    pages = [
        Page(
            number=s.words.number,
            width=s.words.width,
            height=s.words.height,
            label=s.layout.page_label or "",
            words=writer.words.get(s.words.number, []),
        )
        for s in sheets
    ]
    return ParsedDocument(
        title=title,
        text=text,
        blocks=with_sections(text, writer.blocks),
        pages=pages,
        parser=PARSER,
    )


def _in_order(sheets: Sequence[_Sheet]) -> list[tuple[Draft, bool]]:
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


def _title(sheets: Sequence[_Sheet], style: Style) -> str:
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


def _blank(sheets: Sequence[_Sheet]) -> list[str]:
    """A warning for each page that shows a picture and holds no text."""
    return [
        f"page {sheet.words.number} holds a picture and no text; {OCR_CURE}"
        for sheet in sheets
        if not sheet.words.words
        and any(block.kind == "figure" for block in sheet.layout.blocks or [])
    ]
