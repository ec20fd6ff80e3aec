"""The caches that a configuration may name."""

from pydantic import Field, model_validator
from typing_extensions import override

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.strategy import Models, Stage, Strategy
from elt_llm_query.caching.semantic import SemanticCache

CACHES: Stage[SemanticCache | None] = Stage("caches")


class NoCache(Strategy[SemanticCache | None]):
    """Every question is searched for."""

    @override
    def build(self, models: Models) -> None:
        """None, always."""


class SemanticCacheOptions(Strategy[SemanticCache | None]):
    """What a question found serves questions that ask the same."""

    full: float = Field(
        default=0.9, ge=0, le=1, description="least cosine for using all that was found"
    )
    partial: float = Field(
        default=0.7, ge=0, le=1, description="least cosine for using it beside half"
    )
    entries: int = Field(default=256, ge=1, le=100_000, description="most questions")
    ttl: float = Field(default=3600.0, gt=0, description="seconds that one is kept")

    @model_validator(mode="after")
    def _partial_is_less(self) -> "SemanticCacheOptions":
        if self.partial > self.full:
            msg = f"partial ({self.partial}) exceeds full ({self.full})"
            raise ValueError(msg)
        return self

    @override
    def build(self, models: Models) -> SemanticCache:
        return SemanticCache(**self.model_dump())


def build_cache(config: RagConfig, models: Models) -> SemanticCache | None:
    """Build the configured cache, for a caller that asks more than once.

    Args:
        config: The settings; `query.cache_strategy` names the cache.
        models: The models of the run.

    Returns:
        The cache, to be held by the caller and handed to each question; None for none.

    Raises:
        ConfigError: If the cache does not exist or has wrong options.
    """
    name, options = config.query.cache_strategy, config.query.cache_options
    return CACHES.load(name, options, config.allowed_plugins()).build(models)
