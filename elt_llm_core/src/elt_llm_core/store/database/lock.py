"""One writer per data root."""

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elt_llm_core.errors import StoreLockedError, StoreWriteError

LOCK = "LOCK"
ASKED = 0.2  # seconds for which `lock_holder` may hold the lock


@contextmanager
def writer_lock(path: Path, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock file in this block; the system releases it with the process.

    `wait` is in seconds, at least a fifth of one. Raises StoreLockedError, which names
    the holder, and StoreWriteError if the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreWriteError(str(path), error.strerror or str(error)) from error
    try:
        _acquire(handle, path, wait)
        _note_holder(handle, path)
        yield
    finally:
        os.close(handle)


def _note_holder(handle: int, path: Path) -> None:
    holder = {"pid": os.getpid(), "command": " ".join(sys.argv[:3])[:200]}
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(holder).encode(), 0)
    except OSError as error:
        raise StoreWriteError(str(path), error.strerror or str(error)) from error


def _acquire(handle: int, path: Path, wait: float) -> None:
    deadline = time.monotonic() + max(wait, ASKED)
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise StoreLockedError(_holder(path)) from error
            time.sleep(0.05)
        else:
            return


def lock_holder(path: Path) -> str:
    """Return the current writer; empty if there is none. Creates nothing."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _holder(path)
    else:
        return ""
    finally:
        os.close(handle)


def _holder(path: Path) -> str:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return f"process {known['pid']} ({known['command']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
