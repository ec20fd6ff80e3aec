"""The search for the sources of a question, with the cache and the router."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.caching.lookup import CacheLookup, merge_nodes
from elt_llm_query.caching.semantic_cache import CacheLookUp, SemanticCache
from elt_llm_query.engine import assemble
from elt_llm_query.plan import CacheOutcome, SearchPlan
from elt_llm_query.request import Request, open_request
from elt_llm_query.routers.choose import choose_collections
from elt_llm_query.stages import Strategies, strategies_of
from elt_llm_query.unmatched_filters import describe_unmatched

TRIES = 5  # more tries would only help if a document were replaced during each
Retrieved = tuple[Request, SearchPlan, RetrieverQueryEngine, list[NodeWithScore]]


@dataclass(frozen=True)
class SourceSearch:
    """Retrieves the sources of a question.

    Args:
        store: The data root.
        config: The settings.
        models: The embedder, and the language model of transforms and routers.
        cache: The cache of the caller, or None.
        named: Whether the user named the collections.
    """

    store: Store
    config: RagConfig
    models: Models
    cache: SemanticCache | None
    named: bool

    def retrieve(
        self, names: Sequence[str], question: str, where: Mapping[str, Any] | None
    ) -> Retrieved:
        """Return the opened request, the plan, the engine and the sources.

        If a document is replaced between the search and the reading of its chunks, the
        collection is searched again.
        """
        strategies = strategies_of(self.config)
        strategies.check_cache()
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
            plan, engine, nodes = self._retrieve_with_cache(request, strategies)
            if not nodes and (
                note := describe_unmatched(request.where, request.collections)
            ):
                request.log.degrade(note)
            if _all_fetched(request):
                return request, plan, engine, nodes
        kind = DegradationKind.DOCUMENT_WARNING
        detail = "documents were replaced during the search; ask again"
        request.log.degrade(Degradation(kind=kind, detail=detail))
        return request, plan, engine, nodes

    def _note_unused_cache(self, request: Request) -> None:
        """Add a degradation for a configured cache that the caller lacks."""
        name = self.config.query.cache_strategy
        if self.cache is None and name != "none":
            detail = (
                f"query.cache_strategy {name!r} has no effect: the cache is in "
                "memory, and this process answers one question (elt-llm serve "
                "keeps a cache)"
            )
            kind = DegradationKind.SETTING_UNUSED
            request.log.degrade(Degradation(kind=kind, detail=detail))

    def _retrieve_with_cache(
        self, request: Request, strategies: Strategies
    ) -> tuple[SearchPlan, RetrieverQueryEngine, list[NodeWithScore]]:
        """Use the sources of a similar question, in full or in part, or search."""
        lookup = CacheLookup(self.cache, request, self.config, self.models)
        look = lookup.look()
        plan = self._plan(request, strategies, look)
        engine = assemble(plan, strategies, self.models, request.log)
        if look.kept is not None and look.kind is CacheOutcome.HIT:
            return plan, engine, list(look.kept.nodes)
        nodes = engine.retrieve(request.bundle)
        if look.kept is not None:
            return plan, engine, merge_nodes(nodes, look.kept.nodes)
        if _all_fetched(request):
            lookup.keep(nodes, plan.collections)
        return plan, engine, nodes

    def _plan(
        self, request: Request, strategies: Strategies, look: CacheLookUp
    ) -> SearchPlan:
        """Decide how the question is searched.

        A full cache hit is not routed again, a partial one is searched for half as many
        sources; a router that chooses nothing halves the numbers too.
        """
        plan = SearchPlan.of(
            self.config,
            collections=request.collections,
            where=request.where,
            dense=request.bundle.embedding is not None,
            cached=look.kind,
        )
        if look.kept is not None and look.kind is CacheOutcome.HIT:
            names = look.kept.collections
            return plan.over([c for c in plan.collections if c.name in names])
        if look.kind is CacheOutcome.PARTIAL:
            plan = plan.halve()
        return choose_collections(plan, request, strategies, self.models, self.store)


def _all_fetched(request: Request) -> bool:
    """Return whether every found chunk could be read."""
    fetches = (s for s in request.log.stages if s.name == "fetch")
    return all(stage.n_out == stage.n_in for stage in fetches)
