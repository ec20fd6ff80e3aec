"""Embedding models of an Ollama server."""

import asyncio
from collections.abc import (
    Sequence,
)
from hashlib import sha256
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.embeddings.ollama import OllamaEmbedding
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.config.base import Address, Name
from elt_llm_core.models.array_embedding import checked_vectors
from elt_llm_core.models.embedder import EmbedderPrompt, prompt_for
from elt_llm_core.models.gateway.direct import Direct
from elt_llm_core.models.ollama.ollama_chat import DEFAULT_URL
from elt_llm_core.models.ollama.ollama_client import (
    CheckedAsyncClient,
    CheckedClient,
)
from elt_llm_core.models.token_count import SMALLEST_WINDOW, most_tokens
from elt_llm_core.strategy import Models, Strategy

# Margin for the prompt before a text, and for an estimate that was too low.
MARGIN = 64


class CheckedOllamaEmbedding(OllamaEmbedding):
    """An embedding model of an Ollama server, with the prompts it was trained with.

    Vectors have unit length. Calls raise EmbedError if a text is the cause, and
    ModelError if the server is.
    """

    request_timeout: float = Field(default=300.0, gt=0)

    _client: CheckedClient = PrivateAttr()
    _async_client: CheckedAsyncClient = PrivateAttr()
    _dimension: int | None = PrivateAttr(default=None)
    _digest: str | None = PrivateAttr(default=None)
    _window: int | None = PrivateAttr(default=None)
    _prompt: EmbedderPrompt = PrivateAttr()

    def __init__(self, model_name: str, **kwargs: Any) -> None:
        super().__init__(model_name=model_name, **kwargs)
        self._client = CheckedClient(self.base_url, self.request_timeout)
        self._async_client = CheckedAsyncClient(self.base_url, self.request_timeout)
        self._prompt = prompt_for(model_name)

    def use_gateway(self, gateway: Direct) -> None:
        """Make all calls through it."""
        self._client.gateway = self._async_client.gateway = gateway

    @property
    def prompt_known(self) -> bool:
        """Whether the table of prompts lists this model."""
        return self._prompt.known

    @property
    def digest(self) -> str:
        """Return the identity of the server's model and our prompts. Raises ModelError.

        Requested each time, because a model may be replaced behind its tag.
        """
        model = self._client.digest_of(self.model_name)
        parts = "\n".join((model, self._prompt.query, self._prompt.text))
        digest = sha256(parts.encode()).hexdigest()
        if digest != self._digest:
            self._digest, self._dimension, self._window = digest, None, None
        return digest

    @property
    def dimension(self) -> int:
        """Length of a vector; embeds a text if none was embedded yet."""
        if self._dimension is None:
            return int(self.embed_array(["dimension"]).shape[1])
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Maximum tokens of a text: the window from /api/show, less a margin."""
        return self._context() - MARGIN

    def count_tokens(self, text: str) -> int:
        """Return an estimate that is seldom too low; the server counts none."""
        return most_tokens(text)

    def embed_array(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return document vectors, shape (n, dimension), unit length, in order.

        Sends `embed_batch_size` texts at a time.
        """
        prompted = [self._format_text(text) for text in texts]
        size = self.embed_batch_size
        batches = [
            self._vectors(prompted[start : start + size])
            for start in range(0, len(prompted), size)
        ]
        if not batches:
            return np.empty((0, self._dimension or 0), dtype=np.float32)
        return np.concatenate(batches)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        answer = self._client.embed(**self._request(texts, self._context()))
        return self._check_vectors(answer.embeddings, len(texts))

    def _request(self, texts: list[str], window: int) -> dict[str, Any]:
        return {
            "model": self.model_name,
            "input": texts,
            "truncate": False,
            "options": {**self.ollama_additional_kwargs, "num_ctx": window},
            "keep_alive": self.keep_alive,
        }

    def _check_vectors(
        self, vectors: Sequence[Sequence[float]], count: int
    ) -> NDArray[np.float32]:
        checked = checked_vectors(vectors, count, self._dimension, self.model_name)
        self._dimension = int(checked.shape[1])
        return checked

    def _context(self) -> int:
        if self._window is None:
            length = self._client.context_length(self.model_name)
            self._window = length or SMALLEST_WINDOW
        return self._window

    @override
    def _format_query(self, query: str) -> str:
        return f"{self._prompt.query}{query}"

    @override
    def _format_text(self, text: str) -> str:
        return f"{self._prompt.text}{text}"

    @override
    def get_general_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        """Checked vectors of texts that carry their prompt already."""
        return _lists(self._vectors(texts)) if texts else []

    @override
    async def aget_general_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        """As `get_general_text_embeddings`."""
        if not texts:
            return []
        window = await asyncio.to_thread(self._context)
        request = self._request(texts, window)
        answer = await self._async_client.embed(**request)
        return _lists(self._check_vectors(answer.embeddings, len(texts)))

    @override
    def get_general_text_embedding(self, texts: str) -> list[float]:
        """The checked vector of one text that carries its prompt already."""
        return self.get_general_text_embeddings([texts])[0]

    @override
    async def aget_general_text_embedding(self, prompt: str) -> list[float]:
        """As `get_general_text_embedding`."""
        return (await self.aget_general_text_embeddings([prompt]))[0]


class OllamaEmbedder(Strategy[BaseEmbedding]):
    """Vectors from a model of an Ollama server."""

    base_url: Address = DEFAULT_URL
    embedding_model: Name = "nomic-embed-text"
    embed_batch_size: int = Field(default=16, gt=0, le=2048)
    request_timeout: float = Field(default=300.0, gt=0)
    keep_alive: str = "30m"

    @override
    def build(self, models: Models | None = None) -> CheckedOllamaEmbedding:
        """Return the embedder; no server is called yet."""
        return CheckedOllamaEmbedding(
            model_name=self.embedding_model,
            **self.model_dump(exclude={"embedding_model"}),
        )


def _lists(array: NDArray[np.float32]) -> list[list[float]]:
    return [[float(number) for number in row] for row in array]
