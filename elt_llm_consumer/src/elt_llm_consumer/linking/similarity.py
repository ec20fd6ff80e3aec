"""How near passages are to a name, on one scale for every embedder."""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elt_llm_consumer.corpus import Handbook, Passage
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models

SHORTEST = 3  # words of a passage that can be evidence
Vector = NDArray[np.float32]


class Semantics:
    """The stored vectors of a handbook's passages, and queries against them."""

    def __init__(self, handbook: Handbook, models: Models) -> None:
        self._handbook = handbook
        self._models = models

    @cached_property
    def _matrix(self) -> Vector:
        vectors: dict[str, Vector] = {}
        for name in self._handbook.collections:
            ids = [p.node_id for p in self._handbook.passages if p.collection == name]
            vectors.update(self._handbook.store.open(name).vectors(ids))
        rows = [vectors[p.node_id] for p in self._handbook.passages]
        return np.stack(rows) if rows else np.zeros((0, 1), dtype=np.float32)

    def scores(self, query: str) -> Vector:
        """The calibrated score of every passage, in the order of the passages.

        0 is the mean cosine of this query with all passages (nothing in common with it
        in particular), 1 is the cosine of a text with itself:
        (cosine - mean) / (1 - mean), not below 0. The mean differs between embedders by
        half of the whole scale; without it the same threshold would mean "same subject"
        with one and "same language" with another.
        """
        if not self._handbook.passages:
            return np.zeros(0, dtype=np.float32)
        return calibrated(self._matrix @ self.query(query))

    def query(self, text: str) -> Vector:
        """The unit vector of a query. Raises ModelError or EmbedError."""
        vector = np.asarray(
            self._models.embedder.get_query_embedding(text), dtype=np.float32
        )
        unit: Vector = vector / max(float(np.linalg.norm(vector)), 1e-9)
        return unit

    def texts(self, texts: Sequence[str]) -> Vector:
        """Unit vectors of documents, shape (n, dimension)."""
        embedder = as_counting(self._models.embedder)
        kept = [
            _fitting(text, embedder.count_tokens, embedder.max_tokens) for text in texts
        ]
        return np.asarray(embedder.embed_array(kept), dtype=np.float32)

    def nearest(self, query: str, k: int) -> list[tuple[float, Passage]]:
        """The `k` best passages with their calibrated scores, best first.

        A cell or a line of one or two words says nothing about a name and is left out.
        """
        scores = self.scores(query)
        passages = self._handbook.passages
        said = [i for i, p in enumerate(passages) if len(p.text.split()) >= SHORTEST]
        order = sorted(said, key=lambda i: (-round(float(scores[i]), 6), i))
        return [(float(scores[i]), passages[i]) for i in order[:k]]


def calibrated(cosines: Vector) -> Vector:
    """(cosine - mean) / (1 - mean) of the cosines of one query, not below 0."""
    mean = float(cosines.mean()) if len(cosines) > 1 else 0.0
    scaled = (cosines - mean) / max(1.0 - mean, 1e-6)
    return np.asarray(np.clip(scaled, 0.0, 1.0), dtype=np.float32)


def _fitting(text: str, count: Callable[[str], int], limit: int) -> str:
    """The beginning of a text that the embedder takes."""
    words = text.split()
    while words and count(" ".join(words)) > limit:
        words = words[: max(1, len(words) * 3 // 4)] if len(words) > 1 else []
    return " ".join(words)
