"""Protocols of components, through which the pipeline passes what they need.

Each protocol has one or two methods. The engine checks every component for them; a
component without them is used as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from typing_extensions import override

from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Strategy


class NamedComponent:
    """Gives a LlamaIndex component its class name when serialised."""

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class."""
        return cls.__name__


class Postprocessor(NamedComponent, BaseNodePostprocessor):
    """A postprocessor that returns copies and never changes its input nodes."""


class PostprocessorOptions(Strategy[BaseNodePostprocessor]):
    """Options of a postprocessor that needs no model, passed to it by field name."""

    component: ClassVar[type[BaseNodePostprocessor]]

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        return self.component(**self.model_dump())


class EmbeddingStepOptions(Strategy[BaseNodePostprocessor]):
    """Options of a postprocessor that is built with the embedder."""

    component: ClassVar[Callable[..., BaseNodePostprocessor]]

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        return type(self).component(models.embedder, **self.model_dump())


@runtime_checkable
class OverCollections(Protocol):
    """A component of any stage that reads the searched collections."""

    def over(self, collections: Sequence[Collection], where: Mapping[str, Any]) -> Self:
        """Return a copy that reads these collections.

        Args:
            collections: The collections that are searched.
            where: Filters of the question; the copy adds no chunk that they exclude.
        """


@runtime_checkable
class ReadsWordings(Protocol):
    """A component of any stage that recognises definitions by their wording."""

    def with_wordings(self, wordings: Sequence[str]) -> Self:
        """Return a copy that knows further forms of a definition.

        Args:
            wordings: Sentences with `{term}` and `{definition}`.
        """


@runtime_checkable
class KeepsTime(Protocol):
    """A reranker that enforces its own time limit; any other runs in a thread."""

    def within(self, seconds: float) -> Self:
        """Return a copy that raises ModelError after `seconds`."""


@runtime_checkable
class NamesCollections(Protocol):
    """Options of a router that name collections, which are checked to exist."""

    @property
    def descriptions(self) -> Mapping[str, str]:
        """Return descriptions by collection; others are described by their titles."""

    def targets(self) -> frozenset[str]:
        """Return the collections it can choose; empty if it can choose any."""
