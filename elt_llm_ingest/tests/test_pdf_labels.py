"""Noise, rule numbers and figures of a PDF are labelled and kept."""

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader

from elt_llm_core.document import Block, BlockKind, Page
from elt_llm_ingest.readers.pdf.blocks import add_rule_numbers
from elt_llm_ingest.readers.pdf.boilerplate import pages_needed, remove_boilerplate
from pdf_pages import canvas_of, parsed, prose

WORDS = "The harbours of the coast were counted in both years by the offices there."


@pytest.mark.parametrize(
    ("pages", "needed"), [(1, 2), (2, 2), (3, 2), (4, 3), (5, 3), (14, 8)]
)
def test_noise_stands_on_more_than_half_of_the_pages(pages, needed):
    assert pages_needed(pages) == needed


def kinds_after_filter(
    said: list[tuple[int, str, BlockKind]], top: float
) -> list[BlockKind]:
    """The kinds after the filter of blocks given as page, text and kind."""
    text = "".join(words for _, words, _ in said)
    blocks, pages, at = [], {}, 0
    for number, words, kind in said:
        blocks.append(Block(kind=kind, start=at, end=at + len(words), page=number))
        pages.setdefault(number, []).append(
            (at, at + len(words), 0.1, top, 0.9, top + 0.02)
        )
        at += len(words)
    made = [Page(number=n, width=100, height=100, words=w) for n, w in pages.items()]
    return [block.kind for block in remove_boilerplate(text, blocks, made)]


TEXT, HEAD, EDGE = BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.FURNITURE


def test_text_on_most_pages_is_noise_and_on_half_of_them_is_not():
    often = [(n, "Confidential", TEXT) for n in (1, 2, 3)]
    half = [(n, "See annex", TEXT) for n in (1, 2)]
    other = [(4, "End", TEXT)]
    kinds = kinds_after_filter([*often, *half, *other], top=0.5)
    assert kinds == [EDGE] * 3 + [TEXT] * 3


def test_a_short_document_keeps_a_sentence_of_its_body_and_loses_a_footer():
    twice = [(1, "All rights reserved", TEXT), (2, "All rights reserved", TEXT)]
    body = [(2, "The berths are let by the year", TEXT)]
    assert kinds_after_filter([*twice, *body], top=0.5) == [TEXT, TEXT, TEXT]
    assert kinds_after_filter([*twice, *body], top=0.95) == [EDGE, EDGE, TEXT]


def test_text_without_a_body_beside_it_is_no_noise():
    every = [(n, "All rights reserved", TEXT) for n in (1, 2, 3)]
    assert kinds_after_filter(every, top=0.95) == [TEXT] * 3
    edge = [(n, "Harbour office", EDGE) for n in (1, 2, 3)]
    assert kinds_after_filter([*every, *edge], top=0.95) == [TEXT] * 3 + [EDGE] * 3


def test_a_document_of_one_line_a_page_keeps_it_and_no_page_numbers(tmp_path):
    canvas = canvas_of(tmp_path / "gate.pdf")
    for number in (1, 2, 3):
        canvas.drawString(40, 800, "The tide gate opens at seven every morning.")
        canvas.drawString(300, 20, str(number))
        canvas.showPage()
    canvas.save()
    document = parsed(tmp_path / "gate.pdf")
    kinds = {block.page: [] for block in document.blocks}
    for block in document.blocks:
        kinds[block.page].append(block.kind)
    assert kinds == {page: [EDGE, TEXT] for page in (1, 2, 3)}


def test_a_text_that_is_furniture_elsewhere_is_noise_but_no_heading():
    said = [(1, "Harbours", EDGE), (2, "Harbours", TEXT), (3, "Harbours", HEAD)]
    said += [(n, f"Text {n}", TEXT) for n in range(4, 10)]
    assert kinds_after_filter(said, top=0.5)[:3] == [EDGE, EDGE, HEAD]


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        (
            ["3.2.1 The master keeps the log.", "(a) every day; and"],
            ["3.2.1", "3.2.1(a)"],
        ),
        (["C12(a) Boats carry lights."], ["C12(a)"]),
        (["Art. 5 Fees are due in May."], ["Art. 5"]),
        (["2.5 mg a day is enough.", "(a) alone"], ["", ""]),
    ],
)
def test_rule_numbers_are_addresses(lines, numbers):
    text, blocks = "", []
    for line in lines:
        blocks.append(Block(kind=TEXT, start=len(text), end=len(text) + len(line)))
        text += line
    assert [block.number for block in add_rule_numbers(text, blocks)] == numbers


def test_a_figure_is_its_caption_with_the_box_of_the_picture(tmp_path):
    canvas = canvas_of(tmp_path / "figure.pdf")
    prose(canvas, 780, [WORDS, WORDS])
    canvas.drawImage(
        ImageReader(Image.new("RGB", (40, 20), "navy")), 100, 500, 300, 150
    )
    canvas.drawString(100, 480, "Figure 1: The coast from the north")
    prose(canvas, 440, [WORDS])
    canvas.save()
    document = parsed(tmp_path / "figure.pdf")
    (figure,) = [b for b in document.blocks if b.kind is BlockKind.FIGURE]
    assert document.text[figure.start : figure.end].startswith("Figure 1: The coast")
    assert figure.attributes == {"figure": "picture"}
    (box,) = figure.boxes
    page = document.pages[0]
    assert box.left * page.width == pytest.approx(100, abs=2)
    assert box.bottom * page.height == pytest.approx(page.height - 500, abs=2)
