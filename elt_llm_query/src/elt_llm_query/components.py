"""What components share, and what one may ask of the pipeline.

Each protocol is one or two methods. The engine looks for them on every component,
wherever it comes from; a component without them is used as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from typing_extensions import override

from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Strategy


class NamedComponent:
    """Gives a LlamaIndex component the name of its class in what is serialised."""

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class."""
        return cls.__name__


class Postprocessor(NamedComponent, BaseNodePostprocessor):
    """A postprocessor; it changes no node it is given, only copies."""


class PostprocessorOptions(Strategy[BaseNodePostprocessor]):
    """The options of a postprocessor that needs no model: its fields by their names."""

    component: ClassVar[type[BaseNodePostprocessor]]

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        return self.component(**self.model_dump())


class EmbeddingStepOptions(Strategy[BaseNodePostprocessor]):
    """The options of a postprocessor that is built with the embedder."""

    component: ClassVar[Callable[..., BaseNodePostprocessor]]

    @override
    def build(self, models: Models) -> BaseNodePostprocessor:
        return type(self).component(models.embedder, **self.model_dump())


@runtime_checkable
class OverCollections(Protocol):
    """A component, of whatever stage, that reads the collections searched."""

    def over(self, collections: Sequence[Collection], where: Mapping[str, Any]) -> Self:
        """Return a copy that reads these collections.

        Args:
            collections: Those that the question is searched in.
            where: Filters of the question; the copy adds no chunk they leave out.
        """


@runtime_checkable
class KeepsTime(Protocol):
    """A reranker that stops by itself; any other runs in a thread that is abandoned."""

    def within(self, seconds: float) -> Self:
        """Return a copy that raises ModelError once it takes longer."""


@runtime_checkable
class NamesCollections(Protocol):
    """The options of a router that name collections, which are checked to exist."""

    @property
    def descriptions(self) -> Mapping[str, str]:
        """What collections are about, by name; others are described by their titles."""

    def targets(self) -> frozenset[str]:
        """Return the collections it can choose; empty if it may choose any."""
