"""Retrievers over a collection, for plain LlamaIndex and for our engine.

`DenseRetriever` and `KeywordRetriever` are ordinary LlamaIndex retrievers. The
`HybridRetriever` is LlamaIndex's `QueryFusionRetriever` with the fusing step replaced:
ids and scores are joined by a pure function, and nodes are fetched once, for the
winners.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeWithScore, QueryBundle
from typing_extensions import override

from elt_llm_core.errors import MissingModelError, ModelError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Collection
from elt_llm_query.analysis.question import analyse
from elt_llm_query.llm_calls import fence, keep_wording, with_short_answers
from elt_llm_query.prompts import REWRITES
from elt_llm_query.retrieval.definition_first import put_definitions_first
from elt_llm_query.retrieval.fusion import (
    KINDS,
    Fusion,
    Hit,
    HitList,
    ListKind,
    Rrf,
    best_first,
    order_hits,
)
from elt_llm_query.retrieval.query_transform import Search, SearchTransform
from elt_llm_query.retrieval.unit_vectors import embed_beginning, query_vector
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
        collection.check_filters(self.where)

    @property
    def allowed_ids(self) -> frozenset[str] | None:
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
        return self.collection.search_dense(vector, k, self.allowed_ids)

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
        return self.collection.search_keyword(
            query_bundle.query_str, k, self.allowed_ids
        )

    @override
    def scores(self, query_bundle: QueryBundle, ids: Iterable[str]) -> dict[str, float]:
        return self.collection.keyword_scores(query_bundle.query_str, ids)


__all__ = [
    "Breadth",
    "CollectionRetriever",
    "DenseRetriever",
    "HybridRetriever",
    "KeywordRetriever",
    "query_vector",
]

TOKENS = 60  # of one rewrite


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

    Without an embedder only the keyword index is asked. Raises MissingModelError where
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
            raise MissingModelError(
                f"num_queries = {num_queries} needs a language model for the rewrites",
                "set models.llm_strategy (for example ollama), or num_queries: 1",
            )
        self._breadth = breadth or Breadth()
        # LlamaIndex reaches for its global model where none is given.
        super().__init__(
            retrievers=list(retrievers),
            llm=with_short_answers(llm, TOKENS * num_queries) if llm else MockLLM(),
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
                answer = "\n".join(map(str, self._get_queries(fence(question))))
                texts = keep_wording(question, answer, self.num_queries - 1)
            except ModelError as error:
                self._degrade(DegradationKind.GENERATION_UNAVAILABLE, error)
                texts = []
            note.n_out = len(texts)
        return [QueryBundle(text) for text in texts]

    def _searches(self, question: QueryBundle) -> list[Search]:
        """The question and its rewrites, as the transforms leave them."""
        rewrites = self._rewrites(question.query_str)
        searches = [Search(bundle) for bundle in (question, *rewrites)]
        for name, transform in self._transforms.items():
            with self._log.stage(f"transform:{name}", len(searches)) as note:
                try:
                    searches = transform.transform(searches)
                except ModelError as error:
                    self._degrade(DegradationKind.GENERATION_UNAVAILABLE, error)
                note.hits([(search.text, search.weight) for search in searches])
        return self._embed(searches)

    def _embed(self, searches: list[Search]) -> list[Search]:
        """The searches with their vectors, where vectors are searched."""
        dense = next((m for m in self._members if isinstance(m, DenseRetriever)), None)
        if dense is None or all(s.bundle.embedding for s in searches):
            return searches
        with self._log.stage("embed:searches", len(searches)) as note:
            try:
                searches = _embed_searches(searches, dense.embedder)
            except ModelError as error:
                self._degrade(DegradationKind.EMBEDDER_UNAVAILABLE, error)
                # Each of the others would be tried again in every collection.
                searches = [s for s in searches if s.bundle.embedding] or searches
            note.n_out = sum(bool(s.bundle.embedding) for s in searches)
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
        searched: list[_SearchedList] = []
        for member in members:
            kind: ListKind = (
                "dense" if isinstance(member, DenseRetriever) else "keyword"
            )
            for search in searches:
                with self._log.stage(f"{kind}:{member.collection.name}", 1) as note:
                    try:
                        hits = member.hits(search.bundle, depth)
                    except ModelError as error:
                        self._degrade(DegradationKind.EMBEDDER_UNAVAILABLE, error)
                        continue
                    note.hits(hits)
                if kind == "keyword":
                    hits = self._definitions_first(search, hits, member)[:depth]
                hit_list = HitList(kind, tuple(hits), search.weight)
                searched.append(_SearchedList(member, search.bundle, hit_list))
        if not (self._fusion.complete and searched):
            return [asked.hit_list for asked in searched]
        name = searched[0].member.collection.name
        with self._log.stage(
            f"complete:{name}", sum(len(a.hit_list.hits) for a in searched)
        ):
            return list(_complete(searched))

    def _definitions_first(
        self, search: Search, hits: list[Hit], member: CollectionRetriever
    ) -> list[Hit]:
        """The keyword hits of a search with those in front that define its term."""
        question, collection = search.bundle.query_str, member.collection
        term = analyse(question).term
        if not term:
            return hits
        with self._log.stage(f"definition_first:{collection.name}", len(hits)) as note:
            hits = put_definitions_first(
                term, question, hits, collection, member.allowed_ids
            )
            note.hits(hits)
        return hits

    def _fuse(self, lists: dict[str, list[HitList]]) -> list[Hit]:
        """The candidates of every collection with scores that compare among all."""
        n_in = sum(len(x.hits) for hit_lists in lists.values() for x in hit_lists)
        with self._log.stage("fuse", n_in) as note:
            kept = {
                item
                for hit_lists in lists.values()
                for item, _ in self._fusion(hit_lists)[: self._breadth.each]
            }
            fused = self._fusion(_merge(list(lists.values())))
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
            hits_with_nodes = [
                NodeWithScore(node=nodes[item], score=score)
                for item, score in hits
                if item in nodes
            ]
            note.n_out = len(hits_with_nodes)
        return hits_with_nodes

    def _degrade(self, kind: DegradationKind, error: ModelError) -> None:
        self._log.degrade(Degradation(kind=kind, detail=str(error)))


@dataclass(frozen=True)
class _SearchedList:
    """What one retriever found for one search."""

    member: CollectionRetriever
    bundle: QueryBundle
    hit_list: HitList


def _complete(searched: Sequence[_SearchedList]) -> Iterator[HitList]:
    """Every list with a score for whatever any of them found, where it has one."""
    ids = sorted({item for asked in searched for item, _ in asked.hit_list.hits})
    for asked in searched:
        known = dict(asked.hit_list.hits)
        missing = [item for item in ids if item not in known]
        more = asked.member.scores(asked.bundle, missing) if missing else {}
        hits = order_hits(known | more)
        yield replace(asked.hit_list, hits=tuple(hits))


def _merge(groups: Sequence[Sequence[HitList]]) -> list[HitList]:
    """Lists of the same kind and query, over all collections, as one list each."""
    if len(groups) == 1:
        return list(groups[0])
    merged: list[HitList] = []
    for kind in KINDS:
        per_group = [[x for x in hit_lists if x.kind == kind] for hit_lists in groups]
        for rank in range(max((len(lists) for lists in per_group), default=0)):
            same = [x for lists in per_group for x in lists[rank : rank + 1]]
            hits = sorted((h for x in same for h in x.hits), key=best_first)
            merged.append(HitList(kind, tuple(hits), same[0].weight))
    return merged


def _embed_searches(
    searches: Sequence[Search], embedder: BaseEmbedding
) -> list[Search]:
    """The searches, each with its vector: made once for all collections.

    Raises ModelError.
    """
    with_vectors = []
    for search in searches:
        bundle = search.bundle
        if not bundle.embedding:
            text = " ".join(bundle.embedding_strs)
            vector, _ = embed_beginning(embedder.get_query_embedding, text)
            bundle = replace(bundle, embedding=vector)
        with_vectors.append(replace(search, bundle=bundle))
    return with_vectors
