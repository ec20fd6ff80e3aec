"""Which documents a run speaks for, and which of their files are gone."""

import fnmatch
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from elt_llm_core.store.records import DocumentRow

GONE = "is no longer in the folder"
FILE = "file://"


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


def gone(
    scope: Scope, known: Mapping[str, Sequence[DocumentRow]], there: Iterable[str]
) -> list[str]:
    """Addresses of documents in scope whose file is not there any more, sorted."""
    seen = set(there)
    return [
        uri for uri in sorted(known.keys() - seen) if scope.covers(uri) and is_gone(uri)
    ]


def is_gone(uri: str) -> bool:
    """Whether the address is a file's, and the file is not there."""
    return uri.startswith(FILE) and not file_of(uri).exists()


def file_of(uri: str) -> Path:
    """The path of a file:// address."""
    return Path(unquote(urlsplit(uri).path))


def told_of_gone(
    uris: Sequence[str], known: Mapping[str, Sequence[DocumentRow]]
) -> list[str]:
    """A sentence for each document whose file is gone, with the command for it."""
    names = Counter(rows[0].name for rows in known.values())
    told = []
    for uri in uris:
        row = known[uri][0]
        said = row.uri if names[row.name] > 1 else row.name
        told.append(
            f"{row.name} {GONE} and is still searched; take it out with: elt-llm "
            f"remove {shlex.quote(said)} --collection {row.collection}"
        )
    return told
