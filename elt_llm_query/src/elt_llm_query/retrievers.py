"""Retrievers over a collection, for plain LlamaIndex and for our engine.

`DenseRetriever` and `KeywordRetriever` are ordinary LlamaIndex retrievers. The
`HybridRetriever` is LlamaIndex's `QueryFusionRetriever` with the fusing step replaced:
ids and scores are joined by a pure function, and nodes are fetched once, for the
winners.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle
from numpy.typing import NDArray
from typing_extensions import override

from elt_llm_core.errors import ConfigError, ModelError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Collection
from elt_llm_query.fusions import KINDS, Fusion, Hit, HitList, Kind, Rrf, best_first
from elt_llm_query.prompts import REWRITES
from elt_llm_query.searches import Search, SearchTransform
from elt_llm_query.terms import definitions_first
from elt_llm_query.trace import TraceLog


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

    def hits(self, query_bundle: QueryBundle, k: int) -> list[Hit]:
        """Ids and scores of the `k` best."""
        raise NotImplementedError

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
        self._embedder = embedder

    @override
    def hits(self, query_bundle: QueryBundle, k: int) -> list[Hit]:
        vector = query_vector(query_bundle, self._embedder)
        return self.collection.search_dense(vector, k, self.allowed)


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


@dataclass(frozen=True)
class Breadth:
    """How much is retrieved: `each` candidates of every collection, `total` in all."""

    each: int = 20
    total: int = 20


class HybridRetriever(QueryFusionRetriever):
    """Candidates of several collections, dense and keyword, joined into one list.

    Each collection gives its `breadth.each` best. Their scores are then made by fusing
    the dense hits of all collections with the keyword hits of all, so that they compare
    across collections. With `num_queries` above 1 the `llm` rewrites the question and
    the hits of the rewrites are fused in. `transforms`, by their names in the trace,
    then add searches or replace them.

    Without an embedder only the keyword index is asked. Raises ConfigError where
    rewrites are wanted and there is no model to write them.
    """

    def __init__(  # noqa: PLR0913 - one parameter a part
        self,
        retrievers: Sequence[CollectionRetriever],
        fusion: Fusion | None = None,
        breadth: Breadth | None = None,
        llm: LLM | None = None,
        num_queries: int = 1,
        *,
        transforms: Mapping[str, SearchTransform] | None = None,
        log: TraceLog | None = None,
    ) -> None:
        if num_queries > 1 and llm is None:
            raise ConfigError(
                f"num_queries = {num_queries} needs a language model for the rewrites",
                "set models.llm_strategy (for example ollama), or num_queries: 1",
            )
        self._breadth = breadth or Breadth()
        # LlamaIndex reaches for its global model where none is given.
        super().__init__(
            retrievers=list(retrievers),
            llm=llm or MockLLM(),
            query_gen_prompt=REWRITES,
            mode=FUSION_MODES.RECIPROCAL_RANK,
            similarity_top_k=self._breadth.total,
            num_queries=num_queries,
            use_async=False,
            callback_manager=CallbackManager(),
        )
        self._members = list(retrievers)
        self._fusion = fusion or Rrf()
        self._transforms = dict(transforms or {})
        self._log = log or TraceLog()

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        queries = self._searches(query_bundle)
        lists = {
            name: self._search(queries, members) for name, members in self._groups()
        }
        fused = self._fuse(lists)
        return self._fetch(fused)

    @override
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._retrieve(query_bundle)

    def _rewrites(self, question: str) -> list[QueryBundle]:
        if self.num_queries <= 1:
            return []
        with self._log.stage("rewrite", 1) as note:
            try:
                found = self._get_queries(question)
            except ModelError as error:
                self._degrade(DegradationKind.GENERATION_UNAVAILABLE, error)
                found = []
            note.n_out = len(found)
        return found

    def _searches(self, question: QueryBundle) -> list[Search]:
        """The question and its rewrites, as the transforms leave them."""
        rewrites = self._rewrites(question.query_str)
        searches = [Search(bundle) for bundle in (question, *rewrites)]
        for name, transform in self._transforms.items():
            with self._log.stage(f"transform:{name}", len(searches)) as note:
                try:
                    searches = transform.transformed(searches)
                except ModelError as error:
                    self._degrade(DegradationKind.GENERATION_UNAVAILABLE, error)
                note.n_out = len(searches)
        return searches

    def _groups(self) -> list[tuple[str, list[CollectionRetriever]]]:
        """The retrievers by collection, in the order given."""
        grouped = groupby(self._members, key=lambda r: r.collection.name)
        return [(name, list(members)) for name, members in grouped]

    def _search(
        self, searches: Sequence[Search], members: Sequence[CollectionRetriever]
    ) -> list[HitList]:
        """The hit lists of one collection, without those that could not be asked."""
        depth = max(self._fusion.depth, self._breadth.each)
        found: list[HitList] = []
        for member in members:
            kind: Kind = "dense" if isinstance(member, DenseRetriever) else "keyword"
            for search in searches:
                with self._log.stage(f"{kind}:{member.collection.name}", 1) as note:
                    try:
                        hits = member.hits(search.bundle, depth)
                    except ModelError as error:
                        self._degrade(DegradationKind.EMBEDDER_UNAVAILABLE, error)
                        continue
                    note.hits(hits)
                found.append(HitList(kind, tuple(hits), search.weight))
        return found

    def _fuse(self, lists: dict[str, list[HitList]]) -> list[Hit]:
        """The candidates of every collection with scores that compare among all."""
        n_in = sum(len(x.hits) for found in lists.values() for x in found)
        with self._log.stage("fuse", n_in) as note:
            kept = {
                item
                for found in lists.values()
                for item, _ in self._fusion(found)[: self._breadth.each]
            }
            fused = self._fusion(_merged(list(lists.values())))
            best = [hit for hit in fused if hit[0] in kept][: self._breadth.total]
            chosen = {item for item, _ in best}
            note.hits([*best, *(hit for hit in fused if hit[0] not in chosen)])
            note.n_out = len(best)
        return best

    def _fetch(self, hits: Sequence[Hit]) -> list[NodeWithScore]:
        """Nodes of the winners, one look-up a collection."""
        with self._log.stage("fetch", len(hits)) as note:
            nodes = {}
            for _, members in self._groups():
                missing = [item for item, _ in hits if item not in nodes]
                nodes.update(members[0].collection.nodes(missing))
            found = [
                NodeWithScore(node=nodes[item], score=score)
                for item, score in hits
                if item in nodes
            ]
            note.n_out = len(found)
        return found

    def _degrade(self, kind: DegradationKind, error: ModelError) -> None:
        self._log.degrade(Degradation(kind=kind, detail=str(error)))


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


def _merged(groups: Sequence[Sequence[HitList]]) -> list[HitList]:
    """Lists of the same kind and query, over all collections, as one list each."""
    if len(groups) == 1:
        return list(groups[0])
    merged: list[HitList] = []
    for kind in KINDS:
        per_group = [[x for x in found if x.kind == kind] for found in groups]
        for rank in range(max((len(lists) for lists in per_group), default=0)):
            same = [x for lists in per_group for x in lists[rank : rank + 1]]
            hits = sorted((h for x in same for h in x.hits), key=best_first)
            merged.append(HitList(kind, tuple(hits), same[0].weight))
    return merged
