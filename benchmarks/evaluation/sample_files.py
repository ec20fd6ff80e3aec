"""Small sound files of several kinds, made here so that nothing need be shipped."""

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping

SENTENCE = "Article {n}. The fee for a berth is {n}0 pounds a week, and no more."
NAMESPACE = "http://schemas.openxmlformats.org"


def pdf() -> bytes:
    """Three pages of text, their streams packed, with a table of references."""
    lines = [SENTENCE.format(n=n) for n in range(1, 61)]
    pages = [lines[at : at + 20] for at in range(0, 60, 20)]
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for index, page in enumerate(pages):
        shown = "".join(f"({line}) Tj 0 -16 Td " for line in page)
        packed = zlib.compress(f"BT /F1 11 Tf 60 760 Td {shown}ET".encode())
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources"
            f"<</Font<</F1 3 0 R>>>>/Contents {5 + 2 * index} 0 R>>".encode()
        )
        head = f"<</Length {len(packed)}/Filter/FlateDecode>>stream\n".encode()
        objects.append(head + packed + b"\nendstream")
    return _numbered(objects)


def _numbered(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size %d/Root 1 0 R>>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)


def docx() -> bytes:
    """Headings, paragraphs, a list and a table."""
    from docx import Document  # noqa: PLC0415 - takes a second

    file = Document()
    for chapter in range(1, 4):
        file.add_heading(f"{chapter} Chapter", 1)
        file.add_paragraph(SENTENCE.format(n=chapter))
        file.add_paragraph("An item.", style="List Number")
    table = file.add_table(3, 3)
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"cell {row} {column}"
    buffer = io.BytesIO()
    file.save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        return _zipped({name: archive.read(name) for name in archive.namelist()})


def xlsx() -> bytes:
    """One sheet of thirty rows."""
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>Berth {n}</t></is></c>'
        f'<c r="B{n}"><v>{n}0</v></c></row>'
        for n in range(1, 31)
    )
    office, package = f"{NAMESPACE}/officeDocument/2006", f"{NAMESPACE}/package/2006"
    types = (
        ("/xl/workbook.xml", "sheet.main"),
        ("/xl/worksheets/sheet1.xml", "worksheet"),
    )
    kinds = "".join(
        f'<Override PartName="{part}" ContentType="application/vnd.openxmlformats-'
        f'officedocument.spreadsheetml.{kind}+xml"/>'
        for part, kind in types
    )
    related = '<Relationship Id="r1" Type="{0}/relationships/{1}" Target="{2}"/>'
    return _zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default '
            f'Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            f'relationships+xml"/>{kinds}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
            + related.format(office, "officeDocument", "xl/workbook.xml")
            + "</Relationships>",
            "xl/workbook.xml": f'<workbook xmlns="{NAMESPACE}/spreadsheetml/2006/main" '
            f'xmlns:r="{office}/relationships"><sheets><sheet name="Fees" sheetId="1" '
            'r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/'
            'relationships">'
            + related.format(office, "worksheet", "worksheets/sheet1.xml")
            + "</Relationships>",
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{NAMESPACE}/spreadsheetml/'
            f'2006/main"><sheetData>{rows}</sheetData></worksheet>',
        }
    )


def _zipped(members: Mapping[str, str | bytes]) -> bytes:
    """A ZIP of them that tells no time, so that equal members are equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
    return buffer.getvalue()


def html() -> bytes:
    """Headings, paragraphs, a list and a table with spans."""
    chapters = "".join(
        f"<h2>{n} Chapter</h2><p>{SENTENCE.format(n=n)}</p><ul><li>An item.</ul>"
        for n in range(1, 6)
    )
    table = "<table><tr><th rowspan=2>A<th colspan=2>B<tr><th>C<th>D<tr><td>1<td>2<td>3"
    return f"<html><body><h1>Guide</h1>{chapters}{table}</table></body></html>".encode()


def jats() -> bytes:
    """An article with sections, a table and references."""
    sections = "".join(
        f"<sec id='s{n}'><title>Part {n}</title><p>{SENTENCE.format(n=n)}</p></sec>"
        for n in range(1, 6)
    )
    return (
        "<article article-type='research-article'><front><article-meta><title-group>"
        "<article-title>Fees</article-title></title-group></article-meta></front>"
        f"<body>{sections}<table-wrap><table><tr><th>A</th><th>B</th></tr><tr><td>1"
        "</td><td>2</td></tr></table></table-wrap></body></article>"
    ).encode()


def drawio() -> bytes:
    """A domain that holds two fact sheets, and an arrow between them."""
    sheet = (
        '<object id="{0}" label="App {0}" type="factSheet" factSheetType="Application" '
        'factSheetId="f{0}"><mxCell vertex="1" parent="{1}"><mxGeometry x="{2}" y="40" '
        'width="{3}" height="{3}" as="geometry"/></mxCell></object>'
    )
    boxes = "".join(
        sheet.format(*values)
        for values in ((2, 1, 0, 400), (3, 2, 10, 80), (4, 2, 200, 80))
    )
    return (
        '<mxfile><diagram name="One"><mxGraphModel><root><mxCell id="0"/>'
        f'<mxCell id="1" parent="0"/>{boxes}<mxCell id="5" edge="1" parent="1" '
        'source="3" target="4"><mxGeometry as="geometry"/></mxCell></root>'
        "</mxGraphModel></diagram></mxfile>"
    ).encode()


MAKERS: dict[str, tuple[Callable[[], bytes], ...]] = {
    ".pdf": (pdf,),
    ".docx": (docx,),
    ".xlsx": (xlsx,),
    ".xml": (jats, drawio),
    ".html": (html,),
}
