"""A formula says in our text what it says on the page, and nothing else."""

import pypdfium2
import pytest

from elt_llm_core.document import ParsedDocument
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.pdf import document as pdf
from raw_pdf import TIMES, page_of

ITALIC = (
    b"<< /Type /Font /Subtype /Type1 /BaseFont /CMMI10 /FirstChar 0 /LastChar 255 "
    b"/Widths [" + b"600 " * 256 + b"] /FontDescriptor << /Type /FontDescriptor "
    b"/FontName /CMMI10 /Flags 4 /FontBBox [-32 -250 1048 750] /ItalicAngle -14 "
    b"/Ascent 694 /Descent -194 /CapHeight 683 /StemV 72 >> >>"
)
LINES = (
    b"BT /F1 10 Tf 72 700 Td (The loss of the network is written as ) Tj "
    b"/F2 10 Tf 152 0 Td (L) Tj /F1 10 Tf 6 0 Td (\\() Tj /F2 10 Tf 4 0 Td (w) Tj "
    b"/F2 7 Tf 6 -2 Td (i) Tj /F1 10 Tf 4 2 Td (\\)) Tj /F2 10 Tf 6 0 Td (x) Tj "
    b"/F2 7 Tf 6 4 Td (n) Tj /F1 10 Tf 9 -4 Td (and every weight is a number.) Tj ET "
    b"BT /F1 10 Tf 72 686 Td (A berth costs $5 or $6, as the table below says.) Tj ET"
)


def read(data: bytes, tmp_path) -> ParsedDocument:
    path = tmp_path / "formula.pdf"
    path.write_bytes(data)
    (document,) = pdf.parse(path, data, Limits())
    return document


@pytest.fixture
def document(tmp_path) -> ParsedDocument:
    return read(page_of(LINES, {b"F1": TIMES, b"F2": ITALIC}), tmp_path)


def letters(text: str) -> list[str]:
    return sorted("".join(text.split()))


@pytest.mark.parametrize("gap", [b"146", b"148", b"152"])
def test_a_formula_is_told_in_its_own_characters(gap, tmp_path):
    data = page_of(
        LINES.replace(b"152 0 Td (L)", gap + b" 0 Td (L)"),
        {b"F1": TIMES, b"F2": ITALIC},
    )
    document = read(data, tmp_path)
    layer = pypdfium2.PdfDocument(data)[0].get_textpage()
    assert letters(document.text) == letters(layer.get_text_range())
    assert document.warnings == ()


def test_a_formula_stands_in_its_line_with_its_boxes(document):
    line = document.text.split("\n")[0]
    assert line.startswith("The loss of the network is written as L")
    assert line.endswith("and every weight is a number.")
    (page,) = document.pages
    words = {document.text[start:end]: box for start, end, *box in page.words}
    (formula,) = [box for text, box in words.items() if text.startswith("L(")]
    left, _, right, _ = (side * 595 for side in formula)
    assert 220 <= left < right <= 265


def test_a_price_is_no_formula(document):
    assert "A berth costs $5 or $6, as the table below says." in document.text
