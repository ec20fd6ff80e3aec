"""Pictures without a caption are figures with a box; backgrounds and logos are none."""

from pathlib import Path

import numpy
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from chunk_documents import count
from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.provenance import read
from elt_llm_ingest.chunkers.sentence import SentenceChunker
from elt_llm_ingest.readers.text_builder import TextBuilder
from elt_llm_ingest.sandbox.sanitize import clean_document
from pdf_pages import WORDS, canvas_of, parsed, prose

WIDTH, HEIGHT = A4


def photo(seed: int = 1) -> ImageReader:
    noise = numpy.random.default_rng(seed).integers(0, 255, (20, 20, 3), "uint8")
    return ImageReader(Image.fromarray(noise))


def figures(document: ParsedDocument) -> list[Block]:
    return [b for b in document.blocks if b.kind is BlockKind.FIGURE]


def text(canvas: Canvas, top: float) -> None:
    prose(canvas, top, [WORDS, WORDS])


def test_a_picture_stands_between_its_neighbours_and_is_no_chunk(tmp_path):
    canvas = canvas_of(tmp_path / "a.pdf")
    text(canvas, 780)
    canvas.drawImage(photo(), 100, 500, 200, 200)
    text(canvas, 450)
    canvas.save()
    document = clean_document(parsed(tmp_path / "a.pdf"))
    kinds = [block.kind.value for block in document.blocks]
    assert kinds == ["paragraph", "figure", "paragraph"]
    (figure,) = figures(document)
    assert document.text[figure.start : figure.end] == ""
    assert figure.attributes == {"figure": "picture"}
    (box,) = figure.boxes
    expected = (100 / WIDTH, 1 - 700 / HEIGHT, 300 / WIDTH, 1 - 500 / HEIGHT)
    sides = (box.left, box.top, box.right, box.bottom)
    assert all(abs(a - b) < 0.005 for a, b in zip(sides, expected, strict=True))
    chunks = SentenceChunker(count=count, chunk_size=200).chunk(document)
    assert len(chunks) == 1, "the prose around it stays together"


def test_tiles_are_one_picture_and_small_ones_none(tmp_path):
    canvas = canvas_of(tmp_path / "a.pdf")
    text(canvas, 780)
    canvas.drawImage(photo(1), 100, 600, 200, 100)
    canvas.drawImage(photo(2), 100, 500, 200, 100)
    canvas.drawImage(photo(3), 400, 600, 60, 60)
    canvas.save()
    (figure,) = figures(parsed(tmp_path / "a.pdf"))
    assert abs(figure.boxes[0].bottom - (1 - 500 / HEIGHT)) < 0.005


def test_a_caption_takes_its_picture(tmp_path):
    canvas = canvas_of(tmp_path / "a.pdf")
    canvas.drawImage(photo(), 100, 500, 200, 200)
    canvas.drawString(100, 485, "Figure 1. The harbour at low tide")
    text(canvas, 400)
    canvas.save()
    document = parsed(tmp_path / "a.pdf")
    (figure,) = figures(document)
    assert document.text[figure.start : figure.end].startswith("Figure 1.")


def several(path: Path, *places: tuple[float, float, float, float]) -> ParsedDocument:
    """Two pages with text and the same pictures."""
    canvas = canvas_of(path)
    for _ in range(2):
        for index, place in enumerate(places):
            canvas.drawImage(photo(index), *place)
        canvas.setFont("Helvetica", 10)
        text(canvas, 300)
        canvas.showPage()
    canvas.save()
    return parsed(path)


def test_logos_and_backgrounds_are_no_figures(tmp_path):
    logo = (100, 600, 200, 150)
    whole = (0, 0, WIDTH, HEIGHT)
    strips = [(0, 100 * n, WIDTH, 100 - n) for n in range(0, 8, 2)]
    assert figures(several(tmp_path / "logo.pdf", logo)) == []
    assert figures(several(tmp_path / "whole.pdf", whole)) == []
    canvas = canvas_of(tmp_path / "strips.pdf")
    for index, strip in enumerate(strips):
        canvas.drawImage(photo(index), *strip)
    text(canvas, 180)
    canvas.save()
    assert figures(parsed(tmp_path / "strips.pdf")) == []


def test_a_picture_stands_before_rows_below_it_that_begin_with_an_empty_cell(tmp_path):
    canvas = canvas_of(tmp_path / "a.pdf")
    text(canvas, 780)
    canvas.drawImage(photo(), 100, 500, 200, 200)
    canvas.grid([100, 200, 300, 400], [300, 320, 340, 360])
    for row, words in enumerate(
        [("", "North", "South"), ("A", "1", "2"), ("", "3", "4")]
    ):
        for column, word in enumerate(words):
            canvas.drawString(105 + 100 * column, 346 - 20 * row, word)
    canvas.save()
    kinds = [block.kind.value for block in parsed(tmp_path / "a.pdf").blocks]
    assert kinds[-4:] == ["figure", "table_row", "table_row", "table_row"]


def test_a_letterhead_is_no_figure(tmp_path):
    canvas = canvas_of(tmp_path / "a.pdf")
    canvas.drawImage(photo(), 60, HEIGHT - 90, 470, 70)
    text(canvas, 700)
    canvas.save()
    assert figures(parsed(tmp_path / "a.pdf")) == []


def test_what_a_model_says_of_a_picture_is_marked_on_its_chunk():
    builder = TextBuilder()
    builder.add(BlockKind.FIGURE, "a boat at sea", attributes={"generated": "true"})
    builder.add(BlockKind.FIGURE, "Figure 1. The harbour")
    document = ParsedDocument(
        title="", text=builder.text, blocks=builder.blocks, parser=""
    )
    told, said = SentenceChunker(count=count, chunk_size=200).chunk(document)
    assert (told.metadata["kind"], read(told).generated) == ("figure", True)
    assert read(said).generated is None
    assert "generated" not in said.metadata
