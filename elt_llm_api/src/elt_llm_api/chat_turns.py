"""Running turns of conversations, with the events of each.

A turn continues for some seconds after its last reader disconnected, so that a browser
can reconnect and read on. Then it is stopped, including its call to the model.
"""

import asyncio
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from elt_llm_api.event_log import EventLog
from elt_llm_api.problems import describe
from elt_llm_api.server.question_queue import QuestionQueue, Ticket
from elt_llm_core.errors import AbandonedError, NothingThereError
from elt_llm_query.conversation.turn import ChatResult
from elt_llm_query.conversation.turn_events import TurnStart
from elt_llm_query.step_events import TurnEvent, Watch

# Ended turns that are kept for readers that reconnect: more than the default number of
# running and waiting questions, each a few hundred kilobytes at most.
KEPT = 64
# One token per event; longer answers are cut by `num_predict` of most configurations.
MOST_EVENTS = 20_000
Work = Callable[[Watch | None], ChatResult]


@dataclass(eq=False)
class ChatTurn:
    """One turn: its events, and the ticket that stops it."""

    owner: str
    turn_id: str = field(default_factory=lambda: secrets.token_hex(16))
    events: EventLog = field(default_factory=lambda: EventLog(MOST_EVENTS))
    ticket: Ticket | None = None
    readers: int = 0
    failure: Exception | None = None

    def watch(self, event: TurnEvent) -> None:
        """Record an event of the turn in the form in which it is sent."""
        data = event.model_dump(mode="json")
        if isinstance(event, TurnStart):
            data["turn_id"] = self.turn_id
        self.events.add(event.name, json.dumps(data, ensure_ascii=False))

    def stop(self) -> None:
        """Stop the turn; nothing of it is stored."""
        if self.ticket is not None:
            self.ticket.leave()

    def finish(self, answer: "Future[ChatResult]") -> None:
        """Record the outcome of the turn."""
        try:
            self.events.add("complete", answer.result().model_dump_json())
        except CancelledError:
            self._fail(AbandonedError())
        except Exception as error:  # noqa: BLE001 - it is told to the reader
            self._fail(error)
        self.events.close()

    def _fail(self, error: Exception) -> None:
        self.failure = error
        self.events.add("error", json.dumps(describe(error), ensure_ascii=False))

    @contextmanager
    def reading(self, patience: float = 0.0) -> Iterator[None]:
        """Count a reader; after the last one has left, the turn is stopped.

        Args:
            patience: Seconds for which the turn continues after its last reader left.
        """
        loop = asyncio.get_running_loop()
        self.readers += 1
        try:
            yield
        finally:
            self.readers -= 1
            loop.call_later(patience, self._stop_if_unread)

    def _stop_if_unread(self) -> None:
        if not self.readers:
            self.stop()


class ChatTurns:
    """The turns of a server by id: running ones, and some that ended."""

    def __init__(self, queue: QuestionQueue) -> None:
        self._queue = queue
        self._turns: OrderedDict[str, ChatTurn] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, owner: str, work: Work, seconds: float) -> ChatTurn:
        """Queue a turn.

        Args:
            owner: The user who may read and stop it.
            work: Answers it, and reports its steps to a function.
            seconds: The time limit, including waiting.

        Raises:
            BusyError: If the queue is full.
        """
        turn = ChatTurn(owner)
        turn.ticket, answer = self._queue.submit(lambda: work(turn.watch), seconds)
        answer.add_done_callback(turn.finish)
        with self._lock:
            self._turns[turn.turn_id] = turn
            ended = [key for key, one in self._turns.items() if one.events.is_closed]
            for key in ended[:-KEPT]:
                del self._turns[key]
        return turn

    def find(self, turn_id: str, owner: str) -> ChatTurn:
        """Return a turn.

        Raises:
            NothingThereError: If it does not exist, belongs to another user, or ended
                long ago.
        """
        turn = self._turns.get(turn_id)
        if turn is None or turn.owner != owner:
            raise NothingThereError(
                "no such turn since the server started, or it ended long ago",
                "read the conversation: an answer that was completed is in it",
            )
        return turn
