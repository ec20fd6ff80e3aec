"""The pictures of a document: where they are, and what they look like."""

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from elt_llm_core.document import Block, BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_core.results import Box
from elt_llm_ingest.enrichers.document_enricher import SourceFile
from elt_llm_ingest.inspecting.picture import draw_page, is_picture

# A picture file with more recognised words is a scanned text, which has been read; set
# by hand, a diagram of thirty labelled boxes has about this many.
MOST_WORDS = 80
REPEATED = 3  # pages of a document that show the same picture: a logo
_PRINT = 16  # pixels per side of the small copy by which pictures are compared
# Most difference of a colour in it, of 255. The edges of a picture drawn elsewhere fall
# on other pixels, which changes it by up to 5.
_SAME = 12
_POINTS = 72 / 200  # of a pixel, for a picture file of unknown resolution
PARSER = "picture 1"


class Picture(NamedTuple):
    """A picture of a document.

    Attributes:
        after: The index of the block that it stands at, or before it; -1 for none.
        box: Its place.
        caption: Its caption; empty if there is none.
        section: The headings above it.
    """

    after: int
    box: Box
    caption: str
    section: str


def picture_document(path: Path, image: Image.Image, reason: str) -> ParsedDocument:
    """Return the document of a picture file in which no text was recognised.

    Args:
        path: The file.
        image: The picture.
        reason: Why there is no text; becomes a warning.
    """
    page = Page(number=1, width=image.width * _POINTS, height=image.height * _POINTS)
    return ParsedDocument(
        title=path.stem,
        text="",
        blocks=[],
        pages=[page],
        parser=PARSER,
        warnings=(reason,),
    )


def find_pictures(parsed: ParsedDocument, file: SourceFile) -> list[Picture]:
    """Return the pictures of a document that no model has described yet, in order.

    These are the figures of its pages; of a picture file each page with little text.
    """
    if is_picture(file.data):
        return list(_pages_as_pictures(parsed))
    described = {
        box
        for block in parsed.blocks
        if block.attributes.get("generated") == "true"
        for box in block.boxes
    }
    return [
        Picture(
            index, block.boxes[0], parsed.text[block.start : block.end], block.section
        )
        for index, block in enumerate(parsed.blocks)
        if _is_figure(block) and block.boxes and block.boxes[0] not in described
    ]


def count_unplaced(parsed: ParsedDocument) -> int:
    """Count the captions whose picture is not on a page that can be drawn."""
    return sum(_is_figure(block) and not block.boxes for block in parsed.blocks)


def _is_figure(block: Block) -> bool:
    generated = block.attributes.get("generated") == "true"
    return block.kind is BlockKind.FIGURE and not generated


def _pages_as_pictures(parsed: ParsedDocument) -> Iterator[Picture]:
    for page in parsed.pages:
        if len(page.words) > MOST_WORDS:
            continue
        before = [
            i
            for i, block in enumerate(parsed.blocks)
            if (block.page or 0) <= page.number
        ]
        box = Box(page=page.number, left=0.0, top=0.0, right=1.0, bottom=1.0)
        yield Picture(before[-1] if before else -1, box, "", "")


class Crops(NamedTuple):
    """The images of pictures, and why others have none."""

    images: Mapping[int, bytes]
    skipped: Mapping[int, str]


def crop_pictures(
    pictures: Sequence[Picture], file: SourceFile, smallest: float, pixels: int
) -> Crops:
    """Cut the pictures out of their pages.

    Args:
        pictures: Pictures in the order of the document.
        file: The file.
        smallest: The least share of its page that a picture covers.
        pixels: The most pixels of the longer side of an image.

    Returns:
        PNG images by the index of the picture, and reasons without a number for the
        others: too small, of one colour, repeated as a logo is, or not to be drawn.
    """
    images: dict[int, bytes] = {}
    skipped: dict[int, str] = {}
    prints: dict[int, NDArray[np.int16]] = {}
    drawn: tuple[int, Image.Image | str] = (0, "")
    for index, picture in enumerate(pictures):
        box = picture.box
        if (box.right - box.left) * (box.bottom - box.top) < smallest:
            skipped[index] = f"smaller than {smallest:.1%} of the page"
            continue
        if drawn[0] != box.page:
            drawn = box.page, _draw(file, box.page, 2 * pixels)
        image = _crop(drawn[1], box, pixels)
        if isinstance(image, str):
            skipped[index] = image
        else:
            images[index], prints[index] = _png(image), _print_of(image)
    for index, pages in _find_logos(prints, pictures):
        del images[index]
        skipped[index] = f"repeated on {pages} pages, as a logo is"
    return Crops(images, skipped)


def _draw(file: SourceFile, number: int, longest: int) -> Image.Image | str:
    """Return the image of a page, or why there is none."""
    try:
        image = draw_page(file.path, file.data, number, file.passwords, longest)
    except LoadError as error:
        return error.reason
    return image or "not on a page of a PDF"


def _crop(page: Image.Image | str, box: Box, pixels: int) -> Image.Image | str:
    """Return the image in a box of a page, or why there is none."""
    if isinstance(page, str):
        return page
    left, top = int(box.left * page.width), int(box.top * page.height)
    right, bottom = round(box.right * page.width), round(box.bottom * page.height)
    image = page.crop((left, top, max(right, left + 1), max(bottom, top + 1)))
    if image.getcolors(1):  # None if there are more
        return "of one colour"
    image.thumbnail((pixels, pixels))
    return image


def _print_of(image: Image.Image) -> NDArray[np.int16]:
    """Return nearly the same colours for the same picture anywhere on a page."""
    return np.asarray(image.resize((_PRINT, _PRINT)), dtype=np.int16)


def _find_logos(
    prints: Mapping[int, NDArray[np.int16]], pictures: Sequence[Picture]
) -> Iterator[tuple[int, int]]:
    """Yield the pictures that too many pages show, with the number of pages."""
    groups: list[list[int]] = []
    for index, one in prints.items():
        for group in groups:
            if np.abs(one - prints[group[0]]).max() <= _SAME:
                group.append(index)
                break
        else:
            groups.append([index])
    for group in groups:
        pages = len({pictures[index].box.page for index in group})
        if pages >= REPEATED:
            yield from ((index, pages) for index in group)


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
