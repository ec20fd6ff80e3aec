"""Which files are to be read: named ones as they are, folders and patterns in order."""

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
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from elt_llm_core.errors import LoadError, UsageError
from elt_llm_core.store.database.records import DocumentRow
from elt_llm_ingest.limits import Limits, check_size
from elt_llm_ingest.readers.detection import READ, is_document, sniff

GONE = "is no longer in the folder"
FILE = "file://"
WHOLE = 1 << 20  # bytes up to which a file is read in one piece


@dataclass
class Scope:
    """Addresses that folders, patterns and vanished files of a command cover.

    `missing` maps the address of a named file that is not there to the place of its
    error in the plan.
    """

    folders: list[str] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)

    def covers(self, uri: str) -> bool:
        """Whether the command would have read the file, were it there."""
        if uri in self.missing or uri.startswith(tuple(self.folders)):
            return True
        path = str(file_of(uri)) if self.patterns and uri.startswith(FILE) else ""
        # `*` of fnmatch goes over slashes, so `**/` is any folders or none.
        return any(
            fnmatch.fnmatchcase(path, pattern.replace("**/", ""))
            for pattern in self.patterns
        )


def find_missing(
    scope: Scope, known: Mapping[str, Sequence[DocumentRow]], there: Iterable[str]
) -> list[str]:
    """Addresses of documents in scope whose file is not there any more, sorted."""
    seen = set(there)
    return [
        uri
        for uri in sorted(known.keys() - seen)
        if scope.covers(uri) and is_missing(uri)
    ]


def is_missing(uri: str) -> bool:
    """Whether the address is a file's, and the file is not there."""
    return uri.startswith(FILE) and not file_of(uri).exists()


def file_of(uri: str) -> Path:
    """The path of a file:// address."""
    return Path(unquote(urlsplit(uri).path))


def describe_missing(
    uris: Sequence[str], known: Mapping[str, Sequence[DocumentRow]]
) -> list[str]:
    """Return a sentence for each document whose file is gone, with the command."""
    names = Counter(rows[0].name for rows in known.values())
    sentences = []
    for uri in uris:
        row = known[uri][0]
        address = row.uri if names[row.name] > 1 else row.name
        sentences.append(
            f"{row.name} {GONE} and is still searched; remove it with: elt-llm "
            f"remove {shlex.quote(address)} --collection {row.collection}"
        )
    return sentences


SHOWN = 5  # file names in a note
HIDDEN = (".", "~$")
MAGIC = "*?["  # begin what a pattern does not take literally


@dataclass(frozen=True)
class InputFile:
    """One file, the address it is known by, and a title where one was given.

    `named` is true if the caller named this very file, or a folder or pattern.
    """

    path: Path
    uri: str
    title: str = ""
    named: bool = False

    @property
    def name(self) -> str:
        """The file's name for people, as its address ends."""
        scheme, _, rest = self.uri.partition(":")
        last = rest.rpartition("/")[2]
        return (unquote(last) if scheme == "file" else last) or self.path.name


@dataclass
class FilePlan:
    """The files in order, those that cannot be read, and what was passed over.

    `scope` tells which addresses the paths speak for, so that a document whose file is
    gone can be told from one that nobody asked about.
    """

    items: list[InputFile] = field(default_factory=list)
    failed: list[LoadError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    scope: Scope = field(default_factory=Scope)


def make_plan(
    paths: Sequence[str], uris: Sequence[str] = (), titles: Sequence[str] = ()
) -> FilePlan:
    """The plan for paths. `uris` and `titles`, where given, are one for each path.

    A path is a file, a folder, a pattern such as `docs/**/*.pdf`, or a file:// address.
    In folders and by patterns, hidden files, links that lead out and kinds that are not
    read are passed over and noted. Raises UsageError for lists of different lengths.
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
            plan.failed.append(not_regular(path))
        elif path.exists():
            uri = uris[index] if uris else path.absolute().as_uri()
            title = titles[index] if titles else ""
            plan.items.append(InputFile(path, uri, title, named=True))
        elif glob.has_magic(str(path)):
            _add_pattern(plan, path)
        else:
            _add_missing(plan, text, path)
    plan.items = list({item.uri: item for item in reversed(plan.items)}.values())[::-1]
    return plan


def path_of(text: str) -> Path:
    """The path that a text names: a path of this system, or a file:// address.

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
    plan.scope.missing[path.absolute().as_uri()] = len(plan.failed) - 1


@dataclass(frozen=True)
class _FolderFile:
    """A file of a folder."""

    path: Path
    size: int
    is_link: bool

    @property
    def suffix(self) -> str:
        return self.path.suffix.lower()


def _add_folder(plan: FilePlan, folder: Path) -> None:
    entries = (entry for entry in _entries(folder) if not _is_hidden(entry.name))
    files_read = _list_readable(plan, folder, (Path(entry.path) for entry in entries))
    plan.items.extend(InputFile(f.path, _uri(f.path)) for f in _best_first(files_read))
    if files_read:
        plan.scope.folders.append(_uri(folder).rstrip("/") + "/")
    else:
        plan.failed.append(LoadError(str(folder), "it contains no readable file", READ))


def _add_pattern(plan: FilePlan, pattern: Path) -> None:
    """Files that match, in order; hidden ones and folders are left out."""
    text = str(pattern.absolute())
    first = min(text.find(sign) for sign in MAGIC if sign in text)
    root = Path(text[:first] + "x").parent
    matched = glob.iglob(text, recursive=True)  # noqa: PTH207 - Path.glob: relative
    matches = map(Path, sorted(matched))
    files = (p for p in matches if not p.is_dir() and not _is_hidden(p.name))
    files_read = _list_readable(plan, root, files, pattern.suffix)
    plan.items.extend(InputFile(f.path, _uri(f.path)) for f in _best_first(files_read))
    if files_read:
        plan.scope.patterns.append(text)
    else:
        reason = "no readable file matches"
        plan.failed.append(LoadError(str(pattern), reason, READ))


def _is_hidden(name: str) -> bool:
    return name.startswith(HIDDEN)


def _list_readable(
    plan: FilePlan, folder: Path, paths: Iterable[Path], asked: str = ""
) -> list[_FolderFile]:
    """Those of the paths that are read; what is wrong with others goes to the plan.

    `asked` is the ending that a pattern names.
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
            plan.failed.append(not_regular(path))
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
    """The files in their order, but of those that may be copies the best comes first.

    The first of several files of one content is the one that is taken in: better a
    file than a link, better one whose name says what it holds.
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


def _uri(path: Path) -> str:
    return path.absolute().as_uri()


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """Files below a folder by their path; links to folders are not followed."""
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    folders = [e for e in entries if e.is_dir(follow_symlinks=False)]
    yield from (e for e in entries if not e.is_dir())
    for entry in folders:
        if not entry.name.startswith("."):
            yield from _entries(Path(entry.path))


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises LoadError in one sentence."""
    check_regular(path)
    with _as_load_errors(path):
        return path.read_bytes()


def hash_file(path: Path, limits: Limits) -> tuple[str, int]:
    """The digest of the file's bytes in hex, and how many there are.

    Raises LoadError for what cannot be read, is empty, or is too large.
    """
    check_regular(path)
    with _as_load_errors(path), path.open("rb", buffering=0) as file:
        size = path.stat().st_size
        check_size(str(path), size, limits)
        if size <= WHOLE:
            return hashlib.sha256(file.read()).hexdigest(), size
        return hashlib.file_digest(file, "sha256").hexdigest(), size


def check_regular(path: Path) -> None:
    """Raises LoadError for a pipe, socket or device: reading one may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise not_regular(path)


def guess_mime(path: Path) -> str:
    """The media type by the file's name."""
    if path.suffix.lower() == ".drawio":
        return "application/vnd.jgraph.mxfile"
    return mimetypes.guess_type(path.name)[0] or "application/octet-stream"


@contextmanager
def _as_load_errors(path: Path) -> Iterator[None]:
    """Errors of the system as ours, in one sentence."""
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


def not_regular(path: Path) -> LoadError:
    """The error for a pipe, socket or device: reading one may never end."""
    return LoadError(str(path), "it is not a regular file", "pass a regular file")
