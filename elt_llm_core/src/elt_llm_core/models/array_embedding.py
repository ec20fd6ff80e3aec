"""What embedders that make rows of numbers share."""

import asyncio
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from numpy.typing import NDArray
from typing_extensions import override


class ArrayEmbedding(BaseEmbedding):
    """LlamaIndex's embedder on top of `embed_array`; its async calls use a thread."""

    @abstractmethod
    def embed_array(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of passages, shape (len(texts), d), in their order."""

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
