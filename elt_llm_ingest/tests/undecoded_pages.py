"""Pages with a font that does not say which letters it draws."""

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


def coded(odd_text: str, lines: int = 3) -> bytes:
    """Lines in a plain font, and one in a font without a map that says `odd_text`."""
    codes = "".join(f"{ord(c):04x}" for c in odd_text).encode()
    plain = b"".join(
        b"BT /F1 10 Tf 72 %d Td (%b) Tj ET\n" % (700 - 14 * at, SAID.encode())
        for at in range(lines)
    )
    odd = b"BT /F2 10 Tf 72 500 Td <%b> Tj ET" % codes
    return page_of(plain + odd, {b"F1": TIMES, b"F2": NUMBERS})
