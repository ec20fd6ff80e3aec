"""Conversations in the database: a turn is stored completely or not at all.

A question is stored when its turn begins and is invisible until the answer is stored
with it, in one transaction. Remains of a turn of a killed process are deleted when the
next one begins.
"""

import json
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from sqlite3 import Connection
from typing import Any

from elt_llm_core.conversation import (
    MOST_TITLE,
    Conversation,
    ConversationRow,
    Message,
    OpenTurn,
    Speaker,
    check_name,
)
from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import (
    ConversationNotFoundError,
    ForeignConversationError,
    TurnReplacedError,
    UsageError,
)
from elt_llm_core.store.database.reader import Reader

MOST_CHARACTERS = 10_000  # of a message
_CARD = "select conversation_id, owner, title, created, last_used from conversation"
_MESSAGES = (
    "select role, text, created, content from message "
    "where conversation_id = ? and turn = '' order by ordinal"
)
_ROWS = """
select c.conversation_id, c.title,
  coalesce((select substr(m.text, 1, 100) from message m
    where m.conversation_id = c.conversation_id and m.ordinal = 0 and m.turn = ''), ''),
  (select count(*) from message m
    where m.conversation_id = c.conversation_id and m.turn = ''),
  c.created, c.last_used
from conversation c where c.owner = ? and (
  -- what a dead process left of a first question is no conversation
  exists (select 1 from message m
    where m.conversation_id = c.conversation_id and m.turn = '')
  or not exists (select 1 from message m where m.conversation_id = c.conversation_id))
order by c.used desc limit ?
"""
_USE = (
    "update conversation set last_used = ?, "
    "used = (select max(used) + 1 from conversation) where conversation_id = ?"
)
_KEPT = ("role", "text", "created")  # columns; the rest of a message is one JSON object


class Conversations:
    """The conversations of a data root. Every call names the owner."""

    def __init__(
        self,
        database: Reader,
        transaction: Callable[[], AbstractContextManager[Connection]],
    ) -> None:
        self._database = database
        self._transaction = transaction

    def create(
        self, owner: str, conversation_id: str = "", title: str = ""
    ) -> Conversation:
        """Create an empty conversation.

        Args:
            owner: The only user who may read it.
            conversation_id: Its id; by default a random one.
            title: Its title; by default its first question.

        Returns:
            The conversation.

        Raises:
            UsageError: If an id or the title is invalid, or the id is taken.
            NoDataError: If there is no database yet.
        """
        key = conversation_id or secrets.token_hex(16)
        check_name(key, "conversation id")
        check_name(owner, "owner")
        with self._transaction() as connection:
            if _owner(connection, key) is not None:
                hint = "choose another id, or leave it out"
                raise UsageError(f"a conversation {key!r} already exists", hint)
            _insert(connection, key, owner, _checked_title(title))
        return self.read(key, owner)

    def read(self, conversation_id: str, owner: str) -> Conversation:
        """Return a conversation with its messages.

        Raises:
            ConversationNotFoundError: If there is none with that id.
            ForeignConversationError: If it belongs to another owner.
        """
        with self._database.snapshot():
            rows = self._database.rows(
                f"{_CARD} where conversation_id = ?", (conversation_id,)
            )
            if not rows:
                raise ConversationNotFoundError(conversation_id)
            _require_owner(conversation_id, rows[0][1], owner)
            messages = self._database.rows(_MESSAGES, (conversation_id,))
        names = ("conversation_id", "owner", "title", "created", "last_used")
        return Conversation(
            **dict(zip(names, rows[0], strict=True)),
            messages=tuple(map(_message, messages)),
        )

    def by_owner(self, owner: str, limit: int = 1000) -> tuple[ConversationRow, ...]:
        """List the conversations of an owner, the most recently used first."""
        names = tuple(ConversationRow.model_fields)
        return tuple(
            ConversationRow(**dict(zip(names, row, strict=True)))
            for row in self._database.rows(_ROWS, (owner, limit))
        )

    def begin(self, conversation_id: str, owner: str, text: str) -> OpenTurn:
        """Begin a turn: store a question that is invisible until it is answered.

        A missing conversation is created. An earlier incomplete turn is replaced; its
        answer will be refused.

        Args:
            conversation_id: The conversation.
            owner: The user who asks.
            text: The question, 1 to 10,000 characters.

        Returns:
            The turn, for `complete` or `cancel`.

        Raises:
            ForeignConversationError: If it belongs to another owner.
            UsageError: If the text is empty, too long or not valid Unicode.
            NoDataError: If there is no database yet.
        """
        check_name(conversation_id, "conversation id")
        check_name(owner, "owner")
        question, token = _checked_text(text), secrets.token_hex(8)
        with self._transaction() as connection:
            known = _owner(connection, conversation_id)
            if known is None:
                _insert(connection, conversation_id, owner, "")
            else:
                _require_owner(conversation_id, known, owner)
            _drop_pending(connection, conversation_id)
            ordinal = _count(connection, conversation_id)
            message = Message(role=Speaker.USER, text=question, created=_now())
            _append(connection, conversation_id, ordinal, message, token)
        crash_point(CrashPoint.TURN_BEGUN)
        return OpenTurn(
            conversation_id=conversation_id, owner=owner, ordinal=ordinal, token=token
        )

    def complete(self, turn: OpenTurn, answer: Message) -> None:
        """Store the answer of a turn, which makes both messages visible.

        Raises:
            TurnReplacedError: If another question was asked in the conversation in the
                meantime, or it was deleted; nothing is stored.
        """
        key = turn.conversation_id
        with self._transaction() as connection:
            shown = connection.execute(
                "update message set turn = '' where conversation_id = ? and turn = ?",
                (key, turn.token),
            )
            if not shown.rowcount:
                raise TurnReplacedError(key)
            crash_point(CrashPoint.TURN_HALF)
            now = _now()
            stored = answer.model_copy(update={"created": now})
            _append(connection, key, turn.ordinal + 1, stored, "")
            connection.execute(_USE, (now, key))
        crash_point(CrashPoint.TURN_STORED)

    def cancel(self, turn: OpenTurn) -> None:
        """Delete an incomplete turn, and the conversation if it was created for it."""
        key = turn.conversation_id
        with self._transaction() as connection:
            connection.execute(
                "delete from message where conversation_id = ? and turn = ?",
                (key, turn.token),
            )
            connection.execute(
                "delete from conversation where conversation_id = ? and title = '' "
                "and not exists (select 1 from message m "
                "where m.conversation_id = conversation.conversation_id)",
                (key,),
            )

    def rename(self, conversation_id: str, owner: str, title: str) -> None:
        """Change a conversation's title; an empty one restores the first question.

        Raises:
            ConversationNotFoundError, ForeignConversationError: As `read`.
            UsageError: If the title is longer than 200 characters or has control
                characters.
        """
        with self._transaction() as connection:
            _require_owner(conversation_id, _owner(connection, conversation_id), owner)
            connection.execute(
                "update conversation set title = ? where conversation_id = ?",
                (_checked_title(title), conversation_id),
            )

    def delete(self, conversation_id: str, owner: str) -> None:
        """Delete a conversation. Its bytes are erased by the next `Writer.purge`.

        Raises:
            ConversationNotFoundError, ForeignConversationError: As `read`.
        """
        with self._transaction() as connection:
            _require_owner(conversation_id, _owner(connection, conversation_id), owner)
            connection.execute(
                "delete from conversation where conversation_id = ?",
                (conversation_id,),
            )
        crash_point(CrashPoint.CONVERSATION_DELETED)

    def undo(self, conversation_id: str, owner: str) -> str:
        """Remove the last question and its answer.

        Returns:
            The question; empty if there is none.

        Raises:
            ConversationNotFoundError, ForeignConversationError: As `read`.
        """
        with self._transaction() as connection:
            _require_owner(conversation_id, _owner(connection, conversation_id), owner)
            _drop_pending(connection, conversation_id)
            last = _count(connection, conversation_id) - 2
            row = connection.execute(
                "select text from message where conversation_id = ? and ordinal = ?",
                (conversation_id, last),
            ).fetchone()
            connection.execute(
                "delete from message where conversation_id = ? and ordinal >= ?",
                (conversation_id, max(last, 0)),
            )
        return str(row[0]) if row else ""


def _now() -> str:
    """Return the time for display; the order of messages is their ordinal."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _owner(connection: Connection, conversation_id: str) -> str | None:
    statement = "select owner from conversation where conversation_id = ?"
    row = connection.execute(statement, (conversation_id,)).fetchone()
    return None if row is None else str(row[0])


def _require_owner(conversation_id: str, known: str | None, owner: str) -> None:
    if known is None:
        raise ConversationNotFoundError(conversation_id)
    if known != owner:
        raise ForeignConversationError(conversation_id)


def _insert(connection: Connection, key: str, owner: str, title: str) -> None:
    now = _now()
    connection.execute(
        "insert into conversation select ?, ?, ?, ?, ?, coalesce(max(used), 0) + 1 "
        "from conversation",
        (key, owner, title, now, now),
    )


def _drop_pending(connection: Connection, key: str) -> None:
    connection.execute(
        "delete from message where conversation_id = ? and turn <> ''", (key,)
    )


def _count(connection: Connection, key: str) -> int:
    statement = "select count(*) from message where conversation_id = ?"
    return int(connection.execute(statement, (key,)).fetchone()[0])


def _append(
    connection: Connection, key: str, ordinal: int, message: Message, turn: str
) -> None:
    plain = message.model_dump(mode="json", exclude_defaults=True, exclude={*_KEPT})
    content = json.dumps(plain, ensure_ascii=False, sort_keys=True)
    connection.execute(
        "insert into message values(?, ?, ?, ?, ?, ?, ?)",
        (key, ordinal, turn, message.role, message.created, message.text, content),
    )


def _message(row: tuple[Any, ...]) -> Message:
    role, text, created, content = row
    return Message.model_validate(
        {"role": role, "text": text, "created": created, **json.loads(content)}
    )


def _checked_title(title: str) -> str:
    line = title.strip()
    if (line and not line.isprintable()) or len(line) > MOST_TITLE:
        raise UsageError(
            f"{line[:80]!r} is not a valid title of a conversation",
            f"use one line of at most {MOST_TITLE} characters",
        )
    return line


def _checked_text(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        raise UsageError("the message is empty", "write a message")
    if len(stripped) > MOST_CHARACTERS:
        raise UsageError(
            f"the message has {len(stripped)} characters",
            f"write at most {MOST_CHARACTERS}",
        )
    try:
        stripped.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            "the message contains a character that is not valid Unicode",
            "write it in UTF-8",
        ) from error
    return stripped
