"""Cache lookup for a question, and storing of its sources."""

from collections.abc import Sequence
from weakref import ref

import numpy as np
from llama_index.core.schema import NodeWithScore

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.identifiers import item_key
from elt_llm_core.models import as_counting
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models
from elt_llm_query.caching.semantic_cache import (
    CacheLookUp,
    Kept,
    Key,
    SemanticCache,
    rarity_test,
)
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.plan import CacheOutcome
from elt_llm_query.request import Request
from elt_llm_query.retrieval.unit_vectors import Vector, to_unit

MISS = CacheLookUp(CacheOutcome.MISS)


class CacheLookup:
    """One request and its cache, if any. Created before the request is routed."""

    def __init__(
        self,
        cache: SemanticCache | None,
        request: Request,
        config: RagConfig,
        models: Models,
    ) -> None:
        # A question without a vector is similar to no other.
        self._cache = cache if request.bundle.embedding is not None else None
        self._request = request
        if self._cache is not None:
            self._key = _key(request, config, models)
            self._vector: Vector = to_unit(
                np.asarray(request.bundle.embedding, dtype=np.float32)
            )

    def look(self) -> CacheLookUp:
        """Return the entry of a similar question, or a miss."""
        if self._cache is None:
            return MISS
        request = self._request
        with request.log.stage("cache", len(self._cache)) as note:
            rare = rarity_test(request.collections)
            look = self._cache.look(self._key, request.question, self._vector, rare)
            note.top = ((look.kind.value, look.likeness),)
            note.n_out = len(look.kept.nodes) if look.kept else 0
        return look

    def keep(
        self, nodes: Sequence[NodeWithScore], collections: Sequence[Collection]
    ) -> None:
        """Store the sources, unless something degraded the result."""
        if self._cache is None or self._request.log.degradations:
            return
        names = tuple(c.name for c in collections)
        kept = Kept(self._request.question, self._vector, tuple(nodes), names)
        self._cache.keep(self._key, kept)


def merge_nodes(
    fresh: Sequence[NodeWithScore], kept: Sequence[NodeWithScore]
) -> list[NodeWithScore]:
    """Return the fresh nodes, then the cached ones that are not among them, relabelled.

    The result is as long as the longer list. Scores never increase from one node to the
    next.
    """
    ids = {hit.node.node_id for hit in fresh}
    joined = [*fresh, *(k for k in kept if k.node.node_id not in ids)]
    lowest, merged = float("inf"), []
    for hit in joined[: max(len(fresh), len(kept))]:
        lowest = min(lowest, hit.score or 0.0)
        merged.append(NodeWithScore(node=hit.node, score=lowest))
    return LabelSources().postprocess_nodes(merged)


def _key(request: Request, config: RagConfig, models: Models) -> Key:
    llm = models.llm.metadata.model_name if models.llm else ""
    settings = item_key(
        config.hash("models", "query", "ollama", "openai_like"),
        as_counting(models.embedder).digest,
        llm,
        *config.consumer.definition_patterns,
        repr(sorted(request.where.items())),
    )
    return Key(tuple(ref(c) for c in request.collections), settings)
