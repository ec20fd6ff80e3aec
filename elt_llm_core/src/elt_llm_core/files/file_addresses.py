"""The address of a file: one for each file, however its path is spelled.

Folders are resolved with their symbolic links, so that `../in/a.pdf`, `/in/a.pdf` and a
path through a linked folder are one document. The name of the file itself is kept: a
link such as `latest.pdf` is a document under its own name, which is updated when the
link leads to another file.
"""

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

FILE_SCHEME = "file://"


def path_of_address(uri: str) -> Path:
    """Return the path of a file:// address, as it is spelled.

    Raises:
        ValueError: If it is malformed, or of another computer.
    """
    parts = urlsplit(uri)
    if parts.netloc not in {"", "localhost"}:
        raise ValueError(f"{uri} is a file of another computer")
    return Path(os.fsdecode(unquote_to_bytes(parts.path)))


class FileAddresses:
    """Addresses of files by resolved paths; each folder is resolved once."""

    def __init__(self) -> None:
        self._folders: dict[Path, str] = {}
        self._addresses: dict[str, str] = {}  # of folders, by another address

    def of_folder(self, folder: Path) -> str:
        """Return the address of a folder, with a slash at the end."""
        if folder not in self._folders:
            # Path.resolve raises an error for links that lead in a circle.
            resolved = Path(os.path.realpath(folder))
            self._folders[folder] = resolved.as_uri().rstrip("/") + "/"
        return self._folders[folder]

    def of_path(self, path: Path) -> str:
        """Return the address of a file, which need not exist."""
        absolute = path.absolute()
        if absolute.name in ("", os.pardir):
            return self.of_folder(absolute).rstrip("/")
        return self.of_folder(absolute.parent) + quote_name(absolute)

    def of_address(self, uri: str) -> str:
        """Return the address of the same file by its resolved path.

        Args:
            uri: An address; one that is not of a file is returned unchanged. That of a
                document of an earlier version may have `..` in it.
        """
        folder, slash, name = uri.rpartition("/")
        if not uri.startswith(FILE_SCHEME + "/") or not name:
            return uri
        if folder not in self._addresses:
            path = path_of_address(folder + slash)
            self._addresses[folder] = self.of_folder(path)
        return self._addresses[folder] + name


def quote_name(path: Path) -> str:
    """Return the last part of a path as it is written in an address."""
    return Path("/", path.name).as_uri().removeprefix(FILE_SCHEME + "/")
