"""The interface of embedders beyond `BaseEmbedding`, and their prompts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast

from elt_llm_core.errors import ConfigError
from elt_llm_core.records import Record

if TYPE_CHECKING:
    import numpy as np
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from numpy.typing import NDArray


class CountingEmbedder(Protocol):
    """An embedder with a known limit and identity."""

    @property
    def model_name(self) -> str:
        """Display name of the model."""

    @property
    def digest(self) -> str:
        """Identity of all that affects a vector: equal digests, equal vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Maximum length of a text, in the unit of `count_tokens`."""

    @property
    def prompt_known(self) -> bool:
        """False if the model may need an unknown prompt."""

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text, including special ones; never too few."""

    def embed_array(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return document vectors, shape (n, dimension), unit length, in order.

        Raises EmbedError for a text over `max_tokens` or an invalid vector.
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
    """Return the same object, typed as a `CountingEmbedder`.

    It checks the class, not the object, so that no property runs and no server is
    called. Raises ConfigError with the missing members.
    """
    cls = type(embedder)
    lacks = [n for n in _ASKED if not hasattr(cls, n) and n not in cls.model_fields]
    if lacks:
        raise ConfigError(
            f"the embedder {cls.__name__} lacks {', '.join(lacks)}",
            "implement the methods of elt_llm_core.models.CountingEmbedder",
        )
    return cast("CountingEmbedder", embedder)


_SEARCH = "Represent this sentence for searching relevant passages: "
_TASK = "Given a web search query, retrieve relevant passages that answer the query"
_INSTRUCT = f"Instruct: {_TASK}\nQuery: "

# Model names with the prefixes of a query and of a document.
_PROMPTS: dict[str, tuple[str, str]] = {
    "all-minilm": ("", ""),
    "all-mpnet": ("", ""),
    "bge-base": (_SEARCH, ""),
    "bge-base-zh": ("为这个句子生成表示以用于检索相关文章：", ""),  # noqa: RUF001
    "bge-large": (_SEARCH, ""),
    "bge-large-zh": ("为这个句子生成表示以用于检索相关文章：", ""),  # noqa: RUF001
    "bge-m3": ("", ""),
    "bge-small": (_SEARCH, ""),
    "bge-small-zh": ("为这个句子生成表示以用于检索相关文章：", ""),  # noqa: RUF001
    "e5-base": ("query: ", "passage: "),
    "e5-large": ("query: ", "passage: "),
    "e5-mistral-7b-instruct": (_INSTRUCT, ""),
    "e5-small": ("query: ", "passage: "),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "granite-embedding": ("", ""),
    "gte-base": ("", ""),
    "gte-large": ("", ""),
    "gte-small": ("", ""),
    "multilingual-e5-base": ("query: ", "passage: "),
    "multilingual-e5-large": ("query: ", "passage: "),
    "multilingual-e5-large-instruct": (_INSTRUCT, ""),
    "multilingual-e5-small": ("query: ", "passage: "),
    "mxbai-embed-large": (_SEARCH, ""),
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "paraphrase-multilingual": ("", ""),
    "qwen3-embedding": (_INSTRUCT, ""),
    "snowflake-arctic-embed": (_SEARCH, ""),
    "snowflake-arctic-embed-l-v2.0": ("query: ", ""),
    "snowflake-arctic-embed-m-v2.0": ("query: ", ""),
    "snowflake-arctic-embed2": ("query: ", ""),
}


class EmbedderPrompt(Record):
    """The prefixes of a query and of a document; `known` if they were listed."""

    query: str = ""
    text: str = ""
    known: bool


def prompt_for(model: str) -> EmbedderPrompt:
    """Return the prompts of a model, by its name without owner and tag.

    The longest entry is used that equals the name or is followed by a dash in it, so
    that `bge-m3` never matches `bge-large`, nor `e5-base` `multilingual-e5-base`.
    """
    name = model.rsplit("/", 1)[-1].split(":", 1)[0].lower()
    fits = [key for key in _PROMPTS if name == key or name.startswith(f"{key}-")]
    if not fits:
        return EmbedderPrompt(known=False)
    query, text = _PROMPTS[max(fits, key=len)]
    return EmbedderPrompt(query=query, text=text, known=True)
