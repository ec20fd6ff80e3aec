"""Stages whose model or package is not there: left out, and told."""

from collections.abc import Callable, Iterator
from typing import Any

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.config.sections import QuerySection
from elt_llm_core.errors import ConfigError, MissingExtraError, MissingModelError
from elt_llm_core.models import EMBEDDERS, LLMS
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Stage, T
from elt_llm_query.caching.strategies import CACHES
from elt_llm_query.stages import (
    FUSIONS,
    POSTPROCESSORS,
    RERANKERS,
    ROUTERS,
    SYNTHESIZERS,
    TRANSFORMS,
)
from elt_llm_query.trace import TraceLog

LACKING = (MissingExtraError, MissingModelError)


def left_out(error: ConfigError) -> Degradation:
    """Return the degradation of a stage that lacks its model or package.

    Args:
        error: What the stage raised when it was built.
    """
    detail = f"left out: {error}"
    return Degradation(kind=DegradationKind.STAGE_LEFT_OUT, detail=detail)


def built_or_left_out(build: Callable[[], T], log: TraceLog) -> T | None:
    """Return what `build` makes, or None where its model or package is not there.

    Args:
        build: Builds the strategy of a stage.
        log: Notes the stage that is left out.

    Raises:
        ConfigError: If the strategy or its options are wrong in another way.
    """
    try:
        return build()
    except LACKING as error:
        log.degrade(left_out(error))
        return None


class FirstOnes(BaseNodePostprocessor):
    """The first `top_n` nodes in the order they came in; stands for a reranker."""

    top_n: int = Field(gt=0)

    @classmethod
    @override
    def class_name(cls) -> str:
        return "FirstOnes"

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return nodes[: self.top_n]


def check_installed(config: RagConfig) -> None:
    """Raise ConfigError where a strategy that a question needs is not installed.

    Strategies are imported, not built: no model is loaded and no server is asked.
    """
    allowed = config.allowed_plugins()
    for stage, name in _named(config):
        stage.strategy_class(name, allowed)


def _named(config: RagConfig) -> Iterator[tuple[Stage[Any], str]]:
    """Stages with the strategies that the configuration names for them."""
    models, query = config.models, config.query
    yield EMBEDDERS, models.embedder_strategy
    yield LLMS, models.llm_strategy
    yield CACHES, query.cache_strategy
    yield ROUTERS, query.router_strategy
    yield FUSIONS, query.fusion_strategy
    yield SYNTHESIZERS, query.synthesizer_strategy
    yield from ((TRANSFORMS, name) for name in query.transform_strategy)
    yield from ((POSTPROCESSORS, name) for name in _steps(query))
    if query.use_reranker:
        yield RERANKERS, query.reranker_strategy


def _steps(query: QuerySection) -> tuple[str, ...]:
    return (*query.candidate_strategy, *query.postprocessor_strategy)
