"""Pictures of pages: each becomes a page of a PDF, which is read by OCR."""

import io
import warnings
from pathlib import Path

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.ocr import recognition
from elt_llm_ingest.readers.pdf.document import parse as parse_pdf

PARSER = "image 1"
# 150 MB in memory; an A4 page at 600 dots per inch has 35 million.
MAX_PIXELS = 50_000_000
MAX_SIDE = 14_000  # points; no PDF page is larger
USUAL_DPI = 200.0  # of scans, if the file does not declare it
PLAUSIBLE = range(50, 1201)  # maximum dots per inch that a picture may declare


def parse(path: Path, data: bytes, limits: Limits) -> list[ParsedDocument]:
    """The document of a picture, a page for each frame of a TIFF.

    Raises LoadError for pictures that are too large, damaged or without readable text,
    and if text recognition is not installed.
    """
    if recognition.languages() is None:
        reason = "it is a picture, which only text recognition can read"
        raise LoadError(path.name, reason, recognition.CURE)
    pdf = _as_pdf(path, data, limits)
    documents = parse_pdf(path, pdf, limits)
    return [
        document.model_copy(update={"parser": f"{PARSER}, {document.parser}"})
        for document in documents
    ]


def _as_pdf(path: Path, data: bytes, limits: Limits) -> bytes:
    from PIL import Image, ImageSequence, UnidentifiedImageError  # noqa: PLC0415

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data))
            frames: list[Image.Image] = []
            pixels = 0
            for frame in ImageSequence.Iterator(picture):
                pixels += frame.width * frame.height
                if pixels > MAX_PIXELS or len(frames) >= limits.max_pages:
                    raise _too_large(path)
                frames.append(frame.convert("L"))
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise _too_large(path) from error
    except (
        UnidentifiedImageError,
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
    ) as error:
        raise LoadError(
            path.name, "the picture is damaged", "save or scan it again"
        ) from error
    dpi = _dpi(picture.info.get("dpi"), max(max(f.size) for f in frames))
    buffer = io.BytesIO()
    frames[0].save(
        buffer, "PDF", save_all=True, append_images=frames[1:], resolution=dpi
    )
    return buffer.getvalue()


def _too_large(path: Path) -> LoadError:
    return LoadError(
        path.name,
        f"the picture has more than {MAX_PIXELS // 1_000_000} million points",
        "scan it with 200 to 300 dots an inch",
    )


def _dpi(metadata: object, longest: int) -> float:
    """Return the dots per inch that the picture declares, if plausible."""
    value = metadata[0] if isinstance(metadata, tuple) and metadata else 0
    dpi = float(value) if int(float(value)) in PLAUSIBLE else USUAL_DPI
    return max(dpi, longest * 72 / MAX_SIDE)
