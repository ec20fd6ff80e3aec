"""What is stored already, and what that makes of each file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.metadata import entry_points

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import IngestError
from elt_llm_core.identifiers import digest
from elt_llm_core.store import Store
from elt_llm_core.store.database.records import DocumentRow
from elt_llm_ingest.discovery import Item, is_gone
from elt_llm_ingest.readers.registry import LAYER, VERSIONS

# A chunker's number rises with anything that makes it cut otherwise: documents that it
# cut before are cut again then.
CHUNKERS = {
    "hierarchical": "2",
    "proposition": "2",
    "section_aware": "2",
    "semantic": "2",
    "sentence": "3",
    "sentence_window": "2",
    "table_aware": "2",
}


class Keys:
    """The keys of one run's documents."""

    def __init__(self, config: RagConfig, metadata: object) -> None:
        chunking = config.chunking
        name = chunking.strategy
        version = CHUNKERS.get(name) or _package("elt_llm.chunkers", name)
        shown = json.dumps(chunking.model_dump(mode="json"), sort_keys=True)
        extra = json.dumps(metadata, sort_keys=True)
        added = (
            config.enrichment.model_dump_json() if config.enrichment.strategy else ""
        )
        self._shared = digest(shown, version, extra, added)
        self._known: dict[tuple[str, str, int], str] = {}

    def key(self, loader: str, title: str = "", parts: int = 1) -> str:
        """The key of each document of a file that `loader` made into `parts`."""
        wanted = (loader, title, parts)
        if wanted not in self._known:
            made = digest("ingest", version_of(loader), self._shared, title)[:16]
            count = f"/{parts}" if parts > 1 else ""
            self._known[wanted] = f"{loader} {made}{count}"
        return self._known[wanted]

    def same(self, keys: list[str], title: str = "") -> bool:
        """Whether documents with these keys are all of a file, made as they would be.

        A file of several parts whose run was cut off between two of them is not.
        """
        loader = keys[0].partition(" ")[0]
        wanted = self.key(loader, title, len(keys))
        return all(key == wanted for key in keys)


@cache
def version_of(loader: str) -> str:
    """The version of a loader: ours as listed, a stranger's as its package's."""
    return f"{LAYER}.{VERSIONS.get(loader) or _package('elt_llm.loaders', loader)}"


def _package(group: str, name: str) -> str:
    """The version of the package that brings an entry point; empty where none does."""
    found = entry_points(group=group, name=name)
    return next((p.dist.version for p in found if p.dist), "")


class Outcome(StrEnum):
    """What becomes of a file."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    RENAMED = "renamed"
    COPY = "copy"
    FAILED = "failed"


@dataclass(frozen=True)
class Seen:
    """A file as it lies there: its digest and size, or why it cannot be read."""

    item: Item
    sha256: str = ""
    size: int = 0
    error: IngestError | None = None


@dataclass(frozen=True)
class Verdict:
    """What becomes of a file; `other` is the address it is a copy of, or had before."""

    outcome: Outcome
    other: str = ""


@dataclass
class Ledger:
    """The documents of the collections in question by address, and those in part."""

    rows: dict[str, list[DocumentRow]] = field(default_factory=dict)
    partial: frozenset[str] = frozenset()

    @classmethod
    def read(cls, store: Store, collection: str, prefix: str) -> "Ledger":
        """Of one collection, or of all whose names begin with a prefix."""
        found = cls()
        partial: set[str] = set()
        for card in store.collections():
            ours = prefix and card.name.startswith(f"{prefix}_")
            if card.name != collection and not ours:
                continue
            for row in store.documents(card.name):
                found.rows.setdefault(row.uri, []).append(row)
            if card.quarantined:
                partial |= {q.document_id for q in store.quarantined(card.name)}
        found.partial = frozenset(partial)
        return found

    @property
    def collections(self) -> set[str]:
        """Names of the collections that hold anything."""
        return {row.collection for rows in self.rows.values() for row in rows}

    def is_current(self, seen: Seen, keys: Keys) -> bool:
        """Whether the file is stored as it is, every chunk with its vector."""
        rows = self.rows.get(seen.item.uri)
        if not rows or not keys.same([r.config_key for r in rows], seen.item.title):
            return False
        return all(
            row.sha256 == seen.sha256 and row.document_id not in self.partial
            for row in rows
        )

    def verdicts(
        self, files: Sequence[Seen], keys: Keys, *, rebuild: bool
    ) -> list[Verdict]:
        """What becomes of each file, in order."""
        now = {seen.item.uri: seen.sha256 for seen in files if not seen.error}
        places = self._places()
        claimed: set[str] = set()
        made: list[Verdict] = []
        for seen in files:
            if seen.error:
                made.append(Verdict(Outcome.FAILED))
                continue
            others = places.get(seen.sha256, [])
            if seen.item.uri in self.rows:
                current = not rebuild and self.is_current(seen, keys)
                made.append(Verdict(Outcome.UNCHANGED if current else Outcome.UPDATED))
            else:
                made.append(_of_new(seen, others, now, claimed))
            places.setdefault(seen.sha256, []).append(seen.item.uri)
        return made

    def moved(self, now: Mapping[str, str]) -> list[str]:
        """Addresses whose file is gone and whose content is at another one now."""
        contents = set(now.values())
        return [
            uri
            for uri, rows in sorted(self.rows.items())
            if uri not in now and rows[0].sha256 in contents and is_gone(uri)
        ]

    def _places(self) -> dict[str, list[str]]:
        """Addresses by digest, in order."""
        found: dict[str, list[str]] = {}
        for uri, rows in sorted(self.rows.items()):
            found.setdefault(rows[0].sha256, []).append(uri)
        return found


def _of_new(
    seen: Seen, others: Sequence[str], now: Mapping[str, str], claimed: set[str]
) -> Verdict:
    """What becomes of a file at an address that is not known yet.

    A file that was named is a document of its own. One that was met in a folder is a
    copy, where its content is stored under an address that still has it. What is added
    names the other document of the same content.
    """
    for other in others:
        if other not in now and is_gone(other):
            if other not in claimed:
                claimed.add(other)
                return Verdict(Outcome.RENAMED, other)
        elif not seen.item.named and now.get(other, seen.sha256) == seen.sha256:
            return Verdict(Outcome.COPY, other)
    return Verdict(Outcome.ADDED, next(iter(others), ""))
