"""Superscript digits: note marks are separated from their words, powers are kept.

PDFs have no element for a note mark: it is digits with a higher baseline than the
letter before them. PDFium knows the baseline of every character. Nothing is left out,
so that a quote shows what the page shows.
"""

import re
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double
from dataclasses import replace

import pypdfium2
from pypdfium2 import raw

from elt_llm_ingest.readers.pdf.lost_words import to_page_fractions
from elt_llm_ingest.readers.pdf.words import Word
from elt_llm_ingest.readers.raised_text import REMOVED, write_raised

NUMBERS = r"[\[(]?\d{1,3}(?:[,;\u2013-]\d{1,3})*[\])]?"
DIGITS = re.compile(NUMBERS)
# Behind a letter or a mark, which is no decimal point, and behind 10.
TAIL = re.compile(
    rf"(?:(?<=[^\W\d_]|[.,;:!?\"'\u2019\u201d\u00bb)])(?<![0-9][.,])"
    rf"|(?<=[0-9]{{4}}[.,])|(?<=\b10))({NUMBERS})$"
)
ENDS = frozenset("0123456789)]")
# Units and variables have second or third powers, numbers any.
AFTER = re.compile(r"(?:[^\W\d_]{2,}|\))$")
POWERS = ("2", "3")
UP = 0.2  # of the height of the digits, by which their baseline is higher at least
FINE = 100  # PDFium takes places on the page as whole numbers
TOUCH = 0.3  # of the height of a word: a mark behind it is no farther away


def separate_raised_marks(
    page: pypdfium2.PdfPage, layer: pypdfium2.PdfTextPage, words: Sequence[Word]
) -> list[Word]:
    """Return the words of a page with note marks as separate words.

    Superscript digits of powers become Unicode superscripts. Rotated pages are
    unchanged.
    """
    if page.get_rotation():
        return [*words]
    return list(_apart(_Characters(page, layer), words))


def _apart(characters: "_Characters", words: Sequence[Word]) -> Iterator[Word]:
    before: Word | None = None
    for word in words:
        parts: Sequence[Word] = [word]
        if word.text[-1] in ENDS and not word.rotated:
            parts = _parts(characters, before, word)
        yield from parts
        before = parts[-1]


def _parts(
    characters: "_Characters", before: Word | None, word: Word
) -> Sequence[Word]:
    """Split the word before a note mark, or write its power as superscript."""
    if (
        before is not None
        and DIGITS.fullmatch(word.text)
        and _touch(before, word)
        and characters.are_up(word, word.text, before.text[-1])
    ):
        shown = _write_digits(word.text, before.text)
        word.mark = shown == REMOVED
        word.text = word.text if word.mark else shown
        return [word]
    match = TAIL.search(word.text)
    if not match or not characters.are_up(word, match[1], word.text[match.start() - 1]):
        return [word]
    text, digits = word.text[: match.start()], match[1]
    shown = _write_digits(digits, text)
    if shown != REMOVED:
        word.text = text + shown
        return [word]
    edge = characters.left_of(word, digits)
    place = word.place + len(text) if word.place >= 0 else -1
    mark = replace(word, text=digits, left=edge, glued=False, place=place, mark=True)
    word.text, word.right = text, edge
    return [word, mark]


def _write_digits(digits: str, before: str) -> str:
    """Return the text for superscript digits; REMOVED for a mark."""
    if digits not in POWERS and AFTER.search(before):
        return REMOVED
    return write_raised(digits, before)


def _touch(word: Word, after: Word) -> bool:
    """Return whether a word directly follows another on its line."""
    height = max(word.bottom - word.top, after.bottom - after.top)
    level = min(word.bottom, after.bottom) > max(word.top, after.top)
    return level and abs(after.left - word.right) < TOUCH * height


class _Characters:
    """PDFium's characters of a page."""

    def __init__(self, page: pypdfium2.PdfPage, layer: pypdfium2.PdfTextPage) -> None:
        self._page = page
        self._layer = layer.raw

    def are_up(self, word: Word, digits: str, base: str) -> bool:
        """Return whether the digits at the end of a word are superscript.

        False if PDFium has other characters there.
        """
        last = self._last(word)
        first = last - len(digits) + 1
        text = "".join(self._text(at) for at in range(first, last + 1))
        under = first - 1
        while under > first - 3 and self._text(under).isspace():
            under -= 1
        if first < 1 or text != digits or self._text(under) != base:
            return False
        sign = next(at for at in range(first, last + 1) if self._text(at).isdigit())
        _, bottom, _, top = self._box(sign)
        up = self._baseline(sign) - self._baseline(under)
        return UP * (top - bottom) < up < 2 * (word.bottom - word.top)

    def left_of(self, word: Word, digits: str) -> float:
        """Return where the digits at the end of a word begin."""
        left, _, _, top = self._box(self._last(word) - len(digits) + 1)
        across, _ = to_page_fractions(self._page, left, top)
        edge = float(across * self._page.get_width())
        return min(max(edge, word.left), word.right)

    def _last(self, word: Word) -> int:
        """The number of the last character of a word; below 0 if there is none."""
        half = (word.right - word.left) / len(word.text) / 2
        width, height = (round(FINE * side) for side in self._page.get_size())
        x, y = round(FINE * (word.right - half)), round(FINE * word.middle[1])
        across, up = c_double(), c_double()
        raw.FPDF_DeviceToPage(self._page.raw, 0, 0, width, height, 0, x, y, across, up)
        near = half, (word.bottom - word.top) / 2
        return int(
            raw.FPDFText_GetCharIndexAtPos(self._layer, across.value, up.value, *near)
        )

    def _text(self, at: int) -> str:
        return chr(raw.FPDFText_GetUnicode(self._layer, at)) if at >= 0 else ""

    def _baseline(self, at: int) -> float:
        x, y = c_double(), c_double()
        raw.FPDFText_GetCharOrigin(self._layer, at, byref(x), byref(y))
        return y.value

    def _box(self, at: int) -> tuple[float, float, float, float]:
        left, right, bottom, top = (c_double() for _ in range(4))
        raw.FPDFText_GetCharBox(
            self._layer, at, byref(left), byref(right), byref(bottom), byref(top)
        )
        return left.value, bottom.value, right.value, top.value
