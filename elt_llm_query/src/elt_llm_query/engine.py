"""A question's stages put together into one plain LlamaIndex query engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llama_index.core.callbacks import CallbackManager
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from numpy.typing import NDArray

from elt_llm_core.config import RagConfig
from elt_llm_core.sections import QuerySection
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Stage, T
from elt_llm_query.guards import GuardedRerank, GuardedSynthesizer
from elt_llm_query.labels import LabelSources
from elt_llm_query.rerankers.embedding import Lookup, StoredVectorRerank
from elt_llm_query.retrievers import (
    Breadth,
    CollectionRetriever,
    DenseRetriever,
    HybridRetriever,
    KeywordRetriever,
)
from elt_llm_query.stages import FUSIONS, RERANKERS, SYNTHESIZERS
from elt_llm_query.synthesizers.extractive import ExtractiveSynthesizer
from elt_llm_query.trace import TraceLog


def build_engine(
    collections: Sequence[Collection],
    config: RagConfig,
    models: Models,
    log: TraceLog | None = None,
    *,
    dense: bool = True,
) -> RetrieverQueryEngine:
    """Return a plain LlamaIndex engine: retrieve, fuse, rerank, label, synthesise.

    `dense` False leaves the vectors out, for when nothing can embed the question.
    Raises ConfigError for a strategy or option that does not exist.
    """
    parts = Parts(tuple(collections), config, models, log or TraceLog(), dense)
    return RetrieverQueryEngine(
        retriever=parts.retriever(),
        node_postprocessors=[*parts.rerankers(), LabelSources()],
        response_synthesizer=parts.synthesizer(),
        callback_manager=CallbackManager(),
    )


def breadth_of(query: QuerySection, collections: int) -> Breadth:
    """How many candidates are retrieved.

    `reranker_retrieve_k` is shared out evenly, at least one each; without a reranker
    all collections compete for `similarity_top_k`.
    """
    if query.use_reranker:
        each = max(query.reranker_retrieve_k // max(collections, 1), 1)
        return Breadth(each=each, total=max(query.reranker_retrieve_k, collections))
    return Breadth(each=query.similarity_top_k, total=query.similarity_top_k)


@dataclass(frozen=True)
class Parts:
    """Makes the parts of one question's engine, in the order they are used."""

    collections: tuple[Collection, ...]
    config: RagConfig
    models: Models
    log: TraceLog
    dense: bool = True

    def retriever(self) -> HybridRetriever:
        """Dense and keyword search of every collection, fused."""
        query = self.config.query
        members: list[CollectionRetriever] = []
        for collection in self.collections:
            if self.dense:
                members.append(DenseRetriever(collection, self.models.embedder))
            if query.use_hybrid_search or not self.dense:
                members.append(KeywordRetriever(collection))
        return HybridRetriever(
            members,
            fusion=self._load(FUSIONS, query.fusion_strategy, query.fusion_options),
            breadth=breadth_of(query, len(self.collections)),
            llm=self.models.llm,
            num_queries=query.num_queries,
            log=self.log,
        )

    def rerankers(self) -> list[BaseNodePostprocessor]:
        """The reranker with its stopwatch, or nothing."""
        query = self.config.query
        if not query.use_reranker:
            return []
        options = {"top_n": query.reranker_top_k, **query.reranker_options}
        inner = self._load(RERANKERS, query.reranker_strategy, options)
        if isinstance(inner, StoredVectorRerank):
            inner = inner.with_vectors(stored_vectors(self.collections))
        return [GuardedRerank(inner, query.reranker_top_k, self.log)]

    def synthesizer(self) -> GuardedSynthesizer:
        """The configured synthesizer, with the extractive one to fall back on."""
        query = self.config.query
        embedder = self.models.embedder if self.dense else None
        fallback = ExtractiveSynthesizer(embedder)
        options = {"system_prompt": query.system_prompt, **query.synthesizer_options}
        inner = self._load(SYNTHESIZERS, query.synthesizer_strategy, options)
        if isinstance(inner, ExtractiveSynthesizer):
            inner = fallback = ExtractiveSynthesizer(embedder, inner.limits)
        return GuardedSynthesizer(inner, fallback, self.log)

    def _load(self, stage: Stage[T], name: str, options: Mapping[str, Any]) -> T:
        """A strategy built; `top_n` and `system_prompt` only where it takes them."""
        allowed = self.config.allowed_plugins()
        fields = stage.strategy_class(name, allowed).model_fields
        ours = {"top_n", "system_prompt"} - fields.keys()
        taken = {key: value for key, value in options.items() if key not in ours}
        return stage.load(name, taken, allowed).build(self.models)


def stored_vectors(collections: Sequence[Collection]) -> Lookup:
    """Looks up stored vectors by collection name and ids."""
    by_name = {c.name: c for c in collections}

    def vectors(
        collection: str, ids: Iterable[str]
    ) -> Mapping[str, NDArray[np.float32]]:
        """Vectors by id; unknown collections and ids are absent."""
        found = by_name.get(collection)
        return found.vectors(ids) if found else {}

    return vectors
