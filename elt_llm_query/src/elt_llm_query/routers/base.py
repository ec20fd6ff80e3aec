"""What our routers share: their options, and LlamaIndex's shape of a choice."""

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
from pydantic import Field
from typing_extensions import override

from elt_llm_core.strategy import Strategy


class Router(BaseSelector):
    """A LlamaIndex selector that may choose several, or none.

    A choice's `name` is the collection, its `description` says what it is about. Raises
    ModelError where its model fails.
    """

    @abstractmethod
    def choose(
        self, choices: Sequence[ToolMetadata], question: QueryBundle
    ) -> Mapping[int, str]:
        """Places of the chosen, from 0, best first, each with the reason."""

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
        """It has none, unless a subclass says so."""


class RouterOptions(Strategy[BaseSelector]):
    """The options that all routers share."""

    descriptions: dict[str, str] = Field(
        default_factory=dict,
        description="collection to what it is about; else titles and sections tell",
    )

    def targets(self) -> frozenset[str]:
        """Collections that it leads to by name; empty where it takes what is there."""
        return frozenset()
