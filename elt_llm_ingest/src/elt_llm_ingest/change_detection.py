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
from elt_llm_ingest.discovery import InputFile, is_missing
from elt_llm_ingest.readers.registry import LAYER, VERSIONS

# A chunker's number rises with anything that makes it cut otherwise: documents that it
# cut before are cut again then.
CHUNKERS = {
    "hierarchical": "3",
    "proposition": "3",
    "section_aware": "3",
    "semantic": "3",
    "sentence": "4",
    "sentence_window": "3",
    "table_aware": "3",
}


class ConfigKeys:
    """The keys of one run's documents."""

    def __init__(self, config: RagConfig, metadata: object) -> None:
        chunking = config.chunking
        name = chunking.strategy
        version = CHUNKERS.get(name) or _package_version("elt_llm.chunkers", name)
        settings = json.dumps(chunking.model_dump(mode="json"), sort_keys=True)
        extra = json.dumps(metadata, sort_keys=True)
        enrichment = (
            config.enrichment.model_dump_json() if config.enrichment.strategy else ""
        )
        self._shared = digest(settings, version, extra, enrichment)
        self._computed: dict[tuple[str, str, int], str] = {}

    def compute(self, loader: str, title: str = "", parts: int = 1) -> str:
        """The key of each document of a file that `loader` made into `parts`."""
        wanted = (loader, title, parts)
        if wanted not in self._computed:
            key = digest("ingest", loader_version(loader), self._shared, title)[:16]
            count = f"/{parts}" if parts > 1 else ""
            self._computed[wanted] = f"{loader} {key}{count}"
        return self._computed[wanted]

    def match_all(self, keys: list[str], title: str = "") -> bool:
        """Whether documents with these keys are all of a file, made as they would be.

        A file of several parts whose run was cut off between two of them is not.
        """
        loader = keys[0].partition(" ")[0]
        wanted = self.compute(loader, title, len(keys))
        return all(key == wanted for key in keys)


@cache
def loader_version(loader: str) -> str:
    """The version of a loader: ours as listed, a stranger's as its package's."""
    return (
        f"{LAYER}.{VERSIONS.get(loader) or _package_version('elt_llm.loaders', loader)}"
    )


def _package_version(group: str, name: str) -> str:
    """The version of the package that brings an entry point; empty where none does."""
    points = entry_points(group=group, name=name)
    return next((p.dist.version for p in points if p.dist), "")


class FileOutcome(StrEnum):
    """What becomes of a file."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    RENAMED = "renamed"
    COPY = "copy"
    FAILED = "failed"


@dataclass(frozen=True)
class ScannedFile:
    """A file as it lies there: its digest and size, or why it cannot be read."""

    item: InputFile
    sha256: str = ""
    size: int = 0
    error: IngestError | None = None


@dataclass(frozen=True)
class FileChange:
    """What becomes of a file; `other` is the address it is a copy of, or had before."""

    outcome: FileOutcome
    other: str = ""

    @property
    def stored_as(self) -> FileOutcome:
        """The outcome once the file is stored: a copy of a failed file is added."""
        copied = self.outcome is FileOutcome.COPY
        return FileOutcome.ADDED if copied else self.outcome


@dataclass
class Ledger:
    """The documents of the collections in question by address, and those in part."""

    rows: dict[str, list[DocumentRow]] = field(default_factory=dict)
    partial: frozenset[str] = frozenset()

    @classmethod
    def read(cls, store: Store, collection: str, prefix: str) -> "Ledger":
        """Of one collection, or of all whose names begin with a prefix."""
        ledger = cls()
        partial: set[str] = set()
        for card in store.collections():
            ours = prefix and card.name.startswith(f"{prefix}_")
            if card.name != collection and not ours:
                continue
            for row in store.documents(card.name):
                ledger.rows.setdefault(row.uri, []).append(row)
            if card.quarantined:
                partial |= {q.document_id for q in store.quarantined_chunks(card.name)}
        ledger.partial = frozenset(partial)
        return ledger

    @property
    def collections(self) -> set[str]:
        """Names of the collections that hold anything."""
        return {row.collection for rows in self.rows.values() for row in rows}

    def is_current(self, file: ScannedFile, keys: ConfigKeys) -> bool:
        """Whether the file is stored as it is, every chunk with its vector."""
        rows = self.rows.get(file.item.uri)
        if not rows or not keys.match_all(
            [r.config_key for r in rows], file.item.title
        ):
            return False
        return all(
            row.sha256 == file.sha256 and row.document_id not in self.partial
            for row in rows
        )

    def classify(
        self, files: Sequence[ScannedFile], keys: ConfigKeys, *, rebuild: bool
    ) -> list[FileChange]:
        """What becomes of each file, in order."""
        now = {file.item.uri: file.sha256 for file in files if not file.error}
        places = self._uris_by_digest()
        claimed: set[str] = set()
        changes: list[FileChange] = []
        for file in files:
            if file.error:
                changes.append(FileChange(FileOutcome.FAILED))
                continue
            others = places.get(file.sha256, [])
            if file.item.uri in self.rows:
                current = not rebuild and self.is_current(file, keys)
                changes.append(
                    FileChange(
                        FileOutcome.UNCHANGED if current else FileOutcome.UPDATED
                    )
                )
            else:
                changes.append(_classify_new(file, others, now, claimed))
            places.setdefault(file.sha256, []).append(file.item.uri)
        return changes

    def find_moved(self, now: Mapping[str, str]) -> list[str]:
        """Addresses whose file is gone and whose content is at another one now."""
        contents = set(now.values())
        return [
            uri
            for uri, rows in sorted(self.rows.items())
            if uri not in now and rows[0].sha256 in contents and is_missing(uri)
        ]

    def _uris_by_digest(self) -> dict[str, list[str]]:
        """Addresses by digest, in order."""
        uris: dict[str, list[str]] = {}
        for uri, rows in sorted(self.rows.items()):
            uris.setdefault(rows[0].sha256, []).append(uri)
        return uris


def _classify_new(
    file: ScannedFile, others: Sequence[str], now: Mapping[str, str], claimed: set[str]
) -> FileChange:
    """What becomes of a file at an address that is not known yet.

    A file that was named is a document of its own. One that was met in a folder is a
    copy, where its content is stored under an address that still has it. What is added
    names the other document of the same content.
    """
    for other in others:
        if other not in now and is_missing(other):
            if other not in claimed:
                claimed.add(other)
                return FileChange(FileOutcome.RENAMED, other)
        elif not file.item.named and now.get(other, file.sha256) == file.sha256:
            return FileChange(FileOutcome.COPY, other)
    return FileChange(FileOutcome.ADDED, next(iter(others), ""))
