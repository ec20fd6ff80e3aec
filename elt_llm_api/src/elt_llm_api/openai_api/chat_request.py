"""Requests of chat programs. Fields without effect here are ignored."""

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from elt_llm_api.schemas import (
    COLLECTIONS,
    QUESTION,
    TOP_K,
    TOP_N,
    USE_RERANKER,
    WHERE,
    Filter,
    Wire,
)
from elt_llm_core.errors import RequestError
from elt_llm_query.plan import SourceLimits

# Older ones hardly help to resolve "it", and a rewriting model reads them all.
MOST_TURNS = 20
Format = Literal["markdown", "text"]


class Lenient(BaseModel):
    """A request format of OpenAI's: clients send additional fields."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ContentPart(Lenient):
    """A part of a message."""

    type: str = Field(max_length=64)
    text: str = ""


class ChatMessage(Lenient):
    """A message; the last one of the role `user` is the question."""

    role: str = Field(max_length=64)
    content: str | list[ContentPart] | None = None


class StreamOptions(Lenient):
    """Options for the end of a stream."""

    include_usage: bool = False


class ResponseFormat(Lenient):
    """The requested format of an answer."""

    type: str = Field(default="text", max_length=64)


class AnswerOptions(Wire):
    """Options of this server, sent as `elt_llm` (`extra_body` of OpenAI's client)."""

    collections: tuple[str, ...] = COLLECTIONS
    where: dict[str, Filter] = WHERE
    models: str = Field(
        default="", max_length=64, description="model provider; see /v1/query"
    )
    top_k: int | None = TOP_K
    top_n: int | None = TOP_N
    use_reranker: bool | None = USE_RERANKER
    format: Format = Field(
        default="markdown",
        description="markdown: markup characters in quoted text are escaped for "
        "a renderer; text: plain text",
    )

    @property
    def limits(self) -> SourceLimits:
        """Return the limits on the number of sources."""
        return SourceLimits(self.top_k, self.top_n, self.use_reranker)


class ChatRequest(Lenient):
    """A request for a chat completion."""

    model: str = Field(min_length=1, max_length=200, description="see /v1/models")
    messages: list[ChatMessage] = Field(min_length=1, max_length=2000)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    response_format: ResponseFormat | None = None
    tool_choice: Any = None
    elt_llm: AnswerOptions = AnswerOptions()

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "default",
                    "messages": [
                        {"role": "user", "content": "Who may register a player?"}
                    ],
                }
            ]
        }
    )

    @property
    def question(self) -> str:
        """Return the text of the user's last message.

        Raises:
            RequestError: If there is none, or it is not a question.
        """
        texts = [_text_of(m) for m in self.messages if m.role == "user"]
        if not texts:
            raise RequestError("messages: there is no message with the role user")
        try:
            return _Question(text=texts[-1].strip()).text
        except ValidationError as error:
            fault = error.errors(include_input=False)[0]["msg"]
            raise RequestError(f"messages: the question: {fault}") from error

    @property
    def turns(self) -> list[tuple[str, str]]:
        """Return the earlier questions that were answered, with their answers."""
        spoken = [m for m in self.messages if m.role in {"user", "assistant"}]
        return [
            (_text_of(asked).strip(), _text_of(answer))
            for asked, answer in pairwise(spoken)
            if (asked.role, answer.role) == ("user", "assistant")
        ][-MOST_TURNS:]

    def check(self) -> None:
        """Refuse options that would be ignored but affect the response.

        Raises:
            RequestError: For several choices, another format or a forced tool.
        """
        if self.n not in {None, 1}:
            raise RequestError(
                f"n: is {self.n}, but only one answer is supported", "omit it"
            )
        wanted = self.response_format.type if self.response_format else "text"
        if wanted != "text":
            raise RequestError(
                f"response_format: {wanted!r} is not supported",
                "use text; the field elt_llm of the reply is the whole result as JSON",
            )
        if self.tool_choice not in {None, "none", "auto"}:
            raise RequestError("tool_choice: tools are not supported", "omit it")


class _Question(Wire):
    text: Annotated[str, QUESTION]


def _text_of(message: ChatMessage) -> str:
    """Return the text of a message. Raises RequestError for a picture or a sound."""
    if not isinstance(message.content, list):
        return message.content or ""
    others = {part.type for part in message.content} - {"text"}
    if others:
        raise RequestError(
            f"messages: parts of the type {min(others)!r} are not supported",
            "send text",
        )
    return "\n".join(part.text for part in message.content)
