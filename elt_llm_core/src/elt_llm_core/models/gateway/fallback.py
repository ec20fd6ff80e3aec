"""A list of language models, tried in turn until one succeeds."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any, TypeVar

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import LLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.prompts import PromptTemplate
from pydantic import BaseModel, PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import BudgetSpentError, ModelError, OutOfTimeError
from elt_llm_core.models.gateway.spending import note_fallback

T = TypeVar("T")
B = TypeVar("B", bound=BaseModel)


class FallbackLLM(LLM):
    """Calls the first model; if it raises ModelError, the next, and so on.

    A stream is taken over only before its first part. Its settings apply to every model
    that has them. Name and limits are those of the first.
    """

    num_predict: int | None = None
    temperature: float | None = None
    thinking: bool | None = None

    _models: tuple[LLM, ...] = PrivateAttr()

    def __init__(self, models: Sequence[LLM], **fields: Any) -> None:
        super().__init__(**fields)
        self._models = tuple(models)

    @override
    def model_copy(
        self, *, update: Mapping[str, Any] | None = None, deep: bool = False
    ) -> "FallbackLLM":
        """Return the same list with settings for each model that has them."""
        copies = [
            model.model_copy(
                update={
                    name: value
                    for name, value in (update or {}).items()
                    if name in type(model).model_fields
                },
                deep=deep,
            )
            for model in self._models
        ]
        return FallbackLLM(copies, **dict(update or {}))

    @property
    @override
    def metadata(self) -> LLMMetadata:
        """Return the metadata of the first model."""
        return self._models[0].metadata

    @property
    def model_digest(self) -> str:
        """Return the digest of the first model, if it has one. Raises ModelError."""
        return str(getattr(self._models[0], "model_digest", ""))

    def ask_in_turn(self, call: Callable[[LLM], T]) -> T:
        """Return the result of a call with the first model that does not fail.

        Raises:
            ModelError: The error of the last model.
        """
        for model in self._models[:-1]:
            try:
                return call(model)
            except ModelError as error:
                _take_over(model, error)
        return call(self._models[-1])

    async def _aask(self, call: Callable[[LLM], Awaitable[T]]) -> T:
        for model in self._models[:-1]:
            try:
                return await call(model)
            except ModelError as error:
                _take_over(model, error)
        return await call(self._models[-1])

    @llm_chat_callback()
    @override
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.ask_in_turn(lambda model: model.chat(messages, **kwargs))

    @llm_chat_callback()
    @override
    async def achat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponse:
        return await self._aask(lambda model: model.achat(messages, **kwargs))

    @llm_chat_callback()
    @override
    def stream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseGen:
        def begin(model: LLM) -> tuple[list[ChatResponse], ChatResponseGen]:
            parts = model.stream_chat(messages, **kwargs)
            return [part for part in (next(parts, None),) if part is not None], parts

        first, parts = self.ask_in_turn(begin)

        def every() -> ChatResponseGen:
            with closing(parts):
                yield from first
                yield from parts

        return every()

    @llm_chat_callback()
    @override
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        async def begin(
            model: LLM,
        ) -> tuple[ChatResponse | None, ChatResponseAsyncGen]:
            parts = await model.astream_chat(messages, **kwargs)
            return await anext(parts, None), parts

        first, parts = await self._aask(begin)

        async def every() -> ChatResponseAsyncGen:
            async with aclosing(parts):
                if first is not None:
                    yield first
                async for part in parts:
                    yield part

        return every()

    @llm_completion_callback()
    @override
    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        return self.ask_in_turn(
            lambda model: model.complete(prompt, formatted, **kwargs)
        )

    @llm_completion_callback()
    @override
    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        return await self._aask(
            lambda model: model.acomplete(prompt, formatted, **kwargs)
        )

    @override
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        message = ChatMessage(role="user", content=prompt)
        parts = self.stream_chat([message], **kwargs)
        return (_completion(part) for part in parts)

    @override
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        message = ChatMessage(role="user", content=prompt)
        parts = await self.astream_chat([message], **kwargs)

        async def every() -> CompletionResponseAsyncGen:
            async for part in parts:
                yield _completion(part)

        return every()

    @override
    def structured_predict(
        self,
        output_cls: type[B],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> B:
        def ask(model: LLM) -> B:
            given: B = model.structured_predict(
                output_cls, prompt, llm_kwargs, **prompt_args
            )
            return given

        return self.ask_in_turn(ask)

    @override
    async def astructured_predict(
        self,
        output_cls: type[B],
        prompt: PromptTemplate,
        llm_kwargs: dict[str, Any] | None = None,
        **prompt_args: Any,
    ) -> B:
        async def ask(model: LLM) -> B:
            given: B = await model.astructured_predict(
                output_cls, prompt, llm_kwargs, **prompt_args
            )
            return given

        return await self._aask(ask)


def _completion(part: ChatResponse) -> CompletionResponse:
    text = part.message.content or ""
    return CompletionResponse(text=text, delta=part.delta, raw=part.raw)


def _take_over(model: LLM, error: ModelError) -> None:
    """Record that the next model is called. Raises errors that it cannot help with."""
    if isinstance(error, BudgetSpentError | OutOfTimeError):
        raise error
    note_fallback(f"{model.metadata.model_name!r} failed ({error.message})")
