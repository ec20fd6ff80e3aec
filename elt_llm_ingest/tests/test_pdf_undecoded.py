"""Letters of fonts without a map are told of; fonts that only lack the map are not."""

import pypdfium2
import pytest

from elt_llm_core.document import ParsedDocument
from elt_llm_ingest.formats import ocr
from elt_llm_ingest.formats.pdf import document as pdf
from elt_llm_ingest.formats.pdf import undecoded as module
from elt_llm_ingest.formats.pdf.undecoded import undecoded
from elt_llm_ingest.safety import Limits
from raw_pdf import TIMES, page_of

SAID = "The harbour master lets every berth by the year, and the fee is 600 pounds."
NUMBERS = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /Berth /Encoding /Identity-H "
    b"/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Berth "
    b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
    b"/FontDescriptor << /Type /FontDescriptor /FontName /Berth /Flags 4 "
    b"/FontBBox [0 0 999 999] /ItalicAngle 0 /Ascent 700 /Descent -200 "
    b"/CapHeight 680 /StemV 80 >> >>] >>"
)


def shifted(shift: int) -> str:
    return "".join(chr(max(ord(c) - shift, 1)) for c in SAID)


def turned(shift: int) -> str:
    """The letters turned in the alphabet; all else stays."""
    small = "abcdefghijklmnopqrstuvwxyz"
    return SAID.lower().translate(str.maketrans(small, small[shift:] + small[:shift]))


def coded(odd_text: str, lines: int = 3) -> bytes:
    """Lines in a plain font, and one in a font without a map that says `odd_text`."""
    codes = "".join(f"{ord(c):04x}" for c in odd_text).encode()
    plain = b"".join(
        b"BT /F1 10 Tf 72 %d Td (%b) Tj ET\n" % (700 - 14 * at, SAID.encode())
        for at in range(lines)
    )
    odd = b"BT /F2 10 Tf 72 500 Td <%b> Tj ET" % codes
    return page_of(plain + odd, {b"F1": TIMES, b"F2": NUMBERS})


def count(data: bytes) -> int:
    layer = pypdfium2.PdfDocument(data)[0].get_textpage()
    return undecoded(layer, layer.get_text_range())


def read(data: bytes, tmp_path) -> ParsedDocument:
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    (document,) = pdf.parse(path, data, Limits())
    return document


def test_letters_without_a_map_are_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(ocr, "languages", lambda: None)
    warnings = read(coded(shifted(29)), tmp_path).warnings
    said = "characters are in a font that does not say which letters they are"
    assert [told.count(said) for told in warnings].count(1) == 1
    assert ocr.CURE in warnings


def test_a_page_with_many_of_them_is_read_by_its_looks(tmp_path, monkeypatch):
    wanted: list[int] = []

    def recognise(_data, numbers, _seconds):
        wanted.extend(numbers)
        return ocr.Recognised()

    monkeypatch.setattr(ocr, "languages", lambda: (tmp_path, ("eng",)))
    monkeypatch.setattr(ocr, "recognise", recognise)
    read(coded(shifted(29)), tmp_path)
    assert wanted == [1]


@pytest.mark.parametrize("shift", [3, 7, 29])
def test_codes_that_no_language_uses_are_noticed(shift):
    assert count(coded(shifted(shift))) > 40


@pytest.mark.parametrize("shift", [3, 7, 20])
def test_letters_that_are_no_language_are_noticed(shift):
    assert count(coded(turned(shift) * 2)) > 80


def test_a_font_whose_codes_are_the_letters_is_no_fault():
    data = coded(SAID)
    layer = pypdfium2.PdfDocument(data)[0].get_textpage()
    assert SAID in layer.get_text_range()
    assert count(data) == 0


def test_few_letters_are_not_judged(monkeypatch):
    monkeypatch.setattr(module, "LETTERS", 1000)
    assert count(coded(turned(3))) == 0
