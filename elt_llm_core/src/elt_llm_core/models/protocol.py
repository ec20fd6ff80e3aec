"""What the store pipeline asks of an embedder, beside LlamaIndex's `BaseEmbedding`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

from elt_llm_core.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from numpy.typing import NDArray


class CountingEmbedder(Protocol):
    """An embedder that knows its limit and its identity."""

    @property
    def model_name(self) -> str:
        """What people call the model."""

    @property
    def digest(self) -> str:
        """Identity of everything that shapes a vector; equal digests, equal vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Longest text taken, in the unit of `count_tokens`."""

    @property
    def prompt_known(self) -> bool:
        """False where the model may want a prompt that nobody told us."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, never fewer than the model will see, specials included."""

    def embed_array(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Vectors of documents, shape (n, dimension), unit length, in the order given.

        Raises EmbedError for a text over `max_tokens` or a vector that is no vector.
        """


_ASKED = (
    "count_tokens",
    "digest",
    "dimension",
    "embed_array",
    "max_tokens",
    "prompt_known",
)


def as_counting(embedder: "BaseEmbedding") -> CountingEmbedder:
    """The same object, seen as a `CountingEmbedder`.

    Looks at the class, not the object, so no property runs and no server is asked.
    Raises ConfigError naming what the class lacks.
    """
    cls = type(embedder)
    lacks = [n for n in _ASKED if not hasattr(cls, n) and n not in cls.model_fields]
    if lacks:
        raise ConfigError(
            f"the embedder {cls.__name__} lacks {', '.join(lacks)}",
            "give it the methods of elt_llm_core.models.CountingEmbedder",
        )
    return cast("CountingEmbedder", embedder)
