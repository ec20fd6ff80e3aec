"""Limits on input files, checked before a parser sees the file."""

import io
import lzma
import re
import struct
import zipfile
import zlib

from pydantic import Field

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import LoadError
from elt_llm_core.records import Record

MAX_UNZIPPED = 500_000_000
SMALL = 10_000_000  # minimum size of a zip bomb, however high its compression ratio
MAX_RATIO = 200  # maximum compression ratio; chosen, not measured
MAX_MEMBERS = 10_000  # files in one archive; chosen, not measured
ARCHIVES = (".zip", ".docx", ".xlsx", ".pptx", ".jar", ".7z", ".gz", ".rar", ".tar")
DOCTYPE = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
CHUNK = 1 << 20
# Errors that the standard library raises for damaged archives.
BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, OSError, ValueError,
    NotImplementedError, EOFError, RuntimeError,
)  # fmt: skip


class Limits(Record):
    """The resources that one file may use."""

    timeout: float = Field(default=120.0, gt=0, description="seconds of wall clock")
    memory_mb: int = Field(default=4096, ge=256, description="address space")
    max_file_mb: int = Field(default=512, ge=1)
    max_pages: int = Field(default=20_000, ge=1)
    max_cells: int = Field(default=2_000_000, ge=1, description="of a spreadsheet")


def limits_of(config: RagConfig) -> Limits:
    """Return the limits that the configuration sets."""
    section = config.ingest
    return Limits(
        timeout=section.parse_timeout,
        memory_mb=section.parse_memory_mb,
        max_file_mb=section.max_file_mb,
        max_pages=section.max_pages,
    )


def check_size(name: str, size: int, limits: Limits) -> None:
    """Raise LoadError for an empty file and for one above the limit."""
    if size == 0:
        raise LoadError(name, "the file is empty", "export or copy it again")
    if size > limits.max_file_mb * 1_000_000:
        raise LoadError(
            name,
            f"{size / 1e6:.0f} MB is more than the limit of {limits.max_file_mb} MB",
            "split the file or raise ingest.max_file_mb",
        )


def check_zip(name: str, data: bytes, *, pages: bool = False) -> zipfile.ZipFile:
    """Return the opened archive of an Office file, or of a book if `pages` is true.

    Members are measured while they are unpacked, because the sizes in the headers may
    be wrong. Raises LoadError for bombs, archives in archives, unsafe names, and XML
    parts that declare a document type or entities; the pages of books may declare their
    type.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except BROKEN as error:
        raise LoadError(
            name, "the file is damaged or incomplete", "save or download it again"
        ) from error
    if len(members) > MAX_MEMBERS:
        raise _bomb(name, f"it contains {len(members)} members")
    _check_sizes(name, len(data), sum(m.file_size for m in members))
    total = 0
    for member in members:
        _check_member(name, member)
        total += _unpack_checked(name, archive, member, pages)
        _check_sizes(name, len(data), total)
    return archive


def _check_member(name: str, member: zipfile.ZipInfo) -> None:
    path = member.filename
    if path.startswith(("/", "\\")) or ".." in path.replace("\\", "/").split("/"):
        raise LoadError(
            name, f"it contains a member with an unsafe name: {path[:80]!r}"
        )
    embedded = "/embeddings/" in path
    if path.lower().endswith(ARCHIVES) and not embedded:
        raise _bomb(name, f"it contains another archive, {path[:80]!r}")
    if member.flag_bits & 1:
        raise LoadError(
            name,
            "it is protected by a password",
            "save a copy without the password",
        )


def _unpack_checked(
    name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo, pages: bool
) -> int:
    is_xml = not pages and member.filename.lower().endswith((".xml", ".rels", ".vml"))
    read = 0
    try:
        with archive.open(member) as stream:
            while piece := stream.read(CHUNK):
                if is_xml and read == 0:
                    check_no_doctype(name, piece)
                read += len(piece)
                if read > MAX_UNZIPPED:
                    raise _bomb(
                        name,
                        f"{member.filename[:80]!r} is larger than its declared size",
                    )
    except BROKEN as error:
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
        f"{what}, which is not normal for a document",
        "if you trust the file, save it again in the program that created it",
    )


def check_no_doctype(name: str, data: bytes) -> None:
    """Raise LoadError for XML that declares a document type or entities."""
    if DOCTYPE.search(data.replace(b"\x00", b"")):
        raise LoadError(
            name,
            "its XML declares a document type or entities, which can hide other files",
            "export it again without them",
        )
