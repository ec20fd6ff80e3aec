"""A published generation, opened for reading."""

import json
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from elt_llm_core.errors import GenerationError
from elt_llm_core.store.index.bm25 import KeywordIndex
from elt_llm_core.store.index.delta import Delta
from elt_llm_core.store.index.manifest import IndexFolder, Manifest
from elt_llm_core.store.index.matrix import open_matrix

if TYPE_CHECKING:
    from elt_llm_core.store.index.dense import DenseIndex

# Number of vectors up to which comparing one by one is faster than the graph.
SCANNED = 20_000


class Generation:
    """The indexes of one generation, checked and open.

    `ids` ascend, and a chunk's position among them is its row in `vectors` (float32
    unit rows, zeros if it could not be embedded) and its number in `keywords`. `strays`
    are rows that the graph of `dense` does not reach, `twins` map ids to the id with
    the same vector that represents them in it. `newer` is the last delta read from the
    database. Up to `SCANNED` chunks the graph is not used, and it is opened only when
    `dense` is read.
    """

    def __init__(self, folder: IndexFolder, manifest: Manifest) -> None:
        self.manifest = manifest
        path = folder.path(manifest.generation)
        self._path, self._collection = path, folder.collection
        folder.check(path)
        try:
            self.ids: list[str] = json.loads((path / "ids.json").read_bytes())
            strays = json.loads((path / "strays.json").read_bytes())
            self.twins: dict[str, list[str]] = json.loads(
                (path / "twins.json").read_bytes()
            )
            self.vectors = open_matrix(path, manifest.dimension)
            self.keywords = KeywordIndex(path / "keywords", manifest.recipe)
        except (OSError, ValueError, KeyError) as error:
            raise GenerationError(folder.collection, str(error)) from error
        if len(self.ids) > SCANNED:
            # Chroma reads the graph at the first search, when a later generation may
            # have replaced the files: search now.
            self.dense.search(np.ones(manifest.dimension), 1)
        self.positions = {node: i for i, node in enumerate(self.ids)}
        self.strays = np.array([self.positions[i] for i in strays], dtype=np.intp)
        self.newer = Delta.empty(manifest.dimension, manifest.seq)

    @cached_property
    def dense(self) -> "DenseIndex":
        """Return the graph. Raises GenerationError if its files no longer exist."""
        # Chroma's compiled core and a view of the files take time.
        from elt_llm_core.store.index.dense import DenseIndex  # noqa: PLC0415

        try:
            return DenseIndex(self._path / "vectors", self._collection)
        except OSError as error:
            raise GenerationError(self._collection, str(error)) from error

    def nearest(self, vector: np.ndarray, k: int) -> list[tuple[str, float]]:
        """Return id and cosine from the graph, best first; at least `k` or all."""
        hits = self.dense.search(vector, k)
        if not self.twins:
            return hits
        return [
            (node, score)
            for leader, score in hits
            for node in (leader, *self.twins.get(leader, ()))
        ]
