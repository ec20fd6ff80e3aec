"""Characters of fonts that do not map to letters.

A font without a character map shows letters to readers and codes to programs: the text
layer contains wrong text. PDFium reports for every character whether it was mapped.
"""

import re
from collections import Counter
from ctypes import PYFUNCTYPE, c_int, c_void_p, cast
from itertools import groupby, repeat
from math import sqrt
from typing import Any

import pypdfium2
from pypdfium2 import raw

STEP = 8  # every eighth character is checked first
RUN = 2  # a single one is a bullet, a ligature or a sign of a formula
# Codes that stand for no letter in any language: PDFium passes a font's own codes on.
STRANGE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")
SHARE = 0.02  # of the characters without a map, that are strange
UNKNOWN = "\ufffd"
LETTERS = 60  # so many tell whether they are a language's
ALIKE = 0.65  # cosine of the frequencies of letters; honest fonts had .93 and .96


def _quick(function: Any) -> Any:
    return PYFUNCTYPE(c_int, c_void_p, c_int)(cast(function, c_void_p).value or 0)


_unmapped = _quick(raw.FPDFText_HasUnicodeMapError)


def count_undecoded(layer: pypdfium2.PdfTextPage, plain: str) -> int:
    """Return the number of characters of a page with wrong text.

    They are unmapped, next to other unmapped ones, and are codes that no language uses,
    or letters with other frequencies than the rest of the page. Unmapped fonts whose
    codes are the right letters are not counted. `plain` is the page's text.
    """
    count, address = layer.count_chars(), cast(layer.raw, c_void_p).value
    if not any(map(_unmapped, repeat(address), range(0, count, STEP))):
        return 0
    marks = _marks(layer)
    runs = [list(run) for on, run in groupby(range(count), marks.__getitem__) if on > 0]
    places = [at for run in runs if len(run) >= RUN for at in run]
    undecoded_text = "".join(
        chr(raw.FPDFText_GetUnicode(layer.raw, at)) for at in places
    )
    if not undecoded_text:
        return 0
    if len(STRANGE.findall(undecoded_text)) >= SHARE * len(undecoded_text):
        return len(places)
    return 0 if _is_like(undecoded_text, _rest(plain, undecoded_text)) else len(places)


def decode_text(layer: pypdfium2.PdfTextPage) -> str:
    """Return the text of a page, with U+FFFD for wrong unmapped characters."""
    plain = str(layer.get_text_bounded())
    if not count_undecoded(layer, plain):
        return plain
    return "".join(
        UNKNOWN if mark > 0 else chr(raw.FPDFText_GetUnicode(layer.raw, at))
        for at, mark in enumerate(_marks(layer))
    )


def _marks(layer: pypdfium2.PdfTextPage) -> list[int]:
    """Return for each character whether it is unmapped (1)."""
    address = cast(layer.raw, c_void_p).value
    return list(map(_unmapped, repeat(address), range(layer.count_chars())))


def _rest(plain: str, decoded: str) -> Counter[str]:
    return _letters(plain) - _letters(decoded)


def _letters(text: str) -> Counter[str]:
    return Counter(filter(str.isalpha, text.casefold()))


def _is_like(text: str, rest: Counter[str]) -> bool:
    """Return whether letter frequencies match the rest; True for too few letters."""
    own = _letters(text)
    if own.total() < LETTERS or rest.total() < LETTERS:
        return True
    product = sum(number * rest[letter] for letter, number in own.items())
    return product >= ALIKE * _length(own) * _length(rest)


def _length(counts: Counter[str]) -> float:
    return sqrt(sum(number * number for number in counts.values()))
