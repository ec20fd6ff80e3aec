"""Base of embedders that return arrays."""

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from numpy.typing import NDArray
from typing_extensions import override

from elt_llm_core.errors import EmbedError, ModelError


class ArrayEmbedding(BaseEmbedding):
    """LlamaIndex's embedder on top of `embed_array`; async calls use a thread."""

    @abstractmethod
    def embed_array(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of passages, shape (len(texts), d), in their order."""

    @override
    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    @override
    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    @override
    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [[float(number) for number in row] for row in self.embed_array(texts)]

    @override
    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    @override
    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


_ROWS = 2  # dimensions of a list of vectors
_RETRY = (
    "try again; if it persists, the text or the model is the cause: embed "
    "the text alone"
)


def checked_vectors(
    vectors: Any, count: int, dimension: int | None, model: str
) -> NDArray[np.float32]:
    """Return the vectors at unit length, shape (count, d).

    If `dimension` is None, the first vector's is used. Raises EmbedError for a wrong
    count or length, for numbers that are not finite, and for zero vectors; ModelError
    for anything but a list of lists of numbers.
    """
    _check_lists(vectors, model)
    if len(vectors) != count:
        raise EmbedError(
            f"{model!r} returned {len(vectors)} vectors for {count} texts", _RETRY
        )
    wanted = dimension or (len(vectors[0]) if count else 0)
    lengths = {len(vector) for vector in vectors} - {wanted}
    if lengths or (count and not wanted):
        raise EmbedError(
            f"{model!r} returned vectors of {sorted(lengths)} numbers, not {wanted}",
            "the model was replaced: index the documents again with --rebuild",
        )
    array = _numbers(vectors, model).reshape(count, wanted)
    if not np.isfinite(array).all():
        raise EmbedError(f"{model!r} returned a vector with NaN or infinity", _RETRY)
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    if not norms.all():
        raise EmbedError(f"{model!r} returned a vector of length zero", _RETRY)
    unit: NDArray[np.float32] = array / norms
    return unit


def _check_lists(vectors: Any, model: str) -> None:
    lists = isinstance(vectors, list | tuple) and all(
        isinstance(vector, list | tuple) for vector in vectors
    )
    if not lists:
        raise _no_numbers(model)


def _numbers(vectors: Any, model: str) -> NDArray[np.float32]:
    """Return the lists as an array. Raises for words, booleans and deeper lists."""
    try:
        array = np.asarray(vectors)
    except (ValueError, OverflowError) as error:
        raise _no_numbers(model) from error
    if array.size and (array.ndim != _ROWS or array.dtype.kind not in "fiu"):
        raise _no_numbers(model)
    # A number beyond float32 becomes infinity, which is refused.
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def _no_numbers(model: str) -> ModelError:
    return ModelError(
        f"{model!r} did not return lists of numbers",
        "check that it is an embedding model and that the address is correct",
    )
