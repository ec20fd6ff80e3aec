"""Keep a large file in a private temporary copy while it is read, not in memory."""

import contextlib
import mmap
from collections.abc import Iterator
from pathlib import Path

from elt_llm_core.errors import StoreWriteError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.files.scratch import Scratch

LARGE = 10_000_000  # bytes
HEAD = 1024  # first bytes in which a PDF has its signature
NAME = "held.pdf"  # LiteParse checks the extension


class MappedFile(mmap.mmap):
    """The memory-mapped bytes of a file; `file` is its path, to open it again."""

    file: Path


def map_file(file: Path) -> MappedFile:
    """Map a file that is not empty and will not be changed."""
    with file.open("rb") as stream:
        data = MappedFile(stream.fileno(), 0, access=mmap.ACCESS_READ)
    data.file = file
    return data


def pdf_source(data: bytes | MappedFile) -> bytes | Path:
    """Return the input for a PDF library: the file itself if there is one."""
    return data.file if isinstance(data, MappedFile) else data


def is_pdf(data: bytes) -> bool:
    """Return whether a file has the signature of a PDF."""
    return b"%PDF-" in data[:HEAD]


@contextlib.contextmanager
def share_large_pdf(data: bytes) -> Iterator[Path | None]:
    """Yield a private copy of a large PDF on disk.

    Yields None for other bytes, and if the disk is full.
    """
    if len(data) < LARGE or not is_pdf(data):
        yield None
        return
    with contextlib.ExitStack() as cleanup:
        file = None
        with contextlib.suppress(OSError, StoreWriteError):
            place = Scratch("held")  # also removes leftovers of killed processes
            cleanup.callback(place.close)
            write_atomic(place.path / NAME, data, 0o600)
            file = place.path / NAME
        yield file
