"""Compare files with the stored documents and decide what to do with each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from importlib.metadata import entry_points

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import IngestError
from elt_llm_core.files.file_addresses import FileAddresses
from elt_llm_core.identifiers import digest
from elt_llm_core.store import Store
from elt_llm_core.store.database.records import DocumentRow
from elt_llm_ingest.discovery import InputFile, is_missing
from elt_llm_ingest.readers.registry import LAYER, VERSIONS

# A chunker's version is incremented with any change of its output; documents that it
# chunked before are then chunked again.
CHUNKERS = {
    "hierarchical": "4",
    "proposition": "4",
    "section_aware": "4",
    "semantic": "4",
    "sentence": "5",
    "sentence_window": "4",
    "table_aware": "4",
}


# After the key of a document that lacks something: the next ingest reads it again.
INCOMPLETE = " incomplete"


class ConfigKeys:
    """The cache keys of one run's documents."""

    def __init__(self, config: RagConfig, metadata: object) -> None:
        chunking = config.chunking
        name = chunking.strategy
        version = CHUNKERS.get(name) or _package_version("elt_llm.chunkers", name)
        settings = json.dumps(chunking.model_dump(mode="json"), sort_keys=True)
        extra = json.dumps(metadata, sort_keys=True)
        enrichment = (
            config.enrichment.model_dump_json() if config.enrichment.strategy else ""
        )
        if "figure_descriptions" in config.enrichment.strategy:
            choices = [one.model_dump(mode="json") for one in config.roles.vision]
            enrichment += json.dumps(choices, sort_keys=True)
        self._shared = digest(settings, version, extra, enrichment)
        self._computed: dict[tuple[str, str, str, int], str] = {}

    def compute(self, loader: str, item: InputFile, parts: int = 1) -> str:
        """Return the key of each document of a file that `loader` read into `parts`."""
        own = json.dumps(dict(item.metadata), sort_keys=True) if item.metadata else ""
        wanted = (loader, item.title, own, parts)
        if wanted not in self._computed:
            facts = [self._shared, item.title, *([own] if own else [])]
            key = digest("ingest", loader_version(loader), *facts)[:16]
            count = f"/{parts}" if parts > 1 else ""
            self._computed[wanted] = f"{loader} {key}{count}"
        return self._computed[wanted]

    def match_all(self, keys: list[str], item: InputFile) -> bool:
        """Return whether these are the keys of all documents of a file.

        A file of several parts whose run was interrupted between two of them is
        incomplete.
        """
        loader = keys[0].partition(" ")[0]
        wanted = self.compute(loader, item, len(keys))
        return all(key == wanted for key in keys)


@cache
def loader_version(loader: str) -> str:
    """Return a loader's version: a built-in number or its package's version."""
    return (
        f"{LAYER}.{VERSIONS.get(loader) or _package_version('elt_llm.loaders', loader)}"
    )


def _package_version(group: str, name: str) -> str:
    """Return the version of an entry point's package, or an empty string."""
    points = entry_points(group=group, name=name)
    return next((p.dist.version for p in points if p.dist), "")


class FileOutcome(StrEnum):
    """The outcome for a file."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    RENAMED = "renamed"
    COPY = "copy"
    FAILED = "failed"


@dataclass(frozen=True)
class ScannedFile:
    """A file on disk: its digest and size, or the error why it cannot be read."""

    item: InputFile
    sha256: str = ""
    size: int = 0
    error: IngestError | None = None


@dataclass(frozen=True)
class FileChange:
    """The outcome for a file; `other` is the address that it copies or had before."""

    outcome: FileOutcome
    other: str = ""

    @property
    def stored_as(self) -> FileOutcome:
        """Return the outcome once stored: a copy of a failed file is added."""
        copied = self.outcome is FileOutcome.COPY
        return FileOutcome.ADDED if copied else self.outcome


@dataclass
class Ledger:
    """The stored documents of the relevant collections by address."""

    rows: dict[str, list[DocumentRow]] = field(default_factory=dict)
    partial: frozenset[str] = frozenset()

    @classmethod
    def read(cls, store: Store, collection: str, prefix: str) -> "Ledger":
        """Read the ledger of one collection, or of all with a name prefix."""
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
        """Return the names of the collections with documents."""
        return {row.collection for rows in self.rows.values() for row in rows}

    @cached_property
    def _by_name(self) -> dict[str, list[list[DocumentRow]]]:
        named: dict[str, list[list[DocumentRow]]] = {}
        for _, documents in sorted(self.rows.items()):
            named.setdefault(documents[0].name, []).append(documents)
        return named

    def namesakes(self, item: InputFile) -> list[list[DocumentRow]]:
        """Return the documents of the file's name under other addresses."""
        return [d for d in self._by_name.get(item.name, []) if d[0].uri != item.uri]

    def find_spellings(self) -> dict[str, list[str]]:
        """Return the stored addresses of each file, by its resolved address.

        Earlier versions stored a path as it was spelled, with `..` and linked folders.
        """
        addresses = FileAddresses()
        spellings: dict[str, list[str]] = {}
        for uri in sorted(self.rows):
            spellings.setdefault(addresses.of_address(uri), []).append(uri)
        return spellings

    def adopt(self, items: Sequence[InputFile]) -> list[InputFile]:
        """Return the files, each under the address under which it is stored.

        A document keeps its address, because its id, and those of its chunks, which
        conversations and decisions point at, are derived from it.
        """
        spellings = self.find_spellings()
        return [
            item
            if item.uri in self.rows or item.uri not in spellings
            else replace(item, uri=spellings[item.uri][0])
            for item in items
        ]

    def is_current(self, file: ScannedFile, keys: ConfigKeys) -> bool:
        """Return whether the file is stored unchanged, every chunk with its vector."""
        rows = self.rows.get(file.item.uri)
        if not rows or not keys.match_all([r.config_key for r in rows], file.item):
            return False
        return all(
            row.sha256 == file.sha256 and row.document_id not in self.partial
            for row in rows
        )

    def classify(
        self, files: Sequence[ScannedFile], keys: ConfigKeys, *, rebuild: bool
    ) -> list[FileChange]:
        """Return the outcome for each file, in order."""
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
        """Return addresses of missing files whose content has a new address."""
        contents = set(now.values())
        return [
            uri
            for uri, rows in sorted(self.rows.items())
            if uri not in now and rows[0].sha256 in contents and is_missing(uri)
        ]

    def _uris_by_digest(self) -> dict[str, list[str]]:
        """Return addresses by digest, in order."""
        uris: dict[str, list[str]] = {}
        for uri, rows in sorted(self.rows.items()):
            uris.setdefault(rows[0].sha256, []).append(uri)
        return uris


def _classify_new(
    file: ScannedFile, others: Sequence[str], now: Mapping[str, str], claimed: set[str]
) -> FileChange:
    """Return the outcome for a file at an unknown address.

    A file that was named becomes a document. One found in a folder is a copy if its
    content is stored under an address that still exists. An added file records the
    other document with the same content.
    """
    for other in others:
        if other not in now and is_missing(other):
            if other not in claimed:
                claimed.add(other)
                return FileChange(FileOutcome.RENAMED, other)
        elif not file.item.named and now.get(other, file.sha256) == file.sha256:
            return FileChange(FileOutcome.COPY, other)
    return FileChange(FileOutcome.ADDED, next(iter(others), ""))
