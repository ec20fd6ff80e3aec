"""Plain LlamaIndex retrievers, each over one index of one collection."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray
from typing_extensions import override

from elt_llm_core.store import Collection
from elt_llm_query.analysis.definition import defined_inside, is_sheet_of
from elt_llm_query.analysis.question import defined_term
from elt_llm_query.retrieval.fusion import Hit

DEPTH = 400  # hits that are read for a definition
MOST = 3  # that are put first
_LIFT = 0.01


def definitions_first(
    question: str,
    hits: Sequence[Hit],
    collection: Collection,
    allowed: frozenset[str] | None = None,
) -> list[Hit]:
    """The hits with those in front that define the term the question asks for.

    BM25 cannot tell "Term means ..." from "Other Term means a Term ...", and prefers
    whichever is shorter. So the best hits for the term are read, and up to three that
    define exactly it get scores above the best. Other questions keep their hits.
    `allowed` limits what is read, as it limited the hits.
    """
    term = defined_term(question)
    if not term or not hits:
        return list(hits)
    wider = [
        item
        for text in (question, f"{term} means defined definition")
        for item, _ in collection.search_keyword(text, DEPTH, allowed)
    ]
    nodes = collection.nodes(wider)
    defining = [
        item
        for item in dict.fromkeys(wider)
        if defined_inside(term, nodes[item].text)
        or (
            nodes[item].metadata.get("kind") == "fact_sheet"
            and is_sheet_of(term, nodes[item].text)
        )
    ][:MOST]
    top = hits[0][1]
    lifted = {
        item: top * (1 + _LIFT * (MOST - place)) for place, item in enumerate(defining)
    }
    rest = [hit for hit in hits if hit[0] not in lifted]
    return [*lifted.items(), *rest]


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
    """Best chunks by BM25; only those that share a word with the question.

    What defines the term that a question asks for comes first.
    """

    @override
    def hits(self, query_bundle: QueryBundle, k: int) -> list[Hit]:
        question = query_bundle.query_str
        allowed = self.allowed
        hits = self.collection.search_keyword(question, k, allowed)
        return definitions_first(question, hits, self.collection, allowed)[:k]

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
    vector = np.asarray(numbers, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    unit: NDArray[np.float32] = vector / length if length else vector
    return unit
