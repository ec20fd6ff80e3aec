"""Find the files to read: named files, folders and patterns, in order."""

import fnmatch
import functools
import glob
import hashlib
import mimetypes
import os
import shlex
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from elt_llm_core.errors import LoadError, UsageError
from elt_llm_core.files.file_addresses import (
    FILE_SCHEME,
    FileAddresses,
    path_of_address,
)
from elt_llm_core.results import Scalar
from elt_llm_core.store.database.records import DocumentRow
from elt_llm_ingest.limits import Limits, check_size
from elt_llm_ingest.readers.detection import READ, is_document, sniff

GONE = "is no longer in the folder"
WHOLE = 1 << 20  # bytes up to which a file is read at once


@dataclass
class Scope:
    """Addresses that folders, patterns and missing files of a command cover.

    `missing` maps the address of a named file that does not exist to the index of its
    error in the plan.
    """

    folders: list[str] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    addresses: FileAddresses = field(default_factory=FileAddresses)

    def covers(self, uri: str) -> bool:
        """Return whether the command would read the file if it existed."""
        uri = self.addresses.of_address(uri)
        if uri in self.missing or uri.startswith(tuple(self.folders)):
            return True
        is_file = self.patterns and uri.startswith(FILE_SCHEME)
        path = str(path_of_address(uri)) if is_file else ""
        # `*` of fnmatch matches slashes, so `**/` matches any number of folders.
        return any(
            fnmatch.fnmatchcase(path, pattern.replace("**/", ""))
            for pattern in self.patterns
        )


def find_missing(
    scope: Scope, known: Mapping[str, Sequence[DocumentRow]], there: Iterable[str]
) -> list[str]:
    """Return sorted addresses of documents in scope whose file no longer exists."""
    seen = set(there)
    return [
        uri
        for uri in sorted(known.keys() - seen)
        if scope.covers(uri) and is_missing(uri)
    ]


def is_missing(uri: str) -> bool:
    """Return whether the address is that of a file that does not exist."""
    # An earlier version stored `folder/../file`, which is lost with the folder.
    whole = FileAddresses().of_address(uri)
    return uri.startswith(FILE_SCHEME) and not path_of_address(whole).exists()


def describe_missing(
    uris: Sequence[str], known: Mapping[str, Sequence[DocumentRow]]
) -> list[str]:
    """Return a sentence for each document whose file is missing, with the command."""
    names = Counter(rows[0].name for rows in known.values())
    sentences = []
    for uri in uris:
        row = known[uri][0]
        address = row.uri if names[row.name] > 1 else row.name
        sentences.append(
            f"{row.name} {GONE} and is still searched; remove it with: "
            f"{remove_command(row, address)}"
        )
    return sentences


def remove_command(row: DocumentRow, address: str = "") -> str:
    """Return the command that removes a document, by default by its address."""
    name = shlex.quote(address or row.uri)
    return f"elt-llm remove {name} --collection {row.collection}"


SHOWN = 5  # file names in a note
HIDDEN = (".", "~$")
MAGIC = "*?["  # start of the non-literal part of a pattern


@dataclass(frozen=True)
class InputFile:
    """One file, its address, and the title and metadata that were given for it.

    `named` is true if the caller named this very file, or a folder or pattern.
    """

    path: Path
    uri: str
    title: str = ""
    named: bool = False
    metadata: Mapping[str, Scalar] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """Return the display name of the file, the end of its address."""
        scheme, _, rest = self.uri.partition(":")
        last = rest.rpartition("/")[2]
        return (unquote(last) if scheme == "file" else last) or self.path.name


@dataclass
class FilePlan:
    """The files in order, those that cannot be read, and those that were skipped.

    `scope` is the set of addresses that the paths cover, which separates documents with
    a missing file from documents that were not requested.
    """

    items: list[InputFile] = field(default_factory=list)
    failed: list[LoadError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scope: Scope = field(default_factory=Scope)

    def address_of(self, path: Path) -> str:
        """Return the address of a file, however its path is spelled."""
        return self.scope.addresses.of_path(path)


def make_plan(
    paths: Sequence[str], uris: Sequence[str] = (), titles: Sequence[str] = ()
) -> FilePlan:
    """Return the plan for paths. `uris` and `titles` have one item for each path.

    A path is a file, a folder, a pattern such as `docs/**/*.pdf`, or a file:// address.
    In folders and patterns, hidden files, links that lead outside and unsupported types
    are skipped and reported. Raises UsageError for lists of different lengths.
    """
    for name, given in (("uris", uris), ("titles", titles)):
        if given and len(given) != len(paths):
            raise UsageError(
                f"{len(paths)} paths and {len(given)} {name}",
                f"pass one of {name} for each path",
            )
    plan = FilePlan()
    for index, text in enumerate(paths):
        path = path_of(text)
        if path.is_dir():
            _add_folder(plan, path)
        elif path.exists() and not path.is_file():
            plan.failed.append(not_regular_error(path))
        elif path.exists():
            uri = uris[index] if uris else plan.address_of(path)
            title = titles[index] if titles else ""
            plan.items.append(InputFile(path, uri, title, named=True))
        elif glob.has_magic(str(path)):
            _add_pattern(plan, path)
        else:
            _add_missing(plan, text, path)
    plan.items = list({item.uri: item for item in reversed(plan.items)}.values())[::-1]
    return plan


def add_metadata(
    items: Sequence[InputFile], given: Mapping[str, Mapping[str, Scalar]]
) -> list[InputFile]:
    """Return the files with their own metadata.

    Args:
        items: The files.
        given: Metadata by path.

    Raises:
        UsageError: If a path is none of the files.
    """
    by_path = {path_of(text).resolve(): text for text in given}
    paths = {item.path.resolve() for item in items}
    unknown = [text for path, text in by_path.items() if path not in paths]
    if unknown:
        raise UsageError(
            f"there is metadata for {unknown[0]}, which is none of the files to ingest",
            "check the path, or remove its entry of file_metadata",
        )
    own = {path: given[text] for path, text in by_path.items()}
    return [
        replace(item, metadata=own.get(item.path.resolve(), item.metadata))
        for item in items
    ]


def path_of(text: str) -> Path:
    """Return the path in a text: a local path, or a file:// address.

    Raises UsageError for an address on another machine.
    """
    if not text.startswith("file:"):
        return Path(text).expanduser()
    parts = urlsplit(text)
    if parts.netloc not in ("", "localhost"):
        raise UsageError(
            f"{text!r} refers to another machine, {parts.netloc!r}",
            "copy the file here, or mount the folder",
        )
    return Path(unquote(parts.path))


def _add_missing(plan: FilePlan, text: str, path: Path) -> None:
    reason = "there is no such file or folder"
    plan.failed.append(LoadError(text, reason, "check the spelling"))
    plan.scope.missing[plan.address_of(path)] = len(plan.failed) - 1


@dataclass(frozen=True)
class _FolderFile:
    """A file in a folder."""

    path: Path
    size: int
    is_link: bool

    @property
    def suffix(self) -> str:
        return self.path.suffix.lower()


def _add_folder(plan: FilePlan, folder: Path) -> None:
    entries = (entry for entry in _entries(folder) if not _is_hidden(entry.name))
    files_read = _list_readable(plan, folder, (Path(entry.path) for entry in entries))
    plan.items.extend(_found_files(plan, files_read))
    if files_read:
        plan.scope.folders.append(plan.scope.addresses.of_folder(folder.absolute()))
    else:
        plan.failed.append(LoadError(str(folder), "it contains no readable file", READ))


def _add_pattern(plan: FilePlan, pattern: Path) -> None:
    """Add files that match, in order, without hidden ones and folders."""
    text = str(pattern.absolute())
    first = min(text.find(sign) for sign in MAGIC if sign in text)
    root = Path(text[:first] + "x").parent
    matched = glob.iglob(text, recursive=True)  # noqa: PTH207 - Path.glob: relative
    matches = map(Path, sorted(matched))
    files = (p for p in matches if not p.is_dir() and not _is_hidden(p.name))
    files_read = _list_readable(plan, root, files, pattern.suffix)
    plan.items.extend(_found_files(plan, files_read))
    if files_read:
        resolved = glob.escape(os.path.realpath(root))
        plan.scope.patterns.append(text.replace(str(root), resolved, 1))
    else:
        reason = "no readable file matches"
        plan.failed.append(LoadError(str(pattern), reason, READ))


def _found_files(plan: FilePlan, files: Sequence[_FolderFile]) -> Iterator[InputFile]:
    """Yield the files of a folder or pattern with their addresses."""
    for file in _best_first(files):
        yield InputFile(file.path, plan.address_of(file.path))


def _is_hidden(name: str) -> bool:
    return name.startswith(HIDDEN)


def _list_readable(
    plan: FilePlan, folder: Path, paths: Iterable[Path], asked: str = ""
) -> list[_FolderFile]:
    """Return the supported files of the paths; problems are added to the plan.

    `asked` is the file extension in a pattern.
    """
    real = functools.cache(Path.resolve)
    root = real(folder)
    readable: list[_FolderFile] = []
    others: list[str] = []
    for path in paths:
        status = path.lstat()
        is_link = stat.S_ISLNK(status.st_mode)
        if is_link and path.exists():
            status = path.stat()
        target = path.resolve() if is_link else real(path.parent)
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
            plan.failed.append(not_regular_error(path))
        elif not target.is_relative_to(root):
            plan.notes.append(
                f"{path} is a link to a place outside {folder} and was not read"
            )
        elif is_document(path, asked):
            readable.append(_FolderFile(path, status.st_size, is_link))
        else:
            others.append(path.name)
    if others:
        shown = ", ".join(others[:SHOWN]) + (" and more" if len(others) > SHOWN else "")
        plan.notes.append(f"{len(others)} files of other formats were skipped: {shown}")
    return readable


def _best_first(files: Sequence[_FolderFile]) -> list[_FolderFile]:
    """Return the files in order, but the best of possible copies first.

    Of several files with the same content the first is ingested: preferably a file
    rather than a link, and one with a meaningful extension.
    """
    by_size: dict[int, list[int]] = {}
    for index, file in enumerate(files):
        by_size.setdefault(file.size, []).append(index)
    done = list(files)
    for places in by_size.values():
        same = [files[i] for i in places]
        named = len({file.suffix for file in same}) == 1
        if named and not any(file.is_link for file in same):
            continue
        ranks = {f: (f.is_link, not named and _is_misnamed(f.path)) for f in same}
        ordered = sorted(same, key=ranks.__getitem__)
        for place, file in zip(places, ordered, strict=True):
            done[place] = file
    return done


def _is_misnamed(path: Path) -> bool:
    try:
        _, warnings = sniff(path, path.read_bytes())
    except (LoadError, OSError):
        return True
    return bool(warnings)


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """Yield files below a folder by path, without following links to folders."""
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    folders = [e for e in entries if e.is_dir(follow_symlinks=False)]
    yield from (e for e in entries if not e.is_dir())
    for entry in folders:
        if not entry.name.startswith("."):
            yield from _entries(Path(entry.path))


def read_bytes(path: Path) -> bytes:
    """Return the file's bytes. Raises LoadError with one sentence."""
    check_regular(path)
    with _as_load_errors(path):
        return path.read_bytes()


def hash_file(path: Path, limits: Limits) -> tuple[str, int]:
    """Return the file's digest in hex, and its size in bytes.

    Raises LoadError for files that cannot be read, are empty, or too large.
    """
    check_regular(path)
    with _as_load_errors(path), path.open("rb", buffering=0) as file:
        size = path.stat().st_size
        check_size(str(path), size, limits)
        if size <= WHOLE:
            return hashlib.sha256(file.read()).hexdigest(), size
        return hashlib.file_digest(file, "sha256").hexdigest(), size


def check_regular(path: Path) -> None:
    """Raise LoadError for a pipe, socket or device, because reading may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise not_regular_error(path)


def guess_mime(path: Path) -> str:
    """Return the media type by the file's name."""
    if path.suffix.lower() == ".drawio":
        return "application/vnd.jgraph.mxfile"
    return mimetypes.guess_type(path.name)[0] or "application/octet-stream"


@contextmanager
def _as_load_errors(path: Path) -> Iterator[None]:
    """Convert errors of the system to LoadError with one sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise LoadError(
            str(path), "there is no such file", "check the path's spelling"
        ) from error
    except IsADirectoryError as error:
        raise LoadError(str(path), "it is a folder", "pass a file in it") from error
    except OSError as error:
        raise LoadError(str(path), error.strerror or str(error)) from error


def not_regular_error(path: Path) -> LoadError:
    """Return the error for a pipe, socket or device."""
    return LoadError(str(path), "it is not a regular file", "pass a regular file")
