"""Temporary folders of this process, removed when they are no longer used."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "elt-llm-"


PURPOSES = ("held", "serve", "view")


LOCK = ".lock"


class Scratch:
    """A temporary folder that only this user can read.

    It is locked while in use, so that leftovers of killed processes can be recognised;
    the next `Scratch` removes them.
    """

    def __init__(self, purpose: str) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-"))
        self._owner = os.getpid()
        # Locked under another name first, because an unlocked lock file marks a
        # leftover.
        self._handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        (self.path / "lock").rename(self.path / LOCK)

    def close(self) -> None:
        """Remove the folder; a forked child leaves its parent's folder alone."""
        if os.getpid() == self._owner:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._handle)


def list_abandoned() -> Iterator[Path]:
    """Yield folders of killed processes, each locked while it is checked."""
    place = Path(tempfile.gettempdir())
    folders = [f for one in PURPOSES for f in place.glob(f"{PREFIX}{one}-*")]
    for folder in sorted(folders):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue  # being created or removed
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield folder
        except BlockingIOError:
            continue  # in use
        finally:
            os.close(handle)


def sweep() -> None:
    """Remove leftovers of killed processes."""
    for folder in list_abandoned():
        shutil.rmtree(folder, ignore_errors=True)
