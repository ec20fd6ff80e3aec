"""LlamaIndex's eight ways to call a model, over one format: chat completions.

A subclass defines the transport (HTTP, or a call in this process); the request, the
assembly of parts and the check for completeness are here.
"""

from abc import abstractmethod
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from typing import Any, ClassVar

from llama_index.core.base.llms.generic_utils import (
    achat_to_completion_decorator,
    astream_chat_to_completion_decorator,
    chat_to_completion_decorator,
    stream_chat_to_completion_decorator,
)
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import ModelError
from elt_llm_core.models.http import SHAPE_ERRORS, ended_early, unreadable
from elt_llm_core.models.native_tools import (
    has_picture,
    read_tool_calls,
    refuse_pictures,
    write_message,
)
from elt_llm_core.models.structured import StructuredCalls
from elt_llm_core.models.token_count import Prompt

Json = dict[str, Any]

# Keyword arguments that are sent; LlamaIndex also passes others.
_PASSED = frozenset(
    {"max_tokens", "response_format", "seed", "stop"}
    | {"tools", "tool_choice", "parallel_tool_calls"}
)


@dataclass
class Answer:
    """Parts of a streamed answer, joined. `done` is true once the server said so."""

    prompt: Prompt
    text: str = ""
    done: bool = False
    raw: Json = field(default_factory=dict)

    def add(self, part: Json) -> str:
        """Add a part and return its text. Raises ModelError for an error part."""
        if "error" in part:
            raise ModelError(
                f"the connection to {self.prompt.model!r} broke: {error_text(part)}",
                "try again; see the server's log",
            )
        try:
            self.prompt.check((part.get("usage") or {}).get("prompt_tokens"))
            delta = ""
            for choice in part.get("choices") or ():
                delta += (choice.get("delta") or {}).get("content") or ""
                self.done = self.done or bool(choice.get("finish_reason"))
        except SHAPE_ERRORS as error:
            raise unreadable(repr(self.prompt.model), error) from error
        self.text += delta
        self.raw = part
        return delta

    def response(self, delta: str) -> ChatResponse:
        """Return the answer so far as a LlamaIndex response."""
        message = ChatMessage(role=MessageRole.ASSISTANT, content=self.text)
        return ChatResponse(message=message, delta=delta, raw=self.raw)

    def finish(self) -> None:
        """Raise ModelError if the stream ended without its final part."""
        if not self.done:
            raise ended_early(self.prompt.model)


def error_text(body: Json) -> str:
    """Return the message of an error answer in any of the usual formats."""
    error = body.get("error", body)
    return str(error.get("message", error) if isinstance(error, dict) else error)


def whole_answer(prompt: Prompt, body: Json) -> ChatResponse:
    """Return the complete answer. Raises ModelError for a body without one."""
    try:
        prompt.check((body.get("usage") or {}).get("prompt_tokens"))
        choices = body.get("choices")
        if not choices or "message" not in choices[0]:
            raise ended_early(prompt.model)
        text = "" + (choices[0]["message"].get("content") or "")
        calls = read_tool_calls(choices[0]["message"])
    except SHAPE_ERRORS as error:
        raise unreadable(repr(prompt.model), error) from error
    message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
    message.blocks.extend(calls)
    return ChatResponse(message=message, raw=body)


class ChatShaped(StructuredCalls, CustomLLM):
    """A model that is called with chat completions."""

    model: str
    context_window: int = Field(default=8192, gt=0)
    num_predict: int = Field(default=1024, gt=0)
    temperature: float = Field(default=0.0, ge=0)

    reads_pictures: ClassVar[bool] = False

    @abstractmethod
    def _send(self, body: Json, prompt: Prompt) -> Json:
        """Return the complete answer. Raises ModelError and its subclasses."""

    @abstractmethod
    def _stream(self, body: Json, prompt: Prompt) -> Generator[Json, None, None]:
        """Yield the parts of the answer as they arrive."""

    @abstractmethod
    async def _asend(self, body: Json, prompt: Prompt) -> Json:
        """Like `_send`."""

    @abstractmethod
    def _astream(self, body: Json, prompt: Prompt) -> AsyncGenerator[Json, None]:
        """Like `_stream`; closing it ends the request."""

    @property
    @override
    def metadata(self) -> LLMMetadata:
        """Return name and limits."""
        return LLMMetadata(
            context_window=self.context_window,
            num_output=self.num_predict,
            model_name=self.model,
            is_chat_model=True,
        )

    @override
    def schema_options(self, schema: Json) -> Json:
        """Return the schema as a response format of OpenAI's protocol."""
        shape = {"name": str(schema.get("title", "answer")), "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": shape}}

    def _body(
        self, messages: Sequence[ChatMessage], stream: bool, extra: Json
    ) -> tuple[Json, Prompt]:
        if not self.reads_pictures and any(map(has_picture, messages)):
            raise refuse_pictures(self.model)
        body: Json = {
            "model": self.model,
            "messages": [write_message(m) for m in messages],
            "max_tokens": self.num_predict,
            "temperature": self.temperature,
            "stream": stream,
            **{name: value for name, value in extra.items() if name in _PASSED},
        }
        if stream:
            # Otherwise a stream does not report the number of prompt tokens.
            body["stream_options"] = {"include_usage": True}
        texts = [m.content or "" for m in messages]
        return body, Prompt.of(self.model, texts, self.context_window)

    @llm_chat_callback()
    @override
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the complete answer. Raises ModelError and its subclasses."""
        body, prompt = self._body(messages, stream=False, extra=kwargs)
        return whole_answer(prompt, self._send(body, prompt))

    @llm_chat_callback()
    @override
    async def achat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponse:
        """Like `chat`."""
        body, prompt = self._body(messages, stream=False, extra=kwargs)
        return whole_answer(prompt, await self._asend(body, prompt))

    @llm_chat_callback()
    @override
    def stream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseGen:
        """Yield the answer as it grows; errors are raised while it is read."""
        body, prompt = self._body(messages, stream=True, extra=kwargs)

        def parts() -> ChatResponseGen:
            answer = Answer(prompt)
            with closing(self._stream(body, prompt)) as stream:
                for part in stream:
                    if delta := answer.add(part):
                        yield answer.response(delta)
            answer.finish()

        return parts()

    @llm_chat_callback()
    @override
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Like `stream_chat`; closing it ends the request."""
        body, prompt = self._body(messages, stream=True, extra=kwargs)

        async def parts() -> ChatResponseAsyncGen:
            answer = Answer(prompt)
            async with aclosing(self._astream(body, prompt)) as stream:
                async for part in stream:
                    if delta := answer.add(part):
                        yield answer.response(delta)
            answer.finish()

        return parts()

    @llm_completion_callback()
    @override
    def complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Return the answer to a prompt, sent as one user message."""
        return chat_to_completion_decorator(self.chat)(prompt, **kwargs)

    @llm_completion_callback()
    @override
    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Like `complete`."""
        return await achat_to_completion_decorator(self.achat)(prompt, **kwargs)

    @llm_completion_callback()
    @override
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Yield the answer to a prompt as it grows."""
        return stream_chat_to_completion_decorator(self.stream_chat)(prompt, **kwargs)

    @llm_completion_callback()
    @override
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        """Like `stream_complete`."""
        ask = astream_chat_to_completion_decorator(self.astream_chat)
        return await ask(prompt, **kwargs)
