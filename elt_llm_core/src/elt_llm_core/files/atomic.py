"""The only way files are written: atomically.

Temporary file in the same folder, write, fsync, rename, fsync the folder.
"""

import os
import tempfile
from pathlib import Path

from elt_llm_core.errors import OutputFileError, StoreWriteError


def write_atomic(path: Path, content: str | bytes, mode: int = 0o644) -> None:
    """Write `content` to `path`; readers see the old file or the new one.

    Text is written as UTF-8 with its own newlines. Parent folders are created. Raises
    StoreWriteError if writing fails.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp"
        )
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(mode)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        fsync_folder(path.parent)
    except OSError as error:
        raise StoreWriteError(str(path), error.strerror or str(error)) from error


def write_named_file(path: Path, content: str | bytes) -> None:
    """Write `content` to a path that the user named, as `write_atomic` does.

    Raises OutputFileError if writing fails.
    """
    try:
        write_atomic(path, content)
    except StoreWriteError as error:
        raise OutputFileError(str(path), error.reason) from error


def require_writable(path: Path, option: str) -> None:
    """Check that a file can be written before the work for it begins.

    Args:
        path: The file that the user named.
        option: The option that named it.

    Raises:
        OutputFileError: If its folder, or the nearest existing parent, is not writable.
    """
    try:
        folder = next(p for p in path.absolute().parents if p.exists())
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputFileError(str(path), reason, option) from error


def fsync_folder(folder: Path) -> None:
    """Make the names in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def fsync_tree(folder: Path) -> None:
    """Make every file below `folder`, and every name, durable."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        elif path.is_dir():
            fsync_folder(path)
    fsync_folder(folder)
