"""Order candidates by token vectors of the existing embedder."""

from collections.abc import Sequence
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import ConfigError
from elt_llm_query.components import EmbeddingStepOptions
from elt_llm_query.rerankers.pair_rerank import PairRerank
from elt_llm_query.retrieval.fusion import convex


@runtime_checkable
class TokenVectors(Protocol):
    """An embedder that returns a vector for each token of a text."""

    def token_vectors(self, text: str) -> NDArray[np.float32]:
        """Return unit rows, one for each token, in order; shape (n, d)."""


class LateInteraction(PairRerank):
    """Keeps the best `top_n` by MaxSim, blended with the incoming score.

    A text's MaxSim is the mean, over the question's tokens, of the cosine of the text's
    nearest token (Khattab and Zaharia, 2020; here with the vectors of an embedder that
    was not trained for it). Scores become `(1 - fused_weight) * MaxSim + fused_weight *
    score`, both scaled to 0 to 1 over the candidates; with `fused_weight` 0 they are
    the plain MaxSim. The model reads every candidate, about 10 ms of a core each.
    """

    fused_weight: float = Field(default=0.7, ge=0, le=1)

    _embedder: TokenVectors = PrivateAttr()

    def __init__(self, embedder: BaseEmbedding, **options: object) -> None:
        super().__init__(**options)
        self._embedder = _token_vectors(embedder)

    @override
    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        asked = self._embedder.token_vectors(question)
        return np.array([self._max_sim(asked, text) for text in texts])

    def _max_sim(self, asked: NDArray[np.float32], text: str) -> float:
        cosines = asked @ self._embedder.token_vectors(text).T
        return max(float(cosines.max(axis=1).mean()), 0.0) if cosines.size else 0.0

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        whole = self.model_copy(update={"top_n": max(len(nodes), 1)})
        read = super(LateInteraction, whole)._postprocess_nodes(nodes, query_bundle)
        if query_bundle is None or self.fused_weight == 0:
            return read[: self.top_n]
        by_id = {hit.node.node_id: hit.node for hit in nodes}
        lists = [_hits(read), _hits(nodes)]
        blended = convex(lists, [1 - self.fused_weight, self.fused_weight])
        return [
            NodeWithScore(node=by_id[item], score=score)
            for item, score in blended[: self.top_n]
        ]


class LateInteractionOptions(EmbeddingStepOptions):
    """Order by the nearest tokens of question and text, blended with the fused order.

    The embedder must return token vectors; the embedded one does.
    """

    top_n: int = Field(default=8, gt=0, description="sources kept")
    fused_weight: float = Field(
        default=0.7, ge=0, le=1, description="weight of the fused order; 0: MaxSim only"
    )

    component: ClassVar = LateInteraction


def _token_vectors(embedder: BaseEmbedding) -> TokenVectors:
    """Return the embedder itself, or the one that it wraps."""
    for one in (embedder, getattr(embedder, "inner", None)):
        if isinstance(one, TokenVectors):
            return one
    raise ConfigError(
        f"the embedder {embedder.model_name!r} has no token vectors",
        "use models.embedder_strategy: embedded, or query.reranker_strategy: embedding",
    )


def _hits(nodes: Sequence[NodeWithScore]) -> list[tuple[str, float]]:
    return [(hit.node.node_id, hit.score or 0.0) for hit in nodes]
