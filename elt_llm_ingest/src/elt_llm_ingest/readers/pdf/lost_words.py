"""Restore words that PDFium reads and LiteParse lost."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import c_int

import numpy as np
import pypdfium2
from pypdfium2 import raw

from elt_llm_ingest.readers.pdf.geometry import BAND
from elt_llm_ingest.readers.pdf.page_furniture import PAGE_NUMBER
from elt_llm_ingest.readers.pdf.words import HYPHENS, Word, replace_marks

SAID = re.compile(r"[^\W_]+")
RUN = 3  # minimum lost words in a row for a lost passage
SHARE = 0.02  # of a page's words; fewer single ones are differences in spelling
SHORT = 8  # runs with fewer letters are looked up together with their neighbours
FINE = 100  # PDFium returns positions on the page as integers
LIGATURE = 4  # letters of a word in which one may stand
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", np.uint8)
PLAIN = 128  # characters of ASCII
SURROGATES = range(0xD800, 0xE000)
_Said = tuple[str, range]
LEAST = 0.2  # points; PDFium has letters without width


def _letters(text: str) -> tuple[list[int], list[str]]:
    """Count the plain letters and digits, and the other letters."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), "<u4")
    is_plain = codes < PLAIN
    counts: list[int] = np.bincount(codes[is_plain], minlength=PLAIN)[LETTERS].tolist()
    others = map(chr, codes[~is_plain].tolist())
    return counts, sorted([c for c in others if c.isalnum()])


def find_lost_words(
    page: pypdfium2.PdfPage,
    text_page: pypdfium2.PdfTextPage,
    plain: str,
    number: int,
    ours: Sequence[Word],
) -> list[Word]:
    """Return the words of PDFium's text that are missing in `ours`.

    One or two words at a position where we read something are only spelt differently. A
    plain number at the edge of the page is furniture. `plain` is the text of
    `text_page`.
    """
    text = _plain(" ".join([word.text for word in ours]))
    if _letters(text) == _letters(_plain(plain)):
        return []  # the same letters: nothing is lost, as good as certainly
    theirs = _Theirs(text_page, plain)
    runs = _find_lost(text, theirs.words)
    many = sum(map(len, runs)) > SHARE * len(theirs.words)
    recovered: list[Word] = []
    for run in runs:
        placed = [
            _place_word(page, text_page, theirs.read_word(i), number) for i in run
        ]
        words = [w for w in placed if w is not None and not _is_told(w, ours)]
        if many or len(run) >= RUN or not any(_is_read(w, ours) for w in words):
            recovered.extend(words)
    height = page.get_height()
    for word in recovered:
        inner = BAND < word.middle[1] / height < 1 - BAND
        word.furniture = not inner and bool(PAGE_NUMBER.match(word.text))
    return recovered


def _is_told(word: Word, ours: Sequence[Word]) -> bool:
    """Return whether we read the same word at this position."""
    return _is_read(word, [other for other in ours if other.text == word.text])


def _is_read(word: Word, ours: Sequence[Word]) -> bool:
    """Return whether we read something at the position of a word."""
    x, y = word.middle
    return any(
        other.left - 1 <= x <= other.right + 1
        and other.top - 1 <= y <= other.bottom + 1
        for other in ours
    )


def _find_lost(ours: str, theirs: Sequence[str]) -> list[range]:
    """Return the runs of missing words, as positions in `theirs`."""
    ours, plain = _plain(ours), _plain_each(theirs)
    short = _short(ours.split(), plain)
    if not short:
        return []
    parts = SAID.findall(ours)
    have = Counter([part for part in parts if part in short])
    lacking: list[int] = []
    for index in sorted({i for p in short for i, w in enumerate(plain) if p in w}):
        for part in SAID.findall(plain[index]):
            if part in short and have[part] <= 0 and lacking[-1:] != [index]:
                lacking.append(index)
            have[part] -= 1
    dense = "".join(parts)
    return [run for run in _runs(lacking, theirs) if not _is_there(dense, theirs, run)]


def _short(ours: Sequence[str], theirs: Sequence[str]) -> Counter[str]:
    """Return how many parts of words are in `theirs` but missing in `ours`.

    Whole words that both contain, which are nearly all, are not compared in parts.
    """
    mine, other = Counter(ours), Counter(theirs)
    uneven = {word for word, count in mine.items() if other.get(word) != count}
    uneven |= {word for word in other if word not in mine}

    def parts(counts: Counter[str]) -> Counter[str]:
        short_words = " ".join(
            [" ".join([word] * counts[word]) for word in sorted(uneven)]
        )
        return Counter(SAID.findall(short_words))

    return parts(other) - parts(mine)


def _plain_each(words: Sequence[str]) -> list[str]:
    """Return each word in plain letters."""
    done = _plain(" ".join(words)).split(" ")
    return done if len(done) == len(words) else [_plain(word) for word in words]


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
    """Return whether our text has these words in another split ("fo od" for "food")."""
    dense_text = _dense("".join(theirs[run.start : run.stop]))
    if len(run) == 1 and _is_repaired(dense, theirs[run.start]):
        return True
    if len(dense_text) >= SHORT:
        return dense_text in dense
    before = _dense("".join(theirs[max(run.start - 1, 0) : run.stop]))
    after = _dense("".join(theirs[run.start : run.stop + 1]))
    longer = [text for text in (before, after) if len(text) > len(dense_text)]
    return any(text in dense for text in longer or [dense_text])


def _is_repaired(dense: str, word: str) -> bool:
    """Return whether a mark in PDFium's word is our ligature ("bene!t")."""
    parts = SAID.findall(_plain(word))
    letters = "".join(parts)
    marked = letters.isalpha() and len(letters) >= LIGATURE and letters != _plain(word)
    return marked and re.search(r"\w{1,3}".join(parts), dense) is not None


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text.replace("\xad", "")).casefold()


def _dense(text: str) -> str:
    return "".join(SAID.findall(_plain(text)))


class _Theirs:
    """The words of PDFium's text of a page.

    Its characters are as on the page, unless PDFium left some out.
    """

    def __init__(self, text_page: pypdfium2.PdfTextPage, plain: str) -> None:
        self._plain = plain
        self._apart: list[_Said] = []
        if text_page.count_chars() == len(plain):
            self.words = replace_marks(plain, HYPHENS).split()
        else:
            self._apart = list(_one_by_one(text_page))
            self.words = [text for text, _ in self._apart]

    def read_word(self, index: int) -> _Said:
        """A word and the places of its characters on the page."""
        if self._apart:
            return self._apart[index]
        rest = self._plain.split(None, index)[index]  # from the word on
        start = len(self._plain) - len(rest)
        return self.words[index], range(start, start + len(self.words[index]))


def _one_by_one(text_page: pypdfium2.PdfTextPage) -> Iterator[_Said]:
    text = ""
    for index in range(text_page.count_chars() + 1):
        code = raw.FPDFText_GetUnicode(text_page.raw, index)
        char = chr(code) if code and code not in SURROGATES else " "
        if not char.isspace():
            text += char.translate(HYPHENS)
        elif text:
            yield text, range(index - len(text), index)
            text = ""


def _place_word(
    page: pypdfium2.PdfPage,
    text_page: pypdfium2.PdfTextPage,
    lost_word: _Said,
    number: int,
) -> Word | None:
    """Return the word with its box from the top left; None if it is off the page."""
    points = []
    for index in lost_word[1]:
        left, bottom, right, top = text_page.get_charbox(index)
        points += [
            to_page_fractions(page, left, top),
            to_page_fractions(page, right, bottom),
        ]
    width, height = page.get_size()
    left, right = min(x for x, _ in points) * width, max(x for x, _ in points) * width
    top, bottom = min(y for _, y in points) * height, max(y for _, y in points) * height
    if right <= 0 or left >= width - 1 or bottom <= 0 or top >= height - 1:
        return None
    left, top = max(left, 0.0), max(top, 0.0)
    right, bottom = max(right, left + LEAST), max(bottom, top + LEAST)
    return Word(lost_word[0], left, top, right, bottom, number, run=-1)


def to_page_fractions(
    page: pypdfium2.PdfPage, x: float, y: float
) -> tuple[float, float]:
    """Return a point as fractions of the page from the top left."""
    width, height = (round(FINE * side) for side in page.get_size())
    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page.raw, 0, 0, width, height, 0, x, y, across, down)
    return across.value / max(width, 1), down.value / max(height, 1)
