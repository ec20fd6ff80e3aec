"""Scans and pictures of pages are read, whichever way they lie; boxes fit the file."""

import io
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image

import format_files
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.ocr import recognition
from elt_llm_ingest.sandbox.worker import parse

LINES = [
    "Harbour Rules",
    "Every berth costs twenty pounds a week.",
    "Boats leave before noon on Sunday.",
    "Anchors stay on board at night.",
]
PDF = format_files.page_pdf(LINES)


def words_in(text: str) -> set[str]:
    return {word.strip(".,") for word in text.split()}


WANTED = words_in(" ".join(LINES))


@pytest.mark.parametrize(("angle", "skew"), [(0, 0.8), (90, 0.0), (180, 0.0)])
def test_a_scan_is_read_and_its_boxes_fit_the_file(angle, skew, reading):
    scan = format_files.scan(PDF, angle, skew)
    (document,) = reading.parse(Path("scan.pdf"), format_files.as_pdf(scan))
    format_files.check_spans(document)
    assert len(WANTED - words_in(document.text)) <= 2
    assert "read by text recognition" in document.warnings[0]
    assert all(block.confidence > 0.6 for block in document.blocks)
    (page,) = document.pages
    assert (page.width > page.height) == (scan.width > scan.height)
    left, top, right, bottom = next(
        box for start, end, *box in page.words if document.text[start:end] == "Harbour"
    )
    found = scan.crop(
        (
            round(left * scan.width) - 2, round(top * scan.height) - 2,
            round(right * scan.width) + 2, round(bottom * scan.height) + 2,
        )
    )  # fmt: skip
    dark = sum(found.point(lambda p: p < 128).convert("L").histogram()[1:])
    assert dark > 0.05 * found.width * found.height, "the box holds ink"


def test_lines_stay_in_order_on_a_skewed_page(reading):
    scan = format_files.as_pdf(format_files.scan(PDF, skew=1.0))
    (document,) = reading.parse(Path("scan.pdf"), scan)
    firsts = ["Harbour", "Every", "Boats", "Anchors"]
    places = [document.text.find(word) for word in firsts]
    assert places == sorted(places)
    assert document.text.count("\n") <= 2 * len(LINES)


def test_pictures_are_pages(reading):
    buffer = io.BytesIO()
    frames = [
        format_files.scan(PDF),
        format_files.scan(format_files.page_pdf(["Two."])),
    ]
    frames[0].save(buffer, "TIFF", save_all=True, append_images=frames[1:])
    (document,) = reading.parse(Path("pages.tiff"), buffer.getvalue())
    assert len(document.pages) == 2
    assert document.blocks[-1].page == 2


def test_only_pages_that_need_it_are_recognised(reading):
    both = pypdfium2.PdfDocument(PDF)
    both.import_pages(
        pypdfium2.PdfDocument(format_files.as_pdf(format_files.scan(PDF)))
    )
    (document,) = reading.parse(Path("both.pdf"), format_files.saved(both))
    assert document.warnings[0].startswith("page 2 was read by text recognition")
    sure = {block.page: block.confidence for block in document.blocks}
    assert sure[1] is None
    assert sure[2] > 0.6


def test_without_language_files_the_cure_is_named(monkeypatch):
    monkeypatch.setattr(recognition, "_language_packages", lambda: iter(()))
    found = recognition.languages.__wrapped__()  # what is cached stays cached
    assert found is None
    monkeypatch.setattr(recognition, "languages", lambda: found)
    scan = format_files.as_pdf(format_files.scan(PDF))
    with pytest.raises(LoadError, match="no text") as caught:
        parse(Path("scan.pdf"), scan, Limits())
    assert "uv sync --inexact --extra ocr" in caught.value.hint
    with pytest.raises(LoadError, match="only text recognition can read") as caught:
        parse(
            Path("scan.png"), format_files.saved_png(Image.new("L", (9, 9))), Limits()
        )
    assert "uv sync --inexact --extra ocr" in caught.value.hint


def test_pages_left_for_want_of_time_are_named():
    blank = Image.new("L", (300, 220), 255)
    pdf = pypdfium2.PdfDocument(format_files.as_pdf(blank))
    for _ in range(5):
        pdf.import_pages(pdf, [0])
    found = recognition.recognise(format_files.saved(pdf), range(1, 7), seconds=0)
    assert sorted(found.pages) == [1, 2, 3, 4]
    late = "pages 5-6 were not read: time limit reached; raise ingest.parse_timeout"
    assert found.warnings == (late,)


@pytest.mark.parametrize(
    ("size", "reason"), [((9000, 9000), "million points"), ((50, 40), "no text")]
)
def test_pictures_that_are_refused(size, reason, reading):
    data = format_files.saved_png(Image.new("1", size))
    with pytest.raises(LoadError, match=reason):
        reading.parse(Path("a.png"), data)
