"""Similarity of passages to a name, on one scale for every embedder."""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from elt_llm_consumer.corpus import Handbook, HandbookPassage
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models

_FEWEST_WORDS = 3  # of a passage that can be evidence; a cell or a label says nothing
Vector = NDArray[np.float32]


class SemanticIndex:
    """Searches the stored vectors of a handbook's passages."""

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
        """Return the calibrated score of every passage, in their order.

        0 is the mean cosine of this query with all passages (nothing in particular in
        common), 1 is the cosine of a text with itself:
        (cosine - mean) / (1 - mean), not below 0. The mean differs between embedders by
        half of the scale: without it one threshold would mean "same subject" with one
        embedder and "same language" with another.
        """
        if not self._handbook.passages:
            return np.zeros(0, dtype=np.float32)
        return calibrate(self._matrix @ self.query(query))

    def query(self, text: str) -> Vector:
        """Return the unit vector of a query. Raises ModelError or EmbedError."""
        vector = np.asarray(
            self._models.embedder.get_query_embedding(text), dtype=np.float32
        )
        unit: Vector = vector / max(float(np.linalg.norm(vector)), 1e-9)
        return unit

    def texts(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of documents, shape (n, dimension)."""
        embedder = as_counting(self._models.embedder)
        kept = [
            _truncate(text, embedder.count_tokens, embedder.max_tokens)
            for text in texts
        ]
        return np.asarray(embedder.embed_array(kept), dtype=np.float32)

    def nearest(self, query: str, k: int) -> list[tuple[float, HandbookPassage]]:
        """Return the `k` best passages of three words or more, best first."""
        scores = self.scores(query)
        passages = self._handbook.passages
        eligible = [
            i for i, p in enumerate(passages) if len(p.text.split()) >= _FEWEST_WORDS
        ]
        order = sorted(eligible, key=lambda i: (-round(float(scores[i]), 6), i))
        return [(float(scores[i]), passages[i]) for i in order[:k]]


def calibrate(cosines: Vector) -> Vector:
    """Return (cosine - mean) / (1 - mean) of one query's cosines, at least 0."""
    mean = float(cosines.mean()) if len(cosines) > 1 else 0.0
    scaled = (cosines - mean) / max(1.0 - mean, 1e-6)
    return np.asarray(np.clip(scaled, 0.0, 1.0), dtype=np.float32)


def _truncate(text: str, count: Callable[[str], int], limit: int) -> str:
    """The beginning of a text that the embedder reads whole."""
    words = text.split()
    while words and count(" ".join(words)) > limit:
        words = words[: max(1, len(words) * 3 // 4)] if len(words) > 1 else []
    return " ".join(words)
