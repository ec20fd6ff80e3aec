"""One turn of a conversation: a question in, an answer stored with what it cites."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.conversation import Conversation, Message, OpenTurn
from elt_llm_core.records import Record
from elt_llm_core.results import QueryResult
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.caching.semantic_cache import SemanticCache
from elt_llm_query.conversation.source_numbers import (
    NumberedSource,
    answer_message,
    number_sources,
    numbered_sources,
    show_text,
)
from elt_llm_query.conversation.workflow import (
    Part,
    Tell,
    TurnOutcome,
    TurnWorkflow,
    run_turn,
)
from elt_llm_query.query import query_collections

LOCAL = "local"  # the owner where nobody is told apart: the terminal, a program


class ChatResult(Record):
    """A turn: the whole answer, and as the conversation shows it."""

    conversation_id: str
    message_id: int = Field(ge=1, description="of the answer: its place, from 0")
    text: str = Field(description="the answer with the conversation's numbers")
    searched: str = Field(
        default="", description="the question as it was understood, if not as written"
    )
    unclear: str = Field(
        default="", description="the words of the message that the reply asks about"
    )
    parts: tuple[Part, ...] = Field(
        default=(), description="each question of a message with several, by itself"
    )
    sources: tuple[NumberedSource, ...] = Field(description="what this answer cites")
    result: QueryResult


@dataclass(frozen=True)
class Chat:
    """What the turns of conversations need.

    Attributes:
        names: The collections that are asked.
        store: The data root; conversations are kept there.
        config: The settings; `query` is the section that counts.
        models: The embedder and, for written answers, the language model.
        where: Filters that every chunk has to match.
        cache: Held by a caller that asks more than once.
        named: False if all collections are asked because none was named.
        owner: Whose conversations these are.
    """

    names: Sequence[str]
    store: Store
    config: RagConfig
    models: Models
    where: Mapping[str, Any] | None = None
    cache: SemanticCache | None = None
    named: bool = True
    owner: str = LOCAL

    def ask(
        self, message: str, conversation_id: str = "", tell: Tell | None = None
    ) -> ChatResult:
        """Answer a message and store both, or neither.

        Args:
            message: The question, at most 8,000 characters.
            conversation_id: The conversation; it is created if it is new, and has a
                random id if none is given.
            tell: Is called with what each step begins to do.

        Returns:
            The turn. A refusal is one too; it is stored as well.

        Raises:
            ForeignConversationError: If the conversation belongs to another owner.
            TurnReplacedError: If another question was asked in it meanwhile.
            EltLlmError: As `query_collections`; the question is then taken back.
        """
        conversations = self.store.conversations
        key = conversation_id or secrets.token_hex(16)
        turn = conversations.begin(key, self.owner, message)
        try:
            history = conversations.read(key, self.owner)
            workflow = TurnWorkflow(
                store=self.store,
                config=self.config,
                models=self.models,
                history=history.messages,
                ask=self._answer,
                tell=tell,
            )
            outcome = run_turn(workflow, message.strip())
            answer = answer_message(outcome.result, message.strip(), outcome.unclear)
            conversations.complete(turn, answer)
        except BaseException:
            conversations.cancel(turn)
            raise
        return _chat_result(history, turn, outcome, answer)

    def _answer(self, question: str) -> QueryResult:
        return query_collections(
            self.names,
            question,
            store=self.store,
            config=self.config,
            models=self.models,
            where=self.where,
            cache=self.cache,
            named=self.named,
        )


def _chat_result(
    history: Conversation, turn: OpenTurn, outcome: TurnOutcome, answer: Message
) -> ChatResult:
    """The turn as the conversation shows it."""
    messages = (*history.messages, answer)
    whole = history.model_copy(update={"messages": messages})
    cited = [s for s in numbered_sources(whole) if s.chunk in answer.chunks]
    return ChatResult(
        conversation_id=turn.conversation_id,
        message_id=turn.ordinal + 1,
        text=show_text(answer.text, number_sources(messages)),
        searched=answer.searched,
        unclear=outcome.unclear,
        parts=outcome.parts if len(outcome.parts) > 1 else (),
        sources=tuple(cited),
        result=outcome.result,
    )
