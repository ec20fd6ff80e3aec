"""PDFs with drawn and undrawn tables, made for the tests."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.document import Block, ParsedDocument
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf import document as pdf

HEIGHT = A4[1]
TOP, ROW = 700, 18
XS = (80, 180, 260, 340, 420)
PAGES = 12  # of the long PDF
WORDS = "The harbours of the coast were counted in both years by the offices there."


def canvas_of(path: Path, size: float = 10) -> Canvas:
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    canvas.setFont("Helvetica", size)
    return canvas


def parsed(path: Path) -> ParsedDocument:
    (document,) = pdf.parse(path, path.read_bytes(), Limits())
    return document


def rows_of(document: ParsedDocument) -> list[Block]:
    return [block for block in document.blocks if block.cells]


def said(document: ParsedDocument, block: Block) -> list[str]:
    return [document.text[cell.start : cell.end] for cell in block.cells]


def headers(block: Block) -> list[str]:
    return [cell.header for cell in block.cells]


def prose(canvas: Canvas, top: float, lines: Sequence[str]) -> None:
    for index, line in enumerate(lines):
        canvas.drawString(72, top - 13 * index, line)


def ruled_pdf(path: Path) -> Path:
    """Four columns; a header over two of them, a first cell over two rows."""
    canvas = canvas_of(path)
    prose(canvas, 780, [WORDS, WORDS])
    texts = [
        ("", "Boats", "", "Crews"),
        ("Harbour", "2023", "2024", "2024"),
        ("North", "12", "14", "30"),
        ("", "9", "8", "17"),
        ("South", "3", "5", "a line that\nis wrapped"),
    ]
    heights = (ROW, ROW, ROW, ROW, 2 * ROW)
    y = TOP
    canvas.line(XS[0], y, XS[-1], y)
    for index, (row, height) in enumerate(zip(texts, heights, strict=True)):
        for (left, _), text in zip(pairwise(XS), row, strict=True):
            for number, line in enumerate(text.split("\n")):
                canvas.drawString(left + 4, y - 13 - 13 * number, line)
        for at, x in enumerate(XS):
            if not (index == 0 and at == 2):
                canvas.line(x, y, x, y - height)
        y -= height
        canvas.line(XS[1] if index == 2 else XS[0], y, XS[-1], y)
    prose(canvas, y - 40, [WORDS])
    canvas.save()
    return path


def long_pdf(path: Path) -> Path:
    """Pages with a running header; a sentence goes on over every page's end."""
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    for number in range(1, PAGES + 1):
        canvas.setFont("Helvetica", 9)
        canvas.drawString(72, 815, "Handbook of harbours")
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(72, 700, f"{number}. Harbour {number}")
        canvas.setFont("Helvetica", 11)
        canvas.drawString(72, 750, f"which ends on page {number}.")
        for row in range(20):
            said = f"Sentence {row} of page {number} tells of boats and of the sea"
            canvas.drawString(72, 670 - 14 * row, said)
        canvas.showPage()
    canvas.save()
    return path
