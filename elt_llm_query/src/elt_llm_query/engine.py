"""Assemble the stages of a question into one plain LlamaIndex query engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import MissingExtraError, MissingModelError
from elt_llm_core.models.none import NoEmbedding
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.components import OverCollections, Postprocessor, ReadsWordings
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.llm_calls import require_llm
from elt_llm_query.plan import SearchPlan
from elt_llm_query.postprocessors.figure_links import FigureLinks
from elt_llm_query.postprocessors.fixed_steps import (
    NamesakeLookUp,
    ReferenceLists,
    RuleCut,
    RuleLookUp,
)
from elt_llm_query.postprocessors.weighting import TrustWeight
from elt_llm_query.rerankers.stored_vectors import StoredVectorRerankOptions
from elt_llm_query.resilience import GuardedRerank, GuardedSynthesizer
from elt_llm_query.retrieval.hybrid import (
    CollectionRetriever,
    DenseRetriever,
    HybridRetriever,
    KeywordRetriever,
)
from elt_llm_query.retrieval.query_transform import SearchTransform
from elt_llm_query.stages import Strategies, build_or_leave_out, strategies_of
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveOptions
from elt_llm_query.synthesizers.table_qa.table_synthesizer import TableSynthesizer
from elt_llm_query.trace import BoundStep, GuardedStep, TraceLog

T = TypeVar("T")
# The best measured reranker that needs only stored vectors.
NEXT_BEST = "ordered by the stored vectors instead"


def build_engine(
    collections: Sequence[Collection],
    config: RagConfig,
    models: Models,
    log: TraceLog | None = None,
    *,
    dense: bool = True,
    where: Mapping[str, Any] | None = None,
) -> RetrieverQueryEngine:
    """Return a plain LlamaIndex engine with all stages from transform to synthesis.

    Args:
        collections: The collections to search.
        config: The settings; the section `query` and the wordings of definitions are
            used.
        models: The embedder and, for written answers, the language model.
        log: Records the stages, and a degradation for each that is skipped because its
            model or package is missing.
        dense: Whether to search vectors; False if the question has no vector.
        where: Filters that every chunk must match; see `Collection.ids`.

    Returns:
        The engine; its `query` retrieves, reranks and answers.

    Raises:
        ConfigError: If a strategy does not exist or has wrong options.
    """
    plan = SearchPlan.of(
        config, collections=tuple(collections), where=dict(where or {}), dense=dense
    )
    return assemble(plan, strategies_of(config), models, log or TraceLog())


def assemble(
    plan: SearchPlan, strategies: Strategies, models: Models, log: TraceLog
) -> RetrieverQueryEngine:
    """Return the engine of a plan, with its postprocessors in the order of the plan."""
    if not plan.dense:
        models = Models(NoEmbedding(), models.llm, models.roles)
    parts = _Assembly(plan, strategies, models, log)
    return RetrieverQueryEngine(
        retriever=parts.retriever(),
        node_postprocessors=[
            *parts.candidate_steps(),
            *parts.rerankers(),
            *parts.source_steps(),
            *parts.fixed_steps(),
        ],
        response_synthesizer=parts.synthesizer(),
        callback_manager=CallbackManager(),
    )


@dataclass(frozen=True)
class _Assembly:
    """Builds the components of one question's engine, in the order they are used."""

    plan: SearchPlan
    strategies: Strategies
    models: Models
    log: TraceLog

    def retriever(self) -> HybridRetriever:
        """Return the dense and keyword search of every collection, fused."""
        plan, query = self.plan, self.plan.config.query
        members: list[CollectionRetriever] = []
        for collection in plan.collections:
            where = collection.own_filters(plan.where)
            if plan.dense:
                embedder = self.models.embedder
                members.append(DenseRetriever(collection, embedder, where=where))
            if query.use_hybrid_search or not plan.dense:
                members.append(KeywordRetriever(collection, where=where))
        self._note_unused_depth()
        return HybridRetriever(
            members,
            fusion=self.strategies.fusion.build(self.models),
            breadth=plan.breadth,
            llm=self.models.llm_for("rewrite"),
            num_queries=self._num_queries(),
            transforms=self.transforms(),
            log=self.log,
            wordings=plan.config.consumer.definition_patterns,
        )

    def transforms(self) -> dict[str, SearchTransform]:
        """Return the query transforms by name, in order."""
        return self._build_steps(self.strategies.transforms)

    def candidate_steps(self) -> list[BaseNodePostprocessor]:
        """Return the postprocessors of the candidates, in order."""
        return [
            GuardedStep(step, self.log, f"candidate:{name}")
            for name, step in self._build_steps(self.strategies.candidate_steps).items()
        ]

    def rerankers(self) -> list[BaseNodePostprocessor]:
        """Return the reranker with its time limit, or an empty list."""
        if not self.plan.config.query.use_reranker:
            return []
        top_k, seconds = self.plan.rerank_k, self.plan.config.query.reranker_timeout
        own = self.strategies.reranker
        instead = NEXT_BEST if self.plan.dense else "left out"
        reranker = build_or_leave_out(own, self.models, self.log, instead)
        if reranker is None and not self.plan.dense:
            return [FirstOnes(top_n=top_k)]
        if reranker is None:
            stored = StoredVectorRerankOptions(top_n=top_k)
            reranker = stored.build(self.models)
        ready = self._over_collections(reranker)
        return [GuardedRerank(ready, self.log, top_k, seconds)]

    def source_steps(self) -> list[BaseNodePostprocessor]:
        """Return the postprocessors of the sources, in order, each with its limit."""
        most = self.plan.source_limit
        return [
            BoundStep(step, self.log, f"postprocessor:{name}", most)
            for name, step in self._build_steps(self.strategies.source_steps).items()
        ]

    def fixed_steps(self) -> list[BaseNodePostprocessor]:
        """Return the steps that every question runs, whatever is configured.

        The trust step is added only if a document has a priority of its own.
        """
        collections, where = self.plan.collections, self.plan.where
        trust: dict[str, BaseNodePostprocessor] = {}
        if any(collection.priorities for collection in collections):
            trust = {"trust": TrustWeight().over(collections, where)}
        steps: dict[str, BaseNodePostprocessor] = {
            **trust,
            "rule_lookup": RuleLookUp().over(collections, where),
            "namesakes": NamesakeLookUp().over(collections, where),
            "rule_filter": RuleCut.of(where),
            "references": ReferenceLists().over(collections, where),
            "figure_links": FigureLinks().over(collections, where),
            "label": LabelSources(),
        }
        return [GuardedStep(step, self.log, name) for name, step in steps.items()]

    def synthesizer(self) -> BaseSynthesizer:
        """Return the table answerer around the synthesizer with its fallback."""
        own = build_or_leave_out(self.strategies.synthesizer, self.models, self.log)
        fallback = self._over_collections(ExtractiveOptions().build(self.models))
        inner = None if own is None else self._over_collections(own)
        guarded = GuardedSynthesizer(inner or fallback, fallback, self.log)
        if not self.plan.config.query.use_tables:
            return guarded
        embedder = self.models.embedder if self.plan.dense else None
        return TableSynthesizer(guarded, self.plan.collections, embedder, self.log)

    def _num_queries(self) -> int:
        """Return the number of queries, 1 if no model can rewrite the question."""
        count = self.plan.config.query.num_queries
        if count > 1:
            try:
                require_llm(self.models, "query.num_queries above 1")
            except MissingModelError as error:
                kind = DegradationKind.STAGE_LEFT_OUT
                self.log.degrade(Degradation(kind=kind, detail=f"skipped: {error}"))
                return 1
        return count

    def _note_unused_depth(self) -> None:
        """Add a degradation if a list returns fewer hits than candidates are kept."""
        depth = self.plan.config.query.fusion_options.get("depth", 0)
        each = self.plan.breadth.each
        if isinstance(depth, int) and 0 < depth < each:
            detail = (
                f"query.fusion_options.depth {depth} has no effect: every list "
                f"already returns {each} hits per collection; use 0, or a larger "
                "number"
            )
            kind = DegradationKind.SETTING_UNUSED
            self.log.degrade(Degradation(kind=kind, detail=detail))

    def _build_steps(
        self, named: Mapping[str, Strategy[T] | MissingExtraError]
    ) -> dict[str, T]:
        """Build components by name; those that read collections get the plan's.

        A component whose model or package is missing is left out.
        """
        components: dict[str, T] = {}
        for name, strategy in named.items():
            component = build_or_leave_out(strategy, self.models, self.log)
            if component is not None:
                components[name] = self._over_collections(component)
        return components

    def _over_collections(self, component: T) -> T:
        """Return the component with the collections and wordings that it reads."""
        if isinstance(component, ReadsWordings):
            wordings = self.plan.config.consumer.definition_patterns
            component = component.with_wordings(wordings)
        if isinstance(component, OverCollections):
            return component.over(self.plan.collections, self.plan.where)
        return component


class FirstOnes(Postprocessor):
    """Keeps the first `top_n` nodes in their order; used without a reranker."""

    top_n: int = Field(gt=0)

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[: self.top_n]
