"""The objects of a PDF page: which of them may be, or may hide, text nobody sees."""

from collections.abc import Iterable
from ctypes import PYFUNCTYPE, addressof, c_float, c_int, c_uint, c_void_p, cast
from dataclasses import dataclass, field
from typing import Any

import pypdfium2
from pypdfium2 import raw

from elt_llm_ingest.formats.pdf.recovery import device

LIGHT = 200  # of 255 in every colour: hardly seen on white
CLEAR = 40  # of 255: hardly seen on anything
DEEP = 4  # forms in forms; deeper ones are suspicious as such
PLAIN = (raw.FPDF_TEXTRENDERMODE_FILL, raw.FPDF_TEXTRENDERMODE_FILL_STROKE)
UNPAINTED = (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP)
Colour = tuple[int, int, int]
Place = tuple[float, float, float, float]


def _quick(result: Any, function: Any, *arguments: Any) -> Any:
    """PDFium's function without the checks that take most of the time of a call."""
    return PYFUNCTYPE(result, *arguments)(cast(function, c_void_p).value or 0)


# A page may have thousands of objects, and all of them are looked at.
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
    """What was seen of a page; objects are PDFium's addresses.

    `light`: texts and forms that may be invisible. `pictures`: each with whether text
    stands before it, which it may hide. `colours`: of the other texts. `unpainted`:
    texts and forms that are not painted at all.
    """

    light: list[int] = field(default_factory=list)
    pictures: list[tuple[int, bool]] = field(default_factory=list)
    colours: set[Colour] = field(default_factory=set)
    unpainted: list[int] = field(default_factory=list)
    texts: int = 0


class Scanner:
    """Looks at the objects of pages. Not for several threads at once."""

    def __init__(self) -> None:
        buffer = (c_uint * 4)()
        self._buffer = buffer
        self._values = memoryview(buffer).cast("B").cast("I")
        self._places = [addressof(buffer) + 4 * i for i in range(4)]

    def objects(self, page: pypdfium2.PdfPage) -> Objects:
        """What stands on a page, in forms too."""
        found = Objects()
        address = cast(page.raw, c_void_p).value
        count = raw.FPDFPage_CountObjects(page.raw)
        self._look(found, (_of_page(address, index) for index in range(count)), 0)
        return found

    def _look(self, found: Objects, items: Iterable[int], depth: int) -> None:
        places, values, colours = self._places, self._values, found.colours
        for item in items:
            mode = _mode(item)
            if mode < 0:
                self._look_at_other(found, item, depth)
                continue
            found.texts += 1
            _colour(item, *places)
            red, green, blue, alpha = values
            if alpha < CLEAR or (red >= LIGHT and green >= LIGHT and blue >= LIGHT):
                found.light.append(item)
            else:
                colours.add((red, green, blue))
                if mode not in PLAIN:
                    found.light.append(item)
            if mode in UNPAINTED:
                found.unpainted.append(item)

    def _look_at_other(self, found: Objects, item: int, depth: int) -> None:
        kind = _type(item)
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            found.pictures.append((item, found.texts > 0))
        elif kind == raw.FPDF_PAGEOBJ_FORM:
            self._look_into(found, item, depth)

    def _look_into(self, found: Objects, form: int, depth: int) -> None:
        """Places in a form are its own, so what is in it stands for all of it."""
        light, pictures = len(found.light), len(found.pictures)
        unpainted = len(found.unpainted)
        if depth >= DEEP:
            found.light.append(form)
        else:
            inner = (_of_form(form, index) for index in range(_count(form)))
            self._look(found, inner, depth + 1)
        if len(found.light) > light:
            found.light[light:] = [form]
        if len(found.unpainted) > unpainted:
            found.unpainted[unpainted:] = [form]
        if inside := found.pictures[pictures:]:
            found.pictures[pictures:] = [(form, any(over for _, over in inside))]


def hide_text(page: pypdfium2.PdfPage) -> None:
    """Make all text of an open page invisible; the file stays as it is."""
    address = cast(page.raw, c_void_p).value
    for index in range(raw.FPDFPage_CountObjects(page.raw)):
        _hide(_of_page(address, index), 0)


def _hide(item: int, depth: int) -> None:
    if _mode(item) >= 0:
        _set_mode(item, raw.FPDF_TEXTRENDERMODE_INVISIBLE)
    elif depth < DEEP and _type(item) == raw.FPDF_PAGEOBJ_FORM:
        for index in range(_count(item)):
            _hide(_of_form(item, index), depth + 1)


def place_of(page: pypdfium2.PdfPage, item: int) -> Place:
    """Where an object of the page stands, in fractions from the top left."""
    sides = (c_float * 4)()
    if not _bounds(item, *(addressof(sides) + 4 * i for i in range(4))):
        return 0.0, 0.0, 1.0, 1.0  # it may be anywhere
    left, bottom, right, top = sides
    corners = device(page, left, top), device(page, right, bottom)
    (x1, y1), (x2, y2) = corners
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)
