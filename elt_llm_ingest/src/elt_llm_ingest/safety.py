"""Limits on what is read, checked before any parser sees the file."""

import io
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from elt_llm_core.errors import LoadError
from elt_llm_core.results import Record

MAX_UNZIPPED = 500_000_000
SMALL = 10_000_000  # no bomb, however well it was packed
MAX_RATIO = 200
MAX_MEMBERS = 10_000
ARCHIVES = (".zip", ".docx", ".xlsx", ".pptx", ".jar", ".7z", ".gz", ".rar", ".tar")
DOCTYPE = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
CHUNK = 1 << 20


class Limits(Record):
    """What one file may cost."""

    timeout: float = Field(default=120.0, gt=0, description="seconds of wall clock")
    memory_mb: int = Field(default=4096, ge=256, description="address space")
    max_file_mb: int = Field(default=512, ge=1)
    max_pages: int = Field(default=20_000, ge=1)
    max_cells: int = Field(default=2_000_000, ge=1, description="of a spreadsheet")


def check_size(name: str, size: int, limits: Limits) -> None:
    """Raises LoadError for an empty file and for one above the cap."""
    if size == 0:
        raise LoadError(name, "the file is empty", "export or copy it again")
    if size > limits.max_file_mb * 1_000_000:
        raise LoadError(
            name,
            f"{size / 1e6:.0f} MB is more than the limit of {limits.max_file_mb} MB",
            "split the file or raise ingest.max_file_mb",
        )


def check_zip(name: str, data: bytes) -> zipfile.ZipFile:
    """The opened archive of an Office file.

    Members are counted while they are unpacked, because the sizes in the headers may
    lie. Raises LoadError for bombs, archives in archives, unsafe names, and XML parts
    that declare a document type or entities.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise LoadError(
            name, "the file is damaged or incomplete", "save or download it again"
        ) from error
    if len(members) > MAX_MEMBERS:
        raise _bomb(name, f"it holds {len(members)} members")
    _check_sizes(name, len(data), sum(m.file_size for m in members))
    total = 0
    for member in members:
        _check_member(name, member)
        total += _unpack_checked(name, archive, member)
        _check_sizes(name, len(data), total)
    return archive


def _check_member(name: str, member: zipfile.ZipInfo) -> None:
    path = member.filename
    if path.startswith(("/", "\\")) or ".." in path.replace("\\", "/").split("/"):
        raise LoadError(name, f"it holds a member with an unsafe name: {path[:80]!r}")
    embedded = "/embeddings/" in path
    if path.lower().endswith(ARCHIVES) and not embedded:
        raise _bomb(name, f"it holds another archive, {path[:80]!r}")
    if member.flag_bits & 1:
        raise LoadError(
            name,
            "it is protected by a password",
            "save a copy without the password",
        )


def _unpack_checked(
    name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo
) -> int:
    is_xml = member.filename.lower().endswith((".xml", ".rels", ".vml"))
    read = 0
    try:
        with archive.open(member) as stream:
            while piece := stream.read(CHUNK):
                if is_xml and read == 0:
                    check_no_doctype(name, piece)
                read += len(piece)
                if read > MAX_UNZIPPED:
                    raise _bomb(
                        name, f"{member.filename[:80]!r} is larger than it says"
                    )
    except (zipfile.BadZipFile, OSError, NotImplementedError, EOFError) as error:
        raise LoadError(
            name, "the file is damaged or incomplete", "save or download it again"
        ) from error
    return read


def _check_sizes(name: str, packed: int, unpacked: int) -> None:
    if unpacked > MAX_UNZIPPED:
        raise _bomb(name, f"unpacked it is {unpacked / 1e6:.0f} MB")
    if unpacked > SMALL and unpacked > MAX_RATIO * packed:
        raise _bomb(
            name, f"it unpacks to {unpacked / max(packed, 1):.0f} times its size"
        )


def _bomb(name: str, what: str) -> LoadError:
    return LoadError(
        name,
        f"{what}, which no ordinary document does",
        "if you trust the file, save it again in the program that made it",
    )


def check_no_doctype(name: str, data: bytes) -> None:
    """Raises LoadError for XML that declares a document type or entities."""
    if DOCTYPE.search(data.replace(b"\x00", b"")):
        raise LoadError(
            name,
            "its XML declares a document type or entities, which can hide other files",
            "export it again without them",
        )


TAGS = range(0xE0000, 0xE0080)
ZERO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\ufeff")
BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def hidden_characters(texts: Iterable[str]) -> tuple[str, ...]:
    """One warning for each family of characters that a reader cannot see."""
    counts: Counter[str] = Counter()
    for text in texts:
        if text.isascii():
            continue
        for char in set(text):
            if family := _family(char):
                counts[family] += text.count(char)
    return tuple(
        f"{n} {family} characters are in the text; a reader cannot see them"
        for family, n in sorted(counts.items())
    )


def _family(char: str) -> str:
    if char in ZERO_WIDTH:
        return "zero-width"
    if char in BIDI:
        return "direction-changing"
    if ord(char) in TAGS:
        return "invisible tag"
    if unicodedata.category(char) == "Cc" and char not in "\t\n\r\x0c":
        return "control"
    return ""
