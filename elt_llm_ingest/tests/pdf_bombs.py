"""Small PDFs that ask for endless work or memory, one maker for each kind."""

import zlib
from collections.abc import Callable, Sequence

from raw_pdf import CATALOG, PAGES, TIMES, file_of, page_of, stream

FLATE = b"/Filter /FlateDecode"
TWICE = b"/Filter [/FlateDecode /FlateDecode]"
THRICE = b"/Filter [/FlateDecode /FlateDecode /FlateDecode]"
FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] "
LINE = b"BT /F1 10 Tf 72 700 Td (A berth costs 600 pounds a year.) Tj ET\n"
FONT = {b"F1": TIMES}
PART = 65_536  # units that are packed together
PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
    b"/Resources << /Font << /F1 5 0 R >> >> >>"
)


def packed(unit: bytes, times: int, layers: int = 1) -> bytes:
    """The unit so many times, deflated again and again; never held as a whole.

    A flush makes the parts alike, so that only the first two are packed. The checksum
    is that of these two; PDF readers don't look at it.
    """
    many = unit * PART
    packer = zlib.compressobj(9)
    first, part = (
        packer.compress(many) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )
    data = first + part * (times // PART - 1) + packer.flush()
    for _ in range(layers - 1):
        data = zlib.compress(data, 9)
    return data


def self_calling_form() -> bytes:
    own = FORM + b"/Resources << /XObject << /X 6 0 R >> >>"
    return page_of(
        LINE + b"/X Do",
        FONT,
        stream(b"/X Do /X Do", own),
        resources=b"/XObject << /X 6 0 R >>",
    )


def nested_forms(levels: int = 12, calls: int = 10) -> bytes:
    """Each form draws the next ten times over."""
    forms = [
        stream(
            b"/X Do " * calls,
            FORM + b"/Resources << /XObject << /X %d 0 R >> >>" % (7 + level),
        )
        for level in range(levels)
    ]
    last = stream(b"0 0 1 1 re f ", FORM)
    return page_of(
        LINE + b"/X Do", FONT, *forms, last, resources=b"/XObject << /X 6 0 R >>"
    )


def content_bomb(layers: int, entries: bytes, times: int) -> bytes:
    unit = b"0 0 m 9 9 l S \n"
    return with_content(stream(packed(unit, times, layers), entries))


def with_content(content: bytes) -> bytes:
    return file_of([CATALOG, PAGES, PAGE, content, TIMES])


def one_flate() -> bytes:
    return content_bomb(1, FLATE, 40_000_000)


def two_flates() -> bytes:
    return content_bomb(2, TWICE, 40_000_000)


def three_flates() -> bytes:
    return content_bomb(3, THRICE, 40_000_000)


def blanks_only() -> bytes:
    return with_content(stream(packed(b" " * 99, 10_000_000, 2), TWICE))


def words_only() -> bytes:
    unit = b"BT /F1 9 Tf 72 700 Td (A berth costs 600.) Tj ET\n"
    return with_content(stream(packed(unit, 4_000_000, 2), TWICE))


def giant_page() -> bytes:
    return page_of(LINE, FONT, box=b"0 0 2000000 2000000")


def endless_page() -> bytes:
    return page_of(LINE, FONT, box=b"0 0 1e30 1e30")


def huge_image() -> bytes:
    picture = stream(
        packed(bytes(99), 10_000_000, 2),
        b"/Type /XObject /Subtype /Image /Width 100000 /Height 100000 "
        b"/ColorSpace /DeviceRGB /BitsPerComponent 8 " + TWICE,
    )
    content = b"q 595 0 0 842 0 0 cm /I Do Q " + LINE.replace(b"BT", b"BT 3 Tr")
    return page_of(content, FONT, picture, resources=b"/XObject << /I 6 0 R >>")


def huge_lone_image() -> bytes:
    picture = stream(
        packed(bytes(99), 10_000_000, 2),
        b"/Type /XObject /Subtype /Image /Width 60000 /Height 60000 "
        b"/ColorSpace /DeviceGray /BitsPerComponent 8 " + TWICE,
    )
    content = b"q 595 0 0 842 0 0 cm /I Do Q "
    return page_of(content, FONT, picture, resources=b"/XObject << /I 6 0 R >>")


def empty_objects(count: int = 1_000_000) -> bytes:
    body = [CATALOG, PAGES, PAGE, stream(LINE), TIMES]
    return file_of([*body, *([b"<<>>"] * count)])


def deep_page_tree(depth: int = 20_000) -> bytes:
    """Every node of the tree has one kid."""
    nodes = [
        b"<< /Type /Pages /Kids [%d 0 R] /Count 1 /Parent %d 0 R >>"
        % (5 + at, max(3 + at, 2))
        for at in range(depth)
    ]
    first = b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>"
    font = b"<< /Font << /F1 3 0 R >> >>"
    page = (
        b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
        b"/Resources %b >>" % (3 + depth, 5 + depth, font)
    )
    return file_of([CATALOG, first, TIMES, *nodes, page, stream(LINE)])


def page_tree_loop() -> bytes:
    pages = b"<< /Type /Pages /Kids [3 0 R 2 0 R 2 0 R] /Count 1000000 >>"
    return file_of([CATALOG, pages, PAGE, stream(LINE), TIMES])


def huge_pattern() -> bytes:
    cell = stream(
        b"0 0 0.001 0.001 re f",
        b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 "
        b"/BBox [0 0 0.01 0.01] /XStep 0.001 /YStep 0.001 /Resources << >>",
    )
    content = b"/Pattern cs /P scn 0 0 595 842 re f 1 1 1 rg " + LINE.replace(
        b"BT", b"BT 3 Tr"
    )
    return page_of(content, FONT, cell, resources=b"/Pattern << /P 6 0 R >>")


def pattern_in_itself() -> bytes:
    own = (
        b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 "
        b"/BBox [0 0 9 9] /XStep 9 /YStep 9 "
        b"/Resources << /Pattern << /P 6 0 R >> >>"
    )
    cell = stream(b"/Pattern cs /P scn 0 0 9 9 re f", own)
    content = b"/Pattern cs /P scn 0 0 595 842 re f 1 1 1 rg " + LINE
    return page_of(content, FONT, cell, resources=b"/Pattern << /P 6 0 R >>")


def packed_objects() -> bytes:
    """The page is in a stream of objects that unpacks to a gigabyte."""
    inner = [
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>",
    ]
    head = b"2 0 3 %d " % (len(inner[0]) + 1)
    unit = (head + b" ".join(inner)).ljust(1024)
    entries = b"/Type /ObjStm /N 2 /First %d " % len(head) + TWICE
    data = stream(packed(unit, 1_000_000, 2), entries)
    return cross_referenced([CATALOG, data], {2: (2, 0), 3: (2, 1)})


def cross_referenced(
    objects: Sequence[bytes], inside: dict[int, tuple[int, int]], extra: int = 0
) -> bytes:
    """A PDF with a stream of references. Its objects are 1, 4, 5 …, that stream last.

    `inside` tells where the others are: which of the objects here, place in it.
    """
    out = bytearray(b"%PDF-1.7\n")
    numbers = [1, *range(4, 3 + len(objects))]
    places = {0: (0, 0, 65535)}
    for number, body in zip(numbers, objects, strict=True):
        places[number] = (1, len(out), 0)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    for number, (at, index) in inside.items():
        places[number] = (2, numbers[at - 1], index)
    own = numbers[-1] + 1
    places[own] = (1, len(out), 0)
    rows = b"".join(
        b"%c%b%b" % (kind, at.to_bytes(4), more.to_bytes(2))
        for kind, at, more in (places[n] for n in range(own + 1))
    )
    start = len(out)
    data = zlib.compress(rows + bytes(7 * extra), 9)
    size = own + 1 + extra
    entries = b"/Type /XRef /Size %d /W [1 4 2] /Root 1 0 R /Filter /FlateDecode" % size
    out += b"%d 0 obj\n%b\nendobj\nstartxref\n%d\n%%%%EOF\n" % (
        own, stream(data, entries), start,
    )  # fmt: skip
    return bytes(out)


def many_references() -> bytes:
    """The stream of references has ten million empty rows."""
    page = stream(LINE)
    inner = [
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R >>",
    ]
    head = b"2 0 3 %d " % (len(inner[0]) + 1)
    data = head + b" ".join(inner)
    objects = stream(data, b"/Type /ObjStm /N 2 /First %d" % len(head))
    return cross_referenced(
        [CATALOG, objects, page], {2: (2, 0), 3: (2, 1)}, extra=10_000_000
    )


def wide_map() -> bytes:
    """A map of characters with ranges of all codes."""
    ranges = b"<00000000> <FFFFFFFF> <0041>\n" * 100
    cmap = b"begincmap 100 beginbfrange\n" + ranges + b"endbfrange endcmap"
    font = (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H "
        b"/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
        b">>] /ToUnicode 6 0 R >>"
    )
    content = b"BT /F1 10 Tf 72 700 Td <00410042> Tj ET"
    return page_of(content, {b"F1": font}, stream(cmap))


def packed_map() -> bytes:
    font = TIMES.replace(b">>", b"/ToUnicode 6 0 R >>")
    cmap = stream(packed(b"<00> <ff> <0041>\n", 60_000_000, 2), TWICE)
    return page_of(LINE, {b"F1": font}, cmap)


def letter_in_itself() -> bytes:
    """A drawn font whose letter is written in that font."""
    font = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] "
        b"/FontMatrix [.1 0 0 .1 0 0] "
        b"/FirstChar 65 /LastChar 65 /Widths [9] /CharProcs << /A 6 0 R >> "
        b"/Encoding << /Differences [65 /A] >> "
        b"/Resources << /Font << /F1 5 0 R >> >> >>"
    )
    letter = stream(b"9 0 d0 BT /F1 9 Tf (AAAA) Tj ET")
    return page_of(b"BT /F1 9 Tf 72 700 Td (AAAA) Tj ET", {b"F1": font}, letter)


def many_pages(count: int = 15_000) -> bytes:
    """Every page is the same object."""
    kids = b"3 0 R " * count
    pages = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, count)
    content = stream(packed(LINE, 409_600, 2), TWICE)
    return file_of([CATALOG, pages, PAGE, content, TIMES])


def outline_loop() -> bytes:
    catalog = b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>"
    root = b"<< /First 7 0 R /Last 7 0 R >>"
    item = b"<< /Title (A) /First 7 0 R /Next 7 0 R /Dest [3 0 R /Fit] >>"
    return file_of([catalog, PAGES, PAGE, stream(LINE), TIMES, root, item])


BOMBS: dict[str, Callable[[], bytes]] = {
    maker.__name__: maker
    for maker in (
        self_calling_form, nested_forms, one_flate, two_flates, three_flates,
        blanks_only, words_only, giant_page, endless_page, huge_image, huge_lone_image,
        empty_objects, deep_page_tree, page_tree_loop, huge_pattern, pattern_in_itself,
        packed_objects, many_references, wide_map, packed_map, letter_in_itself,
        many_pages, outline_loop,
    )
}  # fmt: skip
