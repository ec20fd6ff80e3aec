"""Uploaded files: their names, and the server's folder for them."""

import secrets
import unicodedata
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elt_llm_core.errors import UsageError
from elt_llm_core.files.scratch import Scratch

LONGEST = 200  # bytes; file systems allow 255, and a suffix may be added
FORBIDDEN = frozenset('/\\:*?"<>|%')
RESERVED = frozenset({"con", "prn", "aux", "nul"})


def check_upload_name(name: str) -> str:
    """Return the name if it is one plain file name.

    A bad name is refused, not repaired: a repaired one may collide with another file.

    Args:
        name: A name as the client sent it.

    Returns:
        The name in Unicode form NFKC.

    Raises:
        UsageError: If it contains a folder, a control or reserved character, or is
            longer than 200 bytes.
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
            f"{name[:80]!r} is not a valid file name",
            "use letters, digits, spaces, '.', '-' and '_', at most 200 bytes",
        )
    return plain


@dataclass(frozen=True)
class Upload:
    """An uploaded file: its name as the client gave it, and its path on the server."""

    name: str
    path: Path


class Workspace:
    """A folder that only this user can read, deleted when the server stops.

    The next server deletes the folder of a killed one.
    """

    def __init__(self) -> None:
        scratch = Scratch("serve")
        self.path = scratch.path.resolve()
        self.sent = self.path / "sent"
        self._close = weakref.finalize(self, scratch.close)

    def new_folder(self) -> Path:
        """Create an empty folder inside; its name is the id of its job."""
        folder = self.path / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def close(self) -> None:
        """Delete the folder. Closing again does nothing."""
        self._close()


def check_upload_names(names: Sequence[str]) -> list[str]:
    """Return the names of files sent together.

    Raises:
        UsageError: If one is not a file name, or two are the same.
    """
    plain = [check_upload_name(name) for name in names]
    if len(set(plain)) != len(plain):
        raise UsageError("two of the files have the same name", "send them separately")
    return plain


def move_uploads(uploads: Sequence[Upload], folder: Path) -> list[Upload]:
    """Move uploaded files into a folder under their names.

    Raises:
        UsageError: If a file is missing because the page was submitted twice.
    """
    moved = []
    for upload in uploads:
        if not upload.path.is_file():
            raise UsageError(
                f"{upload.name} no longer exists on the server", "choose it again"
            )
        moved.append(Upload(upload.name, upload.path.rename(folder / upload.name)))
    return moved
