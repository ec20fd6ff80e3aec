"""Files that were sent, and the folder of a server that they lie in for a while."""

import tempfile
import unicodedata
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elt_llm_core.errors import UsageError
from elt_llm_core.files.scratch import Scratch

LONGEST = 200  # bytes; file systems take 255 and the ending may grow
FORBIDDEN = frozenset('/\\:*?"<>|%')
RESERVED = frozenset({"con", "prn", "aux", "nul"})


def check_upload_name(name: str) -> str:
    """The name itself, where it is one plain file name; else UsageError.

    Nothing is repaired: a name with a folder in it was not meant for us.
    """
    plain = unicodedata.normalize("NFKC", name)
    bad = (
        not plain.strip(". ")
        or len(plain.encode("utf-8", "replace")) > LONGEST
        or any(c in FORBIDDEN or unicodedata.category(c)[0] == "C" for c in plain)
        or plain.startswith(".")
        or plain.partition(".")[0].strip().casefold() in RESERVED
    )
    if bad:
        raise UsageError(
            f"{name[:80]!r} cannot be taken as a file name",
            "use letters, digits, spaces, '.', '-' and '_', at most 200 bytes",
        )
    return plain


@dataclass(frozen=True)
class Upload:
    """A file that was sent: its name as the sender gave it, and where it lies now."""

    name: str
    path: Path


class Workspace:
    """A folder that nobody else may read and that is removed when the server stops.

    A server that was killed leaves its folder behind: the next one removes it.
    """

    def __init__(self) -> None:
        scratch = Scratch("serve")
        self.path = scratch.path.resolve()
        self.sent = self.path / "sent"
        self._close = weakref.finalize(self, scratch.close)

    def new_folder(self) -> Path:
        """An empty folder inside."""
        return Path(tempfile.mkdtemp(dir=self.path))

    def close(self) -> None:
        """Remove all of it. Closing again does nothing."""
        self._close()


def check_upload_names(names: Sequence[str]) -> list[str]:
    """The names of files sent together. Raises UsageError for what is no file name."""
    plain = [check_upload_name(name) for name in names]
    if len(set(plain)) != len(plain):
        raise UsageError("two of the files have the same name", "send them apart")
    return plain


def move_uploads(uploads: Sequence[Upload], folder: Path) -> list[Upload]:
    """The files moved into `folder` under their names.

    Raises UsageError for one that is gone: somebody else sent the same and was first.
    """
    there = []
    for upload in uploads:
        if not upload.path.is_file():
            raise UsageError(f"{upload.name} is not here any more", "choose it again")
        there.append(Upload(upload.name, upload.path.rename(folder / upload.name)))
    return there
