"""Which files are to be read: named ones as they are, folders walked in order."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from elt_llm_core.errors import LoadError, UsageError
from elt_llm_core.store import DocumentRow
from elt_llm_ingest.formats.sniff import READ, SUFFIXES, sniff

GONE = "is no longer in the folder"
SHOWN = 5  # file names in a note


@dataclass(frozen=True)
class Item:
    """One file, the address it is known by, and a title where one was given."""

    path: Path
    uri: str
    title: str = ""

    @property
    def name(self) -> str:
        """The file's name for people, as its address ends."""
        scheme, _, rest = self.uri.partition(":")
        last = rest.rpartition("/")[2]
        return (unquote(last) if scheme == "file" else last) or self.path.name


@dataclass
class Plan:
    """The files in order, those that cannot be read, and what was passed over."""

    items: list[Item] = field(default_factory=list)
    failed: list[LoadError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def make_plan(
    paths: Sequence[str], uris: Sequence[str] = (), titles: Sequence[str] = ()
) -> Plan:
    """The plan for paths. `uris` and `titles`, where given, are one for each path.

    In folders, hidden files, links that lead out and kinds that are not read are passed
    over and noted. Raises UsageError for lists of different lengths.
    """
    for name, given in (("uris", uris), ("titles", titles)):
        if given and len(given) != len(paths):
            raise UsageError(
                f"{len(paths)} paths and {len(given)} {name}",
                f"give one of {name} a path",
            )
    plan = Plan()
    for index, text in enumerate(paths):
        path = Path(text).expanduser()
        if path.is_dir():
            _add_folder(plan, path)
        elif path.exists() and not path.is_file():
            plan.failed.append(not_regular(path))
        elif path.exists():
            uri = uris[index] if uris else path.absolute().as_uri()
            plan.items.append(Item(path, uri, titles[index] if titles else ""))
        else:
            plan.failed.append(
                LoadError(text, "there is no such file or folder", "check the spelling")
            )
    plan.items = list({item.uri: item for item in reversed(plan.items)}.values())[::-1]
    return plan


def _add_folder(plan: Plan, folder: Path) -> None:
    root = folder.resolve()
    found: list[Path] = []
    others: list[str] = []
    for path in _files(folder):
        if path.exists() and not path.is_file():
            plan.failed.append(not_regular(path))
        elif not path.resolve().is_relative_to(root):
            plan.notes.append(f"{path} is a link that leads out of {folder}, not read")
        elif path.suffix.lower() in SUFFIXES:
            found.append(path)
        else:
            others.append(path.name)
    if others:
        shown = ", ".join(others[:SHOWN]) + (" and more" if len(others) > SHOWN else "")
        plan.notes.append(
            f"{len(others)} files of other kinds were passed over: {shown}"
        )
    plan.items.extend(Item(p, p.absolute().as_uri()) for p in _best_first(found))
    if not found:
        plan.failed.append(LoadError(str(folder), "nothing in it can be read", READ))


def not_regular(path: Path) -> LoadError:
    """The error for a pipe, socket or device: reading one may never end."""
    return LoadError(str(path), "it is not a regular file", "name an ordinary file")


def _best_first(paths: Sequence[Path]) -> list[Path]:
    """The paths in their order, but of files that may be copies the best comes first.

    The first of several files of one content is the one that is taken in: better a
    file than a link, better one whose name says what it holds.
    """
    by_size: dict[int, list[int]] = {}
    for index, path in enumerate(paths):
        if path.is_file():
            by_size.setdefault(path.stat().st_size, []).append(index)
    done = list(paths)
    for places in by_size.values():
        same = [paths[i] for i in places]
        named = len({path.suffix.lower() for path in same}) == 1
        ranks = {p: (p.is_symlink(), not named and _is_misnamed(p)) for p in same}
        for place, path in zip(
            places, sorted(same, key=ranks.__getitem__), strict=True
        ):
            done[place] = path
    return done


def _is_misnamed(path: Path) -> bool:
    try:
        _, warnings = sniff(path, path.read_bytes())
    except (LoadError, OSError):
        return True
    return bool(warnings)


def no_longer_there(
    paths: Sequence[str], known: Mapping[str, Sequence[DocumentRow]]
) -> list[str]:
    """A warning for each document, by address, whose file is gone from a folder."""
    folders = [Path(text).expanduser() for text in paths]
    roots = tuple(f.absolute().as_uri() + "/" for f in folders if f.is_dir())
    names = Counter(rows[0].name for rows in known.values())
    return [
        _gone(row, row.uri if names[row.name] > 1 else row.name)
        for uri, rows in sorted(known.items())
        if uri.startswith(roots) and not _file_of(uri).exists()
        for row in rows[:1]
    ]


def _file_of(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


def _gone(row: DocumentRow, said: str) -> str:
    return (
        f"{row.name} {GONE} and is still searched; take it out "
        f"with: elt-llm remove {shlex.quote(said)} --collection {row.collection}"
    )


def _files(folder: Path) -> Iterator[Path]:
    """Files below a folder by their path; links to folders are not followed."""
    for top, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith((".", "~$")):
                yield Path(top) / name
