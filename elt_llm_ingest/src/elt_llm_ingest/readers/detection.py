"""Detect the format of a file by its first bytes, and between text formats by name."""

import codecs
import io
import re
import zipfile
from pathlib import Path

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import BROKEN

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SAMPLE = 65_536  # bytes that suffice to detect an encoding
BEFORE = 2_000  # of them before the first byte that is not UTF-8
# Of sixteen encodings the right one had a confidence of .07 or more for a line of text;
# guesses from a single non-ASCII byte had at most .04, and Windows-1252 is used
# instead.
LEAST = 0.05
READABLE = 0.97  # minimum share of printable characters in a text
# Detectors name the base encoding, but most texts use the larger one.
LARGER = {
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
}
UNKNOWN = (
    "the encoding of the text could not be detected and it was read as Windows-1252; "
    "save it as UTF-8 if letters look wrong"
)
DETECTED = (
    "the text is not UTF-8 and was read as {name}, which was detected; "
    "save it as UTF-8 if letters look wrong"
)
_SPACES = frozenset("\n\r\t\f\v")


def decode_text(path: Path, data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text with Unix newlines, and a warning about a detected encoding.

    Raises LoadError for bytes that are not text.
    """
    encoding = next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
    warnings: tuple[str, ...] = ()
    if encoding == "utf-8" and (unmarked := unmarked_utf16(data)):
        text = data.decode(unmarked)
        warnings = (DETECTED.format(name=f"{unmarked.upper()} without a mark"),)
    elif (japanese := _iso_2022_jp(data)) is not None:
        text, warnings = japanese, (DETECTED.format(name="ISO-2022-JP"),)
    else:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            text, warnings = _detect_text(data, error.start)
    if "\x00" in text:
        raise zero_bytes(path, data)
    return text.replace("\r\n", "\n").replace("\r", "\n"), warnings


def unmarked_utf16(data: bytes) -> str:
    """Return the byte order of UTF-16 text without a mark, or an empty string."""
    sample = data[:SAMPLE]
    if b"\x00" not in sample or len(data) % 2:
        return ""
    shares = {}
    for name in ("utf-16-le", "utf-16-be"):
        try:
            text = sample.decode(name)
        except UnicodeDecodeError as error:
            if error.end < len(sample):  # not merely cut in the middle
                continue
            text = sample.decode(name, errors="ignore")
        if text and _readable(text) >= READABLE:
            # In the wrong order, spaces and line ends become rare characters.
            shares[name] = sum(char.isascii() for char in text)
    best = max(sorted(shares), key=shares.__getitem__, default="")
    return best if shares.get(best) else ""


def zero_bytes(path: Path, data: bytes) -> LoadError:
    """Return the error for text that contains zero bytes."""
    reason = (
        f"its text contains {data.count(0):,} zero bytes, the first at byte "
        f"{data.find(0):,}: it is damaged, binary data, or in an unknown encoding"
    )
    return LoadError(path.name, reason, "export it again as UTF-8 text")


def _iso_2022_jp(data: bytes) -> str | None:
    """Return the text in the Japanese encoding of ASCII bytes; None for any other."""
    if b"\x1b$" not in data or not data.isascii():
        return None
    try:
        return data.decode("iso2022_jp_ext")
    except UnicodeDecodeError:
        return None


def _readable(text: str) -> float:
    return sum(c.isprintable() or c in _SPACES for c in text) / len(text)


def _detect_text(data: bytes, start: int) -> tuple[str, tuple[str, ...]]:
    """Return the text in the most likely encoding; UTF-8 fails at `start`."""
    # Imported here: most files are UTF-8 and need no detector.
    import chardet  # noqa: PLC0415

    first = max(start - BEFORE, 0)
    # Code pages of DOS, Macintoshes and mainframes would only cause false matches.
    era = chardet.EncodingEra.MODERN_WEB | chardet.EncodingEra.LEGACY_ISO
    guess = chardet.detect(data[first : first + SAMPLE], encoding_era=era)
    encoding_name = guess["encoding"] if guess["confidence"] >= LEAST else None
    for name in (encoding_name, "cp1252"):
        try:
            codec = codecs.lookup(name or "cp1252").name
            text = data.decode(LARGER.get(codec, codec))
        except (LookupError, UnicodeDecodeError):
            continue
        if (
            encoding_name
            and name == encoding_name
            and _readable(text[:SAMPLE]) >= READABLE
        ):
            return text, (DETECTED.format(name=encoding_name),)
    return data.decode("cp1252", errors="replace"), (UNKNOWN,)


SUFFIXES = {
    ".archimate": "archimate",
    ".csv": "csv",
    ".docx": "office",
    ".drawio": "leanix_drawio",
    ".eml": "mail",
    ".epub": "epub",
    ".htm": "html",
    ".html": "html",
    ".jpeg": "image",
    ".jpg": "image",
    ".json": "ade",
    ".markdown": "markdown",
    ".md": "markdown",
    ".nxml": "jats",
    ".pdf": "pdf",
    ".png": "image",
    ".pptx": "office",
    ".tif": "image",
    ".tiff": "image",
    ".tsv": "csv",
    ".txt": "text",
    ".xhtml": "html",
    ".xlsm": "spreadsheet",
    ".xlsx": "spreadsheet",
    ".xml": "leanix_drawio",
}
# Formats that share an extension: the content decides between them.
FAMILIES = (
    frozenset({"csv", "markdown", "text"}),
    frozenset({"ade", "docling_json"}),
    frozenset({"archimate", "jats", "leanix_drawio"}),
)
TEXTS = FAMILIES[0]
NAMES = {
    "ade": "a parsed document (ADE)",
    "archimate": "an ArchiMate model",
    "csv": "a table of text",
    "docling_json": "a parsed document (Docling)",
    "epub": "a book (EPUB)",
    "html": "a web page",
    "image": "a picture",
    "jats": "an article (JATS)",
    "leanix_drawio": "a draw.io diagram",
    "mail": "an e-mail",
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
    (b"GIF8", "a picture in a format that text recognition does not support",
     "save it as PNG or PDF"),
    (b"\x1f\x8b", "an archive", "unpack it and ingest the files in it"),
    (b"7z\xbc\xaf", "an archive", "unpack it and ingest the files in it"),
    (b"Rar!", "an archive", "unpack it and ingest the files in it"),
    (b"SQLite format 3", "a database", "export what you need as CSV"),
)  # fmt: skip
LOOSE_PICTURES = (".jpeg", ".jpg", ".png")
LARGEST_JSON = 200_000_000  # bytes; a larger file is not checked for JSON
PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
# An article by its root element, after declarations only.
JATS = re.compile(
    rb"\A\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*>\s*)*"
    rb"<(?:article\s[^>]*(?:article-type|dtd-version|xmlns:xlink|xmlns:mml)"
    rb"|pmc-articleset"
    # Without those attributes by the first element in it, which no HTML has there.
    rb"|article(?:\s[^>]*)?>\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*"
    rb"<(?:processing-meta|front|body>\s*<sec)\b)",
    re.DOTALL,
)
ADE = re.compile(rb'"chunks"\s*:\s*\[')
DOCLING = re.compile(
    rb'"schema_name"\s*:\s*"(?:DoclingDocument|docling_core\.transforms\.chunker)'
)
HEADER = re.compile(
    rb"^(?:from|to|cc|bcc|subject|date|message-id|mime-version|return-path|received|"
    rb"reply-to|sender|delivered-to|content-type|x-[a-z-]+|dkim-signature|"
    rb"arc-[a-z-]+|in-reply-to|references):",
    re.IGNORECASE,
)
FIELD = re.compile(rb"^[!-9;-~]+:")
HTML = re.compile(rb"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
CONTROLS = frozenset((*range(9), *range(14, 27)))  # not in any text
ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
ENTITIES = "its XML declares a document type or entities, which can hide other files"
DRAWIO = re.compile(rb"<(?:mxfile|mxGraphModel)[\s>]")
# The Open Exchange format by its namespace, Archi's own files by theirs.
ARCHIMATE = re.compile(
    rb"http://www\.opengroup\.org/xsd/archimate|http://www\.archimatetool\.com/archimate"
)
READ = (
    "PDF, Word, PowerPoint, Excel, HTML, EPUB, e-mail, Markdown, text, CSV, JATS, "
    "draw.io, ArchiMate, ADE and Docling JSON files and pictures of pages are read"
)


def sniff(path: Path, data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the loader's name, and a warning if the file name suggests another one.

    Raises LoadError for an unsupported file.
    """
    content_format = _by_content(path, data)
    suffix_format = SUFFIXES.get(path.suffix.lower())
    if suffix_format in (None, content_format) or any(
        {suffix_format, content_format} <= family for family in FAMILIES
    ):
        return content_format, ()
    warning = (
        f"the file is named {path.suffix} but contains {NAMES[content_format]}; "
        "it was read as such"
    )
    return content_format, (warning,)


def is_document(path: Path, asked: str = "") -> bool:
    """Return whether a file found in a folder is to be read.

    Pictures mostly belong to a page, and most JSON is data: pictures are read if their
    extension is `asked` for, JSON if it is a parsed document.
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        data = path.read_bytes() if path.stat().st_size < LARGEST_JSON else b""
        return bool(ADE.search(data) or DOCLING.search(data))
    if suffix in LOOSE_PICTURES:
        return suffix == asked.lower()
    return suffix in SUFFIXES


def _by_content(path: Path, data: bytes) -> str:
    head = data[:4096]
    if b"%PDF-" in data[:1024] and not _is_mail(path, head):
        return "pdf"
    if head.startswith(b"PK"):
        return _archive(path, data)
    if head.startswith(PICTURES):
        return "image"
    for magic, what, cure in REFUSED:
        if head.startswith(magic):
            raise LoadError(path.name, f"it is {what}, which is not supported", cure)
    plain = _narrow(head)
    markup = _markup(plain)
    if markup == "!":
        raise LoadError(path.name, ENTITIES, "export it again without them")
    return markup or _plain_kind(path, data, plain)


def _markup(plain: bytes) -> str:
    """Return the kind of XML or HTML, or empty; "!" if it declares entities."""
    if plain.lstrip()[:1] == b"<" and ENTITY.search(plain):
        return "!"
    if JATS.match(plain):
        return "jats"
    if plain.lstrip()[:1] == b"<" and ARCHIMATE.search(plain):
        return "archimate"
    if DRAWIO.search(plain):
        return "leanix_drawio"
    return "html" if HTML.search(plain) and not _has_headers(plain) else ""


def _plain_kind(path: Path, data: bytes, plain: bytes) -> str:
    if _is_mail(path, plain):
        return "mail"
    if plain.lstrip()[:1] in (b"{", b"["):
        if DOCLING.search(data):
            return "docling_json"
        if ADE.search(data):
            return "ade"
    return _text(path, data, plain)


def _is_mail(path: Path, plain: bytes) -> bool:
    if path.suffix.lower() == ".eml":
        return bool(FIELD.match(plain))
    return _has_headers(plain)


def _has_headers(plain: bytes) -> bool:
    """Return whether it starts like a message: known headers only."""
    block = re.split(rb"\r?\n\r?\n", plain, maxsplit=1)[0]
    lines = [line for line in block.splitlines() if line[:1] not in (b" ", b"\t")]
    known = {line.partition(b":")[0].lower() for line in lines if HEADER.match(line)}
    complete = len(known) > 2 or {b"from", b"mime-version"} <= known  # noqa: PLR2004
    return complete and all(FIELD.match(line) for line in lines[:-1])


def _archive(path: Path, data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except BROKEN as error:
        raise LoadError(
            path.name, "the file is damaged or incomplete", "save or download it again"
        ) from error
    if "META-INF/container.xml" in names:
        return "epub"
    if "xl/workbook.xml" in names:
        return "spreadsheet"
    if names & {"word/document.xml", "ppt/presentation.xml"}:
        return "office"
    if "model.xml" in names and path.suffix.lower() == ".archimate":
        return "archimate"
    raise LoadError(
        path.name,
        "it is an archive, which is not supported",
        "unpack it and ingest the files in it",
    )


def _text(path: Path, data: bytes, plain: bytes) -> str:
    suffix = path.suffix.lower()
    marked = any(data.startswith(mark) for mark, _ in MARKS)
    odd = sum(1 for byte in data[:8192] if byte in CONTROLS)
    if not marked and odd > 0.01 * len(data[:8192]) and not unmarked_utf16(data):
        zeros = data[:8192].count(0)
        if zeros and odd - zeros <= 0.01 * len(data[:8192]):
            raise zero_bytes(path, data)
        raise LoadError(path.name, "its format is not supported", READ)
    if suffix == ".pdf":
        raise LoadError(
            path.name,
            "it is named .pdf but is not a PDF",
            "download it again, or rename it to match its content",
        )
    if plain.lstrip().startswith(b"<?xml") or suffix in (".drawio", ".xml"):
        raise LoadError(
            path.name,
            "it is XML of an unsupported format",
            "export it as draw.io, ArchiMate, JATS, HTML or text",
        )
    if suffix == ".json":
        raise LoadError(
            path.name,
            "it is JSON of an unsupported format",
            "supported are ADE and Docling JSON; export others as text, CSV or HTML",
        )
    if suffix in (".html", ".htm", ".xhtml"):
        return "html"
    suffix_format = SUFFIXES.get(suffix, "text")
    return suffix_format if suffix_format in TEXTS else "text"


def _narrow(head: bytes) -> bytes:
    """Return the first bytes of UTF-16 or UTF-8 text as ASCII."""
    return head.replace(b"\x00", b"").removeprefix(b"\xef\xbb\xbf")
