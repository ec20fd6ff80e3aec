"""Events of a turn for observers, besides its steps and tokens.

In this order: `start`, any number of `status` and `token`, then `statements`,
`citations` and `follow_ups`. After the turn is stored, the result itself follows.
"""

from typing import ClassVar

from pydantic import Field

from elt_llm_core.conversation import Message
from elt_llm_core.results import Citation, Conflict
from elt_llm_query.conversation.source_numbers import NumberedSource
from elt_llm_query.step_events import TurnEvent


class TurnStart(TurnEvent):
    """A turn began; its question is stored, and visible once it is answered."""

    name: ClassVar[str] = "start"

    conversation_id: str
    message: str


class CheckedAnswer(TurnEvent):
    """The answer after every statement was checked; it replaces all tokens."""

    name: ClassVar[str] = "statements"

    answer: Message = Field(description="as shown: numbers where the prompt had labels")


class CitedSources(TurnEvent):
    """The cited sources, with the numbers of the conversation."""

    name: ClassVar[str] = "citations"

    sources: tuple[NumberedSource, ...]
    nearest: tuple[Citation, ...] = Field(
        default=(), description="of a refusal: quotes to read, which are not an answer"
    )
    conflicts: tuple[Conflict, ...] = ()


class FollowUps(TurnEvent):
    """Suggested follow-up questions."""

    name: ClassVar[str] = "follow_ups"

    questions: tuple[str, ...]
