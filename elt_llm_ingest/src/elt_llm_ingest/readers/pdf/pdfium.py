"""PDFium's information about a page: objects that may hide text, and bold runs.

Pages are opened here, in advance.
"""

import contextlib
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from ctypes import (
    PYFUNCTYPE,
    addressof,
    c_char,
    c_double,
    c_float,
    c_int,
    c_void_p,
    cast,
)
from dataclasses import dataclass, field
from itertools import groupby, pairwise, repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pypdfium2
from pypdfium2 import raw

from elt_llm_ingest.readers.pdf.lost_words import to_page_fractions
from elt_llm_ingest.readers.pdf.words import BOLD, Word

LIGHT = 200  # of 255 in every colour: hardly visible on white
CLEAR = 40  # of 255: hardly visible on anything
DEEP = 4  # forms in forms; deeper ones are suspicious as such
PLAIN = (raw.FPDF_TEXTRENDERMODE_FILL, raw.FPDF_TEXTRENDERMODE_FILL_STROKE)
UNPAINTED = (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP)
Colour = tuple[int, int, int]
Place = tuple[float, float, float, float]


def _quick(result: Any, function: Any, *arguments: Any) -> Any:
    """Call PDFium's function without the checks that take most of a call."""
    return PYFUNCTYPE(result, *arguments)(cast(function, c_void_p).value or 0)


# A page may have thousands of objects, all of which are checked.
_of_page = _quick(c_void_p, raw.FPDFPage_GetObject, c_void_p, c_int)
_of_form = _quick(c_void_p, raw.FPDFFormObj_GetObject, c_void_p, c_int)
_count = _quick(c_int, raw.FPDFFormObj_CountObjects, c_void_p)
_mode = _quick(c_int, raw.FPDFTextObj_GetTextRenderMode, c_void_p)
_set_mode = _quick(c_int, raw.FPDFTextObj_SetTextRenderMode, c_void_p, c_int)
_type = _quick(c_int, raw.FPDFPageObj_GetType, c_void_p)
_bounds = _quick(c_int, raw.FPDFPageObj_GetBounds, *[c_void_p] * 5)
_colour = _quick(c_int, raw.FPDFPageObj_GetFillColor, *[c_void_p] * 5)


@dataclass
class Objects:
    """The objects of a page, as PDFium's addresses.

    `light`: texts and forms that may be invisible. `pictures`: each with whether text
    precedes it, which it may hide. `colours`: of the other texts. `unpainted`: texts
    and forms that are not painted at all. `texts`: all of them.
    """

    light: list[int] = field(default_factory=list)
    pictures: list[tuple[int, bool]] = field(default_factory=list)
    colours: set[Colour] = field(default_factory=set)
    unpainted: list[int] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    over: bool = False  # whether later objects may cover a text


def objects_of(page: pypdfium2.PdfPage) -> Objects:
    """Return the objects of a page, including those in forms."""
    objects = Objects()
    address = cast(page.raw, c_void_p).value
    count = raw.FPDFPage_CountObjects(page.raw)
    _look(objects, list(map(_of_page, repeat(address), range(count))), 0)
    return objects


def _look(objects: Objects, items: Sequence[int], depth: int) -> None:
    modes = list(map(_mode, items))
    first = next((at for at, mode in enumerate(modes) if mode >= 0), len(modes))
    for at, (item, mode) in enumerate(zip(items, modes, strict=True)):
        if mode < 0 and (kind := _type(item)) != raw.FPDF_PAGEOBJ_PATH:
            objects.over = objects.over or first < at
            _look_at_other(objects, item, kind, depth)
    texts = [item for item, mode in zip(items, modes, strict=True) if mode >= 0]
    if texts:
        objects.texts += texts
        objects.over = True
        _look_at_colours(objects, texts)
        _look_at_modes(objects, texts, [mode for mode in modes if mode >= 0])


def _look_at_colours(objects: Objects, texts: Sequence[int]) -> None:
    """Note colours and what is light; all at once, for a page has hundreds of texts."""
    values = np.zeros((len(texts), 4), np.uintc)  # as if clear, where there is none
    start, stop = values.ctypes.data, values.ctypes.data + values.nbytes
    step = values.strides[0]
    places = [range(start + at, stop + at, step) for at in range(0, step, 4)]
    deque(map(_colour, texts, *places), maxlen=0)
    red, green, blue, alpha = values.T
    codes = ((alpha < CLEAR) << 24 | red << 16 | green << 8 | blue).tolist()
    colours = {code: _split_colour(code) for code in set(codes)}  # a page has few
    light = {code for code, colour in colours.items() if _is_light(code, colour)}
    objects.colours.update([colours[code] for code in colours.keys() - light])
    if light:
        objects.light += [t for t, c in zip(texts, codes, strict=True) if c in light]


def _split_colour(code: int) -> Colour:
    return code >> 16 & 255, code >> 8 & 255, code & 255


def _is_light(code: int, colour: Colour) -> bool:
    return code >> 24 > 0 or min(colour) >= LIGHT


def _look_at_modes(
    objects: Objects, texts: Sequence[int], modes: Sequence[int]
) -> None:
    if set(modes).issubset(PLAIN):
        return
    for item, mode in zip(texts, modes, strict=True):
        if mode not in PLAIN:
            objects.light.append(item)
        if mode in UNPAINTED:
            objects.unpainted.append(item)


def _look_at_other(objects: Objects, item: int, kind: int, depth: int) -> None:
    if kind == raw.FPDF_PAGEOBJ_IMAGE:
        objects.pictures.append((item, objects.over))
    elif kind == raw.FPDF_PAGEOBJ_FORM:
        _look_into(objects, item, depth)


def _look_into(objects: Objects, form: int, depth: int) -> None:
    """Places in a form are its own, so what is in it stands for all of it."""
    light, pictures = len(objects.light), len(objects.pictures)
    unpainted = len(objects.unpainted)
    if depth >= DEEP:
        objects.light.append(form)
    else:
        inner = map(_of_form, repeat(form), range(_count(form)))
        _look(objects, list(inner), depth + 1)
    if len(objects.light) > light:
        objects.light[light:] = [form]
    if len(objects.unpainted) > unpainted:
        objects.unpainted[unpainted:] = [form]
    if inside := objects.pictures[pictures:]:
        objects.pictures[pictures:] = [(form, any(over for _, over in inside))]


def hide(texts: Iterable[int]) -> None:
    """Make texts of an open page invisible; the file is unchanged."""
    deque(map(_set_mode, texts, repeat(raw.FPDF_TEXTRENDERMODE_INVISIBLE)), maxlen=0)


def place_of(page: pypdfium2.PdfPage, item: int) -> Place:
    """Return an object's position, in fractions from the top left."""
    sides = (c_float * 4)()
    if not _bounds(item, *(addressof(sides) + 4 * i for i in range(4))):
        return 0.0, 0.0, 1.0, 1.0  # it may be anywhere
    left, bottom, right, top = sides
    corners = to_page_fractions(page, left, top), to_page_fractions(page, right, bottom)
    (x1, y1), (x2, y2) = corners
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


class OpenPage(NamedTuple):
    """A page, its text layer and its text. The caller closes it."""

    page: pypdfium2.PdfPage
    layer: pypdfium2.PdfTextPage
    plain: str

    def close(self) -> None:
        """Free PDFium's data of the page."""
        self.layer.close()
        self.page.close()


def open_page(pdf: pypdfium2.PdfDocument, number: int) -> OpenPage | None:
    """Return a page by its number from 1; None if PDFium cannot open it."""
    try:
        page = pdf[number - 1]
        layer = page.get_textpage()
    except (pypdfium2.PdfiumError, IndexError):
        return None
    return OpenPage(page, layer, str(layer.get_text_range()))


class PrefetchedPages:
    """Pages that are opened in the background, in advance.

    PDFium is not thread-safe: between `prefetch` and `wait` no other code may use the
    file.
    """

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread
        self._coming: Future[dict[int, OpenPage | None]] | None = None
        self._open: dict[int, OpenPage | None] = {}

    def prefetch(self, pdf: pypdfium2.PdfDocument, numbers: Sequence[int]) -> None:
        """Start opening these pages."""
        self._coming = self._thread.submit(
            lambda: {number: open_page(pdf, number) for number in numbers}
        )

    def wait(self) -> None:
        """Wait until the pages are open."""
        if self._coming is not None:
            coming, self._coming = self._coming, None
            self._open = coming.result()

    def take(self, pdf: pypdfium2.PdfDocument, number: int) -> OpenPage | None:
        """Return a page, opened now if necessary."""
        if number in self._open:
            return self._open.pop(number)
        return open_page(pdf, number)

    def discard(self) -> None:
        """Close the pages that were not taken."""
        for page in self._open.values():
            if page is not None:
                page.close()
        self._open = {}


@contextlib.contextmanager
def prefetch_pages() -> Iterator[PrefetchedPages]:
    """Yield pages to open ahead; the remaining ones are closed afterwards."""
    with ThreadPoolExecutor(1) as thread:
        prefetched = PrefetchedPages(thread)
        try:
            yield prefetched
        finally:
            prefetched.wait()
            prefetched.discard()


# A lead ends with a letter and a full stop or colon ("Purpose."), not with a number
# ("1."), which a bold heading may begin with.
LEAD_ENDS = re.compile(r"[^\W\d_][.:]$")
# PDFium takes places on the page as whole pixels; a hundred of them a point lose none.
PIXELS = 100
NEAR = (
    2.0  # points from a word's middle, where a blank of its font may lie, to a letter
)
FONT_NAME = 128  # bytes; PostScript allows names of fonts 127 characters


def correct_bold(
    page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, words: Sequence[Word]
) -> None:
    """Clear `bold` of words that are not bold in a run that begins with bold ones.

    LiteParse gives a run the face of its first word. Only some words of a bold run are
    checked, and all of them if one is not bold.
    """
    for _, group in groupby(words, attrgetter("run")):
        run = list(group)
        if len(run) <= 1 or not run[0].bold:
            continue
        if not all(_is_bold(page, text_page, word) for word in _samples(run)):
            for word in run:
                word.bold = _is_bold(page, text_page, word)


def _samples(run: Sequence[Word]) -> Iterator[Word]:
    """Return the words of a run that show where its face changes, the last first.

    Bold words at its start are followed by a plain one at its end, in its middle, or,
    if bold words end it too, after them or after a lead such as "Purpose.".
    """
    leads = (b for a, b in pairwise(run) if LEAD_ENDS.search(a.text))
    chosen = (run[-1], run[len(run) // 2], run[1], *leads)
    yield from {id(word): word for word in chosen}.values()


def _is_bold(
    page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, word: Word
) -> bool:
    """Return PDFium's value, or the previous one if it has none."""
    width, height = (round(PIXELS * side) for side in page.get_size())
    x, y = (round(PIXELS * at) for at in word.middle)
    across, up = c_double(), c_double()
    raw.FPDF_DeviceToPage(page.raw, 0, 0, width, height, 0, x, y, across, up)
    at = raw.FPDFText_GetCharIndexAtPos(
        text_page.raw, across.value, up.value, NEAR, NEAR
    )
    name, flags = (c_char * FONT_NAME)(), c_int()
    size = raw.FPDFText_GetFontInfo(text_page.raw, at, name, FONT_NAME, flags)
    if at < 0 or not 0 < size <= FONT_NAME:
        return word.bold
    return bool(BOLD.search(name.value.decode("utf-8", "replace")))
