"""PDFs written object by object, for what no library would write."""

from collections.abc import Sequence

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"


def file_of(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalogue."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start, size = len(out), len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        size, start,
    )  # fmt: skip
    return bytes(out)


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """A stream with the entries of its dictionary."""
    head = b"<< /Length %d %b >>" % (len(data), entries)
    return head + b"\nstream\n" + data + b"\nendstream"


def page_of(
    content: bytes,
    fonts: dict[bytes, bytes] | None = None,
    *others: bytes,
    box: bytes = b"0 0 595 842",
    resources: bytes = b"",
) -> bytes:
    """A PDF of one page. Objects 3 and 4 are the page and its content.

    `fonts` are by their names; `others` are the objects after them.
    """
    fonts = fonts or {}
    names = b" ".join(b"/%b %d 0 R" % (n, at) for at, n in enumerate(fonts, start=5))
    return file_of(
        [
            CATALOG,
            PAGES,
            b"<< /Type /Page /Parent 2 0 R /MediaBox [%b] /Contents 4 0 R "
            b"/Resources << /Font << %b >> %b >> >>" % (box, names, resources),
            stream(content),
            *fonts.values(),
            *others,
        ]
    )


TIMES = (
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman "
    b"/Encoding /WinAnsiEncoding >>"
)
