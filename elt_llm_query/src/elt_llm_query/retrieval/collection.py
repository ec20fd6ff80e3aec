"""Plain LlamaIndex retrievers, each over one index of one collection."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray
from typing_extensions import override

from elt_llm_core.store import Collection
from elt_llm_query.retrieval.fusion import Hit
from elt_llm_query.retrieval.vectors import to_unit


class CollectionRetriever(BaseRetriever):
    """Best hits of one index of one collection as nodes, best first, ties by id.

    `where` limits them to the chunks that match; see `Collection.ids` for its keys.
    """

    def __init__(
        self,
        collection: Collection,
        similarity_top_k: int = 8,
        where: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(callback_manager=CallbackManager())
        self.collection = collection
        self.similarity_top_k = similarity_top_k
        self.where = dict(where or {})

    @property
    def allowed(self) -> frozenset[str] | None:
        """Ids of the chunks that match `where`, or None where it says nothing.

        Raises UsageError for a filter that does not exist.
        """
        return self.collection.ids(self.where) if self.where else None

    @abstractmethod
    def hits(self, query_bundle: QueryBundle, k: int) -> list[Hit]:
        """Ids and scores of the `k` best."""

    @abstractmethod
    def scores(self, query_bundle: QueryBundle, ids: Iterable[str]) -> dict[str, float]:
        """Scores by id, as `hits` has them; ids that have none are absent."""

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self.hits(query_bundle, self.similarity_top_k)
        nodes = self.collection.nodes([item for item, _ in hits])
        return [NodeWithScore(node=nodes[item], score=score) for item, score in hits]


class DenseRetriever(CollectionRetriever):
    """Nearest chunks by vector; the score is the cosine.

    The query's own embedding is used where it has one, so that one question is
    embedded once for all collections.
    """

    def __init__(
        self,
        collection: Collection,
        embedder: BaseEmbedding,
        similarity_top_k: int = 8,
        where: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(collection, similarity_top_k, where)
        self.embedder = embedder

    @override
    def hits(self, query_bundle: QueryBundle, k: int) -> list[Hit]:
        vector = query_vector(query_bundle, self.embedder)
        return self.collection.search_dense(vector, k, self.allowed)

    @override
    def scores(self, query_bundle: QueryBundle, ids: Iterable[str]) -> dict[str, float]:
        vector = query_vector(query_bundle, self.embedder)
        rows = self.collection.vectors(ids)
        if not rows:
            return {}
        cosines = np.einsum("ij,j->i", np.stack([*rows.values()]), vector)
        return dict(zip(rows, cosines.tolist(), strict=True))


class KeywordRetriever(CollectionRetriever):
    """Best chunks by BM25; only those that share a word with the question."""

    @override
    def hits(self, query_bundle: QueryBundle, k: int) -> list[Hit]:
        return self.collection.search_keyword(query_bundle.query_str, k, self.allowed)

    @override
    def scores(self, query_bundle: QueryBundle, ids: Iterable[str]) -> dict[str, float]:
        return self.collection.keyword_scores(query_bundle.query_str, ids)


def query_vector(
    query_bundle: QueryBundle, embedder: BaseEmbedding
) -> NDArray[np.float32]:
    """The unit vector of a query: its own embedding, or a new one."""
    numbers = query_bundle.embedding or embedder.get_agg_embedding_from_queries(
        query_bundle.embedding_strs
    )
    return to_unit(np.asarray(numbers, dtype=np.float32))
