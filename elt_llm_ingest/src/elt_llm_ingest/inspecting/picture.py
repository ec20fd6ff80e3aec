"""Draw a page with the boxes of the extracted content."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from elt_llm_core.document import Block, BlockKind, Page, ParsedDocument
from elt_llm_core.errors import LoadError, UsageError
from elt_llm_core.results import Box
from elt_llm_ingest.inspecting.inspection import boxes_of
from elt_llm_ingest.sandbox.framing import LENGTH

LONGEST = 1600  # pixels of the longer side
PATIENCE = 60.0  # seconds for one page
COLOURS = {
    BlockKind.CAPTION: (0, 140, 140),
    BlockKind.CODE: (90, 90, 0),
    BlockKind.CONTENTS: (120, 120, 120),
    BlockKind.FIGURE: (150, 0, 170),
    BlockKind.FURNITURE: (120, 120, 120),
    BlockKind.HEADING: (200, 0, 0),
    BlockKind.LIST_ITEM: (0, 130, 0),
    BlockKind.PARAGRAPH: (0, 70, 220),
    BlockKind.TABLE_ROW: (220, 120, 0),
}
OTHER = (60, 60, 60)
UNCERTAIN = 0.6  # as readers/ocr/recognition.py: below it a passage is flagged


def draw_boxes(
    path: Path,
    data: bytes,
    document: ParsedDocument,
    number: int,
    passwords: Sequence[str] = (),
) -> bytes:
    """Return a PNG of page `number` (from 1) with the boxes of lines, cells, pictures.

    A page without an image (a slide, a sheet, an imported file) is white. Raises
    UsageError for a document without pages or without this one.
    """
    page = next((p for p in document.pages if p.number == number), None)
    if page is None:
        known = f"it has pages 1 to {len(document.pages)}" if document.pages else ""
        raise UsageError(
            f"{path.name} has no page {number} to draw",
            known or "files of this kind have no pages; leave out --page and --png",
        )
    canvas = _background(path, data, page, passwords)
    layer = Image.new("RGBA", canvas.size, (0, 0, 0, 0))
    pen = ImageDraw.Draw(layer)
    seen = {}
    for block in document.blocks:
        colour = COLOURS.get(block.kind, OTHER)
        for box, width in _rectangles(document, block):
            if box.page == number:
                seen[block.kind.value] = colour
                low = block.confidence is not None and block.confidence < UNCERTAIN
                fill = (255, 0, 0, 70) if low else (*colour, 28)
                sides = _pixels(box, canvas)
                pen.rectangle(sides, outline=(*colour, 255), width=width, fill=fill)
    _legend(pen, seen)
    if any(
        block.attributes.get("reading_order") == "doubtful" and block.page == number
        for block in document.blocks
    ):
        pen.rectangle((0, canvas.height - 16, 150, canvas.height), fill=(255, 200, 0))
        pen.text((6, canvas.height - 14), "reading order doubtful", fill=(0, 0, 0, 255))
    buffer = io.BytesIO()
    Image.alpha_composite(canvas.convert("RGBA"), layer).convert("RGB").save(
        buffer, "PNG"
    )
    return buffer.getvalue()


def _rectangles(document: ParsedDocument, block: Block) -> Iterator[tuple[Box, int]]:
    """Return boxes with their line widths: cells if a row has them."""
    cells = [box for cell in block.cells for box in cell.boxes]
    for box in cells or boxes_of(document, block):
        yield box, 1 if cells else 2


def _pixels(box: Box, canvas: Image.Image) -> tuple[float, float, float, float]:
    return (
        box.left * canvas.width,
        box.top * canvas.height,
        max(box.right * canvas.width, box.left * canvas.width),
        max(box.bottom * canvas.height, box.top * canvas.height),
    )


def _legend(pen: ImageDraw.ImageDraw, seen: dict[str, tuple[int, int, int]]) -> None:
    for line, (name, colour) in enumerate(sorted(seen.items())):
        top = 4 + 14 * line
        pen.rectangle((4, top, 92, top + 13), fill=(255, 255, 255, 220))
        pen.rectangle((6, top + 2, 16, top + 11), fill=(*colour, 255))
        pen.text((20, top + 1), name, fill=(0, 0, 0, 255))


def _background(
    path: Path, data: bytes, page: Page, passwords: Sequence[str]
) -> Image.Image:
    """Return the image of the page, or a white one of its size."""
    image = draw_page(path, data, page.number, passwords, LONGEST)
    if image is not None:
        return image
    scale = LONGEST / max(page.width, page.height)
    size = max(round(page.width * scale), 1), max(round(page.height * scale), 1)
    return Image.new("RGB", size, "white")


def is_picture(data: bytes) -> bool:
    """Return whether a file is a picture: PNG, JPEG or TIFF."""
    return data.startswith((b"\x89PNG", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*"))


def draw_page(
    path: Path, data: bytes, number: int, passwords: Sequence[str], longest: int
) -> Image.Image | None:
    """Return a page of a PDF, or a frame of a picture, as an image.

    Args:
        path: The file, for messages.
        data: Its bytes.
        number: The page, from 1.
        passwords: Passwords to try.
        longest: Pixels of the longer side.

    Returns:
        The image; None for a file of another kind, whose pages cannot be drawn.

    Raises:
        LoadError: If the page cannot be drawn.
    """
    is_pdf = b"%PDF-" in data[:1024]
    if not (is_pdf or is_picture(data)):
        return None
    secret = json.dumps(list(passwords)).encode()
    sent = b"".join(LENGTH.pack(len(part)) + part for part in (secret, data))
    rendered = _render(path, sent, "pdf" if is_pdf else "picture", number, longest)
    return Image.open(io.BytesIO(rendered)).convert("RGB")


def _render(path: Path, sent: bytes, kind: str, number: int, longest: int) -> bytes:
    """Return a PNG of a page, drawn in a process with limits, because it may hang.

    `sent` is its input: a message with passwords, then one with the file.
    """
    command = [
        sys.executable,
        "-P",
        "-B",
        "-m",
        "elt_llm_ingest.inspecting.render_page",
    ]
    try:
        done: Any = subprocess.run(
            [*command, kind, str(number), str(longest)],
            input=sent,
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        reason = f"drawing page {number} took longer than {PATIENCE:g} s"
        raise LoadError(str(path), reason, "inspect it without --png") from error
    except subprocess.CalledProcessError as error:
        reason = f"page {number} cannot be drawn"
        raise LoadError(str(path), reason, "inspect it without --png") from error
    return bytes(done.stdout)
