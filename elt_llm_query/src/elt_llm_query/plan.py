"""The search plan of one question, decided before the first index is read.

The plan replaces settings that would otherwise change along the way: a search without
an answer, a partial cache hit, a router without a choice. Every stage reads its numbers
here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_core.store import Collection
from elt_llm_query.retrieval.hybrid import Breadth

MOST_SOURCES = 1000  # as the configuration allows


class CacheOutcome(StrEnum):
    """The outcome of a cache lookup."""

    HIT = "hit"
    PARTIAL = "partial"
    MISS = "miss"


@dataclass(frozen=True)
class SourceLimits:
    """Limits on the number of sources for one question; None keeps the configured one.

    Attributes:
        top_k: Candidates for the reranker, over all collections; without a reranker and
            `top_n`, sources.
        top_n: Sources that the answer is based on.
        use_reranker: Whether candidates are reranked.
    """

    top_k: int | None = None
    top_n: int | None = None
    use_reranker: bool | None = None

    def apply(self, config: RagConfig) -> RagConfig:
        """Return the settings with these limits.

        A given limit overrides a configured one: `top_n` raises the number of
        candidates, `top_k` lowers the number of sources.

        Args:
            config: The settings of a question.

        Raises:
            UsageError: If `top_n` exceeds `top_k`, or one of them is not 1 to 1,000.
        """
        if self == NO_LIMITS:
            return config
        self._check()
        query = config.query
        reranks = query.use_reranker if self.use_reranker is None else self.use_reranker
        top_k = self.top_k or max(query.reranker_retrieve_k, self.top_n or 0)
        changes: dict[str, object] = {
            "use_reranker": reranks,
            "reranker_retrieve_k": top_k,
            "reranker_top_k": self.top_n or min(query.reranker_top_k, top_k),
        }
        if not reranks and (sources := self.top_n or self.top_k):
            changes |= {"similarity_top_k": sources, "collection_top_k": 0}
        return config.model_copy(update={"query": query.model_copy(update=changes)})

    def _check(self) -> None:
        for name in ("top_k", "top_n"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= MOST_SOURCES:
                raise UsageError(f"{name} is {value}", f"choose 1 to {MOST_SOURCES}")
        if (
            self.top_k is not None
            and self.top_n is not None
            and self.top_n > self.top_k
        ):
            raise UsageError(
                f"top_n ({self.top_n}) exceeds top_k ({self.top_k})",
                "top_k candidates are retrieved and top_n of them are kept",
            )


NO_LIMITS = SourceLimits()


@dataclass(frozen=True)
class SearchPlan:
    """The collections, the numbers of hits of each stage, and the cache outcome.

    Attributes:
        config: The settings in force for the question; no stage changes them.
        similarity_top_k: Number of sources without a reranker.
        retrieve_k: Candidates for the reranker, over all collections.
        rerank_k: Sources that the reranker keeps.
        collections: The collections to search, in the given order.
        where: Filters that every chunk must match.
        dense: Whether vectors are searched; False if the question has no vector.
        cached: The cache outcome: a hit is not searched again, a partial hit is
            searched for half as many.
    """

    config: RagConfig
    similarity_top_k: int
    retrieve_k: int
    rerank_k: int
    collections: tuple[Collection, ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    dense: bool = True
    cached: CacheOutcome = CacheOutcome.MISS

    @classmethod
    def of(cls, config: RagConfig, **parts: Any) -> "SearchPlan":
        """Return the plan for a configuration.

        Args:
            config: The settings in force.
            **parts: The other fields: `collections`, `where`, `dense`.
        """
        query = config.query
        return cls(
            config,
            similarity_top_k=query.similarity_top_k,
            retrieve_k=query.reranker_retrieve_k,
            rerank_k=query.reranker_top_k,
            **parts,
        )

    @property
    def breadth(self) -> Breadth:
        """Return the number of candidates per collection and in total.

        `retrieve_k` is divided evenly, at least one each. Without a reranker all
        collections compete for `similarity_top_k`, or each has its own share.
        """
        count = len(self.collections)
        if self.config.query.use_reranker:
            each = max(self.retrieve_k // max(count, 1), 1)
            return Breadth(each=each, total=max(self.retrieve_k, count))
        if self.config.query.collection_top_k:
            each = self.config.query.collection_top_k
            return Breadth(each=each, total=each * max(count, 1))
        return Breadth(each=self.similarity_top_k, total=self.similarity_top_k)

    @property
    def source_limit(self) -> int:
        """Return the maximum number of sources after postprocessing."""
        return self.rerank_k if self.config.query.use_reranker else self.breadth.total

    @property
    def stages(self) -> tuple[str, ...]:
        """Return the stages by their names in the trace, in order.

        `rewrite`, `transform:...` and `embed:searches` stand for the searches,
        `complete:...` for fusions that need every score. The name of a stage of one
        collection ends in the collection's name. Stages without work leave no record:
        `cache` and `route` if not configured, `definition_first` if no term is asked
        for, `tables` if no source contains a row.
        """
        return tuple(self._stages())

    def halve(self) -> "SearchPlan":
        """Return the plan with half as many candidates and sources, rounded up."""
        names = ("similarity_top_k", "retrieve_k", "rerank_k")
        return replace(self, **{n: (getattr(self, n) + 1) // 2 for n in names})

    def over(self, collections: Sequence[Collection]) -> "SearchPlan":
        """Return the plan for these collections."""
        return replace(self, collections=tuple(collections))

    def _stages(self) -> Iterator[str]:
        query = self.config.query
        yield "embed"
        yield from ["cache"] * (query.cache_strategy != "none")
        yield from ["route"] * (query.router_strategy != "all")
        if self.cached is not CacheOutcome.HIT:
            yield from self._retrieval_stages()
        yield from ("tables",) * query.use_tables
        yield "synthesize"
        yield "verify"

    def _retrieval_stages(self) -> Iterator[str]:
        query = self.config.query
        yield from ["rewrite"] * (query.num_queries > 1)
        yield from (f"transform:{name}" for name in query.transform_strategy)
        for collection in self.collections:
            yield from [f"dense:{collection.name}"] * self.dense
            if query.use_hybrid_search or not self.dense:
                yield f"keyword:{collection.name}"
                yield f"definition_first:{collection.name}"
        yield from ("fuse", "fetch")
        yield from (f"candidate:{name}" for name in query.candidate_strategy)
        yield from ["rerank"] * query.use_reranker
        yield from (f"postprocessor:{name}" for name in query.postprocessor_strategy)
        yield from ("rule_lookup", "namesakes", "rule_filter", "references")
        yield from ("figure_links", "label")


def search_settings(config: RagConfig, k: int | None) -> RagConfig:
    """Return the settings of a search without an answer.

    Args:
        config: The settings of a question.
        k: Number of sources, instead of the configured one.
    """
    query = config.query
    changes: dict[str, object] = {
        "synthesizer_strategy": "extractive",
        "synthesizer_options": {},
    }
    if k is not None:
        changes |= {
            "similarity_top_k": k,
            "reranker_top_k": k,
            "reranker_retrieve_k": max(query.reranker_retrieve_k, k),
        }
    return config.model_copy(update={"query": query.model_copy(update=changes)})


def quoting_settings(config: RagConfig) -> RagConfig:
    """Return the settings with sentences of the documents as answers.

    Args:
        config: The settings of a question whose language model failed.
    """
    changes = {"synthesizer_strategy": "extractive", "synthesizer_options": {}}
    query = config.query.model_copy(update=changes)
    return config.model_copy(update={"query": query})


def table_settings(config: RagConfig) -> RagConfig:
    """Return the settings to ask the tables alone, without a language model.

    Args:
        config: The settings of a question.
    """
    plain = search_settings(config, None).query
    changes: dict[str, object] = {
        "num_queries": 1,
        "transform_strategy": (),
        "router_strategy": "all",
        "router_options": {},
        "cache_strategy": "none",
        "candidate_strategy": (),
        "reranker_strategy": "embedding",
        "reranker_options": {},
        "postprocessor_strategy": (),
        "judge_strategy": "none",
        "sufficiency_strategy": "none",
    }
    return config.model_copy(update={"query": plain.model_copy(update=changes)})
