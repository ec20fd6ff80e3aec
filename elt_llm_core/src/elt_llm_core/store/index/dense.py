"""The vector index: Chroma, opened through a private view so that it is never written.

Searching and building call Chroma's compiled core, as Chroma's Python client does:
importing the client takes seconds and a hundred megabytes, and adds checks to each call
that are not needed here. LlamaIndex uses the client.
"""

import json
import os
import sqlite3
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import chromadb_rust_bindings as core
import numpy as np

from elt_llm_core.errors import GenerationError
from elt_llm_core.store.index.view import DATABASE, View

if TYPE_CHECKING:
    from chromadb.api.client import Client

ADD_BATCH = 5_000
OPEN_GRAPHS = 100  # a view has one
CHROMA_SHORTEST = 3  # characters of a name
TENANT = ("default_tenant", "default_database")


def chroma_name(collection: str) -> str:
    """Return the name of a collection inside Chroma, which needs three letters."""
    return collection if len(collection) >= CHROMA_SHORTEST else f"c-{collection}"


class DenseIndex:
    """A built Chroma collection, opened for reading through a private view."""

    def __init__(self, folder: Path, name: str) -> None:
        self._name = name
        self._view = View(folder)
        self._cleanup = ExitStack()
        self._cleanup.callback(self._view.close)
        weakref.finalize(self, self._cleanup.close)
        try:
            self._core = _open(self._view.path)
            # Getting a collection by name loads no stored embedding function.
            self._id = str(self._core.get_collection(chroma_name(name), *TENANT).id)
        except _chroma_errors() as error:
            raise GenerationError(name, f"Chroma: {error}") from error

    @staticmethod
    def build(name: str, ids: Sequence[str], vectors: np.ndarray, folder: Path) -> None:
        """Write a new Chroma folder. Call it in a process that ends afterwards."""
        folder.mkdir(parents=True)
        # Flush once, at the end: an unflushed graph is rebuilt at every opening.
        flush = max(len(ids), 2)
        hnsw = {
            "space": "cosine",
            "ef_construction": 100,
            "ef_search": 200,
            "max_neighbors": 24,
            "batch_size": flush,
            "sync_threshold": flush,
            "num_threads": os.cpu_count() or 1,
        }
        # As the Python client records that there is no embedding function.
        wanted = {"hnsw": hnsw, "spann": None, "embedding_function": {"type": "legacy"}}
        chroma = _open(folder)
        made = chroma.create_collection(
            chroma_name(name), json.dumps(wanted), None, None, False, *TENANT
        )
        for start in range(0, len(ids), ADD_BATCH):
            stop = start + ADD_BATCH
            part = list(ids[start:stop]), str(made.id), list(vectors[start:stop])
            chroma.add(*part, None, None, None, *TENANT)

    @staticmethod
    def compact(folder: Path) -> None:
        """Free the space of the flushed queue. Call it when no client is open."""
        connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
        try:
            connection.execute("vacuum")
        finally:
            connection.close()

    @cached_property
    def collection(self) -> Any:
        """Return the index as a collection of Chroma's Python client."""
        client = _client(self._view.path)
        self._cleanup.callback(client.close)  # first; Chroma keeps what is not closed
        # A stored collection may name an embedding function, which must not be loaded.
        return client.get_collection(chroma_name(self._name), embedding_function=None)

    def count(self) -> int:
        """Return Chroma's own count, which a damaged graph does not change."""
        return int(self._core.count(self._id, *TENANT))

    def search(self, vector: np.ndarray, k: int) -> list[tuple[str, float]]:
        """Return id and cosine, best first; at most `k`."""
        if k <= 0:
            return []
        reply = self._query(vector, k, ["distances"])
        return [
            (node, 1.0 - float(distance))
            for node, distance in zip(reply.ids[0], reply.distances[0], strict=True)
        ]

    def unreachable(self, expected: frozenset[str], dimension: int) -> frozenset[str]:
        """Return ids that no query can return, which `count()` does not detect."""
        reply = self._query(np.ones(dimension), max(len(expected), 1), [])
        return expected - frozenset(reply.ids[0])

    def _query(self, vector: np.ndarray, k: int, include: list[str]) -> Any:
        question = [vector.tolist()]
        try:
            return self._core.query(
                self._id, None, question, k, None, None, include, *TENANT
            )
        except _chroma_errors() as error:
            raise GenerationError(self._name, f"Chroma: {error}") from error


def _open(folder: Path) -> Any:
    """Open Chroma's core on a private folder."""
    database = core.SqliteDBConfig(
        hash_type=core.MigrationHash.MD5,
        migration_mode=core.MigrationMode.Apply,
        url=str(folder / DATABASE),
    )
    return core.Bindings(
        allow_reset=False,
        sqlite_db_config=database,
        persist_path=str(folder),
        hnsw_cache_size=OPEN_GRAPHS,
    )


def _client(folder: Path) -> "Client":
    import chromadb  # noqa: PLC0415 - a search needs none of it
    from chromadb.config import Settings  # noqa: PLC0415

    settings = Settings(anonymized_telemetry=False, allow_reset=False)
    return cast("Client", chromadb.PersistentClient(str(folder), settings))


def _chroma_errors() -> tuple[type[Exception], ...]:
    """Return Chroma's errors; called only after an exception."""
    from chromadb.errors import ChromaError  # noqa: PLC0415

    return ChromaError, ValueError
