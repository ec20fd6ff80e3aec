"""The vector index: Chroma, opened through a private view so that nobody writes it."""

import os
import sqlite3
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import chromadb
import numpy as np
from chromadb.api.client import Client
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.config import Settings
from chromadb.errors import ChromaError

from elt_llm_core.errors import GenerationError
from elt_llm_core.store.view import DATABASE, View

ADD_BATCH = 5_000


def _client(folder: Path) -> Client:
    settings = Settings(anonymized_telemetry=False, allow_reset=False)
    return cast("Client", chromadb.PersistentClient(str(folder), settings))


class DenseIndex:
    """A built Chroma collection, opened for reading through a view of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self._name = name
        view = View(folder)
        cleanup = ExitStack()
        cleanup.callback(view.close)
        weakref.finalize(self, cleanup.close)
        try:
            client = _client(view.path)
            cleanup.callback(client.close)  # first; Chroma keeps what is not closed
            # A stored collection may name an embedding function: never load it.
            self.collection = client.get_collection(name, embedding_function=None)
        except (ChromaError, ValueError) as error:
            raise GenerationError(name, f"Chroma: {error}") from error

    @staticmethod
    def build(name: str, ids: Sequence[str], vectors: np.ndarray, folder: Path) -> None:
        """Write a new Chroma folder. Call in a process that ends afterwards."""
        folder.mkdir(parents=True)
        # Flush once, at the end: an unflushed graph is rebuilt at every opening.
        flush = max(len(ids), 2)
        hnsw: CreateHNSWConfiguration = {
            "space": "cosine",
            "ef_construction": 200,
            "ef_search": 200,
            "max_neighbors": 32,
            "batch_size": flush,
            "sync_threshold": flush,
            "num_threads": os.cpu_count() or 1,
        }
        collection = _client(folder).create_collection(
            name, embedding_function=None, configuration={"hnsw": hnsw}
        )
        for start in range(0, len(ids), ADD_BATCH):
            stop = start + ADD_BATCH
            collection.add(ids=list(ids[start:stop]), embeddings=vectors[start:stop])

    @staticmethod
    def compact(folder: Path) -> None:
        """Give back what the flushed queue took. Call when no client is open."""
        connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
        try:
            connection.execute("vacuum")
        finally:
            connection.close()

    def count(self) -> int:
        """Records by Chroma's own count, which a damaged graph does not change."""
        return int(self.collection.count())

    def search(self, vector: np.ndarray, k: int) -> list[tuple[str, float]]:
        """Id and cosine, best first; at most `k`."""
        if k <= 0:
            return []
        try:
            found = self.collection.query(
                query_embeddings=vector.astype(np.float32)[np.newaxis, :],
                n_results=k,
                include=["distances"],
            )
        except ChromaError as error:
            raise GenerationError(self._name, f"Chroma: {error}") from error
        distances = found["distances"] or [[]]
        return [
            (node, 1.0 - float(distance))
            for node, distance in zip(found["ids"][0], distances[0], strict=True)
        ]

    def unreachable(self, expected: frozenset[str], dimension: int) -> frozenset[str]:
        """Ids that no query can return; empty is healthy. `count()` does not tell."""
        found = self.collection.query(
            query_embeddings=np.ones((1, dimension), dtype=np.float32),
            n_results=max(len(expected), 1),
            include=[],
        )
        return expected - frozenset(found["ids"][0])


def exact_search(
    ids: Sequence[str], matrix: np.ndarray, vector: np.ndarray, k: int
) -> list[tuple[str, float]]:
    """Id and cosine by comparing with every row, best first, ties by id; at most `k`.

    `matrix` holds unit rows, shape (len(ids), d).
    """
    if not len(ids) or k <= 0:
        return []
    scores = matrix @ vector.astype(np.float32)
    k = min(k, len(ids))
    chosen = np.argpartition(scores, len(ids) - k)[-k:]
    ranked = sorted((-float(scores[i]), ids[i]) for i in chosen)
    return [(node, -negative) for negative, node in ranked]
