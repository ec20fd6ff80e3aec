"""The main path: one question, some collections, one result.

question
│ embed       once for all collections
│ transform   what else to search for           ┐
│ retrieve    keyword and vectors of each       │
│             collection                        │ one plain LlamaIndex
│ fuse        one list                          │ RetrieverQueryEngine
│ candidates  widened or weighed, where wanted  │
│ rerank      the best reranker_top_k           │
│ postprocess widened or cut, where wanted      │
│ label       [S1] ... [Sn]                     │
│ synthesise  an answer with labels             ┘
│ verify      a citation for each claim, or none
▼
QueryResult
"""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore

from elt_llm_core.config import RagConfig
from elt_llm_core.results import (
    Degradation,
    DegradationKind,
    QueryResult,
    SearchResult,
)
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.engine import build_engine
from elt_llm_query.request import Request, open_request
from elt_llm_query.sources import offered
from elt_llm_query.verdict import verdict

TRIES = 5


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


def query_collections(
    names: Sequence[str],
    question: str,
    *,
    store: Store,
    config: RagConfig,
    models: Models,
    where: Mapping[str, Any] | None = None,
) -> QueryResult:
    """Answer `question` from all of the named collections together.

    Sources are in rank order; every claim of the answer was looked up in them. An
    honest refusal is a result, `status` tells. What was switched off or unavailable is
    in `degradations`. `where` limits the sources; see `Collection.ids` for its keys.
    Raises UsageError for an empty question, no collection or an unknown filter,
    CollectionNotFoundError, CollectionMismatchError and ConfigError.
    """
    request, engine, nodes = _retrieved(names, question, store, config, models, where)
    response = engine.synthesize(request.bundle, nodes)
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
) -> SearchResult:
    """The best sources for `question` in rank order, without an answer.

    `k` says how many, instead of the configured number. Raises as `query_collections`.
    """
    config = retrieval_only(config, k)
    request, _, nodes = _retrieved(names, question, store, config, models, where)
    sources = offered(nodes)
    return SearchResult(
        question=question,
        sources=tuple(o.source for o in sources),
        degradations=request.degradations(),
        trace=request.trace(config),
    )


def _retrieved(
    names: Sequence[str],
    question: str,
    store: Store,
    config: RagConfig,
    models: Models,
    where: Mapping[str, Any] | None,
) -> tuple[Request, RetrieverQueryEngine, list[NodeWithScore]]:
    """The question with its collections, the engine, and what it found.

    A document may be replaced after the search found its chunks and before they are
    read; then it is searched again in the collection as it is now.
    """
    for _ in range(TRIES):
        request = open_request(names, question, store=store, models=models, where=where)
        request.log.most = config.query.trace_hits
        engine = build_engine(
            request.collections,
            config,
            models,
            request.log,
            dense=request.dense,
            where=request.where,
        )
        nodes = engine.retrieve(request.bundle)
        fetches = (s for s in request.log.stages if s.name == "fetch")
        if all(stage.n_out == stage.n_in for stage in fetches):
            return request, engine, nodes
    kind = DegradationKind.DOCUMENT_WARNING
    detail = "documents were replaced while they were searched; ask again"
    request.log.degrade(Degradation(kind=kind, detail=detail))
    return request, engine, nodes


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
