"""Which files are to be read: named ones as they are, folders walked in order."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from elt_llm_core.errors import LoadError, UsageError
from elt_llm_ingest.formats.sniff import READ, SUFFIXES

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
    before = len(plan.items)
    others: list[str] = []
    for path in _files(folder):
        if not path.resolve().is_relative_to(root):
            plan.notes.append(f"{path} is a link that leads out of {folder}, not read")
        elif path.suffix.lower() in SUFFIXES:
            plan.items.append(Item(path, path.absolute().as_uri()))
        else:
            others.append(path.name)
    if others:
        shown = ", ".join(others[:SHOWN]) + (" and more" if len(others) > SHOWN else "")
        plan.notes.append(
            f"{len(others)} files of other kinds were passed over: {shown}"
        )
    if len(plan.items) == before:
        plan.failed.append(LoadError(str(folder), "nothing in it can be read", READ))


def _files(folder: Path) -> Iterator[Path]:
    """Files below a folder by their path; links to folders are not followed."""
    for top, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith((".", "~$")):
                yield Path(top) / name
