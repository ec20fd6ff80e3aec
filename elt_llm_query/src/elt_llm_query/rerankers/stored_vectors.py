"""Order candidates by their stored vectors; nothing is embedded again."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.store import Collection
from elt_llm_query.components import EmbeddingStepOptions, Postprocessor
from elt_llm_query.resilience import run_in_time
from elt_llm_query.retrieval.fusion import min_max
from elt_llm_query.retrieval.unit_vectors import (
    Lookup,
    Vector,
    embed_texts,
    matrix_of,
    mmr,
    query_vector,
    stored_vectors,
)


class StoredVectorRerank(Postprocessor):
    """Keeps the best `top_n` by cosine, blended with the incoming score.

    Scores become `(1 - fused_weight) * cosine + fused_weight * score`, both scaled to 0
    to 1 over the candidates; with `fused_weight` 0 they are plain cosines. `vectors`
    looks up stored vectors by collection and id; a node without one is embedded. With
    `use_mmr`, nodes are chosen by maximal marginal relevance (Carbonell and Goldstein,
    1998): `mmr_threshold` 1 is relevance only, 0 diversity only.
    """

    top_n: int = Field(default=8, gt=0)
    fused_weight: float = Field(default=0.95, ge=0, le=1)
    use_mmr: bool = False
    mmr_threshold: float = Field(default=0.7, ge=0, le=1)
    seconds: float | None = Field(default=None, gt=0)
    vectors: Lookup | None = Field(default=None, exclude=True, repr=False)

    _embedder: BaseEmbedding = PrivateAttr()

    def __init__(
        self, embedder: BaseEmbedding, vectors: Lookup | None = None, **options: object
    ) -> None:
        super().__init__(vectors=vectors, **options)
        self._embedder = embedder

    def over(
        self,
        collections: Sequence[Collection],
        where: Mapping[str, Any] | None = None,  # noqa: ARG002 - it brings nothing
    ) -> "StoredVectorRerank":
        """Return a copy with the vectors that these collections store."""
        return self.model_copy(update={"vectors": stored_vectors(collections)})

    def within(self, seconds: float) -> "StoredVectorRerank":
        """Return a copy that raises ModelError if embedding takes longer.

        Stored vectors are compared immediately, so only models are waited for.
        """
        return self.model_copy(update={"seconds": seconds})

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes or query_bundle is None:
            return list(nodes)[: self.top_n]
        matrix = matrix_of(nodes, self.vectors, self._embed)
        cosines = matrix @ self._question_vector(query_bundle)
        scores = self._blend(nodes, cosines)
        order = sorted(
            range(len(nodes)), key=lambda i: (-scores[i], nodes[i].node.node_id)
        )
        if self.use_mmr:
            worth = [scores[i] for i in order]
            order = [order[i] for i in mmr(worth, matrix[order], self.mmr_threshold)]
        kept = order[: self.top_n]
        # After MMR the position is the order; scores must not contradict it.
        shown = make_descending([scores[i] for i in kept])
        return [
            NodeWithScore(node=nodes[i].node, score=score)
            for i, score in zip(kept, shown, strict=True)
        ]

    def _embed(self, texts: Sequence[str]) -> Vector:
        return run_in_time(self.seconds, lambda: embed_texts(self._embedder, texts))

    def _question_vector(self, query_bundle: QueryBundle) -> Vector:
        seconds = None if query_bundle.embedding else self.seconds
        return run_in_time(seconds, lambda: query_vector(query_bundle, self._embedder))

    def _blend(self, nodes: Sequence[NodeWithScore], cosines: Vector) -> list[float]:
        plain = [float(c) for c in cosines]
        if self.fused_weight == 0:
            return plain
        near = _scale(plain)
        came = _scale([n.score or 0.0 for n in nodes])
        weight = self.fused_weight
        return [(1 - weight) * a + weight * b for a, b in zip(near, came, strict=True)]


class StoredVectorRerankOptions(EmbeddingStepOptions):
    """Order by stored vectors, blended with the fused order."""

    top_n: int = Field(default=8, gt=0, description="sources kept")
    fused_weight: float = Field(
        default=0.95,
        ge=0,
        le=1,
        description="weight of the fused order; 0: cosine only",
    )
    use_mmr: bool = Field(
        default=False, description="prefer sources that differ from each other"
    )
    mmr_threshold: float = Field(
        default=0.7, ge=0, le=1, description="1: relevance only, 0: diversity only"
    )

    component: ClassVar = StoredVectorRerank


def make_descending(scores: Sequence[float]) -> list[float]:
    """Return the scores, none higher than the one before."""
    lowest = float("inf")
    lowered = []
    for score in scores:
        lowest = min(lowest, score)
        lowered.append(lowest)
    return lowered


def _scale(scores: Sequence[float]) -> list[float]:
    return [score for _, score in min_max([(str(i), s) for i, s in enumerate(scores)])]
