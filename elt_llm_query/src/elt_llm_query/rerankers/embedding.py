"""Order candidates by the vectors that are stored anyway: nothing is embedded again."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core import provenance
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.fusions import min_max
from elt_llm_query.retrievers import query_vector

Vector = NDArray[np.float32]
Lookup = Callable[[str, Iterable[str]], Mapping[str, Vector]]


class StoredVectorRerank(BaseNodePostprocessor):
    """The best `top_n` by cosine to the question, blended with the order they came in.

    Scores become `(1 - fused_weight) * cosine + fused_weight * score`, both scaled to 0
    to 1 over the candidates; with `fused_weight` 0 they are plain cosines. `vectors`
    looks up stored vectors by collection and id; a node without one is embedded. With
    `use_mmr` each next node is the best that is unlike those taken (Carbonell and
    Goldstein, 1998): `mmr_threshold` 1 is all relevance, 0 all variety.
    """

    top_n: int = Field(default=8, gt=0)
    fused_weight: float = Field(default=0.85, ge=0, le=1)
    use_mmr: bool = False
    mmr_threshold: float = Field(default=0.7, ge=0, le=1)

    _embedder: BaseEmbedding = PrivateAttr()
    _vectors: Lookup | None = PrivateAttr(default=None)

    def __init__(
        self, embedder: BaseEmbedding, vectors: Lookup | None = None, **options: object
    ) -> None:
        super().__init__(**options)
        self._embedder = embedder
        self._vectors = vectors

    @classmethod
    @override
    def class_name(cls) -> str:
        return "StoredVectorRerank"

    def over(self, collections: Sequence[Collection]) -> "StoredVectorRerank":
        """The same reranker with the vectors that these collections store."""
        vectors = stored_vectors(collections)
        return StoredVectorRerank(self._embedder, vectors, **self.model_dump())

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes or query_bundle is None:
            return list(nodes)[: self.top_n]
        matrix = self._matrix(nodes)
        cosines = matrix @ query_vector(query_bundle, self._embedder)
        scores = self._blend(nodes, cosines)
        order = sorted(
            range(len(nodes)), key=lambda i: (-scores[i], nodes[i].node.node_id)
        )
        if self.use_mmr:
            order = _mmr(order, scores, matrix, self.mmr_threshold)
        kept = order[: self.top_n]
        # After MMR the place in the list is the order; scores may not contradict it.
        shown = _descending([scores[i] for i in kept])
        return [
            NodeWithScore(node=nodes[i].node, score=score)
            for i, score in zip(kept, shown, strict=True)
        ]

    def _matrix(self, nodes: Sequence[NodeWithScore]) -> Vector:
        """One unit vector a node, in order."""
        found: dict[str, Vector] = {}
        for collection in (
            sorted({_collection(n) for n in nodes}) if self._vectors else ()
        ):
            ids = [n.node.node_id for n in nodes if _collection(n) == collection]
            found.update(self._vectors(collection, ids) if self._vectors else {})
        without = [n for n in nodes if n.node.node_id not in found]
        if without:
            texts = [provenance.index_text(n.node) for n in without]
            rows = np.asarray(
                self._embedder.get_text_embedding_batch(texts), np.float32
            )
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
            found.update(
                {n.node.node_id: row for n, row in zip(without, rows, strict=True)}
            )
        return np.stack([found[n.node.node_id] for n in nodes])

    def _blend(self, nodes: Sequence[NodeWithScore], cosines: Vector) -> list[float]:
        plain = [float(c) for c in cosines]
        if self.fused_weight == 0:
            return plain
        near = _scaled(plain)
        came = _scaled([n.score or 0.0 for n in nodes])
        weight = self.fused_weight
        return [(1 - weight) * a + weight * b for a, b in zip(near, came, strict=True)]


class Embedding(Strategy[BaseNodePostprocessor]):
    """Order by stored vectors, blended with the fused order."""

    top_n: int = Field(default=8, gt=0, description="sources kept")
    fused_weight: float = Field(
        default=0.85, ge=0, le=1, description="share of the fused order; 0: cosine only"
    )
    use_mmr: bool = Field(default=False, description="prefer sources unlike each other")
    mmr_threshold: float = Field(
        default=0.7, ge=0, le=1, description="1: relevance only, 0: variety only"
    )

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        return StoredVectorRerank(models.embedder, **self.model_dump())


def stored_vectors(collections: Sequence[Collection]) -> Lookup:
    """Looks up stored vectors by collection name and ids."""
    by_name = {c.name: c for c in collections}

    def vectors(collection: str, ids: Iterable[str]) -> Mapping[str, Vector]:
        """Vectors by id; unknown collections and ids are absent."""
        found = by_name.get(collection)
        return found.vectors(ids) if found else {}

    return vectors


def _collection(node: NodeWithScore) -> str:
    return str(node.node.metadata.get("collection", ""))


def _scaled(scores: Sequence[float]) -> list[float]:
    return [score for _, score in min_max([(str(i), s) for i, s in enumerate(scores)])]


def _descending(scores: Sequence[float]) -> list[float]:
    lowest = float("inf")
    found = []
    for score in scores:
        lowest = min(lowest, score)
        found.append(lowest)
    return found


def _mmr(
    order: Sequence[int], scores: Sequence[float], matrix: Vector, threshold: float
) -> list[int]:
    """Indexes reordered: each next one is relevant and unlike those taken."""
    likeness = matrix @ matrix.T
    taken = [order[0]]
    left = list(order[1:])
    while left:
        worth = [
            threshold * scores[i] - (1 - threshold) * float(likeness[i, taken].max())
            for i in left
        ]
        taken.append(left.pop(int(np.argmax(worth))))
    return taken
