"""Formulas: their own characters instead of the LaTeX that LiteParse writes.

LiteParse recognises a formula in a line and writes LaTeX into the text of the line,
which is nowhere in the file, and leaves the formula out of the words of the line.
PDFium has the characters as on the page.
"""

from collections.abc import Iterator, Mapping, Sequence
from ctypes import byref, c_double
from itertools import groupby
from typing import Any, NamedTuple

import pypdfium2
from pypdfium2 import raw

from elt_llm_ingest.readers.pdf.geometry import Rectangle
from elt_llm_ingest.readers.pdf.lost_words import LEAST, SURROGATES, to_page_fractions
from elt_llm_ingest.readers.pdf.words import HYPHENS, Word, has_formula

EDGE = 0.5  # points by which a character may extend beyond its formula
FAR = 1000.0  # page units over which its scale is measured


class _Glyph(NamedTuple):
    """A character of PDFium's text, its index and its box on the page."""

    at: int
    text: str
    box: Rectangle


def add_formulas(
    page: pypdfium2.PdfPage,
    layer: pypdfium2.PdfTextPage,
    laid_out: Any,
    words: list[Word],
) -> list[Word]:
    """Return the words of a page with those of its formulas, each after its run.

    `words` are those of `laid_out`, LiteParse's page, without its formulas.
    """
    items = laid_out.text_items
    runs = [number for number, item in enumerate(items) if has_formula(item)]
    if not runs:
        return words
    glyphs = list(_glyphs(page, layer))
    words_by_run: dict[int, list[Word]] = {}
    for run in runs:
        box = _box_of(items[run])
        near = [word for word in words if _overlap(_box(word), box)]
        inside = [glyph for glyph in glyphs if _is_in(glyph, box)]
        own = [g for g in inside if not any(_is_in(g, _box(word)) for word in near)]
        taken = {glyph.at for glyph in own}
        glyphs = [glyph for glyph in glyphs if glyph.at not in taken]
        # A separate run: positions decide whether it touches its neighbours.
        number = len(items) + run
        words_by_run[run] = [_word(g, laid_out.page_num, number) for g in _groups(own)]
    return list(_in_turn(words, words_by_run))


def _glyphs(page: pypdfium2.PdfPage, layer: pypdfium2.PdfTextPage) -> Iterator[_Glyph]:
    """Return the characters of a page, without spaces, with boxes in points."""
    width, height = page.get_size()
    corner, along, up = (
        to_page_fractions(page, *at) for at in ((0, 0), (FAR, 0), (0, FAR))
    )
    (xx, xy), (yx, yy) = (
        tuple((end - start) / FAR for start, end in zip(corner, other, strict=True))
        for other in (along, up)
    )
    x0, y0 = corner
    left, right, bottom, top = (c_double() for _ in range(4))
    sides = byref(left), byref(right), byref(bottom), byref(top)
    for index in range(layer.count_chars()):
        code = raw.FPDFText_GetUnicode(layer.raw, index)
        text = HYPHENS.get(code) or (chr(code) if code not in SURROGATES else " ")
        if not code or text.isspace():
            continue
        if not raw.FPDFText_GetCharBox(layer.raw, index, *sides):
            continue
        one, other = (
            left.value * xx + bottom.value * yx,
            right.value * xx + top.value * yx,
        )
        xs = sorted(((x0 + one) * width, (x0 + other) * width))
        one, other = (
            left.value * xy + bottom.value * yy,
            right.value * xy + top.value * yy,
        )
        ys = sorted(((y0 + one) * height, (y0 + other) * height))
        yield _Glyph(index, text, (xs[0], ys[0], xs[1], ys[1]))


def _box_of(item: Any) -> Rectangle:
    return (
        item.x - EDGE, item.y - EDGE,
        item.x + item.width + EDGE, item.y + item.height + EDGE,
    )  # fmt: skip


def _box(word: Word) -> Rectangle:
    return word.left, word.top, word.right, word.bottom


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return (
        one[0] <= other[2] and other[0] <= one[2]
        and one[1] <= other[3] and other[1] <= one[3]
    )  # fmt: skip


def _is_in(glyph: _Glyph, box: Rectangle) -> bool:
    x, y = (glyph.box[0] + glyph.box[2]) / 2, (glyph.box[1] + glyph.box[3]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _groups(glyphs: Sequence[_Glyph]) -> Iterator[list[_Glyph]]:
    """Group the characters that PDFium writes without a space between."""
    numbered = enumerate(glyphs)
    for _, group in groupby(numbered, key=lambda pair: pair[1].at - pair[0]):
        yield [glyph for _, glyph in group]


def _word(glyphs: Sequence[_Glyph], page: int, run: int) -> Word:
    lefts, tops, rights, bottoms = zip(*(glyph.box for glyph in glyphs), strict=True)
    left, top = min(lefts), min(tops)
    return Word(
        "".join(glyph.text for glyph in glyphs),
        left,
        top,
        max(*rights, left + LEAST),
        max(*bottoms, top + LEAST),
        page,
        run,
    )


def _in_turn(
    words: Sequence[Word], words_by_run: Mapping[int, Sequence[Word]]
) -> Iterator[Word]:
    """Yield the words; those found for a run follow it or take its place."""
    waiting = sorted(words_by_run, reverse=True)
    for word in words:
        while waiting and waiting[-1] < word.run:
            yield from words_by_run[waiting.pop()]
        yield word
    while waiting:
        yield from words_by_run[waiting.pop()]
