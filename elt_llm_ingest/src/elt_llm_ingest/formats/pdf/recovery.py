"""Words that PDFium has and our text of the page does not: found and brought back."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import c_int

import pypdfium2
from pypdfium2 import raw

from elt_llm_core.document import BlockKind
from elt_llm_ingest.formats.pdf.flow import Draft
from elt_llm_ingest.formats.pdf.furniture import BAND, PAGE_NUMBER, PageWords
from elt_llm_ingest.formats.pdf.words import HYPHENS, Word, lines_of

SAID = re.compile(r"[^\W_]+")
RUN = 3  # so many lost words in a row are a lost passage
SHARE = 0.02  # of a page's words; fewer single ones are differences in spelling
SHORT = 8  # a run of fewer letters is looked for together with its neighbours
FINE = 100  # PDFium gives places on the page as whole numbers
LIGATURE = 4  # letters of a word in which one may stand
SURROGATES = range(0xD800, 0xE000)
LEAST = 0.2  # points; PDFium has letters without width


def says_less(ours: str, theirs: str) -> bool:
    """Whether the page's text `ours` lacks words of PDFium's text, `theirs`."""
    return bool(_lost(ours, theirs.split()))


def bring_back(
    pdf: pypdfium2.PdfDocument,
    page: PageWords,
    ours: str,
    order: list[tuple[Draft, bool]],
) -> list[str]:
    """Add what `ours`, our text of the page, lacks to the drafts in `order`.

    Each run of lost words is a paragraph where it stands; a page number is furniture.
    Returns the warning, none where nothing but page numbers was lost.
    """
    words = _page_words(pdf, page)
    count = 0
    for run in _lost(ours, [word.text for word in words]):
        draft = Draft(BlockKind.PARAGRAPH, lines_of([words[i] for i in run]))
        middle = words[run.start].middle[1] / page.height
        if PAGE_NUMBER.match(draft.text) and not BAND < middle < 1 - BAND:
            draft.kind = BlockKind.FURNITURE
        else:
            count += len(run)
        order.insert(_place_of(order, draft), (draft, False))
    said = "words were" if count != 1 else "word was"
    note = f"page {page.number}: {count} {said} recovered from the plain text layer"
    return [note] if count else []


def _page_words(pdf: pypdfium2.PdfDocument, ours: PageWords) -> list[Word]:
    page = pdf[ours.number - 1]
    text_page = page.get_textpage()
    try:
        found = [_placed(page, text_page, c, ours) for c in _words(text_page)]
    finally:
        text_page.close()
        page.close()
    return [word for word in found if word is not None]


def _place_of(order: Sequence[tuple[Draft, bool]], draft: Draft) -> int:
    """Where in the reading order a draft belongs: before what stands below it.

    That is on its page; else after all of the page, where nothing stands below.
    """
    page, bottom, end = draft.page, max(line.bottom for line in draft.lines), 0
    for index, (other, _) in enumerate(order):
        if other.page > page:
            break
        end = index + 1
        on_page = other.page == page and other.kind is not BlockKind.FURNITURE
        if on_page and min(_tops(other)) >= bottom - 1:
            return index
    return end


def _tops(draft: Draft) -> list[float]:
    rows = draft.table.rows if draft.table else [[line.words] for line in draft.lines]
    words = [w for row in rows for cell in row for w in cell if w.page == draft.page]
    return [word.top for word in words]


def _lost(ours: str, theirs: Sequence[str]) -> list[range]:
    """The runs of words to bring back; none where only a few single words differ."""
    have = Counter(SAID.findall(_plain(ours)))
    lacking = []
    for index, word in enumerate(theirs):
        said = SAID.findall(_plain(word))
        if any(count > have[part] for part, count in Counter(said).items()):
            lacking.append(index)
        have.subtract(said)
    dense = _dense(ours)
    runs = [run for run in _runs(lacking, theirs) if not _is_there(dense, theirs, run)]
    many = sum(map(len, runs)) > SHARE * len(theirs)
    return [run for run in runs if many or len(run) >= RUN]


def _runs(indexes: Sequence[int], theirs: Sequence[str]) -> list[range]:
    """Neighbours as runs; marks such as ".." between lost words are lost with them."""
    runs: list[range] = []
    for index in indexes:
        between = theirs[runs[-1].stop : index] if runs else []
        if runs and not SAID.search(" ".join(between)):
            runs[-1] = range(runs[-1].start, index + 1)
        else:
            runs.append(range(index, index + 1))
    return runs


def _is_there(dense: str, theirs: Sequence[str], run: range) -> bool:
    """Whether our text has these words, only cut otherwise ("fo od" for "food")."""
    said = _dense("".join(theirs[run.start : run.stop]))
    if len(run) == 1 and _is_repaired(dense, theirs[run.start]):
        return True
    if len(said) >= SHORT:
        return said in dense
    before = _dense("".join(theirs[max(run.start - 1, 0) : run.stop]))
    after = _dense("".join(theirs[run.start : run.stop + 1]))
    longer = [text for text in (before, after) if len(text) > len(said)]
    return any(text in dense for text in longer or [said])


def _is_repaired(dense: str, word: str) -> bool:
    """Whether a mark in PDFium's word is a ligature of ours: "bene!t" for "benefit"."""
    parts = SAID.findall(_plain(word))
    letters = "".join(parts)
    marked = letters.isalpha() and len(letters) >= LIGATURE and letters != _plain(word)
    return marked and re.search(r"\w{1,3}".join(parts), dense) is not None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold()


def _dense(text: str) -> str:
    return "".join(SAID.findall(_plain(text)))


def _words(text_page: pypdfium2.PdfTextPage) -> Iterator[list[tuple[int, str]]]:
    """The words as their characters: index on the page, and what it says."""
    current: list[tuple[int, str]] = []
    for index in range(text_page.count_chars()):
        code = raw.FPDFText_GetUnicode(text_page.raw, index)
        char = chr(code) if code and code not in SURROGATES else " "
        if not char.isspace():
            current.append((index, char.translate(HYPHENS)))
        elif current:
            yield current
            current = []
    if current:
        yield current


def _placed(
    page: pypdfium2.PdfPage,
    text_page: pypdfium2.PdfTextPage,
    chars: Sequence[tuple[int, str]],
    ours: PageWords,
) -> Word | None:
    """The word with its box from the top left; None for one that is off the page."""
    points = []
    for index, _ in chars:
        left, bottom, right, top = text_page.get_charbox(index)
        points += [_device(page, left, top), _device(page, right, bottom)]
    width, height = ours.width, ours.height
    left, right = min(x for x, _ in points) * width, max(x for x, _ in points) * width
    top, bottom = min(y for _, y in points) * height, max(y for _, y in points) * height
    if right <= 0 or left >= width - 1 or bottom <= 0 or top >= height - 1:
        return None
    left, top = max(left, 0.0), max(top, 0.0)
    right, bottom = max(right, left + LEAST), max(bottom, top + LEAST)
    text = "".join(char for _, char in chars)
    return Word(text, left, top, right, bottom, ours.number, run=-1)


def _device(page: pypdfium2.PdfPage, x: float, y: float) -> tuple[float, float]:
    """A point of the page's own system in fractions from the top left."""
    width, height = (round(FINE * side) for side in page.get_size())
    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page.raw, 0, 0, width, height, 0, x, y, across, down)
    return across.value / max(width, 1), down.value / max(height, 1)
