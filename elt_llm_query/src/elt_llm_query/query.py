"""The main path: one question, some collections, one result.

question
│ embed       once for all collections
│ cache       what a like question found, where wanted
│ route       the collections it is for, where wanted
│ transform   what else to search for           ┐
│ retrieve    keyword and vectors of each       │
│             collection                        │ one plain LlamaIndex
│ fuse        one list                          │ RetrieverQueryEngine
│ candidates  widened or weighed, where wanted  │
│ rerank      the best reranker_top_k           │
│ postprocess widened or cut, where wanted      │
│ label       [S1] ... [Sn]                     │
│ tables      a whole table, where it can tell  │
│ synthesise  an answer with labels             ┘
│ verify      a citation for each claim, or none
▼
QueryResult
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.patience import at_most
from elt_llm_core.results import (
    Degradation,
    DegradationKind,
    QueryResult,
    SearchResult,
)
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.caching.semantic import Kind, SemanticCache
from elt_llm_query.caching.step import Remembering, merged
from elt_llm_query.caching.strategies import CACHES
from elt_llm_query.engine import build_engine
from elt_llm_query.grounding.citations import verdict
from elt_llm_query.grounding.sources import offered, quotable
from elt_llm_query.request import Request, halved, open_request
from elt_llm_query.routers.step import routed

TRIES = 5
Found = tuple[Request, RetrieverQueryEngine, list[NodeWithScore]]


def query_collection(
    name: str,
    question: str,
    *,
    store: Store,
    config: RagConfig,
    models: Models,
    where: Mapping[str, Any] | None = None,
) -> QueryResult:
    """Answer `question` from one collection; see `query_collections`."""
    return query_collections(
        [name], question, store=store, config=config, models=models, where=where
    )


def query_collections(  # noqa: PLR0913 - what may be said of a question
    names: Sequence[str],
    question: str,
    *,
    store: Store,
    config: RagConfig,
    models: Models,
    where: Mapping[str, Any] | None = None,
    cache: SemanticCache | None = None,
    named: bool = True,
) -> QueryResult:
    """Answer `question` from all of the named collections together.

    Sources are in rank order; every claim of the answer was looked up in them. An
    honest refusal is a result, `status` tells. What was switched off or unavailable is
    in `degradations`. `where` limits the sources; see `Collection.ids` for its keys.
    `cache` is held by a caller who asks more than once; see `build_cache`. `named` is
    false where all collections are asked because none was named: one that another model
    embedded is then left out, in `degradations`. Raises UsageError for an empty
    question, no collection or an unknown filter, CollectionNotFoundError,
    CollectionMismatchError and ConfigError.
    """
    finder = _Finder(store, config, models, cache, named)
    with at_most(config.query.question_timeout):
        request, engine, nodes = finder.found(names, question, where)
        response = engine.synthesize(request.bundle, quotable(nodes, request.log))
    sources = offered(response.source_nodes)
    with request.log.stage("verify", len(sources)) as note:
        checked = verdict(response, sources, store, config.query.citation_policy)
        note.n_out = len(checked.citations)
    return QueryResult(
        question=question,
        status=checked.status,
        answer=checked.answer,
        sources=tuple(o.source for o in sources),
        citations=checked.citations,
        removed=checked.removed,
        degradations=request.degradations(),
        trace=request.trace(config),
    )


def search_collections(  # noqa: PLR0913 - what may be said of a search
    names: Sequence[str],
    question: str,
    *,
    store: Store,
    config: RagConfig,
    models: Models,
    k: int | None = None,
    where: Mapping[str, Any] | None = None,
    cache: SemanticCache | None = None,
    named: bool = True,
) -> SearchResult:
    """The best sources for `question` in rank order, without an answer.

    `k` says how many, instead of the configured number. Raises as `query_collections`.
    """
    config = retrieval_only(config, k)
    finder = _Finder(store, config, models, cache, named)
    with at_most(config.query.question_timeout):
        request, _, nodes = finder.found(names, question, where)
    sources = offered(nodes)
    return SearchResult(
        question=question,
        sources=tuple(o.source for o in sources),
        degradations=request.degradations(),
        trace=request.trace(config),
    )


@dataclass(frozen=True)
class _Finder:
    """Finds the sources of a question."""

    store: Store
    config: RagConfig
    models: Models
    cache: SemanticCache | None
    named: bool

    def found(
        self, names: Sequence[str], question: str, where: Mapping[str, Any] | None
    ) -> Found:
        """The question with its collections, the engine, and what it found.

        A document may be replaced after the search found its chunks and before they are
        read; then it is searched again in the collection as it is now.
        """
        self._check_cache()
        for _ in range(TRIES):
            request = open_request(
                names,
                question,
                store=self.store,
                models=self.models,
                where=where,
                named=self.named,
            )
            request.log.most = self.config.query.trace_hits
            self._note_unused_cache(request)
            memory = Remembering(self.cache, request, self.config, self.models)
            engine, nodes = self._remembered(request, memory)
            if _is_whole(request):
                return request, engine, nodes
        kind = DegradationKind.DOCUMENT_WARNING
        detail = "documents were replaced while they were searched; ask again"
        request.log.degrade(Degradation(kind=kind, detail=detail))
        return request, engine, nodes

    def _check_cache(self) -> None:
        """Raise ConfigError for a cache that cannot be, though nobody may hold one."""
        query, allowed = self.config.query, self.config.allowed_plugins()
        CACHES.load(query.cache_strategy, query.cache_options, allowed)

    def _note_unused_cache(self, request: Request) -> None:
        """Degrade where a cache is configured and the caller holds none."""
        name = self.config.query.cache_strategy
        if self.cache is None and name != "none":
            detail = (
                f"query.cache_strategy is {name!r} without effect: a cache is held in "
                "memory, and this process asks once (elt-llm serve holds one)"
            )
            kind = DegradationKind.SETTING_UNUSED
            request.log.degrade(Degradation(kind=kind, detail=detail))

    def _remembered(
        self, request: Request, memory: Remembering
    ) -> tuple[RetrieverQueryEngine, list[NodeWithScore]]:
        """What is kept for a like question, in part or alone, or a fresh search."""
        look = memory.look()
        if look.kept is not None and look.kind is Kind.HIT:
            names = look.kept.collections
            request.collections = tuple(
                c for c in request.collections if c.name in names
            )
            return self._engine(request, self.config), list(look.kept.nodes)
        if look.kept is not None:
            engine, fresh = self._searched(request, halved(self.config))
            return engine, merged(fresh, look.kept.nodes)
        engine, nodes = self._searched(request, self.config)
        if _is_whole(request):
            memory.keep(nodes)
        return engine, nodes

    def _searched(
        self, request: Request, config: RagConfig
    ) -> tuple[RetrieverQueryEngine, list[NodeWithScore]]:
        request.collections, config = routed(request, config, self.models, self.store)
        engine = self._engine(request, config)
        return engine, engine.retrieve(request.bundle)

    def _engine(self, request: Request, config: RagConfig) -> RetrieverQueryEngine:
        return build_engine(
            request.collections,
            config,
            self.models,
            request.log,
            dense=request.dense,
            where=request.where,
        )


def _is_whole(request: Request) -> bool:
    """Whether every chunk that was found could be read."""
    fetches = (s for s in request.log.stages if s.name == "fetch")
    return all(stage.n_out == stage.n_in for stage in fetches)


def retrieval_only(config: RagConfig, k: int | None) -> RagConfig:
    """The configuration with `k` sources and no language model asked for an answer."""
    query = config.query
    changed: dict[str, object] = {
        "synthesizer_strategy": "extractive",
        "synthesizer_options": {},
    }
    if k is not None:
        changed |= {
            "similarity_top_k": k,
            "reranker_top_k": k,
            "reranker_retrieve_k": max(query.reranker_retrieve_k, k),
        }
    return config.model_copy(update={"query": query.model_copy(update=changed)})
