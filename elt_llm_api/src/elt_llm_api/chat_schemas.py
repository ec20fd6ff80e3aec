"""Request and response schemas of conversations."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from elt_llm_api.schemas import (
    COLLECTIONS,
    EXAMPLE_QUESTION,
    TOP_K,
    TOP_N,
    USE_RERANKER,
    WHERE,
    Filter,
    Wire,
)
from elt_llm_core.conversation import (
    MOST_TITLE,
    Conversation,
    ConversationRow,
    Message,
)
from elt_llm_query.conversation.source_numbers import (
    NumberedSource,
    number_sources,
    numbered_sources,
    show_message,
)
from elt_llm_query.plan import SourceLimits

CONVERSATION_ID: Any = r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$"


class ChatIn(Wire):
    """A message of a conversation."""

    message: str = Field(min_length=1, max_length=8000, pattern=r"[^\W_]")
    conversation_id: Annotated[str, Field(pattern=CONVERSATION_ID)] | None = Field(
        default=None,
        description="a conversation that does not exist is created with this id",
    )
    collections: tuple[str, ...] = COLLECTIONS
    profile: str = Field(
        default="default",
        max_length=64,
        description="name of a profile; see /v1/status",
    )
    models: str = Field(
        default="", max_length=64, description="model provider; see /v1/query"
    )
    where: dict[str, Filter] = WHERE
    top_k: int | None = TOP_K
    top_n: int | None = TOP_N
    use_reranker: bool | None = USE_RERANKER

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"message": EXAMPLE_QUESTION}]}
    )

    @property
    def limits(self) -> SourceLimits:
        """Return the limits on the number of sources."""
        return SourceLimits(self.top_k, self.top_n, self.use_reranker)


class ConversationList(Wire):
    """The conversations of a user, the most recently used first."""

    data: list[ConversationRow]
    has_more: bool
    next_cursor: int | None = None


class ConversationOut(Wire):
    """A conversation, with numbers in place of citation marks."""

    conversation_id: str
    title: str = Field(description="as given; empty if none was given")
    label: str = Field(description="its title, or its first question")
    created: str
    last_used: str
    messages: list[Message]
    sources: list[NumberedSource] = Field(description="all cited passages, by number")

    @classmethod
    def of(cls, conversation: Conversation) -> "ConversationOut":
        """Return the response for a conversation."""
        numbers = number_sources(conversation.messages)
        return cls(
            conversation_id=conversation.conversation_id,
            title=conversation.title,
            label=conversation.label,
            created=conversation.created,
            last_used=conversation.last_used,
            messages=[show_message(m, numbers) for m in conversation.messages],
            sources=list(numbered_sources(conversation)),
        )


class ConversationPatch(Wire):
    """The new title of a conversation."""

    title: str = Field(max_length=MOST_TITLE, description="empty: its first question")


class UndoOut(Wire):
    """A removed turn."""

    message: str = Field(description="its question; empty if there was none")
