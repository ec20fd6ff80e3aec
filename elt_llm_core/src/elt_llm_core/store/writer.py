"""Changing the truth: one document, one transaction."""

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
from elt_llm_core.store.database.reader import FILE, Truth
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
    due,
    is_outdated,
    publish,
    rollback,
    sweep_dropped,
)
from elt_llm_core.store.maintenance import backup
from elt_llm_core.store.maintenance.migrations import migrate
from elt_llm_core.store.maintenance.purge import Purge, Purged


class Writer:
    """The one writer of a data root. Made by `Store.writer`, which holds the lock."""

    def __init__(self, data_dir: Path, keywords: Recipe | None = None) -> None:
        self._data_dir = data_dir
        self._keywords = keywords
        self._path = data_dir / FILE
        backup.sweep(data_dir)
        self.migrated = migrate(data_dir)
        self._connection = schema.connect_writer(self._path)
        self._truth = Truth(data_dir)
        sweep_dropped(self._connection, data_dir)

    def close(self) -> None:
        """Fold the log into the truth file, and close the connections."""
        self._truth.close()
        schema.fold_log(self._connection)
        self._connection.close()

    def ensure_collection(
        self, name: str, embedder: CountingEmbedder, chunker: str, title: str = ""
    ) -> CollectionCard:
        """Return the card of the collection with the id `name`, made if there is none.

        `title` is kept as its name for people if it is made now. Another chunker is
        noted on the card: documents keep the key they were made with.

        Raises:
            CollectionMismatchError: If it was indexed with another embedder.
        """
        collection_name(name)
        try:
            card = self._truth.card(name)
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
        return self._truth.card(name)

    def missing_vectors(self, model: str, texts: Sequence[str]) -> list[int]:
        """Positions in `texts` without a sound vector by the model of this digest."""
        with schema.faults_told(self._path):
            return vectors.missing(self._connection, model, texts)

    def damaged_vectors(self, model: str, texts: Sequence[str]) -> list[str]:
        """Those of the texts whose vector by `model` is not as it was stored."""
        with schema.faults_told(self._path):
            return vectors.list_damaged(self._connection, model, texts)

    def put_vectors(self, model: str, texts: Sequence[str], made: np.ndarray) -> None:
        """Keep vectors by content. `made` has shape (len(texts), d).

        Raises EmbedError, and keeps none, where a row is not finite, has no length, or
        is not as long as the vectors of the collections of that model.
        """
        unit = vectors.check_vectors(self._connection, model, texts, made)
        with self._transaction() as connection:
            vectors.put(connection, model, texts, unit)

    def put_document(self, collection: str, new: NewDocument) -> str:
        """Store a document with its chunks in one transaction; tells its id.

        Chunks that did not change stay as they are. Every chunk's vector must have been
        put before, or its text be named in `new.unembedded`; a later call with its
        vector takes it out of quarantine. Raises EmbedError for one that was neither.
        """
        return self.put_documents(collection, [new])[0]

    def put_documents(self, collection: str, new: Sequence[NewDocument]) -> list[str]:
        """Store documents as `put_document` does, all of them or none; tells their ids.

        Many small documents are stored faster together than one by one.
        """
        model, dimension = self._truth.embedding(collection)
        ids = []
        with self._transaction() as connection:
            seq = rows.next_seq(connection, collection)
            words = rows.WordChanges()
            for document in new:
                key = document_id(collection, document.uri, document.parsed.part)
                if key in ids:
                    words.tell(connection)  # it may take out what it just put in
                target = ChunkTarget(collection, key, model, dimension)
                self._put(connection, target, document, (seq, words))
                ids.append(key)
            words.tell(connection)
            crash_point(CrashPoint.DOCUMENT_WRITTEN)
        crash_point(CrashPoint.DOCUMENT_STORED)
        return ids

    def remove_document(self, document: str) -> None:
        """Take a document out; searches stop finding it at once."""
        row = self._truth.document(document)
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
        self._truth.card(name)
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
        """Give a collection another name for people; its id stays as it is.

        Args:
            name: Its id.
            title: What it is called from now on.

        Returns:
            Its card.

        Raises:
            CollectionNotFoundError: If there is none of that id.
            InvalidNameError: If `title` is no name.
            NameTakenError: If another collection has that name or its id.
        """
        title = title.strip()
        card, key = self._truth.card(name), collection_id(title)
        for other in self._truth.collections():
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
        return self._truth.card(card.name)

    def rename_document(self, document: str, title: str) -> None:
        """Give a document another title, until its file changes and is read again.

        Args:
            document: Its id; where there is none, nothing happens.
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
            priority: 0 to 100; what has 0 is not searched, 50 is usual. A document
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
        card = self._truth.card(name)
        key = DOCUMENT_PRIORITY + document if document else COLLECTION_PRIORITY + name
        with self._transaction() as connection:
            _forget(connection, key)
            if document or priority != NORMAL_PRIORITY:
                connection.execute(
                    "insert into meta values(?, ?)", (key, str(priority))
                )
            # Answers that were kept are of what was searched before.
            rows.next_seq(connection, card.name)

    def publish(
        self, names: Sequence[str], delta_fraction: float = 0.1, *, force: bool = False
    ) -> dict[str, int]:
        """Build and publish generations where the delta is large; name to generation.

        One whose words are indexed otherwise than configured gets a new one too. A
        collection that became too small for an index loses it. Raises
        GenerationError; the collection then stays searchable without an index.
        """
        wanted = []
        for name in sorted(set(names)):
            folder = IndexFolder(self._data_dir, name)
            if self._truth.card(name).chunks < MIN_NODES:
                folder.retire()
            elif force or due(self._truth, folder, delta_fraction, self._keywords):
                wanted.append(name)
        if not wanted:
            return {}
        return publish(self._truth, self._data_dir, wanted, self._keywords)

    def is_outdated(self, name: str) -> bool:
        """Whether the published index of words is not the one that is configured."""
        return is_outdated(IndexFolder(self._data_dir, name), self._keywords)

    def rollback(self, name: str) -> int:
        """Publish the newest sound generation before the published one; its number.

        Raises GenerationError where there is none.
        """
        return rollback(self._truth, self._data_dir, name)

    def back_up_if_due(self, hours: float, kept: int) -> Degradation | None:
        """Copy the truth if the newest copy is too old; a notice where it cannot be."""
        return backup.back_up_if_due(self._data_dir, hours, kept)

    def purge(
        self, *, backups: bool = False, journal: bool = False, texts: bool = False
    ) -> Purged:
        """Take what was removed out of every file; embeds nothing.

        Args:
            backups: Delete the copies of earlier states too.
            journal: Delete the results of batches too, which may quote it.
            texts: Delete the conversations and kept texts too that cite removed
                documents.

        Raises:
            GenerationError, StoreWriteError: The same call goes on from there.
        """
        purge = Purge(self._connection, self._truth, self._data_dir)
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
            with schema.faults_told(self._path), schema.transaction(connection):
                yield connection
        except UnicodeEncodeError as error:
            raise IngestError(
                f"the text contains an invalid character (unpaired surrogate): {error}"
            ) from error

    def _create(
        self, name: str, embedder: CountingEmbedder, chunker: str, title: str
    ) -> CollectionCard:
        # Asked before the transaction: a model server may take its time, and the call
        # is counted in this same database.
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
        return self._truth.card(name)


def _forget(connection: Connection, key: str) -> None:
    """Take a key out of `meta`."""
    connection.execute("delete from meta where key = ?", (key,))
