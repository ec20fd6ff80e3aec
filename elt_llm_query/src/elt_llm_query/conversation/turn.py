"""One turn of a conversation: a question in, an answer stored with its citations."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import Field

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.conversation import Conversation, Message, OpenTurn
from elt_llm_core.records import Record
from elt_llm_core.results import QueryResult
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_query.answering import answer_question, question_limits
from elt_llm_query.caching.semantic_cache import SemanticCache
from elt_llm_query.conversation.exchanges import Exchange, exchanges_of
from elt_llm_query.conversation.source_numbers import (
    NumberedSource,
    answer_message,
    list_last_sources,
    number_sources,
    show_message,
    show_text,
)
from elt_llm_query.conversation.turn_events import (
    CheckedAnswer,
    CitedSources,
    TurnStart,
)
from elt_llm_query.conversation.turn_outcome import Part, TurnOutcome
from elt_llm_query.conversation.workflow import TurnContext, TurnWorkflow, run_turn
from elt_llm_query.earlier_passages import EarlierPassages
from elt_llm_query.step_events import Watch, report, watched_by

LOCAL = "local"  # the owner if users are not distinguished: the terminal, a program


class ChatResult(Record):
    """A turn: the whole answer, and the message that the conversation shows."""

    conversation_id: str
    message_id: int = Field(ge=1, description="of the answer: its place, from 0")
    text: str = Field(description="the answer with the conversation's numbers")
    searched: str = Field(
        default="", description="the question as it was understood, if not as written"
    )
    unclear: str = Field(
        default="", description="the words of the message that the reply asks about"
    )
    courtesy: bool = Field(
        default=False,
        description="a reply to a greeting or thanks; nothing was searched",
    )
    parts: tuple[Part, ...] = Field(
        default=(), description="each question of a message with several, by itself"
    )
    sources: tuple[NumberedSource, ...] = Field(description="what this answer cites")
    follow_ups: tuple[str, ...] = Field(
        default=(), description="questions that may be asked next"
    )
    result: QueryResult


@dataclass(frozen=True)
class Chat:
    """The settings and resources of the turns of conversations.

    Attributes:
        names: The collections to search.
        store: The data root; conversations are stored there.
        config: The settings; only the section `query` is used.
        models: The embedder and, for written answers, the language model.
        where: Filters that every chunk must match.
        cache: Kept by a caller that asks more than once.
        named: False if all collections are searched because none was named.
        owner: The owner of the conversations.
        revise: Returns the result to store and show, for example without messages that
            only the server's own log may contain.
    """

    names: Sequence[str]
    store: Store
    config: RagConfig
    models: Models
    where: Mapping[str, Any] | None = None
    cache: SemanticCache | None = None
    named: bool = True
    owner: str = LOCAL
    revise: Callable[[QueryResult], QueryResult] | None = None

    def ask(
        self, message: str, conversation_id: str = "", watch: Watch | None = None
    ) -> ChatResult:
        """Answer a message and store both, or neither.

        Args:
            message: The question, at most 8,000 characters.
            conversation_id: The conversation; it is created if it is new, with a random
                id if none is given.
            watch: Receives each step, the tokens of a model, and the checked answer
                before it is stored.

        Returns:
            The turn. A refusal is also a turn and is stored.

        Raises:
            ForeignConversationError: If the conversation belongs to another owner.
            TurnReplacedError: If another question was asked in it meanwhile.
            EltLlmError: As `query_collections`; the question is then removed.
        """
        conversations = self.store.conversations
        key = conversation_id or secrets.token_hex(16)
        turn = conversations.begin(key, self.owner, message)
        try:
            with watched_by(watch):
                report(TurnStart(conversation_id=key, message=message.strip()))
                history = conversations.read(key, self.owner)
                exchanges = exchanges_of(history.messages, self.store)
                outcome = self.run(message, history.messages, exchanges)
            answer = _to_message(outcome, message)
            conversations.complete(turn, answer)
        except BaseException:
            conversations.cancel(turn)
            raise
        return _chat_result(history, turn, outcome, answer)

    def run(
        self, message: str, history: Sequence[Message], exchanges: Sequence[Exchange]
    ) -> TurnOutcome:
        """Run the steps of a turn without storing anything.

        Args:
            message: The question.
            history: The messages before it, oldest first.
            exchanges: The same as questions with the evidence of their answers.

        Raises:
            EltLlmError: As `query_collections`.
        """

        def show(outcome: TurnOutcome) -> None:
            shown = self._revise(outcome)
            _show(history, _to_message(shown, message))

        context = TurnContext(
            store=self.store,
            config=self.config,
            models=self.models,
            history=history,
            exchanges=exchanges,
            ask=partial(self._answer, earlier=self._earlier(history)),
            show=show,
        )
        with question_limits(self.config, self.store) as account:
            outcome = self._revise(run_turn(TurnWorkflow(context), message.strip()))
        trace = outcome.result.trace.model_copy(update={"models": account.used})
        result = outcome.result.model_copy(update={"trace": trace})
        return replace(outcome, result=result)

    def _revise(self, outcome: TurnOutcome) -> TurnOutcome:
        if self.revise is None:
            return outcome
        return replace(outcome, result=self.revise(outcome.result))

    def _earlier(self, history: Sequence[Message]) -> EarlierPassages:
        section = self.config.conversation
        return EarlierPassages.of(
            history, section.earlier_sources, section.earlier_candidates
        )

    def _answer(self, question: str, earlier: EarlierPassages) -> QueryResult:
        return answer_question(
            self.names,
            question,
            store=self.store,
            config=self.config,
            models=self.models,
            where=self.where,
            cache=self.cache,
            named=self.named,
            earlier=earlier,
        )


def _to_message(outcome: TurnOutcome, message: str) -> Message:
    answer = answer_message(outcome.result, message.strip(), outcome.unclear)
    changes = {"follow_ups": outcome.follow_ups, "courtesy": outcome.courtesy}
    return answer.model_copy(update=changes)


def _show(history: Sequence[Message], answer: Message) -> None:
    """Show a checked answer to the observer of the question."""
    messages = (*history, answer)
    shown = show_message(answer, number_sources(messages))
    report(CheckedAnswer(answer=shown))
    cited = list_last_sources(messages)
    report(
        CitedSources(sources=cited, nearest=shown.nearest, conflicts=shown.conflicts)
    )


def _chat_result(
    history: Conversation, turn: OpenTurn, outcome: TurnOutcome, answer: Message
) -> ChatResult:
    """Return the turn as the conversation shows it."""
    messages = (*history.messages, answer)
    return ChatResult(
        conversation_id=turn.conversation_id,
        message_id=turn.ordinal + 1,
        text=show_text(answer.text, number_sources(messages)),
        searched=answer.searched,
        unclear=outcome.unclear,
        courtesy=outcome.courtesy,
        parts=outcome.parts if len(outcome.parts) > 1 else (),
        sources=list_last_sources(messages),
        follow_ups=outcome.follow_ups,
        result=outcome.result,
    )
