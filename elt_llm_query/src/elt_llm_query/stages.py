"""The stages of a question that have strategies, and the configured strategies."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from typing_extensions import override

from elt_llm_core.config.sections import QuerySection, RagConfig
from elt_llm_core.errors import (
    ConfigError,
    MissingExtraError,
    MissingModelError,
    UnknownStrategyError,
)
from elt_llm_core.models import EMBEDDERS, LLMS
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models, Stage, Strategy
from elt_llm_query.caching.semantic_cache import CACHES, SemanticCache
from elt_llm_query.grounding.judges import JUDGES, ClaimJudge
from elt_llm_query.retrieval.fusion import FUSIONS, Fusion
from elt_llm_query.retrieval.query_transform import SearchTransform
from elt_llm_query.sufficiency.gap_rounds import SUFFICIENCY, SufficiencyStep
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveOptions
from elt_llm_query.trace import TraceLog

T = TypeVar("T")

TRANSFORMS: Stage[SearchTransform] = Stage("transforms")
ROUTERS: Stage[BaseSelector] = Stage("routers")
POSTPROCESSORS: Stage[BaseNodePostprocessor] = Stage("postprocessors")
RERANKERS: Stage[BaseNodePostprocessor] = Stage("rerankers")
SYNTHESIZERS: Stage[BaseSynthesizer] = Stage("synthesizers")

__all__ = [
    "FUSIONS",
    "JUDGES",
    "POSTPROCESSORS",
    "RERANKERS",
    "ROUTERS",
    "SUFFICIENCY",
    "SYNTHESIZERS",
    "TRANSFORMS",
    "Strategies",
    "build_or_leave_out",
    "check_installed",
    "strategies_of",
    "writes_answers",
]

# Errors that skip a stage; any other ConfigError refuses the question.
LACKING = (MissingExtraError, MissingModelError)
_REMEMBERED = 32  # sections whose strategies stay loaded; a server has one per profile


class Strategies:
    """The strategies of a configuration, loaded and with validated options.

    Each is loaded at first use and cached: a question builds components from it without
    validation. A strategy whose package is not installed is stored as its error, which
    `build_or_leave_out` reports.
    """

    def __init__(self, query: QuerySection, allowed: frozenset[str]) -> None:
        self._query = query
        self._allowed = allowed

    @cached_property
    def cache(self) -> Strategy[SemanticCache | None]:
        """The cache of questions."""
        query = self._query
        return CACHES.load(query.cache_strategy, query.cache_options, self._allowed)

    def check_cache(self) -> None:
        """Raise ConfigError for an invalid cache, even if no caller uses one."""
        _ = self.cache

    @cached_property
    def router(self) -> Strategy[BaseSelector]:
        """The router of collections."""
        query = self._query
        return ROUTERS.load(query.router_strategy, query.router_options, self._allowed)

    @cached_property
    def fusion(self) -> Strategy[Fusion]:
        """The fusion of hit lists."""
        query = self._query
        return FUSIONS.load(query.fusion_strategy, query.fusion_options, self._allowed)

    @cached_property
    def transforms(self) -> dict[str, Strategy[SearchTransform] | MissingExtraError]:
        """The query transforms, by name and in order."""
        query = self._query
        return self._several(
            TRANSFORMS, query.transform_strategy, query.transform_options
        )

    @cached_property
    def candidate_steps(
        self,
    ) -> dict[str, Strategy[BaseNodePostprocessor] | MissingExtraError]:
        """Postprocessors of the candidates, by name and in order."""
        query = self._query
        return self._several(
            POSTPROCESSORS, query.candidate_strategy, query.candidate_options
        )

    @cached_property
    def source_steps(
        self,
    ) -> dict[str, Strategy[BaseNodePostprocessor] | MissingExtraError]:
        """Postprocessors of the sources, by name and in order."""
        query = self._query
        return self._several(
            POSTPROCESSORS, query.postprocessor_strategy, query.postprocessor_options
        )

    @cached_property
    def reranker(self) -> Strategy[BaseNodePostprocessor] | MissingExtraError:
        """The reranker of the candidates."""
        query = self._query
        return self._one(RERANKERS, query.reranker_strategy, query.reranker_options)

    @cached_property
    def judge(self) -> Strategy[ClaimJudge | None] | MissingExtraError:
        """The judge of paraphrases."""
        query = self._query
        return self._one(JUDGES, query.judge_strategy, query.judge_options)

    @cached_property
    def sufficiency(self) -> Strategy[SufficiencyStep | None] | MissingExtraError:
        """The strategy for additional searches."""
        query = self._query
        name, options = query.sufficiency_strategy, query.sufficiency_options
        return self._one(SUFFICIENCY, name, options)

    @cached_property
    def synthesizer(self) -> Strategy[BaseSynthesizer] | MissingExtraError:
        """The synthesizer of the answer."""
        query = self._query
        name, options = query.synthesizer_strategy, query.synthesizer_options
        return self._one(SYNTHESIZERS, name, options)

    def _one(
        self, stage: Stage[T], name: str, options: Mapping[str, Any]
    ) -> Strategy[T] | MissingExtraError:
        """Return the strategy, or the error why its package cannot be imported.

        Two settings of the section are defaults of equivalent options of every
        strategy: `reranker_top_k` for `top_n`, and `system_prompt`.
        """
        defaults = {
            "top_n": self._query.reranker_top_k,
            "system_prompt": self._query.system_prompt,
        }
        try:
            fields = stage.strategy_class(name, self._allowed).model_fields
        except MissingExtraError as error:
            return error
        taken = {key: value for key, value in defaults.items() if key in fields}
        return stage.load(name, {**taken, **options}, self._allowed)

    def _several(
        self, stage: Stage[T], names: Sequence[str], options: Mapping[str, Any]
    ) -> dict[str, Strategy[T] | MissingExtraError]:
        """Return strategies by name; options of unlisted ones are not validated."""
        for name in options.keys() - stage.known().keys():
            raise UnknownStrategyError(stage.noun, name, stage.known())
        return {name: self._load(stage, name, options.get(name, {})) for name in names}

    def _load(
        self, stage: Stage[T], name: str, options: Mapping[str, Any]
    ) -> Strategy[T] | MissingExtraError:
        try:
            return stage.load(name, options, self._allowed)
        except MissingExtraError as error:
            return error


class _Same:
    """A section compared by identity: it is frozen, but its dicts cannot be hashed."""

    def __init__(self, section: QuerySection) -> None:
        self.section = section

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.section is other.section

    @override
    def __hash__(self) -> int:
        return id(self.section)


def strategies_of(config: RagConfig) -> Strategies:
    """Return the strategies of a configuration, the same objects for every question."""
    return _strategies(_Same(config.query), config.allowed_plugins())


@lru_cache(maxsize=_REMEMBERED)
def _strategies(section: _Same, allowed: frozenset[str]) -> Strategies:
    return Strategies(section.section, allowed)


def build_or_leave_out(
    strategy: Strategy[T] | MissingExtraError,
    models: Models,
    log: TraceLog,
    instead: str = "left out",
) -> T | None:
    """Build a component, or skip its stage.

    Args:
        strategy: The strategy, or the error why its package cannot be imported.
        models: The models of the run.
        log: Gets a degradation if the stage is skipped.
        instead: A description of what happens without it.

    Returns:
        The component, or None if its model or package is missing.

    Raises:
        ConfigError: If the strategy or its options are wrong in another way.
    """
    try:
        if not isinstance(strategy, MissingExtraError):
            return strategy.build(models)
        missing: ConfigError = strategy
    except LACKING as error:
        missing = error
    kind = DegradationKind.STAGE_LEFT_OUT
    log.degrade(Degradation(kind=kind, detail=f"{instead}: {missing}"))
    return None


def writes_answers(config: RagConfig, models: Models) -> bool:
    """Return whether a language model writes the answers, or an installed part does.

    Args:
        config: The settings; the section `query` applies.
        models: The models of the run.

    Returns:
        False if answers are sentences of the documents: by choice, or because the model
        or the package of the configured synthesizer is missing.

    Raises:
        ConfigError: If the synthesizer or its options are wrong.
    """
    chosen = strategies_of(config).synthesizer
    if isinstance(chosen, ExtractiveOptions):
        return False
    return build_or_leave_out(chosen, models, TraceLog()) is not None


def check_installed(config: RagConfig) -> None:
    """Check that every strategy that a question needs is installed.

    Strategies are imported and their options validated, but nothing is built: no model
    is loaded and no server is called.

    Args:
        config: The configuration for questions.

    Raises:
        MissingExtraError: If the package of a strategy is not installed.
        ConfigError: If a strategy is unknown or has wrong options.
    """
    allowed, query = config.allowed_plugins(), config.query
    EMBEDDERS.strategy_class(config.models.embedder_strategy, allowed)
    LLMS.strategy_class(config.models.llm_strategy, allowed)
    roles = config.roles
    for choice in (*roles.answer, *roles.rewrite, *roles.judge, *roles.vision):
        LLMS.strategy_class(choice.strategy, allowed)
    for strategy in _all(strategies_of(config), with_reranker=query.use_reranker):
        if isinstance(strategy, MissingExtraError):
            raise strategy


def _all(loaded: Strategies, *, with_reranker: bool) -> Iterator[object]:
    yield from (
        loaded.cache,
        loaded.router,
        loaded.fusion,
        loaded.sufficiency,
        loaded.synthesizer,
        loaded.judge,
    )
    yield from loaded.transforms.values()
    yield from loaded.candidate_steps.values()
    yield from loaded.source_steps.values()
    if with_reranker:
        yield loaded.reranker
