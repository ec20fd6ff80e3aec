"""A question's stages put together into one plain LlamaIndex query engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.config.sections import QuerySection
from elt_llm_core.errors import UnknownStrategyError
from elt_llm_core.models.none import NoEmbedding
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Stage, T
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.llm_calls import needed
from elt_llm_query.postprocessors.namesakes import NamesakeLookUp
from elt_llm_query.postprocessors.rule_lookup import RuleCut, RuleLookUp
from elt_llm_query.preflight import FirstOnes, built_or_left_out
from elt_llm_query.resilience import (
    BoundStep,
    GuardedRerank,
    GuardedStep,
    GuardedSynthesizer,
)
from elt_llm_query.retrieval.hybrid import (
    Breadth,
    CollectionRetriever,
    DenseRetriever,
    HybridRetriever,
    KeywordRetriever,
)
from elt_llm_query.retrieval.search import SearchTransform, SeesAll
from elt_llm_query.stages import (
    FUSIONS,
    POSTPROCESSORS,
    RERANKERS,
    SYNTHESIZERS,
    TRANSFORMS,
)
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer
from elt_llm_query.synthesizers.table_qa.synthesizer import TableSynthesizer
from elt_llm_query.trace import TraceLog


@runtime_checkable
class OverCollections(Protocol):
    """A postprocessor that looks things up in the collections that are asked."""

    def over(
        self, collections: Sequence[Collection], where: Mapping[str, Any]
    ) -> BaseNodePostprocessor:
        """The same postprocessor with these collections to look into.

        It brings no chunk that `where` leaves out.
        """


def build_engine(
    collections: Sequence[Collection],
    config: RagConfig,
    models: Models,
    log: TraceLog | None = None,
    *,
    dense: bool = True,
    where: Mapping[str, Any] | None = None,
) -> RetrieverQueryEngine:
    """Return a plain LlamaIndex engine.

    It transforms, retrieves, fuses, postprocesses, reranks, postprocesses, labels and
    synthesises. `dense` False leaves the vectors out, for when nothing can embed the
    question. `where` limits what is found. A stage whose model or package is not there
    is left out, and `log` says so. Raises ConfigError for a strategy or option
    that does not exist.
    """
    where = dict(where or {})
    log = log or TraceLog()
    if not dense:
        models = Models(embedder=NoEmbedding(), llm=models.llm)
    parts = Parts(tuple(collections), config, models, log, dense, where)
    return RetrieverQueryEngine(
        retriever=parts.retriever(),
        node_postprocessors=[
            *parts.candidate_steps(),
            *parts.rerankers(),
            *parts.source_steps(),
            RuleLookUp().over(parts.collections, parts.where),
            NamesakeLookUp().over(parts.collections, parts.where),
            RuleCut.of(parts.where),
            LabelSources(),
        ],
        response_synthesizer=parts.synthesizer(),
        callback_manager=CallbackManager(),
    )


def breadth_of(query: QuerySection, collections: int) -> Breadth:
    """How many candidates are retrieved.

    `reranker_retrieve_k` is shared out evenly, at least one each; without a reranker
    all collections compete for `similarity_top_k`, or each has its own share.
    """
    if query.use_reranker:
        each = max(query.reranker_retrieve_k // max(collections, 1), 1)
        return Breadth(each=each, total=max(query.reranker_retrieve_k, collections))
    if query.collection_top_k:
        each = query.collection_top_k
        return Breadth(each=each, total=each * max(collections, 1))
    return Breadth(each=query.similarity_top_k, total=query.similarity_top_k)


@dataclass(frozen=True)
class Parts:
    """Makes the parts of one question's engine, in the order they are used."""

    collections: tuple[Collection, ...]
    config: RagConfig
    models: Models
    log: TraceLog
    dense: bool = True
    where: Mapping[str, Any] = field(default_factory=dict)

    def retriever(self) -> HybridRetriever:
        """Dense and keyword search of every collection, fused."""
        query = self.config.query
        members: list[CollectionRetriever] = []
        for one in self.collections:
            if self.dense:
                members.append(
                    DenseRetriever(one, self.models.embedder, where=self.where)
                )
            if query.use_hybrid_search or not self.dense:
                members.append(KeywordRetriever(one, where=self.where))
        breadth = breadth_of(query, len(self.collections))
        self._note_unused_depth(breadth)
        return HybridRetriever(
            members,
            fusion=self._load(FUSIONS, query.fusion_strategy, query.fusion_options),
            breadth=breadth,
            llm=self.models.llm,
            num_queries=self._num_queries(),
            transforms=self.transforms(),
            log=self.log,
        )

    def _num_queries(self) -> int:
        """How many searches are made of the question; 1 where nothing rewrites it."""
        wanted = self.config.query.num_queries
        if wanted > 1 and not built_or_left_out(self._rewriter, self.log):
            return 1
        return wanted

    def _rewriter(self) -> LLM:
        return needed(self.models, "query.num_queries above 1")

    def _note_unused_depth(self, breadth: Breadth) -> None:
        """Degrade where fewer hits of a list are wanted than candidates are kept."""
        depth = self.config.query.fusion_options.get("depth", 0)
        if isinstance(depth, int) and 0 < depth < breadth.each:
            detail = (
                f"query.fusion_options.depth is {depth} without effect: "
                f"{breadth.each} candidates of each collection are kept, and every "
                "list gives as many hits; 0 says so, a larger number gives more"
            )
            kind = DegradationKind.SETTING_UNUSED
            self.log.degrade(Degradation(kind=kind, detail=detail))

    def transforms(self) -> dict[str, SearchTransform]:
        """The transforms of the searches by name, in order."""
        query = self.config.query
        names, options = query.transform_strategy, query.transform_options
        return {
            name: inner.over(self.collections) if isinstance(inner, SeesAll) else inner
            for name, inner in self._several(TRANSFORMS, names, options).items()
        }

    def candidate_steps(self) -> list[BaseNodePostprocessor]:
        """The postprocessors of the candidates, in order."""
        query = self.config.query
        names, options = query.candidate_strategy, query.candidate_options
        return [
            GuardedStep(self._placed(inner), self.log, f"candidate:{name}")
            for name, inner in self._several(POSTPROCESSORS, names, options).items()
        ]

    def source_steps(self) -> list[BaseNodePostprocessor]:
        """The postprocessors of the sources, in order, each with their number."""
        query = self.config.query
        names, options = query.postprocessor_strategy, query.postprocessor_options
        total = breadth_of(query, len(self.collections)).total
        most = query.reranker_top_k if query.use_reranker else total
        return [
            BoundStep(self._placed(inner), self.log, f"postprocessor:{name}", most)
            for name, inner in self._several(POSTPROCESSORS, names, options).items()
        ]

    def rerankers(self) -> list[BaseNodePostprocessor]:
        """The reranker with its stopwatch, or nothing."""
        query = self.config.query
        if not query.use_reranker:
            return []
        options = {"top_n": query.reranker_top_k, **query.reranker_options}
        inner = self._able(RERANKERS, query.reranker_strategy, options)
        top_k, seconds = query.reranker_top_k, query.reranker_timeout
        if inner is None:
            return [FirstOnes(top_n=top_k)]
        return [GuardedRerank(self._placed(inner), self.log, top_k, seconds)]

    def synthesizer(self) -> BaseSynthesizer:
        """Tables, then the configured one, with the extractive one to fall back on."""
        query = self.config.query
        embedder = self.models.embedder if self.dense else None
        fallback = ExtractiveSynthesizer(embedder)
        options = {"system_prompt": query.system_prompt, **query.synthesizer_options}
        inner = self._able(SYNTHESIZERS, query.synthesizer_strategy, options)
        inner = inner or fallback
        if isinstance(inner, ExtractiveSynthesizer):
            inner = fallback = ExtractiveSynthesizer(embedder, inner.limits)
        guarded = GuardedSynthesizer(inner, fallback, self.log)
        if not query.use_tables:
            return guarded
        return TableSynthesizer(guarded, self.collections, embedder, self.log)

    def _placed(self, inner: BaseNodePostprocessor) -> BaseNodePostprocessor:
        if isinstance(inner, OverCollections):
            return inner.over(self.collections, self.where)
        return inner

    def _several(
        self, stage: Stage[T], names: Sequence[str], options: Mapping[str, Any]
    ) -> dict[str, T]:
        """Strategies by name, in order. Options of one that is not used are kept."""
        for name in options.keys() - stage.known().keys():
            raise UnknownStrategyError(stage.name, name, stage.known())
        made = {name: self._able(stage, name, options.get(name, {})) for name in names}
        return {name: inner for name, inner in made.items() if inner is not None}

    def _able(self, stage: Stage[T], name: str, options: Mapping[str, Any]) -> T | None:
        """A strategy built, or None and a degradation where it lacks its model."""
        return built_or_left_out(lambda: self._load(stage, name, options), self.log)

    def _load(self, stage: Stage[T], name: str, options: Mapping[str, Any]) -> T:
        """A strategy built; `top_n` and `system_prompt` only where it takes them."""
        allowed = self.config.allowed_plugins()
        fields = stage.strategy_class(name, allowed).model_fields
        ours = {"top_n", "system_prompt"} - fields.keys()
        taken = {k: value for k, value in options.items() if k not in ours}
        return stage.load(name, taken, allowed).build(self.models)
