"""Change the database: one document, one transaction."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection

import numpy as np

from elt_llm_core.config.bm25 import Recipe
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import (
    CollectionMismatchError,
    CollectionNotFoundError,
    IngestError,
    InvalidNameError,
    NameTakenError,
    UsageError,
)
from elt_llm_core.identifiers import (
    LONGEST_NAME,
    collection_id,
    collection_name,
    document_id,
)
from elt_llm_core.models.embedder import CountingEmbedder
from elt_llm_core.results import Degradation
from elt_llm_core.store.database import rows, schema, vectors
from elt_llm_core.store.database.chunk_rows import Chunks, ChunkTarget
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.database.records import (
    MOST_PRIORITY,
    NORMAL_PRIORITY,
    PRIORITY,
    CollectionCard,
    NewDocument,
)
from elt_llm_core.store.database.schema import (
    COLLECTION_PRIORITY,
    DOCUMENT_PRIORITY,
    TITLE,
)
from elt_llm_core.store.index.manifest import IndexFolder
from elt_llm_core.store.index.publish import (
    MIN_NODES,
    is_due,
    is_outdated,
    publish,
    rollback,
    sweep_dropped,
)
from elt_llm_core.store.maintenance import backup
from elt_llm_core.store.maintenance.migrations import migrate
from elt_llm_core.store.maintenance.purge import Purge, Purged


class Writer:
    """The only writer of a data root; `Store.writer` creates it with the lock."""

    def __init__(self, data_dir: Path, keywords: Recipe | None = None) -> None:
        self._data_dir = data_dir
        self._keywords = keywords
        self._path = data_dir / FILE
        backup.sweep(data_dir)
        self.migrated = migrate(data_dir)
        self._connection = schema.connect_writer(self._path)
        self._database = Database(data_dir)
        sweep_dropped(self._connection, data_dir)

    def close(self) -> None:
        """Checkpoint the log, and close the connections."""
        self._database.close()
        schema.fold_log(self._connection)
        self._connection.close()

    def ensure_collection(
        self, name: str, embedder: CountingEmbedder, chunker: str, title: str = ""
    ) -> CollectionCard:
        """Return the card of the collection with the id `name`; create it if missing.

        `title` becomes its display name if it is created now. Another chunker is
        recorded on the card; documents keep the key of theirs.

        Raises:
            CollectionMismatchError: If it was indexed with another embedder.
        """
        collection_name(name)
        try:
            card = self._database.card(name)
        except CollectionNotFoundError:
            return self._create(name, embedder, chunker, title)
        if card.embedder_digest != embedder.digest:
            was = (card.embedder, card.embedder_digest)
            now = (embedder.model_name, embedder.digest)
            raise CollectionMismatchError.of_embedder(name, was, now)
        if card.chunker != chunker:
            with self._transaction() as connection:
                connection.execute(
                    "update collection set chunker = ? where name = ?", (chunker, name)
                )
        return self._database.card(name)

    def missing_vectors(self, model: str, texts: Sequence[str]) -> list[int]:
        """Return positions in `texts` without a sound vector by this model."""
        with schema.translate_errors(self._path):
            return vectors.missing(self._connection, model, texts)

    def damaged_vectors(self, model: str, texts: Sequence[str]) -> list[str]:
        """Return the texts whose vector by `model` is damaged."""
        with schema.translate_errors(self._path):
            return vectors.list_damaged(self._connection, model, texts)

    def put_vectors(self, model: str, texts: Sequence[str], made: np.ndarray) -> None:
        """Store vectors by content. `made` has shape (len(texts), d).

        Raises EmbedError, and stores none, if a row is not finite, is zero, or has
        another dimension than the collections of that model.
        """
        unit = vectors.check_vectors(self._connection, model, texts, made)
        with self._transaction() as connection:
            vectors.put(connection, model, texts, unit)

    def put_document(self, collection: str, new: NewDocument) -> str:
        """Store a document with its chunks in one transaction; return its id.

        Unchanged chunks stay. Every chunk's vector must have been stored before, or its
        text must be in `new.unembedded`; a later call with its vector ends the
        quarantine. Raises EmbedError otherwise.
        """
        return self.put_documents(collection, [new])[0]

    def put_documents(self, collection: str, new: Sequence[NewDocument]) -> list[str]:
        """Store documents as `put_document` does, all or none; return their ids.

        Many small documents are stored faster together than one by one.
        """
        model, dimension = self._database.embedding(collection)
        ids = []
        with self._transaction() as connection:
            seq = rows.next_seq(connection, collection)
            words = rows.WordChanges()
            for document in new:
                key = document_id(collection, document.uri, document.parsed.part)
                if key in ids:
                    words.tell(connection)  # may remove what it just inserted
                target = ChunkTarget(collection, key, model, dimension)
                self._put(connection, target, document, (seq, words))
                ids.append(key)
            words.tell(connection)
            crash_point(CrashPoint.DOCUMENT_WRITTEN)
        crash_point(CrashPoint.DOCUMENT_STORED)
        return ids

    def remove_document(self, document: str) -> None:
        """Remove a document; searches stop finding it at once."""
        row = self._database.document(document)
        if row is None:
            return
        with self._transaction() as connection:
            seq = rows.next_seq(connection, row.collection)
            stale = rows.stored_chunks(connection, document)
            words = rows.WordChanges()
            rows.remove_nodes(connection, row.collection, seq, stale, words)
            words.tell(connection)
            connection.execute(
                "delete from document where document_id = ?", (document,)
            )
            rows.drop_unused_originals(connection, [row.sha256])
            _forget(connection, DOCUMENT_PRIORITY + document)
        crash_point(CrashPoint.DOCUMENT_REMOVED)

    def drop_collection(self, name: str) -> None:
        """Remove a collection, its documents and its indexes."""
        self._database.card(name)
        words = rows.WordChanges()
        with self._transaction() as connection:
            for document, sha256 in connection.execute(
                "select document_id, sha256 from document where collection = ?", (name,)
            ).fetchall():
                stale = rows.stored_chunks(connection, document)
                rows.remove_nodes(connection, name, 0, stale, words)
                connection.execute(
                    "delete from document where document_id = ?", (document,)
                )
                rows.drop_unused_originals(connection, [sha256])
                _forget(connection, DOCUMENT_PRIORITY + document)
            connection.execute("delete from collection where name = ?", (name,))
            _forget(connection, TITLE + name)
            _forget(connection, COLLECTION_PRIORITY + name)
            words.tell(connection)
        crash_point(CrashPoint.COLLECTION_DROPPED)
        shutil.rmtree(IndexFolder(self._data_dir, name).folder, ignore_errors=True)

    def rename_collection(self, name: str, title: str) -> CollectionCard:
        """Give a collection another title; its id does not change.

        Args:
            name: Its id.
            title: The new title.

        Returns:
            Its card.

        Raises:
            CollectionNotFoundError: If there is none with that id.
            InvalidNameError: If `title` is not a valid name.
            NameTakenError: If another collection has that name or its id.
        """
        title = title.strip()
        card, key = self._database.card(name), collection_id(title)
        for other in self._database.collections():
            names = {other.name, collection_id(other.label)}
            if other.name != card.name and key in names:
                raise NameTakenError(title, other.name, other.label)
        kept = "" if title == card.name else title
        with self._transaction() as connection:
            connection.execute("delete from meta where key = ?", (TITLE + card.name,))
            if kept:
                connection.execute(
                    "insert into meta values(?, ?)", (TITLE + card.name, kept)
                )
        return self._database.card(card.name)

    def rename_document(self, document: str, title: str) -> None:
        """Give a document another title, until its file changes and is read again.

        Args:
            document: Its id; an unknown id has no effect.
            title: The title, as one line.

        Raises:
            InvalidNameError: If `title` is empty, too long or has control characters.
        """
        title = title.strip()
        if not title.isprintable() or not 0 < len(title) <= LONGEST_NAME:
            raise InvalidNameError(title)
        with self._transaction() as connection:
            connection.execute(
                "update document set title = ? where document_id = ?", (title, document)
            )

    def set_priority(self, name: str, priority: int, document: str = "") -> None:
        """Set how far a collection, or one of its documents, is trusted.

        Args:
            name: The id of the collection.
            priority: 0 to 100; 0 excludes from searches, 50 is the default. A document
                without its own has that of its collection.
            document: The id of the document; empty for the collection.

        Raises:
            CollectionNotFoundError: If there is no such collection.
            UsageError: If `priority` is outside its range.
        """
        if not 0 <= priority <= MOST_PRIORITY:
            raise UsageError(
                f"{priority} is not a valid priority",
                f"use a number from 0 to {MOST_PRIORITY}: {PRIORITY}",
            )
        card = self._database.card(name)
        key = DOCUMENT_PRIORITY + document if document else COLLECTION_PRIORITY + name
        with self._transaction() as connection:
            _forget(connection, key)
            if document or priority != NORMAL_PRIORITY:
                connection.execute(
                    "insert into meta values(?, ?)", (key, str(priority))
                )
            # Cached answers belong to the earlier contents.
            rows.next_seq(connection, card.name)

    def publish(
        self, names: Sequence[str], delta_fraction: float = 0.1, *, force: bool = False
    ) -> dict[str, int]:
        """Build and publish generations with a large delta; return them by name.

        An index with another recipe than the configured one is rebuilt too. A
        collection that became too small for an index loses it. Raises GenerationError;
        the collection then stays searchable without an index.
        """
        wanted = []
        for name in sorted(set(names)):
            folder = IndexFolder(self._data_dir, name)
            if self._database.card(name).chunks < MIN_NODES:
                folder.retire()
            elif force or is_due(
                self._database, folder, delta_fraction, self._keywords
            ):
                wanted.append(name)
        if not wanted:
            return {}
        return publish(self._database, self._data_dir, wanted, self._keywords)

    def is_outdated(self, name: str) -> bool:
        """Return whether the published keyword index has another recipe."""
        return is_outdated(IndexFolder(self._data_dir, name), self._keywords)

    def rollback(self, name: str) -> int:
        """Publish the newest sound earlier generation; return its number.

        Raises GenerationError if there is none.
        """
        return rollback(self._database, self._data_dir, name)

    def back_up_if_due(self, hours: float, kept: int) -> Degradation | None:
        """Copy the database if the newest copy is too old."""
        return backup.back_up_if_due(self._data_dir, hours, kept)

    def purge(
        self, *, backups: bool = False, journal: bool = False, texts: bool = False
    ) -> Purged:
        """Erase removed data from every file; embeds nothing.

        Args:
            backups: Whether to delete copies of earlier states.
            journal: Whether to delete the results of batches, which may quote it.
            texts: Whether to delete conversations and stored texts that cite removed
                documents.

        Raises:
            GenerationError, StoreWriteError: The same call then resumes.
        """
        purge = Purge(self._connection, self._database, self._data_dir)
        return purge.run(
            lambda names: self.publish(names, force=True),
            backups=backups,
            journal=journal,
            texts=texts,
        )

    @staticmethod
    def _put(
        connection: Connection,
        target: ChunkTarget,
        new: NewDocument,
        change: tuple[int, rows.WordChanges],
    ) -> None:
        seq, words = change
        chunks = Chunks(connection, target, new)
        stale, present = chunks.stale(), chunks.present()
        crash_point(CrashPoint.DOCUMENT_BEGUN)
        rows.remove_nodes(connection, target.collection, seq, stale, words)
        rows.put_document_row(connection, target.document_id, target.collection, new)
        crash_point(CrashPoint.DOCUMENT_HALF)
        for part in chunks.rows():
            chunks_now = ({**chunk, "seq": seq} for chunk in part)
            rows.put_nodes(connection, chunks_now, present, words)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        connection = self._connection
        try:
            with schema.translate_errors(self._path), schema.transaction(connection):
                yield connection
        except UnicodeEncodeError as error:
            raise IngestError(
                f"the text contains an invalid character (unpaired surrogate): {error}"
            ) from error

    def _create(
        self, name: str, embedder: CountingEmbedder, chunker: str, title: str
    ) -> CollectionCard:
        # Called before the transaction, because a model server may be slow, and the
        # call is counted in this database.
        digest, dimension = embedder.digest, embedder.dimension
        with self._transaction() as connection:
            connection.execute("update counter set value = value + 1")
            (epoch,) = connection.execute("select value from counter").fetchone()
            connection.execute(
                "insert into collection values(?, ?, ?, ?, 'cosine', ?, ?, ?)",
                (
                    name,
                    embedder.model_name,
                    digest,
                    dimension,
                    chunker,
                    epoch,
                    epoch,
                ),
            )
            if title:
                connection.execute(
                    "insert or replace into meta values(?, ?)", (TITLE + name, title)
                )
            rows.mark_change(connection, name, epoch)
        return self._database.card(name)


def _forget(connection: Connection, key: str) -> None:
    """Delete a key of `meta`."""
    connection.execute("delete from meta where key = ?", (key,))
