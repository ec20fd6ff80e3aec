"""A page of a PDF as a picture, with the quoted lines marked."""

import io
import threading
from collections.abc import Sequence

import pypdfium2 as pdfium
from PIL import Image, ImageDraw

from elt_llm_core.results import Box

QUALITY = 80  # of the JPEG, chosen by eye
MAX_SIDE = 5000  # pixels; larger pages, such as posters, are drawn at a smaller scale
FILL = (255, 213, 0, 80)
OUTLINE = (201, 111, 0, 255)
CROP_MARGIN = 0.07  # of the page's height, above and below the marked lines
CROP_LEAST = 0.36  # of the page's height, so that a quote keeps its surroundings

# PDFium keeps global state and is not thread-safe: one lock per process.
_PDFIUM = threading.Lock()


def render_page(
    pdf: bytes, number: int, boxes: Sequence[Box], *, scale: float, crop: bool
) -> bytes | None:
    """Draw a page of a PDF as a JPEG.

    Args:
        pdf: The file.
        number: The page, from 1.
        boxes: Boxes to mark, in fractions of the page.
        scale: Pixels per point.
        crop: Keep only the height around the boxes, at full width.

    Returns:
        The JPEG, or None if there is no such page or PDFium cannot open the file.
    """
    image = _draw(pdf, number, scale)
    if image is None:
        return None
    marked = _mark(image, boxes, scale)
    if crop and boxes:
        marked = marked.crop(_band(marked.size, boxes))
    out = io.BytesIO()
    marked.save(out, "JPEG", quality=QUALITY, optimize=True)
    return out.getvalue()


def _draw(pdf: bytes, number: int, scale: float) -> Image.Image | None:
    with _PDFIUM:
        try:
            document = pdfium.PdfDocument(pdf)
        except pdfium.PdfiumError:
            return None
        try:
            if not 1 <= number <= len(document):
                return None
            page = document[number - 1]
            scale = min(scale, MAX_SIDE / max(page.get_size()))
            drawn: Image.Image = page.render(scale=scale).to_pil().convert("RGB")
            page.close()
        except pdfium.PdfiumError:
            return None
        finally:
            document.close()
    return drawn


def _mark(image: Image.Image, boxes: Sequence[Box], scale: float) -> Image.Image:
    if not boxes:
        return image
    layer = Image.new("RGBA", image.size)
    brush = ImageDraw.Draw(layer)
    pad = round(2 * scale)
    for box in boxes:
        corners = (
            box.left * image.width - pad,
            box.top * image.height - pad,
            box.right * image.width + pad,
            box.bottom * image.height + pad,
        )
        brush.rectangle(corners, fill=FILL, outline=OUTLINE, width=max(1, round(scale)))
    return Image.alpha_composite(image.convert("RGBA"), layer).convert("RGB")


def _band(size: tuple[int, int], boxes: Sequence[Box]) -> tuple[int, int, int, int]:
    """Return left, top, right, bottom in pixels of the part of the page to keep."""
    top = min(box.top for box in boxes) - CROP_MARGIN
    bottom = max(box.bottom for box in boxes) + CROP_MARGIN
    lacking = max(0.0, CROP_LEAST - (bottom - top)) / 2
    top, bottom = max(0.0, top - lacking), min(1.0, bottom + lacking)
    return (0, int(top * size[1]), size[0], max(1, int(bottom * size[1])))
