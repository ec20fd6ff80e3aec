"""Servers with OpenAI's API: vLLM, llama-server, LM Studio. Over plain httpx.

Such a server fixes its window at start and does not take it from a request, so
`context_window` here states the server's setting.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from hashlib import sha256
from typing import Any, ClassVar

import httpx
import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.llms import LLM
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, SecretStr
from typing_extensions import override

from elt_llm_core.config.base import Address, Name
from elt_llm_core.errors import (
    EltLlmError,
    EmbedError,
    ModelError,
    PromptTruncatedError,
)
from elt_llm_core.models.array_embedding import ArrayEmbedding, checked_vectors
from elt_llm_core.models.bounds import async_bounds, bounds
from elt_llm_core.models.chat import ChatShaped
from elt_llm_core.models.embedder import EmbedderPrompt, prompt_for
from elt_llm_core.models.gateway.direct import DIRECT, Direct, Target
from elt_llm_core.models.gateway.kept_answers import Memo
from elt_llm_core.models.http import (
    SHAPE_ERRORS,
    WIRE_ERRORS,
    client_options,
    says_too_long,
    status_error,
    unreadable,
    wire_error,
)
from elt_llm_core.models.native_tools import ToolCallingLLM
from elt_llm_core.models.token_count import SMALLEST_WINDOW, Prompt, most_tokens
from elt_llm_core.strategy import Models, Strategy

Json = dict[str, Any]

_NOT_FOUND = 404
_END = "[DONE]"


class HttpModel:
    """One model of one server. `url` ends in `/v1`, `seconds` limits each wait."""

    def __init__(
        self, url: str, model: str, seconds: float, api_key: SecretStr | None = None
    ) -> None:
        self.url = url.rstrip("/")
        self.model = model
        self.gateway: Direct = DIRECT
        self._target = Target(self.url, model)
        self._seconds = seconds
        key = api_key.get_secret_value() if api_key else ""
        options = client_options(url, seconds)
        self._client = httpx.Client(**options, **bounds(seconds))
        self._async_client = httpx.AsyncClient(**options, **async_bounds(seconds))
        if key:
            for client in (self._client, self._async_client):
                client.headers["Authorization"] = f"Bearer {key}"

    def post(self, path: str, body: Json, too_long: EltLlmError) -> Json:
        """Return the answer. Raises `too_long` if reported, else ModelError."""
        send = partial(self._post, path, body, too_long)
        return self.gateway.call(self._target, send, _memo(path, body))

    def _post(self, path: str, body: Json, too_long: EltLlmError) -> Json:
        with self._translate_errors():
            answer = self._client.post(f"{self.url}{path}", json=body)
            if answer.is_error:
                raise self._refusal(answer, too_long, self._names(answer))
            return _object(answer.json())

    async def apost(self, path: str, body: Json, too_long: EltLlmError) -> Json:
        """Like `post`."""
        send = partial(self._apost, path, body, too_long)
        return await self.gateway.acall(self._target, send, _memo(path, body))

    async def _apost(self, path: str, body: Json, too_long: EltLlmError) -> Json:
        with self._translate_errors():
            answer = await self._async_client.post(f"{self.url}{path}", json=body)
            if answer.is_error:
                raise self._refusal(answer, too_long, await self._anames(answer))
            return _object(answer.json())

    def stream(
        self, path: str, body: Json, too_long: EltLlmError
    ) -> Generator[Json, None, None]:
        """Yield the events of an answer. Raises as `post`, also while it is read."""
        begin = partial(self._events, path, body, too_long)
        return self.gateway.stream(self._target, begin)

    def _events(
        self, path: str, body: Json, too_long: EltLlmError
    ) -> Generator[Json, None, None]:
        with self._translate_errors(), self._open_stream(path, body) as answer:
            if answer.is_error:
                answer.read()
                raise self._refusal(answer, too_long, self._names(answer))
            for line in answer.iter_lines():
                event = _event(line)
                if event == _END:
                    return
                if event:
                    yield _object(json.loads(event))

    def astream(
        self, path: str, body: Json, too_long: EltLlmError
    ) -> AsyncGenerator[Json, None]:
        """Like `stream`; closing it closes the connection, which stops the server."""
        begin = partial(self._aevents, path, body, too_long)
        return self.gateway.astream(self._target, begin)

    async def _aevents(
        self, path: str, body: Json, too_long: EltLlmError
    ) -> AsyncGenerator[Json, None]:
        with self._translate_errors():
            async with self._aopen_stream(path, body) as answer:
                if answer.is_error:
                    await answer.aread()
                    raise self._refusal(answer, too_long, await self._anames(answer))
                async for line in answer.aiter_lines():
                    event = _event(line)
                    if event == _END:
                        return
                    if event:
                        yield _object(json.loads(event))

    @contextmanager
    def _open_stream(self, path: str, body: Json) -> Iterator[httpx.Response]:
        with self._client.stream("POST", f"{self.url}{path}", json=body) as answer:
            yield answer

    @asynccontextmanager
    async def _aopen_stream(
        self, path: str, body: Json
    ) -> AsyncIterator[httpx.Response]:
        address = f"{self.url}{path}"
        async with self._async_client.stream("POST", address, json=body) as answer:
            yield answer

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except WIRE_ERRORS as error:
            raise wire_error(error, self.url, self.model, self._seconds) from error

    def _refusal(
        self, answer: httpx.Response, too_long: EltLlmError, known: tuple[str, ...]
    ) -> EltLlmError:
        if says_too_long(answer.status_code, answer.text):
            return too_long
        return status_error(answer.status_code, answer.text, self.model, known)

    def _names(self, answer: httpx.Response) -> tuple[str, ...]:
        if answer.status_code != _NOT_FOUND:
            return ()
        try:
            return _model_names(self._client.get(f"{self.url}/models").json())
        except (ModelError, *WIRE_ERRORS):
            return ()

    async def _anames(self, answer: httpx.Response) -> tuple[str, ...]:
        if answer.status_code != _NOT_FOUND:
            return ()
        try:
            return _model_names(
                (await self._async_client.get(f"{self.url}/models")).json()
            )
        except (ModelError, *WIRE_ERRORS):
            return ()


def _event(line: str) -> str:
    return line.removeprefix("data:").strip() if line.startswith("data:") else ""


def _object(body: Any) -> Json:
    if not isinstance(body, dict):
        raise ModelError(
            "the model server did not send a JSON object",
            "check that base_url is the address of a model server and ends in /v1",
        )
    return body


def _model_names(body: Any) -> tuple[str, ...]:
    entries = body.get("data") if isinstance(body, dict) else None
    return tuple(
        sorted(str(e["id"]) for e in entries or () if isinstance(e, dict) and "id" in e)
    )


DEFAULT_URL = "http://localhost:8080/v1"
_CHAT = "/chat/completions"

# Margin for the prompt before a text, and for an estimate that was too low.
MARGIN = 64


def _memo(path: str, body: Json) -> Memo | None:
    """Return how a chat answer is cached; vectors are cached elsewhere."""
    return Memo(body) if path == _CHAT else None


def _too_long(prompt: Prompt) -> PromptTruncatedError:
    return PromptTruncatedError(prompt.model, prompt.likely, prompt.window)


class OpenAILikeLLM(ChatShaped, ToolCallingLLM):
    """A chat model behind `/chat/completions`. Calls raise ModelError subclasses."""

    reads_pictures: ClassVar[bool] = True  # as far as the server's model does

    _http: HttpModel = PrivateAttr()

    def __init__(self, http: HttpModel, **fields: Any) -> None:
        super().__init__(model=http.model, **fields)
        self._http = http

    def use_gateway(self, gateway: Direct) -> None:
        """Make all calls through it."""
        self._http.gateway = gateway

    @property
    @override
    def metadata(self) -> LLMMetadata:
        """Name and limits, and whether it calls tools."""
        known = super().metadata
        tools = {"is_function_calling_model": self.native_tools}
        return known.model_copy(update=tools)

    @override
    def _send(self, body: Json, prompt: Prompt) -> Json:
        return self._http.post(_CHAT, body, _too_long(prompt))

    @override
    async def _asend(self, body: Json, prompt: Prompt) -> Json:
        return await self._http.apost(_CHAT, body, _too_long(prompt))

    @override
    def _stream(self, body: Json, prompt: Prompt) -> Generator[Json, None, None]:
        return self._http.stream(_CHAT, body, _too_long(prompt))

    @override
    def _astream(self, body: Json, prompt: Prompt) -> AsyncGenerator[Json, None]:
        return self._http.astream(_CHAT, body, _too_long(prompt))


class OpenAILikeEmbedding(ArrayEmbedding):
    """An embedding model behind `/embeddings`, with the prompts it was trained with.

    Vectors have unit length. Calls raise EmbedError if a text is the cause, and
    ModelError if the server is.
    """

    context_window: int = Field(default=SMALLEST_WINDOW, gt=MARGIN)

    _http: HttpModel = PrivateAttr()
    _prompt: EmbedderPrompt = PrivateAttr()
    _dimension: int | None = PrivateAttr(default=None)

    def __init__(self, http: HttpModel, **fields: Any) -> None:
        super().__init__(model_name=http.model, **fields)
        self._http = http
        self._prompt = prompt_for(http.model)

    def use_gateway(self, gateway: Direct) -> None:
        """Make all calls through it."""
        self._http.gateway = gateway

    @property
    def prompt_known(self) -> bool:
        """Whether the table of prompts lists this model."""
        return self._prompt.known

    @property
    def digest(self) -> str:
        """Identity of the model's name and our prompts, all that is known."""
        parts = "\n".join((self.model_name, self._prompt.query, self._prompt.text))
        return sha256(parts.encode()).hexdigest()

    @property
    def dimension(self) -> int:
        """Length of a vector; embeds a text if none was embedded yet."""
        if self._dimension is None:
            return int(self.embed_array(["dimension"]).shape[1])
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Maximum tokens of a text: the configured window, less a margin."""
        return self.context_window - MARGIN

    def count_tokens(self, text: str) -> int:
        """Return an estimate that is seldom too low; the server counts none."""
        return most_tokens(text)

    @override
    def embed_array(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return document vectors, shape (n, dimension), unit length, in order.

        Sends `embed_batch_size` texts at a time.
        """
        prompted = [f"{self._prompt.text}{text}" for text in texts]
        size = self.embed_batch_size
        batches = [
            self._vectors(prompted[start : start + size])
            for start in range(0, len(prompted), size)
        ]
        if not batches:
            return np.empty((0, self._dimension or 0), dtype=np.float32)
        return np.concatenate(batches)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        body = {"model": self.model_name, "input": texts, "encoding_format": "float"}
        too_long = EmbedError(
            f"a text is longer than {self.model_name!r} reads",
            "split it into smaller chunks",
        )
        return self._check_vectors(
            self._http.post("/embeddings", body, too_long), len(texts)
        )

    def _check_vectors(self, body: Json, count: int) -> NDArray[np.float32]:
        try:
            vectors = _in_order(body["data"])
        except SHAPE_ERRORS as error:
            raise unreadable(repr(self.model_name), error) from error
        checked = checked_vectors(vectors, count, self._dimension, self.model_name)
        self._dimension = int(checked.shape[1])
        return checked

    @override
    def _get_query_embedding(self, query: str) -> list[float]:
        row = self._vectors([f"{self._prompt.query}{query}"])[0]
        return [float(number) for number in row]


def _in_order(data: Any) -> list[Any]:
    """Return the vectors by index, because the order of arrival is not defined.

    Raises one of SHAPE_ERRORS for malformed data and duplicate indexes.
    """
    places = [entry.get("index", at) for at, entry in enumerate(data)]
    if sorted(places) != list(range(len(places))):
        raise ValueError(f"the vectors have the indices {places}")
    by_place = dict(zip(places, data, strict=True))
    return [by_place[place]["embedding"] for place in range(len(places))]


class OpenAILikeChat(Strategy[LLM | None]):
    """Answers from a server with OpenAI's API."""

    base_url: Address = DEFAULT_URL
    llm_model: Name
    context_window: int = Field(
        default=8192, gt=0, description="tokens, prompt + answer"
    )
    num_predict: int = Field(
        default=1024, gt=0, description="maximum tokens of an answer"
    )
    request_timeout: float = Field(
        default=300.0, gt=0, description="seconds without a byte before a call fails"
    )
    temperature: float = Field(default=0.0, ge=0)
    native_tools: bool = Field(
        default=False,
        description="the server accepts tools, for sufficiency_strategy agent",
    )
    api_key: SecretStr | None = None

    @override
    def build(self, models: Models | None = None) -> OpenAILikeLLM:
        """Return the model; no server is called yet."""
        http = HttpModel(
            self.base_url, self.llm_model, self.request_timeout, self.api_key
        )
        return OpenAILikeLLM(
            http,
            context_window=self.context_window,
            num_predict=self.num_predict,
            temperature=self.temperature,
            native_tools=self.native_tools,
        )


class OpenAILikeEmbedder(Strategy[BaseEmbedding]):
    """Vectors from a server with OpenAI's API."""

    base_url: Address = DEFAULT_URL
    embedding_model: Name
    context_window: int = Field(default=SMALLEST_WINDOW, gt=MARGIN)
    embed_batch_size: int = Field(default=16, gt=0, le=2048)
    request_timeout: float = Field(default=300.0, gt=0)
    api_key: SecretStr | None = None

    @override
    def build(self, models: Models | None = None) -> OpenAILikeEmbedding:
        """Return the embedder; no server is called yet."""
        http = HttpModel(
            self.base_url, self.embedding_model, self.request_timeout, self.api_key
        )
        return OpenAILikeEmbedding(
            http,
            context_window=self.context_window,
            embed_batch_size=self.embed_batch_size,
        )
