"""Words in a PDF that no reader of its pages sees.

They address machines only, which makes them a way to smuggle instructions into answers.
A suspicious page is rendered twice, as it is and without its text: a suspected word
that makes no difference is invisible.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pypdfium2
from numpy.typing import NDArray
from pypdfium2 import raw

from elt_llm_ingest.readers.pdf.geometry import Rectangle, box_of, join_boxes, rectangle
from elt_llm_ingest.readers.pdf.pdfium import Colour, hide, objects_of, place_of
from elt_llm_ingest.readers.pdf.words import Word

SMALLEST = 2.0  # points; smaller letters are invisible to readers
ALIKE = 24  # of 255 in every colour: closer colours are hardly distinguishable
THICK = 4.0  # points; a thinner shape is a line, not a background
SCALE = 2.0  # pixels a point
LARGEST = 3000  # pixels a side
CHANGED = 10  # of 255: a difference that can be seen
INK = 48  # of 255, between the lightest and the darkest of a picture of a word
SCAN = 0.5  # of the page, that a picture must take to be a scan
MANY = 200  # suspicious places, from which all between them is suspicious too
APART = 50.0  # points down the page between words that are not drawn together
INNER = 0.15  # of a word's height, above and below, is its neighbours' too
HALF = 0.5  # of a word's place: letters cover less of it than what is behind them
BESIDE = 2  # pixels beside a word, so that a lone "I" is seen against its ground
# Of 133 words that one program painted as shapes, letters took .32 to .50 of the place
# and stood in .60 of its columns at least; a rule or the edge of a shape takes less.
STROKES, ACROSS = 0.15, 0.5
Slices = tuple[slice, slice]


def find_hidden_words(
    page: pypdfium2.PdfPage, graphics: Any, words: Sequence[Word]
) -> set[int]:
    """Return the ids of those of the page's words that are invisible.

    Smaller than 2 points, off the page, or without effect on the drawn page: in the
    colour of their background, not painted, or under a picture. The text layer of a
    scan counts as visible where the picture shows something. `graphics` are
    LiteParse's. The text of the page is gone afterwards, not that of the file.
    """
    width, height = page.get_size()
    odd = [
        w for w in words
        if w.bottom - w.top < SMALLEST
        or w.left < 0 or w.right > width or w.top < 0 or w.bottom > height
    ]  # fmt: skip
    hidden = {id(w) for w in odd if _is_off(w, width, height) or _is_tiny(w)}
    objects = objects_of(page)
    pictures = [(_place(page, at), over) for at, over in objects.pictures]
    places = [
        *(_place(page, text) for text in objects.light),
        *(box for box, over in pictures if over),
        *_backgrounds(graphics, objects.colours),
    ]
    if len(places) > MANY:
        places = [join_boxes(places)]
    judged = _find_suspects(words, places, hidden) if places else []
    if judged:
        boxes = [box for box, _ in pictures]
        layers = [_place(page, text) for text in objects.unpainted]
        scans = [box for box in boxes if _area(box) >= SCAN * width * height]
        read = [
            _is_in(w, scans) or (_is_in(w, layers) and _is_in(w, boxes)) for w in judged
        ]
        free = {id(word) for word in judged if not _is_in(word, boxes)}
        hidden |= _without_effect(page, objects.texts, judged, read, free)
    return hidden


def _find_suspects(
    words: Sequence[Word], places: Sequence[Rectangle], known: set[int]
) -> list[Word]:
    around = [join_boxes(places)]
    near = [w for w in words if _is_in(w, around)]
    return [w for w in near if _is_in(w, places) and _speaks(w) and id(w) not in known]


def _is_off(word: Word, width: float, height: float) -> bool:
    x, y = word.middle
    return not (0 <= x <= width and 0 <= y <= height)


def _is_tiny(word: Word) -> bool:
    size = word.right - word.left if word.rotated else word.bottom - word.top
    return size < SMALLEST and _speaks(word)


def _speaks(word: Word) -> bool:
    return any(map(str.isalnum, word.text))


def _place(page: pypdfium2.PdfPage, item: int) -> Rectangle:
    width, height = page.get_size()
    left, top, right, bottom = place_of(page, item)
    return left * width - 1, top * height - 1, right * width + 1, bottom * height + 1


def _backgrounds(graphics: Any, colours: set[Colour]) -> Iterator[Rectangle]:
    """Return shapes that are filled with the colour of a text of the page."""
    alike: dict[str, bool] = {}
    for shape in graphics.shapes if graphics is not None else ():
        filled = shape.fill_color if shape.fill else None
        if not filled:
            continue
        if filled not in alike:
            alike[filled] = any(_is_alike(filled, colour) for colour in colours)
        if alike[filled]:
            left, top, right, bottom = rectangle(shape.bbox)
            if right - left > THICK and bottom - top > THICK:
                yield left, top, right, bottom


def _is_alike(filled: str, colour: Colour) -> bool:
    """Return whether two colours are hardly distinguishable; one is hex with alpha."""
    pairs = zip(bytes.fromhex(filled)[1:], colour, strict=True)
    return all(abs(one - other) <= ALIKE for one, other in pairs)


def _is_in(word: Word, places: Sequence[Rectangle]) -> bool:
    x, y = word.middle
    for left, top, right, bottom in places:  # hundreds of each
        if left <= x <= right and top <= y <= bottom:
            return True
    return False


def _area(box: Rectangle) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _without_effect(
    page: pypdfium2.PdfPage,
    texts: Sequence[int],
    words: Sequence[Word],
    read: Sequence[bool],
    free: Collection[int],
) -> set[int]:
    """Return the ids of words that change nothing on the rendered page.

    `texts` are all of its texts. Words that may be `read` from a picture must be
    visible there. Words `free` of pictures, by id, are visible if shapes draw their
    letters.
    """
    bands = _bands(words)
    views = [_View(page, band) for band in bands]
    pictures = [view.render() for view in views]
    hide(texts)
    may_be_read = {
        id(word) for word, is_read in zip(words, read, strict=True) if is_read
    }
    hidden = set()
    for band, view, before in zip(bands, views, pictures, strict=True):
        after = view.render()
        for word in band:
            at = view.place(word)
            with_it, without = before[at].astype(np.int16), after[at]
            if np.abs(with_it - without).max(initial=0) > CHANGED:
                continue
            if id(word) in free and _shows_letters(after[_widen_slices(at)]):
                continue
            if id(word) not in may_be_read or np.ptp(with_it) < INK:
                hidden.add(id(word))
    return hidden


def _widen_slices(at: Slices) -> Slices:
    """Return the slices with a margin on the left and right."""
    down, across = at
    return down, slice(max(across.start - BESIDE, 0), across.stop + BESIDE)


def _shows_letters(picture: NDArray[np.uint8]) -> bool:
    """Return whether a picture of a word has dark and light areas as letters do."""
    grey = picture.min(axis=2).astype(np.int16)
    if np.ptp(grey) < INK:
        return False
    dark = grey < (int(grey.min()) + int(grey.max())) / 2
    rare = dark if dark.mean() <= HALF else ~dark
    return bool(rare.mean() >= STROKES and rare.any(axis=0).mean() >= ACROSS)


def _bands(words: Sequence[Word]) -> list[list[Word]]:
    """Group the words from top to bottom, separated by gaps that need no rendering."""
    bands: list[list[Word]] = []
    end = 0.0
    for word in sorted(words, key=_top):
        if not bands or word.top > end + APART:
            bands.append([])
            end = word.bottom
        bands[-1].append(word)
        end = max(end, word.bottom)
    return bands


def _top(word: Word) -> float:
    return word.top


class _View:
    """The part of a page that contains some words, for repeated rendering."""

    def __init__(self, page: pypdfium2.PdfPage, words: Sequence[Word]) -> None:
        self._page = page
        width, height = page.get_size()
        self._scale = min(SCALE, LARGEST / max(width, height))
        self._whole = round(width * self._scale), round(height * self._scale)
        left, top, right, bottom = box_of(words)
        self._left = max(int(left * self._scale) - 1, 0)
        self._top = max(int(top * self._scale) - 1, 0)
        right = min(right * self._scale + 2, self._whole[0])
        bottom = min(bottom * self._scale + 2, self._whole[1])
        self._size = int(right) - self._left + 1, int(bottom) - self._top + 1

    def render(self) -> NDArray[np.uint8]:
        """Return the part as it looks now: rows, columns, three colours."""
        bitmap = pypdfium2.PdfBitmap.new_native(*self._size, raw.FPDFBitmap_BGR)
        try:
            bitmap.fill_rect((255, 255, 255, 255), 0, 0, *self._size)
            raw.FPDF_RenderPageBitmap(
                bitmap.raw, self._page.raw, -self._left, -self._top, *self._whole,
                0, raw.FPDF_ANNOT,
            )  # fmt: skip
            return np.array(bitmap.to_numpy(), copy=True)
        finally:
            bitmap.close()

    def place(self, word: Word) -> Slices:
        """Return the slices of a word in the part, without its neighbours' overlap."""
        inner = 0 if word.rotated else INNER * (word.bottom - word.top)
        first = int((word.top + inner) * self._scale) - self._top
        last = int((word.bottom - inner) * self._scale) - self._top
        left = int(word.left * self._scale) - self._left
        right = int(word.right * self._scale) - self._left
        return (
            slice(max(first, 0), max(last, first + 1, 1)),
            slice(max(left, 0), max(right, left + 1, 1)),
        )
