"""Retrievers over a collection, for plain LlamaIndex and for this package's engine.

`DenseRetriever` and `KeywordRetriever` are ordinary LlamaIndex retrievers. The
`HybridRetriever` is LlamaIndex's `QueryFusionRetriever` with another fusion step: ids
and scores are fused by a pure function, and only the nodes of the best hits are read.
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
    """The best hits of one index of one collection as nodes, best first, ties by id.

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
        """Return the ids of the chunks that match `where`, or None without filters.

        Raises UsageError for a filter that does not exist.
        """
        return self.collection.ids(self.where) if self.where else None

    @abstractmethod
    def hits(self, query_bundle: QueryBundle, k: int) -> list[Hit]:
        """Return ids and scores of the `k` best."""

    @abstractmethod
    def scores(self, query_bundle: QueryBundle, ids: Iterable[str]) -> dict[str, float]:
        """Return scores by id, as in `hits`; ids without a score are absent."""

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self.hits(query_bundle, self.similarity_top_k)
        nodes = self.collection.nodes([item for item, _ in hits])
        return [NodeWithScore(node=nodes[item], score=score) for item, score in hits]


class DenseRetriever(CollectionRetriever):
    """Nearest chunks by vector; the score is the cosine.

    The query's own embedding is used if it has one, so that a question is embedded once
    for all collections.
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
    """Number of candidates: `each` per collection, `total` over all."""

    each: int = 20
    total: int = 20


class HybridRetriever(QueryFusionRetriever):
    """Candidates of several collections, dense and keyword, joined into one list.

    Each collection returns its `breadth.each` best. Their scores come from fusing the
    dense hits of all collections with the keyword hits of all, so that they are
    comparable across collections. With `num_queries` above 1 the `llm` rewrites the
    question and the hits of the rewrites are fused in. `transforms`, by their names in
    the trace, then add or replace searches. `wordings` are further forms of a
    definition; chunks that define the requested term come first.

    Without an embedder only the keyword index is searched. Raises MissingModelError if
    rewrites are requested without a language model.
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
        wordings: Sequence[str] = (),
    ) -> None:
        if num_queries > 1 and llm is None:
            raise MissingModelError(
                f"num_queries = {num_queries} needs a language model for the rewrites",
                "set models.llm_strategy (for example ollama), or num_queries: 1",
            )
        self._breadth = breadth or Breadth()
        # LlamaIndex uses its global model if none is given.
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
        self._wordings = tuple(wordings)

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
        """Return the question and its rewrites, after the transforms."""
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
        """Return the searches with their vectors, if vectors are searched."""
        dense = next((m for m in self._members if isinstance(m, DenseRetriever)), None)
        if dense is None or all(s.bundle.embedding for s in searches):
            return searches
        with self._log.stage("embed:searches", len(searches)) as note:
            try:
                searches = _embed_searches(searches, dense.embedder)
            except ModelError as error:
                self._degrade(DegradationKind.EMBEDDER_UNAVAILABLE, error)
                # Otherwise each of the others would be tried again in every collection.
                searches = [s for s in searches if s.bundle.embedding] or searches
            note.n_out = sum(bool(s.bundle.embedding) for s in searches)
        return searches

    def _groups(self) -> list[tuple[str, list[CollectionRetriever]]]:
        """Return the retrievers by collection, in the given order."""
        grouped = groupby(self._members, key=lambda r: r.collection.name)
        return [(name, list(members)) for name, members in grouped]

    def _search(
        self, searches: Sequence[Search], members: Sequence[CollectionRetriever]
    ) -> list[HitList]:
        """Return the hit lists of one collection, without retrievers that failed."""
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
        """Return the keyword hits of a search, those that define its term first."""
        question, collection = search.bundle.query_str, member.collection
        term = analyse(question).term
        if not term:
            return hits
        with self._log.stage(f"definition_first:{collection.name}", len(hits)) as note:
            hits = put_definitions_first(
                term,
                question,
                hits,
                collection,
                member.allowed_ids,
                self._wordings,
            )
            note.hits(hits)
        return hits

    def _fuse(self, lists: dict[str, list[HitList]]) -> list[Hit]:
        """Return the candidates of all collections with comparable scores."""
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
        """Return the nodes of the best hits, with one lookup per collection."""
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
    """The hits of one retriever for one search."""

    member: CollectionRetriever
    bundle: QueryBundle
    hit_list: HitList


def _complete(searched: Sequence[_SearchedList]) -> Iterator[HitList]:
    """Return every list with a score for every hit of any list, if it has one."""
    ids = sorted({item for asked in searched for item, _ in asked.hit_list.hits})
    for asked in searched:
        known = dict(asked.hit_list.hits)
        missing = [item for item in ids if item not in known]
        more = asked.member.scores(asked.bundle, missing) if missing else {}
        hits = order_hits(known | more)
        yield replace(asked.hit_list, hits=tuple(hits))


def _merge(groups: Sequence[Sequence[HitList]]) -> list[HitList]:
    """Merge the lists of the same kind and query of all collections."""
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
    """Return the searches with vectors, computed once for all collections.

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
