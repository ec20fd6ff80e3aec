"""A stored conversation: questions and answers with their citations.

Messages reference chunks by id, never by the labels of a prompt: a label such as `[S1]`
is valid in one prompt only. In place of a label, the stored text has the mark
`[chunk:ID]`; how a mark is shown (as `[1]`, `[2]` ...) is up to the view.
"""

import re
from enum import StrEnum

from pydantic import Field

from elt_llm_core.errors import UsageError
from elt_llm_core.records import Record
from elt_llm_core.results import (
    Citation,
    Conflict,
    Degradation,
    RemovedClaim,
    Statement,
    Status,
)

MARK = re.compile(r"\[chunk:([0-9a-f]{32})\]")
MOST_TITLE = 200  # characters
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}")


class Speaker(StrEnum):
    """The author of a message."""

    USER = "user"
    ASSISTANT = "assistant"


class Message(Record):
    """One message. The fields of answers are empty for a question."""

    role: Speaker
    text: str = Field(description="as written; answers cite chunks as [chunk:ID]")
    created: str = Field(default="", description="UTC, ISO 8601")
    searched: str = Field(
        default="",
        description="the question that was searched, if it differs from `text`",
    )
    unclear: str = Field(
        default="",
        description="the ambiguous words of the question that the reply asks about",
    )
    courtesy: bool = Field(
        default=False, description="a reply to a greeting or thanks; nothing was asked"
    )
    status: Status | None = None
    statements: tuple[Statement, ...] = ()
    citations: tuple[Citation, ...] = ()
    removed: tuple[RemovedClaim, ...] = ()
    nearest: tuple[Citation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    degradations: tuple[Degradation, ...] = ()
    follow_ups: tuple[str, ...] = Field(
        default=(), description="suggested follow-up questions"
    )
    chunks: tuple[str, ...] = Field(
        default=(), description="ids of the chunks it cites, in order of first mention"
    )
    documents: tuple[str, ...] = Field(
        default=(),
        description="ids of the documents of these chunks, without duplicates",
    )


class Conversation(Record):
    """A conversation with all of its messages: question, answer, question, answer."""

    conversation_id: str
    owner: str
    title: str = Field(default="", description="as given; empty if none was given")
    created: str
    last_used: str
    messages: tuple[Message, ...] = ()

    @property
    def label(self) -> str:
        """Return its display name: its title, or its first question."""
        first = self.messages[0].text if self.messages else ""
        return self.title or " ".join(first.split())[:100]


class ConversationRow(Record):
    """A conversation in a list."""

    conversation_id: str
    title: str
    first_message: str = Field(description="its first 100 characters")
    message_count: int = Field(ge=0)
    created: str
    last_used: str


class OpenTurn(Record):
    """A question that is being answered: stored, but not yet visible."""

    conversation_id: str
    owner: str
    ordinal: int = Field(ge=0)
    token: str = Field(description="id of this turn; each question has its own")


def check_name(name: str, what: str) -> str:
    """Return the id of a conversation or owner unchanged.

    Args:
        name: The id.
        what: Its name in the error, such as "conversation id".

    Raises:
        UsageError: If it has characters other than letters, digits, `_`, `.`, `@` and
            `-`, or more than 100.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:80]!r} is no {what}",
            "use at most 100 letters, digits, '_', '.', '@' or '-', a letter or digit "
            "first",
        )
    return name
