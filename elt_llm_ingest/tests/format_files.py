"""Files of many formats, made through the libraries that people make them with."""

import io
import zipfile
from email.message import EmailMessage

import docx
import numpy
import openpyxl
import pypdfium2
from docx.oxml import parse_xml
from openpyxl.comments import Comment
from PIL import Image, ImageFilter
from reportlab.pdfgen import canvas

from elt_llm_core.document import ParsedDocument

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def zipped(members: dict[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def saved(file) -> bytes:
    buffer = io.BytesIO()
    file.save(buffer)
    return buffer.getvalue()


def texts(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(b.kind.value, document.text[b.start : b.end]) for b in document.blocks]


def cells(document: ParsedDocument) -> list[list[tuple[str, str]]]:
    """Header and text of the cells of every row, header rows left out."""
    return [
        [(c.header, document.text[c.start : c.end]) for c in block.cells]
        for block in document.blocks
        if block.cells and block.attributes.get("row") != "header"
    ]


def check_spans(document: ParsedDocument) -> None:
    """Blocks in order, cells in their blocks, words where their characters are."""
    last = 0
    for block in document.blocks:
        assert last <= block.start <= block.end <= len(document.text)
        last = block.end
        for cell in block.cells:
            assert block.start <= cell.start <= cell.end <= block.end
    for page in document.pages:
        for start, end, *_ in page.words:
            assert document.text[start:end].strip()


def page_pdf(lines: list[str]) -> bytes:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=(420, 300))
    page.setFont("Helvetica", 15)
    for index, line in enumerate(lines):
        page.drawString(40, 250 - 26 * index, line)
    page.save()
    return buffer.getvalue()


def scan(pdf: bytes, angle: int = 0, skew: float = 0.0) -> Image.Image:
    """The first page as a scanner sees it: grey, a little blurred and noisy."""
    image = pypdfium2.PdfDocument(pdf)[0].render(scale=200 / 72).to_pil().convert("L")
    if skew:
        image = image.rotate(skew, fillcolor=255, resample=Image.Resampling.BICUBIC)
    image = image.filter(ImageFilter.GaussianBlur(0.5))
    noise = numpy.random.default_rng(1).normal(0, 8, (image.height, image.width))
    grey = numpy.clip(numpy.asarray(image, dtype=float) + noise, 0, 255)
    return Image.fromarray(grey.astype("uint8")).rotate(-angle, expand=True)


def as_pdf(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PDF", resolution=200, quality=85)
    return buffer.getvalue()


def word_file() -> bytes:
    """Headers, hidden and tracked text, a comment, merged cells and a footnote."""
    file = docx.Document()
    file.sections[0].header.paragraphs[0].text = "Running head"
    file.add_heading("1 Scope", 1)
    file.add_paragraph("Seen ").add_run("unseen").font.hidden = True
    tracked = file.add_paragraph("Kept ")
    change = f'{WORD} w:id="1" w:author="A"><w:r>'
    inserted = f"<w:ins {change}<w:t>added</w:t></w:r></w:ins>"
    deleted = f"<w:del {change}<w:delText>dropped</w:delText></w:r></w:del>"
    for part in (inserted, deleted):
        tracked._p.append(parse_xml(part))
    remark = file.add_paragraph("Remarked.")
    file.add_comment(remark.runs, text="A remark", author="B", initials="B")
    table = file.add_table(3, 3)
    for index, cell in enumerate(table._cells):
        cell.text = f"c{index}"
    for one, other, text in (((0, 1), (0, 2), "across"), ((1, 0), (2, 0), "down")):
        table.cell(*one).merge(table.cell(*other)).text = text
    source = zipfile.ZipFile(io.BytesIO(saved(file)))
    parts = {name: source.read(name) for name in source.namelist()}
    note = b'Remarked.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
    content = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    target = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    edits = (
        ("word/document.xml", b"Remarked.</w:t></w:r>", note),
        ("[Content_Types].xml", b"</Types>",
         f'<Override PartName="/word/footnotes.xml" ContentType="{content}.footnotes'
         '+xml"/></Types>'.encode()),
        ("word/_rels/document.xml.rels", b"</Relationships>",
         f'<Relationship Id="rId99" Type="{target}/footnotes" Target="footnotes.xml"/>'
         "</Relationships>".encode()),
    )  # fmt: skip
    for name, before, after in edits:
        parts[name] = parts[name].replace(before, after)
    parts["word/footnotes.xml"] = (
        f'<w:footnotes {WORD}><w:footnote w:id="2"><w:p><w:r><w:t>Below.</w:t></w:r>'
        "</w:p></w:footnote></w:footnotes>"
    ).encode()
    return zipped(parts)


def workbook_file() -> bytes:
    """A title, merged headers, a hidden row and sheet, a note and a lost formula."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Fees"
    for row in (
        ["Fees of 2026"], ["Item", "Price", None], [None, "Net", "Gross"],
        ["Berth", 10, 12], ["Secret", 1, 2], ["Total", "=B4+B5", None],
    ):  # fmt: skip
        sheet.append(row)
    for area in ("A1:C1", "A2:A3", "B2:C2"):
        sheet.merge_cells(area)
    sheet.row_dimensions[5].hidden = True
    sheet["A4"].comment = Comment("by the week", "me")
    book.create_sheet("Old").append(["x", "y"])
    book["Old"].sheet_state = "hidden"
    return saved(book)


def message() -> EmailMessage:
    letter = EmailMessage()
    letter["Subject"] = "Fées 2026"
    letter["From"] = "Ann <ann@example.org>"
    letter["To"] = "bob@example.org"
    letter["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    letter.set_content("Dear Bob,\n\nthe fee is 20.\n\n- one\n")
    letter.add_alternative("<p>Dear <b>Bob</b></p>", subtype="html")
    return letter


BOOK = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    ),
    "OPS/book.opf": (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Harbour</dc:title>'
        '</metadata><manifest><item id="b" href="two%20b.xhtml"/><item id="a" '
        'href="a.xhtml"/><item id="x" href="../../etc/passwd"/></manifest><spine>'
        '<itemref idref="a"/><itemref idref="b"/><itemref idref="x"/></spine></package>'
    ),
    "OPS/a.xhtml": (
        '<?xml version="1.0"?><!DOCTYPE html><html><body><h1>One</h1><p>First.</p>'
        '<figure><img src="m" alt="a map"/><figcaption>Figure 1. Map.</figcaption>'
        "</figure></body></html>"
    ),
    "OPS/two b.xhtml": "<html><body><h1>Two</h1><p>Second.</p></body></html>",
}


def saved_png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
