"""Every bad file gets one sentence with the reason and the cure."""

import io
import os
import time
import zipfile
from pathlib import Path

import pypdfium2
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen import canvas

import elt_llm_ingest
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits, check_no_doctype, check_zip
from elt_llm_ingest.readers.detection import is_document, sniff
from elt_llm_ingest.sandbox.client import ReadingProcess

pytestmark = pytest.mark.usefixtures("cold_children")

SELF_REFERENCE = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<</XObject<</X 4 0 R>>>>
/Contents 5 0 R>>endobj
4 0 obj<</Type/XObject/Subtype/Form/BBox[0 0 200 200]/Resources<</XObject<</X 4 0 R>>>>
/Length 11>>stream
/X Do /X Do
endstream endobj
5 0 obj<</Length 5>>stream
/X Do
endstream endobj
trailer<</Root 1 0 R>>
"""


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def encrypted() -> bytes:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, encrypt=StandardEncryption("secret", strength=128))
    page.drawString(72, 700, "hidden")
    page.save()
    return buffer.getvalue()


def scanned() -> bytes:
    pdf = pypdfium2.PdfDocument.new()
    pdf.new_page(200, 200)
    buffer = io.BytesIO()
    pdf.save(buffer)
    return buffer.getvalue()


BAD = {
    "empty.pdf": (b"", "empty"),
    "encrypted.pdf": (encrypted(), "password"),
    "header.pdf": (b"%PDF-1.7\n", "damaged"),
    "text.pdf": (b"this is no PDF at all", "not a PDF"),
    "random.bin": (bytes(range(256)) * 40, "format is not supported"),
    "picture.png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "picture"),
    "picture.gif": (b"GIF89a" + bytes(100), "picture"),
    "other.json": (b'{"name": "package"}', "JSON of an unsupported format"),
    "old.doc": (b"\xd0\xcf\x11\xe0" + bytes(600), "Office"),
    "packed.zip": (zipped({"a.txt": b"x"}), "archive"),
    "blank.txt": (b" \n\n \n", "no text"),
    "scan.pdf": (scanned(), "no text"),
    "cut.docx": (zipped({"word/document.xml": b"<a/>" * 500})[:200], "damaged"),
    "other.xml": (b"<?xml version='1.0'?><catalogue/>", "XML"),
    "truncated.xlsx": (zipped({"xl/workbook.xml": b"<x/>"}), "damaged"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_the_reason_and_the_cure_are_one_sentence(name, reading):
    data, reason = BAD[name]
    with pytest.raises(LoadError, match=reason) as caught:
        reading.parse(Path(name), data)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.hint or "no text" in str(caught.value)


def test_a_truncated_pdf_is_refused(handbook, reading):
    with pytest.raises(LoadError, match="damaged or incomplete"):
        reading.parse(Path("half.pdf"), handbook.read_bytes()[:4000])


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(LoadError, match="no such file"):
        elt_llm_ingest.load(tmp_path / "nothing.pdf")
    with pytest.raises(LoadError, match="directory"):
        elt_llm_ingest.load(tmp_path)


def test_a_wrong_name_is_reported_and_the_content_counts(reading):
    page = b"<html><body><h1>Guide</h1><p>Some words.</p></body></html>"
    (document,) = reading.parse(Path("guide.pdf"), page)
    assert "Some words." in document.text
    assert document.warnings[0].startswith(
        "the file is named .pdf but contains a web page"
    )


def test_a_hanging_file_is_killed_and_the_next_one_read():
    with ReadingProcess(Limits(timeout=2)) as process:
        process.parse(Path("warm.txt"), b"warm up")
        began = time.monotonic()
        with pytest.raises(LoadError, match=r"longer than 2 s|far more than a PDF"):
            process.parse(Path("loop.pdf"), SELF_REFERENCE)
        assert time.monotonic() - began < 10
        (document,) = process.parse(Path("next.txt"), b"Still here.")
        assert document.text == "Still here."


def test_a_file_above_the_size_limit():
    process = ReadingProcess(Limits(max_file_mb=1))
    with process, pytest.raises(LoadError, match="more than the limit of 1 MB"):
        process.parse(Path("big.txt"), b"x" * 1_100_000)


def test_too_many_pages(handbook):
    process = ReadingProcess(Limits(max_pages=2))
    with process, pytest.raises(LoadError, match="more than the limit of 2"):
        process.parse(handbook, handbook.read_bytes())


def test_the_reading_process_has_no_network_and_writes_nothing(tmp_path):
    import subprocess
    import sys

    target = tmp_path / "written"
    script = (
        "import socket, elt_llm_ingest.sandbox.worker as w; w._confine()\n"
        "try: socket.create_connection(('127.0.0.1', 9))\n"
        "except PermissionError as e: print('no network')\n"
        "try:\n"
        f"    with open({str(target)!r}, 'w') as f: f.write('x')\n"
        "except OSError: print('no file')\n"
        "try: import subprocess; subprocess.Popen(['true'])\n"
        "except PermissionError: print('no process')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:3] == ["no network", "no file", "no process"]
    assert not target.exists() or target.read_bytes() == b""


def test_a_zip_bomb_is_refused_quickly():
    bomb = zipped({"word/document.xml": bytes(300_000_000)})
    began = time.monotonic()
    with pytest.raises(LoadError, match="times its size"):
        check_zip("bomb.docx", bomb)
    assert time.monotonic() - began < 0.5


@pytest.mark.parametrize("name", ["../x.xml", "/etc/x.xml", "a/../../x.xml"])
def test_unsafe_member_names(name):
    with pytest.raises(LoadError, match="unsafe name"):
        check_zip("x.docx", zipped({name: b"<a/>"}))


def test_an_archive_in_an_archive():
    with pytest.raises(LoadError, match="another archive"):
        check_zip("x.docx", zipped({"inner.zip": b"PK"}))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_in_an_office_file(encoding):
    part = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'.encode(encoding)
    with pytest.raises(LoadError, match="document type"):
        check_zip("x.docx", zipped({"word/document.xml": part}))
    with pytest.raises(LoadError, match="document type"):
        check_no_doctype("x.xml", part)


def test_a_spreadsheet_that_spans_a_billion_cells(reading):
    sheet = (
        b'<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
        b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
    )
    data = zipped({"xl/workbook.xml": b"<x/>", "xl/worksheets/sheet1.xml": sheet})
    with pytest.raises(LoadError, match="span 17,179,869,184 cells"):
        reading.parse(Path("wide.xlsx"), data)


def test_deep_html_is_read(reading):
    (document,) = reading.parse(
        Path("deep.html"), b"<html>" + b"<div>" * 100_000 + b"end"
    )
    assert document.text == "end"


@pytest.mark.parametrize(
    ("name", "data", "loader"),
    [
        ("a.bin", b"junk before\n%PDF-1.4", "pdf"),
        ("a.txt", b"<mxfile><diagram/></mxfile>", "leanix_drawio"),
        ("a.md", b"# Hello", "markdown"),
        ("a.tsv", b"a\tb", "csv"),
        ("a.rst", b"Hello", "text"),
        ("a.html", b"just words", "html"),
        ("a.txt", "word".encode("utf-16"), "text"),
    ],
)
def test_sniffing(name, data, loader):
    assert sniff(Path(name), data)[0] == loader


def test_what_of_a_folder_is_a_document(tmp_path):
    parsed = b'{"chunks": [{"markdown": "x"}]}'
    for name, data in (("a.json", parsed), ("b.json", b"{}"), ("c.PNG", b"x")):
        (tmp_path / name).write_bytes(data)
    names = ("a.json", "b.json", "c.PNG", "d.eml", "e.exe")
    (tmp_path / "d.eml").touch()
    found = [name for name in names if is_document(tmp_path / name)]
    assert found == ["a.json", "d.eml"]
    assert is_document(tmp_path / "c.PNG", asked=".png")


@pytest.mark.parametrize("ending", ["txt", "md", "html", "csv"])
def test_a_file_name_that_is_no_utf_8_makes_a_title_that_is(ending, reading):
    name = os.fsdecode(b"g\xffte." + ending.encode())
    body = b"term,fee\ngate,4\n" if ending == "csv" else b"the gate opens at seven.\n"
    (document,) = reading.parse(Path(name), body)
    assert document.title == "g\N{REPLACEMENT CHARACTER}te"
