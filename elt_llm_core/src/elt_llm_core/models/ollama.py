"""Ollama through its own API, as LlamaIndex components that do not believe everything.

A prompt that the server cut, an answer that broke off, and a vector that is none are
errors here, where the stock classes pass them on.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.llms import LLM
from llama_index.embeddings.ollama import OllamaEmbedding
from llama_index.llms.ollama import Ollama
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.models.ollama_client import CheckedAsyncClient, CheckedClient
from elt_llm_core.models.prompts import EmbedderPrompt, prompt_for
from elt_llm_core.models.tokens import SMALLEST_WINDOW, most_tokens
from elt_llm_core.models.vectors import checked_vectors
from elt_llm_core.section import Address, Name
from elt_llm_core.strategy import Models, Strategy

DEFAULT_URL = "http://localhost:11434"

# Room for the prompt that stands before a text, and for an estimate that was too low.
MARGIN = 64


class CheckedOllama(Ollama):
    """A chat model of an Ollama server. Calls raise ModelError and its subclasses."""

    context_window: int = Field(default=8192, gt=0)
    num_predict: int = Field(default=1024, gt=0)
    request_timeout: float = Field(default=300.0, gt=0)
    is_function_calling_model: bool = False

    _digest: str | None = PrivateAttr(default=None)

    @property
    @override
    def metadata(self) -> LLMMetadata:
        """As the base class, with the answer length that is really asked for."""
        known: LLMMetadata = super().metadata
        return known.model_copy(update={"num_output": self.num_predict})

    @property
    @override
    def client(self) -> CheckedClient:
        """The client for synchronous calls, made on first use."""
        if not isinstance(self._client, CheckedClient):
            self._client = CheckedClient(self.base_url, self.request_timeout)
        return self._client

    @property
    @override
    def async_client(self) -> CheckedAsyncClient:
        """The client for asynchronous calls, made on first use."""
        if not isinstance(self._async_client, CheckedAsyncClient):
            self._async_client = CheckedAsyncClient(self.base_url, self.request_timeout)
        return self._async_client

    @property
    @override
    def _model_kwargs(self) -> dict[str, Any]:
        return {**super()._model_kwargs, "num_predict": self.num_predict}

    @property
    def model_digest(self) -> str:
        """The server's digest of the model; asked for once. Raises ModelError."""
        if self._digest is None:
            self._digest = self.client.digest_of(self.model)
        return self._digest


class CheckedOllamaEmbedding(OllamaEmbedding):
    """An embedding model of an Ollama server, with the prompts it was trained with.

    Vectors have unit length. Calls raise EmbedError where a text is to blame, and
    ModelError where the server is.
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

    @property
    def prompt_known(self) -> bool:
        """Whether the table of prompts lists this model."""
        return self._prompt.known

    @property
    def digest(self) -> str:
        """Identity of the server's model file and our prompts. Raises ModelError.

        Asked for each time: a model may be replaced behind its tag while this runs.
        """
        model = self._client.digest_of(self.model_name)
        parts = "\n".join((model, self._prompt.query, self._prompt.text))
        found = sha256(parts.encode()).hexdigest()
        if found != self._digest:
            self._digest, self._dimension, self._window = found, None, None
        return found

    @property
    def dimension(self) -> int:
        """Length of a vector, as the first one had; asks for one if none came yet."""
        if self._dimension is None:
            return int(self.embed_array(["dimension"]).shape[1])
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Longest text in tokens: the model's window from /api/show, less a margin."""
        return self._context() - MARGIN

    def count_tokens(self, text: str) -> int:
        """An estimate that is seldom too low: the server does not count for us."""
        return most_tokens(text)

    def embed_array(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents, shape (n, dimension), unit length, in the order given.

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
        return self._checked(answer.embeddings, len(texts))

    def _request(self, texts: list[str], window: int) -> dict[str, Any]:
        return {
            "model": self.model_name,
            "input": texts,
            "truncate": False,
            "options": {**self.ollama_additional_kwargs, "num_ctx": window},
            "keep_alive": self.keep_alive,
        }

    def _checked(
        self, vectors: Sequence[Sequence[float]], count: int
    ) -> NDArray[np.float32]:
        checked = checked_vectors(vectors, count, self._dimension, self.model_name)
        self._dimension = int(checked.shape[1])
        return checked

    def _context(self) -> int:
        if self._window is None:
            found = self._client.context_length(self.model_name)
            self._window = found or SMALLEST_WINDOW
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
        return _lists(self._checked(answer.embeddings, len(texts)))

    @override
    def get_general_text_embedding(self, texts: str) -> list[float]:
        """The checked vector of one text that carries its prompt already."""
        return self.get_general_text_embeddings([texts])[0]

    @override
    async def aget_general_text_embedding(self, prompt: str) -> list[float]:
        """As `get_general_text_embedding`."""
        return (await self.aget_general_text_embeddings([prompt]))[0]


class OllamaChat(Strategy[LLM | None]):
    """Answers from a model of an Ollama server."""

    base_url: Address = DEFAULT_URL
    llm_model: Name
    context_window: int = Field(
        default=8192, gt=0, description="tokens, prompt + answer"
    )
    num_predict: int = Field(default=1024, gt=0, description="tokens of an answer")
    request_timeout: float = Field(
        default=300.0, gt=0, description="seconds of silence before a call is given up"
    )
    temperature: float = Field(default=0.0, ge=0)
    thinking: bool = False
    keep_alive: str = Field(
        default="30m", description="how long the model stays loaded"
    )
    seed: int = 0

    @override
    def build(self, models: Models | None = None) -> CheckedOllama:
        """The model; no server is asked yet."""
        return CheckedOllama(
            model=self.llm_model,
            additional_kwargs={"seed": self.seed},
            **self.model_dump(exclude={"llm_model", "seed"}),
        )


class OllamaEmbedder(Strategy[BaseEmbedding]):
    """Vectors from a model of an Ollama server."""

    base_url: Address = DEFAULT_URL
    embedding_model: Name = "nomic-embed-text"
    embed_batch_size: int = Field(default=16, gt=0, le=2048)
    request_timeout: float = Field(default=300.0, gt=0)
    keep_alive: str = "30m"

    @override
    def build(self, models: Models | None = None) -> CheckedOllamaEmbedding:
        """The embedder; no server is asked yet."""
        return CheckedOllamaEmbedding(
            model_name=self.embedding_model,
            **self.model_dump(exclude={"embedding_model"}),
        )


def _lists(array: NDArray[np.float32]) -> list[list[float]]:
    return [[float(number) for number in row] for row in array]
