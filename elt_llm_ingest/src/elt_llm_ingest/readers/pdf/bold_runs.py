"""Where bold ends within a run of text."""

import re
from collections.abc import Iterator, Sequence
from ctypes import c_char, c_double, c_int
from itertools import pairwise, takewhile

import pypdfium2
from pypdfium2 import raw

from elt_llm_ingest.readers.pdf.words import BOLD, Word

FINE = 100  # PDFium takes places on the page as whole numbers
LEAD_ENDS = re.compile(r"[^\W\d_][.:]$")


NEAR = 2.0  # points from the middle of a word to a character of it


NAME = 128  # bytes of the name of a font


def correct_bold(
    page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, words: Sequence[Word]
) -> None:
    """Take `bold` from words after a bold lead that are not.

    Only runs are looked at in which a bold word ends with a full stop or a colon.
    """
    for index, (word, after) in enumerate(pairwise(words)):
        if not word.bold or after.run != word.run or not after.bold:
            continue
        if LEAD_ENDS.search(word.text) and not _is_bold(page, text_page, after):
            for other in _of_run(words, index):
                other.bold = _is_bold(page, text_page, other)


def _of_run(words: Sequence[Word], index: int) -> Iterator[Word]:
    """The words of the run that the word at `index` is from."""
    run = words[index].run
    yield from takewhile(lambda w: w.run == run, reversed(words[: index + 1]))
    yield from takewhile(lambda w: w.run == run, words[index + 1 :])


def _is_bold(
    page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, word: Word
) -> bool:
    """Whether PDFium says so; where it says nothing, as it was."""
    width, height = (round(FINE * side) for side in page.get_size())
    x, y = (round(FINE * at) for at in word.middle)
    across, up = c_double(), c_double()
    raw.FPDF_DeviceToPage(page.raw, 0, 0, width, height, 0, x, y, across, up)
    at = raw.FPDFText_GetCharIndexAtPos(
        text_page.raw, across.value, up.value, NEAR, NEAR
    )
    name, flags = (c_char * NAME)(), c_int()
    size = raw.FPDFText_GetFontInfo(text_page.raw, at, name, NAME, flags)
    if at < 0 or not 0 < size <= NAME:
        return word.bold
    return bool(BOLD.search(name.value.decode("utf-8", "replace")))
