"""Checked HTTP clients of Ollama: every failure raises an error of this project."""

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
from typing import Any

from ollama import AsyncClient, ChatResponse, Client, ResponseError
from typing_extensions import override

from elt_llm_core.errors import (
    EltLlmError,
    EmbedError,
    ModelError,
    ModelMissingError,
    PromptTruncatedError,
)
from elt_llm_core.models.bounds import async_bounds, bounds
from elt_llm_core.models.gateway.direct import DIRECT, Direct, Target
from elt_llm_core.models.gateway.kept_answers import Memo
from elt_llm_core.models.http import (
    WIRE_ERRORS,
    client_options,
    ended_early,
    hide_credentials,
    says_too_long,
    status_error,
    wire_error,
)
from elt_llm_core.models.ollama.server_status import canonical
from elt_llm_core.models.token_count import Prompt

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
    """Return the error for an error answer to a chat."""
    if says_too_long(error.status_code, error.error):
        return PromptTruncatedError(prompt.model, prompt.likely, prompt.window)
    return status_error(error.status_code, error.error, prompt.model, known)


def embed_error(
    error: ResponseError, model: str, known: tuple[str, ...]
) -> EltLlmError:
    """Return the error for an error answer; EmbedError blames the text."""
    if says_too_long(error.status_code, error.error):
        return EmbedError(
            f"a text is longer than {model!r} reads ({error.error})",
            "split it into smaller chunks",
        )
    if "nan" in error.error.lower().replace(":", " ").split():
        return EmbedError(
            f"{model!r} returned NaN for a text ({error.error})",
            "embed the texts one at a time to find which",
        )
    return status_error(error.status_code, error.error, model, known)


def model_names(listed: Sequence[Any]) -> tuple[str, ...]:
    """Return the sorted names in an answer of /api/tags."""
    return tuple(sorted(str(entry.model) for entry in listed if entry.model))


class CheckedClient(Client):
    """The synchronous client; every failure raises an error of this project."""

    def __init__(self, base_url: str, seconds: float) -> None:
        options = client_options(base_url, seconds)
        super().__init__(base_url, **options, **bounds(seconds))
        self.gateway: Direct = DIRECT
        self._url = base_url
        self._seconds = seconds

    @override
    def chat(self, *args: Any, **kwargs: Any) -> Any:
        """Return the answer, or an iterator of its parts with `stream=True`.

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
        """Return vectors as the server sent them, never of a truncated text.

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
        """Return a model's digest. Raises ModelMissingError, ModelError."""
        with self._translate_errors(Prompt(model, 0, 0)):
            listed = self.list().models
        for entry in listed:
            if canonical(entry.model or "") == canonical(model):
                if entry.digest:
                    return str(entry.digest)
                where = hide_credentials(self._url)
                raise ModelError(
                    f"the server at {where} lists {model!r} without a digest",
                    "without it the vectors cannot be attributed to a model: "
                    "update Ollama",
                )
        raise ModelMissingError(model, model_names(listed))

    def capabilities_of(self, model: str) -> tuple[str, ...]:
        """Return the model's capabilities, such as `tools`. Raises ModelError."""
        with self._translate_errors(Prompt(model, 0, 0)):
            return tuple(map(str, self.show(model).capabilities or ()))

    def context_length(self, model: str) -> int | None:
        """Return a model's trained window in tokens; None if unknown.

        It is None for a missing model too, which the next call reports. Raises
        ModelError if the server cannot be reached.
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
    """The asynchronous client; every failure raises an error of this project."""

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
