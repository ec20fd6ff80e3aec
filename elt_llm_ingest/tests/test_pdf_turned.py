"""Turned text in the margin is furniture; turned text among the rest stays."""

import pytest
from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.document import BlockKind
from pdf_pages import WORDS, canvas_of, parsed, prose

STAMP = "harbour:2411.00321v1 [sea] 22 Nov 2026"


def stamped(canvas: Canvas, x: float) -> None:
    canvas.saveState()
    canvas.setFont("Times-Roman", 20)
    canvas.translate(x, 250)
    canvas.rotate(90)
    canvas.drawString(0, 0, STAMP)
    canvas.restoreState()


@pytest.mark.parametrize("x", [34, 570])
def test_a_stamp_in_the_margin_is_furniture(tmp_path, x):
    canvas = canvas_of(tmp_path / "a.pdf")
    stamped(canvas, x)
    prose(canvas, 700, [WORDS] * 5)
    canvas.save()
    document = parsed(tmp_path / "a.pdf")
    kinds = {
        block.kind: "".join(document.text[block.start : block.end].split())
        for block in document.blocks
    }
    assert kinds[BlockKind.FURNITURE] == "".join(STAMP.split())
    assert set(kinds) == {BlockKind.FURNITURE, BlockKind.PARAGRAPH}


def test_turned_text_among_the_rest_stays(tmp_path):
    canvas = canvas_of(tmp_path / "a.pdf")
    stamped(canvas, 300)
    prose(canvas, 700, [WORDS] * 5)
    canvas.save()
    document = parsed(tmp_path / "a.pdf")
    assert not any(b.kind is BlockKind.FURNITURE for b in document.blocks)


def test_a_page_that_is_turned_as_a_whole_stays(tmp_path):
    canvas = canvas_of(tmp_path / "a.pdf")
    stamped(canvas, 34)
    canvas.drawString(300, 20, "Upright")
    canvas.save()
    document = parsed(tmp_path / "a.pdf")
    assert not any(b.kind is BlockKind.FURNITURE for b in document.blocks)
