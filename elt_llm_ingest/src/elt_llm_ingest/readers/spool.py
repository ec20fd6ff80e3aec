"""A large file kept in a private place while it is read, instead of in memory."""

import contextlib
import mmap
from collections.abc import Iterator
from pathlib import Path

from elt_llm_core.errors import StoreWriteError
from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.files.scratch import Scratch

LARGE = 10_000_000  # bytes
HEAD = 1024  # bytes in which a PDF says that it is one
NAME = "held.pdf"  # LiteParse looks at the ending


class Held(mmap.mmap):
    """The bytes of a file, mapped; `file` is where they are, for who opens it anew."""

    file: Path


def map_file(file: Path) -> Held:
    """A file that is not empty and that nobody changes."""
    with file.open("rb") as stream:
        data = Held(stream.fileno(), 0, access=mmap.ACCESS_READ)
    data.file = file
    return data


def source(data: bytes | Held) -> bytes | Path:
    """What a PDF library opens: the file itself where there is one."""
    return data.file if isinstance(data, Held) else data


def is_pdf(data: bytes) -> bool:
    """Whether a file says that it is a PDF."""
    return b"%PDF-" in data[:HEAD]


@contextlib.contextmanager
def handed_over(data: bytes) -> Iterator[Path | None]:
    """A copy of a large PDF that only this user can read, while the block runs.

    None for other bytes, and where the disk has no room for them.
    """
    if len(data) < LARGE or not is_pdf(data):
        yield None
        return
    with contextlib.ExitStack() as cleanup:
        file = None
        with contextlib.suppress(OSError, StoreWriteError):
            place = Scratch("held")  # what a killed process leaves is removed, too
            cleanup.callback(place.close)
            write_atomic(place.path / NAME, data, 0o600)
            file = place.path / NAME
        yield file
