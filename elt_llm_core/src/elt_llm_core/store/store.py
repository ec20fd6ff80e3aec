"""The entry point to a data root."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from threading import Lock
from typing import TYPE_CHECKING

from elt_llm_core.config.bm25 import Recipe
from elt_llm_core.document import Block, Page, Sidecar
from elt_llm_core.errors import GenerationError, StoreError
from elt_llm_core.identifiers import collection_id
from elt_llm_core.store.database import schema
from elt_llm_core.store.database.conversations import Conversations
from elt_llm_core.store.database.day_ledger import DayLedger
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.job_rows import JobRows
from elt_llm_core.store.database.journal import Journal
from elt_llm_core.store.database.lock import LOCK, writer_lock
from elt_llm_core.store.database.reader import FILE, file_at
from elt_llm_core.store.database.records import CollectionCard, DocumentRow, Quarantined
from elt_llm_core.store.database.review_rows import Reviews
from elt_llm_core.store.database.shared_writer import SharedWriter
from elt_llm_core.store.database.version_rows import Versions
from elt_llm_core.store.index.manifest import IndexFolder, Manifest
from elt_llm_core.store.index.publish import MIN_NODES, sweep

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

    from elt_llm_core.store.collection import Collection
    from elt_llm_core.store.index.generation import Generation
    from elt_llm_core.store.writer import Writer


class Store:
    """One data root. Opening and reading create nothing; thread-safe.

    A published index is searched with its own recipe. `keywords` is the recipe for the
    next publications; None keeps the published one.
    """

    def __init__(self, data_dir: Path, keywords: Recipe | None = None) -> None:
        self.data_dir = data_dir
        self.keywords = keywords
        self._database = Database(data_dir)
        self._open: dict[str, tuple[object, Collection]] = {}
        self._generations: dict[str, Generation] = {}
        self._guard = Lock()
        self._journal_connection: Connection | None = None
        self._journal_file: tuple[int, int] | None = None
        self.journal = Journal(self._database, self._journal_writer)
        self.day_ledger = DayLedger(self._database, self._journal_writer)
        self._shared_writer = SharedWriter(data_dir)
        self.conversations = Conversations(
            self._database, self._shared_writer.transaction
        )
        self.reviews = Reviews(self._database, self._shared_writer.transaction)
        self.jobs = JobRows(self._database, self._shared_writer.transaction, data_dir)
        self.versions = Versions(self._database, self._shared_writer.transaction)

    def collections(self) -> list[CollectionCard]:
        """Return every collection's card, by name."""
        return self._database.collections()

    def card(self, name: str) -> CollectionCard:
        """Return one card. Raises CollectionNotFoundError or InvalidNameError."""
        return self._database.card(name)

    def quarantined_chunks(self, collection: str) -> list[Quarantined]:
        """Return a collection's chunks without a vector, with the reason."""
        self.card(collection)
        return self._database.quarantined_chunks(collection)

    def state(self, name: str) -> str:
        """Return a value that changes with every change of a collection.

        It never repeats, even after a restore. Empty for a missing collection.
        """
        return self._database.state(collection_id(name))

    def documents(self, collection: str) -> list[DocumentRow]:
        """Return the documents of a collection by uri and part."""
        self.card(collection)
        return self._database.documents(collection)

    def document(self, document_id: str) -> DocumentRow | None:
        """Return one document's row, or None."""
        return self._database.document(document_id)

    def document_text(self, document_id: str) -> str:
        """Return the canonical text of a document; empty if it does not exist."""
        return self._database.document_text(document_id)

    def content_digest(self, document_id: str) -> str:
        """Return a digest of a document's text and blocks; empty if it is missing.

        It also differs if the same text was stored with another compressor.
        """
        return self._database.content_digest(document_id)

    def blocks(self, document_id: str) -> list[Block]:
        """Return the blocks of a document in reading order."""
        return self._database.blocks(document_id)

    def pages(
        self, document_id: str, numbers: Sequence[int] | None = None
    ) -> list[Page]:
        """Return pages with their words, ascending, optionally only `numbers`."""
        return self._database.pages(document_id, numbers)

    def original(self, document_id: str) -> bytes | None:
        """Return the source file as read, if it was kept."""
        return self._database.original(document_id)

    def sidecars(self, collection: str, kind: str | None = None) -> list[Sidecar]:
        """Return structured content of a collection's documents."""
        self.card(collection)
        return self._database.sidecars(collection, kind)

    def nodes(
        self,
        collection: str,
        kinds: Sequence[str] | None = None,
        document_id: str | None = None,
    ) -> Iterator["TextNode"]:
        """Return chunks by document (uri, part) and ordinal, with their provenance."""
        self.card(collection)
        return self._database.nodes(collection, kinds, document_id)

    def missing_vectors(self, model: str, texts: Sequence[str]) -> list[int]:
        """Return positions in `texts` without a sound vector by this model."""
        return self._database.missing_vectors(model, texts)

    def nodes_by_id(
        self, collection: str, ids: Sequence[str]
    ) -> Mapping[str, "TextNode"]:
        """Return chunks by id; unknown ids are absent."""
        return self._database.nodes_by_id(collection, ids)

    def open(self, name: str) -> "Collection":
        """Return a collection with its published generation and newer changes.

        Cheap if nothing changed. Raises CollectionNotFoundError or InvalidNameError.
        """
        name = collection_id(name)
        folder = IndexFolder(self.data_dir, name)
        with self._guard:
            while True:
                state = self._database.state(name)
                stamp = (state, folder.manifest_stamp())
                held = self._open.get(name)
                if held is not None and held[0] == stamp and state:
                    return held[1]
                collection = self._open_collection(name, folder)
                # A generation that was replaced in the meantime may have been removed.
                if not collection.degradations or folder.manifest_stamp() == stamp[1]:
                    self._open[name] = (stamp, collection)
                    return collection

    @contextmanager
    def writer(self, wait: float = 0.0) -> Iterator["Writer"]:
        """Yield the only writer; create the data root if it does not exist.

        Waits up to `wait` seconds for another process. Raises StoreLockedError.
        """
        with writer_lock(self.data_dir / LOCK, wait):
            from elt_llm_core.store.writer import Writer  # noqa: PLC0415 - readers

            sweep(self.data_dir)
            writer = Writer(self.data_dir, self.keywords)
            try:
                yield writer
            finally:
                writer.close()

    def close(self) -> None:
        """Close this thread's connections and the opened indexes."""
        self._database.close()
        self._open.clear()
        self._generations.clear()
        self._shared_writer.close()
        if self._journal_connection is not None:
            self._journal_connection.close()
            self._journal_connection = None

    def _open_collection(self, name: str, folder: IndexFolder) -> "Collection":
        # Imported here: Chroma takes half a second, which an ingest can save.
        from elt_llm_core.store.collection import Collection  # noqa: PLC0415

        # Read before the database: a manifest is never newer than a later snapshot.
        manifests, problem = folder.choices()
        with self._database.snapshot():
            card = self.card(name)
            for manifest in manifests:
                try:
                    index = self._generation(card, folder, manifest)
                    return Collection(self._database, card, index, problem)
                except GenerationError as error:
                    problem = problem or error.message
            if card.chunks >= MIN_NODES:
                problem = problem or "no generation is published yet"
            return Collection(self._database, card, None, problem)

    def _generation(
        self, card: CollectionCard, folder: IndexFolder, manifest: Manifest
    ) -> "Generation":
        from elt_llm_core.store.index.generation import Generation  # noqa: PLC0415

        if manifest.epoch != self._database.epoch(card.name):
            raise GenerationError(card.name, "it belongs to a dropped collection")
        if not self._database.has_change(card.name, manifest.seq, manifest.stamp):
            raise GenerationError(card.name, "it was built from a different database")
        if manifest.embedder_digest != card.embedder_digest:
            raise GenerationError(card.name, "it was built with another embedder")
        held = self._generations.get(card.name)
        if held is None or held.manifest != manifest:
            try:
                held = Generation(folder, manifest)
            except OSError as error:  # no space or no permission for a view of it
                raise GenerationError(card.name, str(error)) from error
            self._generations[card.name] = held
        return held

    def _journal_writer(self) -> Connection:
        with self._guard:
            path = self.data_dir / FILE
            file = file_at(path)
            if file is None:
                schema.require_whole(path)
                raise StoreError(f"there is no data at {self.data_dir} yet")
            held = self._journal_connection
            if held is None or file != self._journal_file:
                held = schema.connect_writer(path)
                self._journal_connection, self._journal_file = held, file
            return held
