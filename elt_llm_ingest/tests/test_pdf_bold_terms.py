"""Bold words at the start of a paragraph are no heading; a title may have two lines."""

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.document import BlockKind, ParsedDocument
from pdf_pages import canvas_of, parsed

TERMS = [
    ("Mooring", " means the right to lie at a buoy of the society for one summer."),
    ("Berth holder", " means a member, or the heirs of one, who pays for a berth and"),
    ("Laid up", " means that a boat has been ashore for more than ninety days."),
]
SECOND = [
    "Buoys of other owners are not meant.",
    "lives within ten miles of the quay. A tenant is no berth holder.",
    "A single launch ends the period.",
]


def write(canvas: Canvas, y: float, *parts: tuple[str, str]) -> None:
    """A line of one text object whose parts are in different faces."""
    line = canvas.beginText(72, y)
    for face, text in parts:
        line.setFont(face, 10)
        line.textOut(text)
    canvas.drawText(line)


def glossary(path: Path, step: float = 13) -> ParsedDocument:
    canvas = canvas_of(path)
    canvas.setFont("Helvetica-Bold", 15)
    canvas.drawString(72, 780, "1 Terms")
    y = 750.0
    for (term, rest), second in zip(TERMS, SECOND, strict=True):
        write(canvas, y, ("Helvetica-Bold", term), ("Helvetica", rest))
        write(canvas, y - step, ("Helvetica", second))
        y -= 2 * step + 10
    canvas.save()
    return parsed(path)


def texts(document: ParsedDocument, kind: BlockKind) -> list[str]:
    return [
        " ".join(document.text[block.start : block.end].split())
        for block in document.blocks
        if block.kind is kind
    ]


def test_a_paragraph_that_begins_with_a_bold_term_is_one_paragraph(tmp_path):
    document = glossary(tmp_path / "terms.pdf")
    assert texts(document, BlockKind.HEADING) == ["1 Terms"]
    wanted = [f"{a}{b} {c}" for (a, b), c in zip(TERMS, SECOND, strict=True)]
    assert texts(document, BlockKind.PARAGRAPH) == wanted
    assert {block.section for block in document.blocks} == {"1 Terms"}


@pytest.mark.parametrize(
    "parts",
    [
        [
            ("", "Mooring"),
            ("-Bold", " fees"),
            ("", " are due at the "),
            ("-Bold", "end"),
        ],
        [("-Bold", "Mooring"), ("", " fees are due before "), ("-Bold", "Easter")],
        [("-Bold", "No boat"), ("", " may lie here")],
    ],
)
def test_a_line_that_is_bold_only_in_part_is_no_heading(tmp_path, parts):
    canvas = canvas_of(tmp_path / "part.pdf")
    write(canvas, 780, *[("Helvetica" + face, text) for face, text in parts])
    write(
        canvas, 730, ("Helvetica", "The fees of a berth are in the list of the board.")
    )
    canvas.save()
    assert not texts(parsed(tmp_path / "part.pdf"), BlockKind.HEADING)


def test_a_line_that_is_bold_as_a_whole_stays_a_heading(tmp_path):
    canvas = canvas_of(tmp_path / "whole.pdf")
    write(canvas, 780, ("Helvetica-Bold", "Fees for"), ("Helvetica-Bold", " moorings"))
    write(
        canvas, 760, ("Helvetica", "The fees of a berth are in the list of the board.")
    )
    canvas.save()
    document = parsed(tmp_path / "whole.pdf")
    assert texts(document, BlockKind.HEADING) == ["Fees for moorings"]


@pytest.mark.parametrize("step", [28, 32])
def test_a_title_over_two_lines_is_one_heading(tmp_path, step):
    canvas = canvas_of(tmp_path / "title.pdf")
    canvas.setFont("Helvetica-Bold", 24)
    canvas.drawString(72, 780, "Rules of the Harbour Society and")
    canvas.drawString(72, 780 - step, "Its Moorings")
    for at in range(3):
        write(
            canvas,
            700 - 26 * at,
            ("Helvetica", "The board lets the berths of the quay."),
        )
        write(canvas, 687 - 26 * at, ("Helvetica", "A berth is let for one summer."))
    canvas.save()
    headings = texts(parsed(tmp_path / "title.pdf"), BlockKind.HEADING)
    assert headings == ["Rules of the Harbour Society and Its Moorings"]


def test_two_headings_in_one_style_are_not_joined(tmp_path):
    canvas = canvas_of(tmp_path / "two.pdf")
    for y, text in [(780, "1 The harbour"), (758, "2 The moorings")]:
        canvas.setFont("Helvetica-Bold", 15)
        canvas.drawString(72, y, text)
    write(canvas, 730, ("Helvetica", "The board lets the berths of the quay."))
    canvas.save()
    headings = texts(parsed(tmp_path / "two.pdf"), BlockKind.HEADING)
    assert headings == ["1 The harbour", "2 The moorings"]
