"""Ollama through its own API, as LlamaIndex components that do not believe everything.

A prompt that the server cut, an answer that broke off, and a vector that is none are
errors here, where the stock classes pass them on.
"""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from functools import partial
from hashlib import sha256
from typing import Any

import httpx
import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.llms import LLM
from llama_index.embeddings.ollama import OllamaEmbedding
from llama_index.llms.ollama import Ollama
from numpy.typing import NDArray
from ollama import AsyncClient, ChatResponse, Client, ResponseError
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.config.base import Address, Name
from elt_llm_core.errors import (
    EltLlmError,
    EmbedError,
    ModelError,
    ModelMissingError,
    ModelUnavailableError,
    PromptTruncatedError,
)
from elt_llm_core.models.array_embedding import checked_vectors
from elt_llm_core.models.bounds import async_bounds, bounds
from elt_llm_core.models.embedder import EmbedderPrompt, prompt_for
from elt_llm_core.models.gateway.direct import DIRECT, Direct, Target
from elt_llm_core.models.gateway.kept_answers import Memo
from elt_llm_core.models.http import (
    PROBE_SECONDS,
    WIRE_ERRORS,
    client_options,
    ended_early,
    hide_credentials,
    says_too_long,
    status_error,
    wire_error,
)
from elt_llm_core.models.structured import StructuredCalls
from elt_llm_core.models.token_count import SMALLEST_WINDOW, Prompt, most_tokens
from elt_llm_core.records import Record
from elt_llm_core.strategy import Models, Strategy


class LoadedModel(Record):
    """A model in the server's memory; `context_length` in tokens, 0 if not said."""

    name: str
    context_length: int = 0


class ServerStatus(Record):
    """What a server says of itself; all empty where nobody answers."""

    reachable: bool
    version: str = ""
    models: tuple[str, ...] = ()
    loaded: tuple[LoadedModel, ...] = ()
    detail: str = ""


def canonical(name: str) -> str:
    """The name with its tag: `x` is `x:latest`."""
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def server_status(base_url: str) -> ServerStatus:
    """Version, installed models (sorted) and loaded models. Never raises for a failure.

    `detail` says why the server is not reachable. Waits at most five seconds a request.
    """
    options = client_options(base_url, PROBE_SECONDS)
    try:
        with httpx.Client(**options, **bounds(PROBE_SECONDS)) as client:
            models = [
                _get(client, f"{base_url.rstrip('/')}/api/{what}")
                for what in ("version", "tags", "ps")
            ]
            return _status(*models)
    except (ModelError, httpx.InvalidURL, *WIRE_ERRORS) as error:
        return ServerStatus(reachable=False, detail=str(error) or type(error).__name__)


def _status(
    version: dict[str, Any], tags: dict[str, Any], running: dict[str, Any]
) -> ServerStatus:
    return ServerStatus(
        reachable=True,
        version=str(version.get("version", "")),
        models=tuple(sorted(_name(entry) for entry in _models(tags))),
        loaded=tuple(
            LoadedModel(
                name=_name(entry), context_length=int(entry.get("context_length") or 0)
            )
            for entry in _models(running)
        ),
    )


def check_ollama_connection(base_url: str) -> ServerStatus:
    """The status of a server that answers. Raises ModelUnavailableError."""
    status = server_status(base_url)
    if not status.reachable:
        raise ModelUnavailableError(hide_credentials(base_url), status.detail)
    return status


def _get(client: httpx.Client, url: str) -> dict[str, Any]:
    answer = client.get(url)
    answer.raise_for_status()
    body = answer.json()
    if not isinstance(body, dict):
        raise ValueError(f"{url} sent no JSON object")  # noqa: TRY004 - their fault
    return body


def _models(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in body.get("models") or () if isinstance(entry, dict)]


def _name(entry: dict[str, Any]) -> str:
    return str(entry.get("model") or entry.get("name") or "")


_NOT_FOUND = 404


def _memo(request: Mapping[str, Any], digest: Callable[[], str]) -> Memo:
    return Memo(
        dict(request),
        digest,
        dump=lambda answer: dict(answer.model_dump(mode="json")),
        load=ChatResponse.model_validate,
    )


def _prompt(request: Mapping[str, Any]) -> Prompt:
    texts = [str(m.get("content") or "") for m in request.get("messages") or ()]
    window = int((request.get("options") or {}).get("num_ctx") or 0)
    return Prompt.of(str(request.get("model", "")), texts, window)


def chat_error(
    error: ResponseError, prompt: Prompt, known: tuple[str, ...]
) -> Exception:
    """What an error answer to a chat means."""
    if says_too_long(error.status_code, error.error):
        return PromptTruncatedError(prompt.model, prompt.likely, prompt.window)
    return status_error(error.status_code, error.error, prompt.model, known)


def embed_error(
    error: ResponseError, model: str, known: tuple[str, ...]
) -> EltLlmError:
    """What an error answer to an embedding means; EmbedError blames the text."""
    if says_too_long(error.status_code, error.error):
        return EmbedError(
            f"a text is longer than {model!r} reads ({error.error})",
            "split it into smaller chunks",
        )
    if "nan" in error.error.lower().replace(":", " ").split():
        return EmbedError(
            f"{model!r} computed no number for a text ({error.error})",
            "embed the texts one by one to find it",
        )
    return status_error(error.status_code, error.error, model, known)


def model_names(listed: Sequence[Any]) -> tuple[str, ...]:
    """The names in an answer of /api/tags, sorted."""
    return tuple(sorted(str(entry.model) for entry in listed if entry.model))


class CheckedClient(Client):
    """The synchronous client; every failure is one of ours."""

    def __init__(self, base_url: str, seconds: float) -> None:
        options = client_options(base_url, seconds)
        super().__init__(base_url, **options, **bounds(seconds))
        self.gateway: Direct = DIRECT
        self._url = base_url
        self._seconds = seconds

    @override
    def chat(self, *args: Any, **kwargs: Any) -> Any:
        """The answer, or an iterator of its parts with `stream=True`.

        Raises PromptTruncatedError, ModelError and its subclasses; a stream raises
        while it is read, and a truncated prompt before the part that says `done`.
        """
        prompt = _prompt(kwargs)
        ask = partial(super().chat, *args, **kwargs)
        where = Target(self._url, prompt.model)
        if kwargs.get("stream"):
            return self.gateway.stream(where, lambda: self._parts(prompt, ask()))
        memo = _memo(kwargs, lambda: self.digest_of(prompt.model))
        return self.gateway.call(where, lambda: self._whole(prompt, ask), memo)

    def _whole(self, prompt: Prompt, ask: Callable[[], Any]) -> Any:
        with self._translate_errors(prompt):
            answer = ask()
        if not answer.done:
            raise ended_early(prompt.model)
        prompt.check(answer.prompt_eval_count)
        return answer

    def _parts(self, prompt: Prompt, parts: Any) -> Generator[Any, None, None]:
        done = False
        with self._translate_errors(prompt), closing(parts):
            for part in parts:
                if part.done:
                    done = True
                    prompt.check(part.prompt_eval_count)
                yield part
        if not done:
            raise ended_early(prompt.model)

    @override
    def embed(self, *args: Any, **kwargs: Any) -> Any:
        """Vectors as the server sent them, never of a cut text.

        Raises EmbedError if the server blames the text, else ModelError.
        """
        ask = partial(super().embed, *args, **{**kwargs, "truncate": False})
        model = str(kwargs.get("model", ""))
        where = Target(self._url, model)
        return self.gateway.call(where, lambda: self._vectors(model, ask))

    def _vectors(self, model: str, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except ResponseError as error:
            raise embed_error(error, model, self._known_models(error)) from error
        except WIRE_ERRORS as error:
            raise wire_error(error, self._url, model, self._seconds) from error

    def digest_of(self, model: str) -> str:
        """The digest of a model in /api/tags. Raises ModelMissingError, ModelError."""
        with self._translate_errors(Prompt(model, 0, 0)):
            listed = self.list().models
        for entry in listed:
            if canonical(entry.model or "") == canonical(model):
                if entry.digest:
                    return str(entry.digest)
                where = hide_credentials(self._url)
                raise ModelError(
                    f"the server at {where} lists {model!r} without a digest",
                    "without it nobody knows whose vectors they are: update Ollama",
                )
        raise ModelMissingError(model, model_names(listed))

    def context_length(self, model: str) -> int | None:
        """The window a model was trained with, in tokens; None if it is not said.

        A missing model is None too: the call that needs it says so. Raises ModelError
        where the server cannot be reached.
        """
        try:
            info = self.show(model).modelinfo or {}
        except ResponseError:
            return None
        except WIRE_ERRORS as error:
            raise wire_error(error, self._url, model, self._seconds) from error
        lengths = [n for key, n in info.items() if key.endswith(".context_length")]
        known = [n for n in lengths if isinstance(n, int) and n > 0]
        return known[0] if known else None

    @contextmanager
    def _translate_errors(self, prompt: Prompt) -> Iterator[None]:
        try:
            yield
        except ResponseError as error:
            raise chat_error(error, prompt, self._known_models(error)) from error
        except WIRE_ERRORS as error:
            raise wire_error(error, self._url, prompt.model, self._seconds) from error

    def _known_models(self, error: ResponseError) -> tuple[str, ...]:
        if error.status_code != _NOT_FOUND:
            return ()
        try:
            return model_names(self.list().models)
        except (ModelError, ResponseError, *WIRE_ERRORS):
            return ()


Ask = Callable[[], Awaitable[Any]]


class CheckedAsyncClient(AsyncClient):
    """The asynchronous client; every failure is one of ours."""

    def __init__(self, base_url: str, seconds: float) -> None:
        options = client_options(base_url, seconds)
        super().__init__(base_url, **options, **async_bounds(seconds))
        self.gateway: Direct = DIRECT
        self._url = base_url
        self._seconds = seconds

    @override
    async def chat(self, *args: Any, **kwargs: Any) -> Any:
        """As `CheckedClient.chat`; leaving the stream closes the connection."""
        prompt = _prompt(kwargs)
        ask = partial(super().chat, *args, **kwargs)
        where = Target(self._url, prompt.model)
        if kwargs.get("stream"):
            return self.gateway.astream(where, lambda: self._parts(prompt, ask))
        memo = _memo(kwargs, lambda: self._digest_of(prompt.model))
        return await self.gateway.acall(where, lambda: self._whole(prompt, ask), memo)

    def _digest_of(self, model: str) -> str:
        return CheckedClient(self._url, self._seconds).digest_of(model)

    async def _whole(self, prompt: Prompt, ask: Ask) -> Any:
        async with self._translate_errors(prompt):
            answer = await ask()
        if not answer.done:
            raise ended_early(prompt.model)
        prompt.check(answer.prompt_eval_count)
        return answer

    async def _parts(self, prompt: Prompt, ask: Ask) -> AsyncGenerator[Any, None]:
        done = False
        async with self._translate_errors(prompt), aclosing(await ask()) as parts:
            async for part in parts:
                if part.done:
                    done = True
                    prompt.check(part.prompt_eval_count)
                yield part
        if not done:
            raise ended_early(prompt.model)

    @override
    async def embed(self, *args: Any, **kwargs: Any) -> Any:
        """As `CheckedClient.embed`."""
        ask = partial(super().embed, *args, **{**kwargs, "truncate": False})
        model = str(kwargs.get("model", ""))
        where = Target(self._url, model)
        return await self.gateway.acall(where, lambda: self._vectors(model, ask))

    async def _vectors(self, model: str, ask: Ask) -> Any:
        try:
            return await ask()
        except ResponseError as error:
            raise embed_error(error, model, await self._known_models(error)) from error
        except WIRE_ERRORS as error:
            raise wire_error(error, self._url, model, self._seconds) from error

    @asynccontextmanager
    async def _translate_errors(self, prompt: Prompt) -> AsyncIterator[None]:
        try:
            yield
        except ResponseError as error:
            raise chat_error(error, prompt, await self._known_models(error)) from error
        except WIRE_ERRORS as error:
            raise wire_error(error, self._url, prompt.model, self._seconds) from error

    async def _known_models(self, error: ResponseError) -> tuple[str, ...]:
        if error.status_code != _NOT_FOUND:
            return ()
        try:
            return model_names((await self.list()).models)
        except (ModelError, ResponseError, *WIRE_ERRORS):
            return ()


DEFAULT_URL = "http://localhost:11434"

# Room for the prompt that stands before a text, and for an estimate that was too low.
MARGIN = 64


class CheckedOllama(StructuredCalls, Ollama):
    """A chat model of an Ollama server. Calls raise ModelError and its subclasses."""

    context_window: int = Field(default=8192, gt=0)
    num_predict: int = Field(default=1024, gt=0)
    request_timeout: float = Field(default=300.0, gt=0)
    is_function_calling_model: bool = False

    _digest: str | None = PrivateAttr(default=None)
    _gateway: Direct = PrivateAttr(default=DIRECT)

    def use_gateway(self, gateway: Direct) -> None:
        """Make all calls through it."""
        self._gateway = gateway

    @override
    def schema_options(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema is a field of Ollama's requests."""
        return {"format": schema}

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
            self._client.gateway = self._gateway
        return self._client

    @property
    @override
    def async_client(self) -> CheckedAsyncClient:
        """The client for asynchronous calls, made on first use."""
        if not isinstance(self._async_client, CheckedAsyncClient):
            self._async_client = CheckedAsyncClient(self.base_url, self.request_timeout)
            self._async_client.gateway = self._gateway
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

    def use_gateway(self, gateway: Direct) -> None:
        """Make all calls through it."""
        self._client.gateway = self._async_client.gateway = gateway

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
        digest = sha256(parts.encode()).hexdigest()
        if digest != self._digest:
            self._digest, self._dimension, self._window = digest, None, None
        return digest

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
