"""The official Ollama client, with its failures told apart and its answers checked."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from typing import Any

from ollama import AsyncClient, Client, ResponseError
from typing_extensions import override

from elt_llm_core.errors import (
    EltLlmError,
    EmbedError,
    ModelError,
    ModelMissingError,
    PromptTruncatedError,
)
from elt_llm_core.models.bounds import async_bounds, bounds
from elt_llm_core.models.ollama_status import canonical
from elt_llm_core.models.tokens import Prompt
from elt_llm_core.models.wire import (
    WIRE_ERRORS,
    client_options,
    ended_early,
    says_too_long,
    shown,
    status_error,
    wire_error,
)

_NOT_FOUND = 404


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
        self._url = base_url
        self._seconds = seconds

    @override
    def chat(self, *args: Any, **kwargs: Any) -> Any:
        """The answer, or an iterator of its parts with `stream=True`.

        Raises PromptTruncatedError, ModelError and its subclasses; a stream raises
        while it is read, and a truncated prompt before the part that says `done`.
        """
        prompt = _prompt(kwargs)
        if kwargs.get("stream"):
            return self._parts(prompt, super().chat(*args, **kwargs))
        with self._translated(prompt):
            answer = super().chat(*args, **kwargs)
        if not answer.done:
            raise ended_early(prompt.model)
        prompt.check(answer.prompt_eval_count)
        return answer

    def _parts(self, prompt: Prompt, parts: Any) -> Iterator[Any]:
        done = False
        with self._translated(prompt), closing(parts):
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
        model = str(kwargs.get("model", ""))
        try:
            return super().embed(*args, **{**kwargs, "truncate": False})
        except ResponseError as error:
            raise embed_error(error, model, self._known(error)) from error
        except WIRE_ERRORS as error:
            raise wire_error(error, self._url, model, self._seconds) from error

    def digest_of(self, model: str) -> str:
        """The digest of a model in /api/tags. Raises ModelMissingError, ModelError."""
        with self._translated(Prompt(model, 0, 0)):
            listed = self.list().models
        for entry in listed:
            if canonical(entry.model or "") == canonical(model):
                if entry.digest:
                    return str(entry.digest)
                where = shown(self._url)
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
    def _translated(self, prompt: Prompt) -> Iterator[None]:
        try:
            yield
        except ResponseError as error:
            raise chat_error(error, prompt, self._known(error)) from error
        except WIRE_ERRORS as error:
            raise wire_error(error, self._url, prompt.model, self._seconds) from error

    def _known(self, error: ResponseError) -> tuple[str, ...]:
        if error.status_code != _NOT_FOUND:
            return ()
        try:
            return model_names(self.list().models)
        except (ModelError, ResponseError, *WIRE_ERRORS):
            return ()


class CheckedAsyncClient(AsyncClient):
    """The asynchronous client; every failure is one of ours."""

    def __init__(self, base_url: str, seconds: float) -> None:
        options = client_options(base_url, seconds)
        super().__init__(base_url, **options, **async_bounds(seconds))
        self._url = base_url
        self._seconds = seconds

    @override
    async def chat(self, *args: Any, **kwargs: Any) -> Any:
        """As `CheckedClient.chat`; leaving the stream closes the connection."""
        prompt = _prompt(kwargs)
        if kwargs.get("stream"):
            return self._parts(prompt, await super().chat(*args, **kwargs))
        async with self._translated(prompt):
            answer = await super().chat(*args, **kwargs)
        if not answer.done:
            raise ended_early(prompt.model)
        prompt.check(answer.prompt_eval_count)
        return answer

    async def _parts(self, prompt: Prompt, parts: Any) -> AsyncIterator[Any]:
        done = False
        async with self._translated(prompt), aclosing(parts):
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
        model = str(kwargs.get("model", ""))
        try:
            return await super().embed(*args, **{**kwargs, "truncate": False})
        except ResponseError as error:
            raise embed_error(error, model, await self._known(error)) from error
        except WIRE_ERRORS as error:
            raise wire_error(error, self._url, model, self._seconds) from error

    @asynccontextmanager
    async def _translated(self, prompt: Prompt) -> AsyncIterator[None]:
        try:
            yield
        except ResponseError as error:
            raise chat_error(error, prompt, await self._known(error)) from error
        except WIRE_ERRORS as error:
            raise wire_error(error, self._url, prompt.model, self._seconds) from error

    async def _known(self, error: ResponseError) -> tuple[str, ...]:
        if error.status_code != _NOT_FOUND:
            return ()
        try:
            return model_names((await self.list()).models)
        except (ModelError, ResponseError, *WIRE_ERRORS):
            return ()
