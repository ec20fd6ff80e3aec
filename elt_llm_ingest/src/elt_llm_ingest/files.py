"""Files as they lie on the disk: their bytes, digest, media type."""

import hashlib
import mimetypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits, check_size

WHOLE = 1 << 20  # bytes up to which a file is read in one piece


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises LoadError in one sentence."""
    check_regular(path)
    with _told(path):
        return path.read_bytes()


def sha256_of(path: Path, limits: Limits) -> tuple[str, int]:
    """The digest of the file's bytes in hex, and how many there are.

    Raises LoadError for what cannot be read, is empty, or is too large.
    """
    check_regular(path)
    with _told(path), path.open("rb", buffering=0) as file:
        size = path.stat().st_size
        check_size(str(path), size, limits)
        if size <= WHOLE:
            return hashlib.sha256(file.read()).hexdigest(), size
        return hashlib.file_digest(file, "sha256").hexdigest(), size


def check_regular(path: Path) -> None:
    """Raises LoadError for a pipe, socket or device: reading one may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise not_regular(path)


def mime_of(path: Path) -> str:
    """The media type by the file's name."""
    if path.suffix.lower() == ".drawio":
        return "application/vnd.jgraph.mxfile"
    return mimetypes.guess_type(path.name)[0] or "application/octet-stream"


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Errors of the system as ours, in one sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise LoadError(
            str(path), "there is no such file", "check the path's spelling"
        ) from error
    except IsADirectoryError as error:
        raise LoadError(str(path), "it is a folder", "name a file in it") from error
    except OSError as error:
        raise LoadError(str(path), error.strerror or str(error)) from error


def not_regular(path: Path) -> LoadError:
    """The error for a pipe, socket or device: reading one may never end."""
    return LoadError(str(path), "it is not a regular file", "name an ordinary file")
