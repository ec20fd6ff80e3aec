"""A PDF without text is refused for what it is: damaged, pictures, hidden or empty."""

from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf.document import parse
from pdf_bombs import LINE, with_content
from pdf_pages import canvas_of
from raw_pdf import CATALOG, TIMES, file_of, stream

BROKEN = with_content(stream(b"\x78\x9c" + b"\xff" * 300, b"/Filter /FlateDecode"))
WHITE = with_content(stream(b"1 1 1 rg " + LINE))


def scan(path: Path) -> bytes:
    canvas = canvas_of(path)
    canvas.drawImage(ImageReader(Image.new("L", (600, 800), 90)), 0, 0, 595, 842)
    canvas.save()
    return path.read_bytes()


def reason(data: bytes) -> str:
    with pytest.raises(LoadError) as caught:
        parse(Path("a.pdf"), data, Limits())
    assert caught.value.hint
    return caught.value.reason


def test_a_damaged_file_is_no_scan():
    moved = BROKEN.replace(b"startxref\n", b"startxref\n9")
    assert reason(moved) == "the PDF is damaged, and no text can be read"


def test_a_page_that_cannot_be_opened_is_told_of():
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    assert "none of its pages can be read" in reason(file_of([CATALOG, pages, TIMES]))


def test_broken_contents_are_no_scan():
    assert reason(BROKEN) == ("no text: its pages are empty or damaged")


def test_hidden_text_is_told_of():
    assert reason(WHITE) == "no visible text"


def test_a_scan_is_one(tmp_path):
    assert "probably a scan" in reason(scan(tmp_path / "scan.pdf"))
