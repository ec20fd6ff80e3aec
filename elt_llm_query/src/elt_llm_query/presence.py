"""Whether a configuration can be asked whole with what is installed."""

from collections.abc import Iterator
from typing import Any

from elt_llm_core.config import RagConfig
from elt_llm_core.models import EMBEDDERS, LLMS
from elt_llm_core.query_section import QuerySection
from elt_llm_core.strategy import Stage
from elt_llm_query.caching.strategies import CACHES
from elt_llm_query.stages import (
    FUSIONS,
    POSTPROCESSORS,
    RERANKERS,
    ROUTERS,
    SYNTHESIZERS,
    TRANSFORMS,
)


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
