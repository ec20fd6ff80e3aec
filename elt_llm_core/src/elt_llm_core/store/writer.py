"""Changing the truth: one document, one transaction."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection, DatabaseError

import numpy as np
from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import (
    CollectionMismatchError,
    CollectionNotFoundError,
    EmbedError,
    IngestError,
)
from elt_llm_core.models.protocol import CountingEmbedder
from elt_llm_core.names import collection_name, digest, document_id, node_id
from elt_llm_core.store import codec, rows, schema
from elt_llm_core.store.manifest import IndexFolder
from elt_llm_core.store.publish import MIN_NODES, due, publish
from elt_llm_core.store.reader import FILE
from elt_llm_core.store.records import CollectionCard, NewDocument
from elt_llm_core.store.truth import Truth


class Writer:
    """The one writer of a data root. Made by `Store.writer`, which holds the lock."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._path = data_dir / FILE
        self._connection = schema.connect_writer(self._path)
        self._truth = Truth(data_dir)

    def close(self) -> None:
        """Close the connections."""
        self._truth.close()
        self._connection.close()

    def ensure_collection(
        self, name: str, embedder: CountingEmbedder, chunker: str
    ) -> CollectionCard:
        """The card of `name`, made where there is none.

        Raises CollectionMismatchError where it was indexed with another embedder.
        Another chunker is noted on the card: documents keep the key they were made
        with.
        """
        collection_name(name)
        try:
            card = self._truth.card(name)
        except CollectionNotFoundError:
            return self._create(name, embedder, chunker)
        if card.embedder_digest != embedder.digest:
            now = f"{embedder.model_name} ({embedder.dimension})"
            was = f"{card.embedder} ({card.dimension})"
            raise CollectionMismatchError(name, "the embedder", was, now)
        if card.chunker != chunker:
            with self._transaction() as connection:
                connection.execute(
                    "update collection set chunker = ? where name = ?", (chunker, name)
                )
        return self._truth.card(name)

    def missing_vectors(self, model: str, texts: Sequence[str]) -> list[int]:
        """Positions in `texts` whose vector the model `model` (a digest) never made."""
        return [i for i, text in enumerate(texts) if self._vector(model, text) is None]

    def put_vectors(
        self, model: str, texts: Sequence[str], vectors: np.ndarray
    ) -> None:
        """Keep vectors by content. `vectors` has shape (len(texts), d).

        Raises EmbedError where a row is not finite or has no length.
        """
        norms = np.linalg.norm(vectors, axis=1)
        bad = ~np.isfinite(vectors).all(axis=1) | ~(norms > 0)
        if len(vectors) != len(texts) or bad.any():
            raise EmbedError(
                f"{len(texts)} texts gave {len(vectors)} vectors, "
                f"{int(bad.sum())} of them not finite or without length",
                "check the embedding model with: elt-llm doctor",
            )
        with self._transaction() as connection:
            connection.executemany(
                "insert or replace into vector values(?, ?)",
                [
                    (_vector_key(model, text), codec.pack_vector(row / norm))
                    for text, row, norm in zip(texts, vectors, norms, strict=True)
                ],
            )

    def put_document(self, collection: str, new: NewDocument) -> str:
        """Store a document with its chunks in one transaction; tells its id.

        Chunks that did not change stay as they are. Every chunk's vector must have been
        put before. Raises EmbedError for one that was not.
        """
        card = self._truth.card(collection)
        document = document_id(collection, new.uri, new.parsed.part)
        chunks = [self._node_row(card, document, new, n) for n in new.nodes]
        with self._transaction() as connection:
            seq = rows.next_seq(connection, collection)
            crash_point(CrashPoint.DOCUMENT_BEGUN)
            kept = {chunk["node_id"]: chunk["index_text"] for chunk in chunks}
            rows.remove_nodes(connection, document, seq, keep=kept)
            rows.put_document_row(connection, document, collection, new)
            crash_point(CrashPoint.DOCUMENT_HALF)
            for chunk in chunks:
                rows.put_node(connection, {**chunk, "seq": seq})
            crash_point(CrashPoint.DOCUMENT_WRITTEN)
        crash_point(CrashPoint.DOCUMENT_STORED)
        return document

    def remove_document(self, document: str) -> None:
        """Take a document out; searches stop finding it at once."""
        row = self._truth.document(document)
        if row is None:
            return
        with self._transaction() as connection:
            seq = rows.next_seq(connection, row.collection)
            rows.remove_nodes(connection, document, seq, keep={})
            connection.execute(
                "delete from document where document_id = ?", (document,)
            )
            rows.drop_unused_originals(connection)
        crash_point(CrashPoint.DOCUMENT_REMOVED)

    def drop_collection(self, name: str) -> None:
        """Remove a collection, its documents and its indexes."""
        self._truth.card(name)
        with self._transaction() as connection:
            for (document,) in connection.execute(
                "select document_id from document where collection = ?", (name,)
            ).fetchall():
                rows.remove_nodes(connection, document, 0, keep={})
            connection.execute("delete from collection where name = ?", (name,))
            rows.drop_unused_originals(connection)
        shutil.rmtree(IndexFolder(self._data_dir, name).folder, ignore_errors=True)

    def publish(
        self, names: Sequence[str], delta_fraction: float = 0.1, *, force: bool = False
    ) -> dict[str, int]:
        """Build and publish generations where the delta is large; name to generation.

        A collection that became too small for an index loses it. Raises
        GenerationError; the collection then stays searchable without an index.
        """
        wanted = []
        for name in sorted(set(names)):
            folder = IndexFolder(self._data_dir, name)
            if self._truth.card(name).chunks < MIN_NODES:
                folder.retire()
            elif force or due(self._truth, folder, delta_fraction):
                wanted.append(name)
        return publish(self._truth, self._data_dir, wanted) if wanted else {}

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        connection = self._connection
        try:
            connection.execute("begin immediate")
            try:
                yield connection
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
        except DatabaseError as error:
            raise schema.translate(error, self._path) from error
        except UnicodeEncodeError as error:
            raise IngestError(f"a text holds what is no character: {error}") from error

    def _create(
        self, name: str, embedder: CountingEmbedder, chunker: str
    ) -> CollectionCard:
        with self._transaction() as connection:
            connection.execute("update counter set value = value + 1")
            (epoch,) = connection.execute("select value from counter").fetchone()
            connection.execute(
                "insert into collection values(?, ?, ?, ?, 'cosine', ?, ?, ?)",
                (
                    name,
                    embedder.model_name,
                    embedder.digest,
                    embedder.dimension,
                    chunker,
                    epoch,
                    epoch,
                ),
            )
        return self._truth.card(name)

    def _vector(self, model: str, text: str) -> bytes | None:
        found = self._truth.rows(
            "select data from vector where key = ?", (_vector_key(model, text),)
        )
        return found[0][0] if found else None

    def _node_row(
        self, card: CollectionCard, document: str, new: NewDocument, node: TextNode
    ) -> dict[str, object]:
        place = provenance.read(node).model_copy(
            update={
                "collection": card.name,
                "document_id": document,
                "document": new.name,
            }
        )
        text = provenance.index_text(node)
        vector = self._vector(card.embedder_digest, text)
        if vector is None:
            raise EmbedError(f"chunk {place.ordinal} of {new.name} was never embedded")
        if len(vector) != codec.VECTOR_BYTES * card.dimension:
            raise EmbedError(
                f"chunk {place.ordinal} of {new.name} has a vector of "
                f"{len(vector) // codec.VECTOR_BYTES} numbers, not {card.dimension}"
            )
        return {
            "node_id": node_id(document, new.config_key, place.ordinal, node.text),
            "collection": card.name,
            "document_id": document,
            "ordinal": place.ordinal,
            "kind": place.kind,
            "section": place.section,
            "page": place.page,
            "end_page": place.end_page or place.page,
            "text": node.text,
            "index_text": text,
            "metadata": json.dumps(
                provenance.write(node, place).metadata, ensure_ascii=False
            ),
            "vector": vector,
        }


def _vector_key(model: str, text: str) -> bytes:
    return bytes.fromhex(digest(model, text))[:16]
