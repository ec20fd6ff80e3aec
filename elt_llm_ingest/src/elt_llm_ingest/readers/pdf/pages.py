"""The pages of a PDF part after part: what is seen, and what is noted of all of it."""

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from elt_llm_core.document import BlockKind
from elt_llm_ingest import quota
from elt_llm_ingest.readers.ocr import recognition
from elt_llm_ingest.readers.pdf.blocks import (
    Draft,
    Style,
    drafts_of,
    goes_on_over_page,
    style_of,
)
from elt_llm_ingest.readers.pdf.boilerplate import mark_contents
from elt_llm_ingest.readers.pdf.figures import Plate, label_figures, plates_of
from elt_llm_ingest.readers.pdf.furniture import mark_furniture
from elt_llm_ingest.readers.pdf.geometry import Region
from elt_llm_ingest.readers.pdf.liteparse import Data, Opened
from elt_llm_ingest.readers.pdf.pdfium import Leaves, leaves
from elt_llm_ingest.readers.pdf.reading_order import in_reading_order
from elt_llm_ingest.readers.pdf.sheets import Sheet, sheet_of
from elt_llm_ingest.readers.pdf.tables.merge import continues, join, tidy
from elt_llm_ingest.readers.pdf.tables.side_by_side import apart
from elt_llm_ingest.readers.pdf.words import Line, lines_of
from elt_llm_ingest.readers.text_builder import one_line

TEXT = attrgetter("text")
OCR_SHARE = 0.7  # of the time a file may take
GARBLED = 0.03  # of a page's characters, from which it is read by its looks
AHEAD = 60  # pages that are opened before their turn; each takes half a megabyte
OCR_CURE = (
    "scan it again with 200 to 300 dots an inch, or make its text selectable: "
    "ocrmypdf IN.pdf OUT.pdf"
)


@dataclass(frozen=True)
class Side:
    """A page without what stands on it. Points."""

    number: int
    width: float
    height: float
    label: str


@dataclass
class Noted:
    """What is kept of the pages when they are done with."""

    sides: list[Side] = field(default_factory=list)
    letters: int = 0
    unread: list[str] = field(default_factory=list)
    blank: list[str] = field(default_factory=list)
    recovered: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    garbled: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    plates: dict[int, list[Plate]] = field(default_factory=dict)
    read: recognition.Recognised = field(default_factory=recognition.Recognised)
    opening: Sequence[Draft] = ()  # of the first page
    style: Style | None = None  # of the first part

    def take(self, sheets: Sequence[Sheet], style: Style) -> None:
        """Note what a part says of itself."""
        if self.style is None and sheets:
            self.opening, self.style = sheets[0].drafts, style
        for sheet in sheets:
            page = sheet.words
            self.sides.append(Side(page.number, page.width, page.height, sheet.label))
            self.letters += sum(map(len, map(TEXT, page.words)))
            self.blank.extend(_blank(sheet))
            self.recovered.extend(_recovered(sheet))
            self.hidden.extend(_hidden(sheet))
            self.garbled.extend(_garbled(sheet))
            self.doubtful.extend(_doubtful(sheet))
            if sheet.plates:
                self.plates[page.number] = sheet.plates


def sheets_of(
    layouts: Iterable[Any],
    file: Opened,
    data: Data,
    timeout: float,
    noted: Noted,
) -> Generator[list[Sheet], None, None]:
    """The pages of each part with their drafts; `noted` takes what outlives them.

    To be closed before the file is.
    """
    deadline = time.monotonic() + OCR_SHARE * timeout
    pages = len(file.pdf)
    with leaves() as opened:
        for result in layouts:
            quota.done(result.num_pages)
            opened.wait()
            seconds = max(deadline - time.monotonic(), 0.0)
            sheets = _read(result, file, data, seconds, noted, opened)
            if after := _numbers_after(sheets, pages):
                file.go_on(after[0])
                opened.ahead(file.pdf, after)
            del result  # hundreds of megabytes
            noted.take(sheets, _set_out(sheets))
            yield sheets
            del sheets


def _read(
    result: Any,
    file: Opened,
    data: Data,
    seconds: float,
    noted: Noted,
    opened: Leaves,
) -> list[Sheet]:
    """The pages of a part without their drafts."""
    began = time.monotonic()
    pages, read = recognition.read_pictures(file.pdf, data, result.pages, seconds)
    noted.unread.extend(_page_warnings(result))
    noted.read = recognition.together(noted.read, read)
    sheets = [
        sheet_of(
            page,
            None
            if page.page_num in read.pages
            else opened.take(file.pdf, page.page_num),
        )
        for page in pages
    ]
    opened.drop()
    return _recognised(sheets, data, seconds - (time.monotonic() - began), noted)


def _recognised(
    sheets: list[Sheet], data: Data, seconds: float, noted: Noted
) -> list[Sheet]:
    """The sheets; where much of a page is undecoded, it is read by its looks instead.

    Without text recognition they stay, and a warning tells of them.
    """
    numbers = [
        sheet.words.number
        for sheet in sheets
        if sheet.undecoded > GARBLED * sum(len(word.text) for word in sheet.words.words)
    ]
    if not numbers or seconds <= 0 or recognition.languages() is None:
        return sheets
    read = recognition.recognise(data, numbers, seconds)
    noted.read = recognition.together(noted.read, read)
    done: list[Sheet] = []
    for sheet in sheets:
        page = read.pages.get(sheet.words.number)
        if page is not None:
            noted.garbled.extend(_garbled(sheet, "it was read by its looks"))
        done.append(sheet if page is None else sheet_of(page, None))
    return done


def _numbers_after(sheets: Sequence[Sheet], pages: int) -> range:
    """The first pages of the next part, if there is one."""
    if not sheets:
        return range(0)
    after = sheets[-1].words.number + 1
    return range(after, min(after + len(sheets), after + AHEAD, pages + 1))


def _set_out(sheets: Sequence[Sheet]) -> Style:
    """Make drafts of every sheet; returns what is ordinary in the part."""
    mark_furniture([sheet.words for sheet in sheets])
    style = style_of([line for s in sheets for line in _body(s)])
    for sheet in sheets:
        _draft(sheet, style)
    return style


def _body(sheet: Sheet) -> list[Line]:
    return [
        line
        for line in sheet.words.lines
        if not line.words[0].rotated and True not in [w.furniture for w in line.words]
    ]


def _draft(sheet: Sheet, style: Style) -> None:
    body = [w for w in sheet.words.words if not w.furniture]

    def drafted(regions: Sequence[Region]) -> list[Draft]:
        drafts = mark_contents(drafts_of(regions, style))
        return tidy([d for whole in drafts for d in apart(whole)], style.pitch)

    sheet.drafts = in_reading_order(sheet, drafted)
    size = sheet.words.width, sheet.words.height
    label_figures(sheet.drafts, sheet.blocks, body, size)
    sheet.plates = plates_of(sheet.drafts, sheet.blocks, body, size)
    sheet.furniture = lines_of([w for w in sheet.words.words if w.furniture])


def in_order(parts: Iterable[list[Sheet]]) -> Iterator[tuple[Draft, bool]]:
    """Every draft once, and whether it is a table that goes on. Empties the parts.

    A page's furniture stands before its content, or, where a paragraph comes over from
    the page before, right after that. The last draft of a page waits for the next page
    with content, which may add to it.
    """
    waiting: list[tuple[Draft, bool]] = []
    last: Draft | None = None
    for sheets in parts:
        sheets.reverse()
        while sheets:  # a page that is done with need not wait for the others
            sheet = sheets.pop()
            drafts = list(sheet.drafts)
            goes_on = last is not None and bool(drafts) and _join_over(last, drafts)
            waiting.extend(
                (Draft(BlockKind.FURNITURE, [f]), False) for f in sheet.furniture
            )
            waiting.extend((d, goes_on and i == 0) for i, d in enumerate(drafts))
            if drafts:
                last = drafts[-1]
                yield from waiting[:-1]
                del waiting[:-1]
    yield from waiting


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
        last.attributes |= first.attributes
        del drafts[0]
    return False


def _recovered(sheet: Sheet) -> Iterator[str]:
    """A warning if words of the page were lost that are no page number."""
    count = sum([w.run < 0 and not w.furniture for w in sheet.words.words])
    said = "words were" if count != 1 else "word was"
    if count:
        yield (
            f"page {sheet.words.number}: {count} {said} recovered from the plain "
            "text layer"
        )


def _doubtful(sheet: Sheet) -> Iterator[str]:
    """A warning if the page may be read in a wrong order."""
    if sheet.doubtful:
        yield (
            f"page {sheet.words.number}: its reading order is doubtful: the layout of "
            "the page and the order of the text in the file disagree"
        )


def _hidden(sheet: Sheet) -> Iterator[str]:
    """A warning if words of the page were left out that no reader sees."""
    said = ("word", "was") if sheet.hidden == 1 else ("words", "were")
    if sheet.hidden:
        yield (
            f"page {sheet.words.number}: {sheet.hidden} {said[0]} that no reader of "
            f"the page sees {said[1]} left out"
        )


def _garbled(sheet: Sheet, so: str = "the text is wrong there") -> Iterator[str]:
    """A warning if characters of the page are not what the text says they are."""
    if sheet.undecoded:
        yield (
            f"page {sheet.words.number}: {sheet.undecoded} characters are in a font "
            f"that does not say which letters they are; {so}"
        )


def _page_warnings(result: Any) -> list[str]:
    return [
        f"page {error.page_num} could not be read: {one_line(error.message)[:200]}"
        for error in result.page_errors
    ]


def _blank(sheet: Sheet) -> Iterator[str]:
    """A warning for a page that shows a picture and holds no text."""
    if not sheet.words.words and any(b.kind == "figure" for b in sheet.blocks):
        yield f"page {sheet.words.number} holds a picture and no text; {OCR_CURE}"
