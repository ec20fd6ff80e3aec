"""Routers without a model: all collections, and by rules."""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence

from llama_index.core.base.base_selector import (
    BaseSelector,
    SelectorResult,
    SingleSelection,
)
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata
from pydantic import Field, field_validator
from typing_extensions import override

from elt_llm_core.strategy import Models, Strategy


class Router(BaseSelector):
    """A LlamaIndex selector that may choose several, or none.

    A choice's `name` is the collection, its `description` the subject. Raises
    ModelError if its model fails.
    """

    @abstractmethod
    def choose(
        self, choices: Sequence[ToolMetadata], question: QueryBundle
    ) -> Mapping[int, str]:
        """Return the positions of the chosen ones, from 0, best first, with reasons."""

    @override
    def _select(
        self, choices: Sequence[ToolMetadata], query: QueryBundle
    ) -> SelectorResult:
        selected = self.choose(choices, query)
        return SelectorResult(
            selections=[SingleSelection(index=i, reason=r) for i, r in selected.items()]
        )

    @override
    async def _aselect(
        self, choices: Sequence[ToolMetadata], query: QueryBundle
    ) -> SelectorResult:
        return self._select(choices, query)

    @override
    def _get_prompts(self) -> PromptDictType:
        return {}

    @override
    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Do nothing: it has no prompts unless a subclass defines some."""


class RouterOptions(Strategy[BaseSelector]):
    """The options that all routers share."""

    descriptions: dict[str, str] = Field(
        default_factory=dict,
        description="description of each collection; default: its titles and sections",
    )

    def targets(self) -> frozenset[str]:
        """Return the collections it names; empty if it uses whatever exists."""
        return frozenset()


class AllRouter(Router):
    """Chooses every collection."""

    @override
    def choose(
        self, choices: Sequence[ToolMetadata], question: QueryBundle
    ) -> Mapping[int, str]:
        return dict.fromkeys(range(len(choices)), "all are searched")


class RulesRouter(Router):
    """Chooses the collections of every pattern that matches, in the rules' order.

    Patterns are regular expressions, searched for ignoring case.
    """

    def __init__(self, rules: Mapping[str, Sequence[str]]) -> None:
        self._rules = {re.compile(p, re.IGNORECASE): c for p, c in rules.items()}

    @override
    def choose(
        self, choices: Sequence[ToolMetadata], question: QueryBundle
    ) -> Mapping[int, str]:
        places = {choice.name: i for i, choice in enumerate(choices)}
        reasons: dict[int, str] = {}
        for pattern, collections in self._rules.items():
            if pattern.search(question.query_str):
                for name in collections:
                    if name in places:
                        reasons.setdefault(places[name], f"matches {pattern.pattern}")
        return reasons


class AllRouterOptions(RouterOptions):
    """Every collection is searched."""

    @override
    def build(self, models: Models) -> BaseSelector:
        return AllRouter()


class RulesRouterOptions(RouterOptions):
    """Regular expressions on the question choose the collections."""

    rules: dict[str, tuple[str, ...]] = Field(
        description="maps regular expressions to collections"
    )

    @field_validator("rules")
    @classmethod
    def _are_patterns(
        cls, value: dict[str, tuple[str, ...]]
    ) -> dict[str, tuple[str, ...]]:
        for pattern in value:
            try:
                re.compile(pattern)
            except re.error as error:
                msg = f"{pattern!r} is not a regular expression: {error}"
                raise ValueError(msg) from error
        return value

    @override
    def targets(self) -> frozenset[str]:
        return frozenset(name for names in self.rules.values() for name in names)

    @override
    def build(self, models: Models) -> BaseSelector:
        return RulesRouter(self.rules)
