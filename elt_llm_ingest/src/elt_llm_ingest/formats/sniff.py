"""What a file is, by its first bytes; its name only decides between kinds of text."""

import io
import re
import zipfile
from pathlib import Path

from elt_llm_core.errors import LoadError
from elt_llm_ingest.formats.decode import MARKS

SUFFIXES = {
    ".csv": "csv",
    ".docx": "office",
    ".drawio": "leanix_drawio",
    ".htm": "html",
    ".html": "html",
    ".markdown": "markdown",
    ".md": "markdown",
    ".pdf": "pdf",
    ".pptx": "office",
    ".tsv": "csv",
    ".txt": "text",
    ".xhtml": "html",
    ".xlsm": "spreadsheet",
    ".xlsx": "spreadsheet",
    ".xml": "leanix_drawio",
}
TEXTS = frozenset({"csv", "markdown", "text"})
NAMES = {
    "csv": "a table of text",
    "html": "a web page",
    "leanix_drawio": "a draw.io diagram",
    "markdown": "Markdown",
    "office": "a Word or PowerPoint file",
    "pdf": "a PDF",
    "spreadsheet": "an Excel workbook",
    "text": "plain text",
}
REFUSED = (
    (b"\xd0\xcf\x11\xe0", "an old or password-protected Office file",
     "save it as .docx, .xlsx or .pptx without a password"),
    (b"{\\rtf", "a rich-text file", "save it as .docx or PDF"),
    (b"\x89PNG", "a picture", "run it through OCR and ingest the PDF"),
    (b"\xff\xd8\xff", "a picture", "run it through OCR and ingest the PDF"),
    (b"GIF8", "a picture", "run it through OCR and ingest the PDF"),
    (b"II*\x00", "a picture", "run it through OCR and ingest the PDF"),
    (b"MM\x00*", "a picture", "run it through OCR and ingest the PDF"),
    (b"\x1f\x8b", "an archive", "unpack it and ingest the files in it"),
    (b"7z\xbc\xaf", "an archive", "unpack it and ingest the files in it"),
    (b"Rar!", "an archive", "unpack it and ingest the files in it"),
    (b"SQLite format 3", "a database", "export what you need as CSV"),
)  # fmt: skip
HTML = re.compile(rb"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
CONTROLS = frozenset((*range(9), *range(14, 27)))  # not in any text
DRAWIO = re.compile(rb"<(?:mxfile|mxGraphModel)[\s>]")
READ = (
    "PDF, Word, PowerPoint, Excel, HTML, Markdown, text, CSV and draw.io files are read"
)


def sniff(path: Path, data: bytes) -> tuple[str, tuple[str, ...]]:
    """The loader's name, and a warning where the file's name says something else.

    Raises LoadError for a file that is nothing we read.
    """
    found = _by_content(path, data)
    said = SUFFIXES.get(path.suffix.lower())
    if said is None or said == found or {said, found} <= TEXTS:
        return found, ()
    warning = (
        f"the file is named {path.suffix} but holds {NAMES[found]}; it was read as that"
    )
    return found, (warning,)


def _by_content(path: Path, data: bytes) -> str:
    head = data[:4096]
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if head.startswith(b"PK"):
        return _archive(path, data)
    for magic, what, cure in REFUSED:
        if head.startswith(magic):
            raise LoadError(path.name, f"it is {what}, which is not read", cure)
    plain = _narrow(head)
    if DRAWIO.search(plain):
        return "leanix_drawio"
    if HTML.search(plain):
        return "html"
    return _text(path, data, plain)


def _archive(path: Path, data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise LoadError(
            path.name, "the file is damaged or incomplete", "save or download it again"
        ) from error
    if "xl/workbook.xml" in names:
        return "spreadsheet"
    if names & {"word/document.xml", "ppt/presentation.xml"}:
        return "office"
    raise LoadError(
        path.name,
        "it is an archive, which is not read",
        "unpack it and ingest the files in it",
    )


def _text(path: Path, data: bytes, plain: bytes) -> str:
    suffix = path.suffix.lower()
    marked = any(data.startswith(mark) for mark, _ in MARKS)
    odd = sum(1 for byte in data[:8192] if byte in CONTROLS)
    if not marked and odd > 0.01 * len(data[:8192]):
        raise LoadError(path.name, "its content is nothing that is read", READ)
    if suffix == ".pdf":
        raise LoadError(
            path.name,
            "it is named .pdf but is no PDF",
            "download it again, or give it the name of what it is",
        )
    if plain.lstrip().startswith(b"<?xml") or suffix in (".drawio", ".xml"):
        raise LoadError(
            path.name,
            "it is XML of a kind that is not read",
            "export it as draw.io, HTML or text",
        )
    if suffix in (".html", ".htm", ".xhtml"):
        return "html"
    said = SUFFIXES.get(suffix, "text")
    return said if said in TEXTS else "text"


def _narrow(head: bytes) -> bytes:
    """The first bytes of UTF-16 or UTF-8 text as if they were ASCII."""
    return head.replace(b"\x00", b"").removeprefix(b"\xef\xbb\xbf")
