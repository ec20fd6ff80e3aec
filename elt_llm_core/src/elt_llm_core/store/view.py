"""A private view of a built Chroma folder, gone when nobody looks any more."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "elt-llm-view-"
LOCK = ".lock"
DATABASE = "chroma.sqlite3"


class View:
    """A temporary folder: a copy of the (small) database, links to the graph files.

    Chroma writes to its database when it is merely opened, and two processes on one
    folder damage it. The graph files are never touched by reading. The folder is locked
    while it is used, so that what a killed process left behind can be told and removed.
    """

    def __init__(self, folder: Path) -> None:
        sweep_views()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._owner = os.getpid()
        # Locked under another name first: a lock file that is not locked is left over.
        self._handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        (self.path / "lock").rename(self.path / LOCK)
        for entry in sorted(folder.iterdir()):
            if entry.name == DATABASE:
                shutil.copyfile(entry, self.path / DATABASE)
            else:
                (self.path / entry.name).symlink_to(entry.absolute())

    def close(self) -> None:
        """Remove the folder; a forked child leaves its parent's alone."""
        if os.getpid() == self._owner:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._handle)


def abandoned() -> Iterator[Path]:
    """Views whose process was killed; each is locked while it is looked at."""
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue  # it is being made, or being removed
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield folder
        except BlockingIOError:
            continue  # in use
        finally:
            os.close(handle)


def sweep_views() -> None:
    """Remove what processes of ours left behind when they were killed."""
    for folder in abandoned():
        shutil.rmtree(folder, ignore_errors=True)
