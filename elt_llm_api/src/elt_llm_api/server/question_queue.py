"""A bounded queue of questions; a client's disconnect stops its question."""

import asyncio
import contextlib
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from starlette.types import Receive

from elt_llm_core.errors import AbandonedError, BusyError
from elt_llm_core.patience import Patience

T = TypeVar("T")

FIRST_GUESS = 2.0  # assumed seconds per question, until one has been timed
LONGEST_RETRY = 60  # seconds
SHARE = 0.2  # weight of the newest duration in the running mean: about five questions


@dataclass(eq=False)
class Ticket:
    """A question in the queue or being answered."""

    patience: Patience
    future: "Future[object] | None" = None

    def leave(self) -> None:
        """Stop the question, because its client no longer waits."""
        self.patience.abandon()
        if self.future is not None:
            self.future.cancel()


@dataclass
class QuestionQueue:
    """Answers `at_once` questions in its threads while up to `waiting` more wait."""

    at_once: int
    waiting: int
    _tickets: set[Ticket] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _mean: float = FIRST_GUESS

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(self.at_once, thread_name_prefix="question")

    def submit(
        self, work: Callable[[], T], seconds: float
    ) -> "tuple[Ticket, Future[T]]":
        """Queue a question.

        Args:
            work: Answers it; `patience.current()` is the ticket's.
            seconds: The time limit, including waiting.

        Returns:
            A ticket, which can stop it, and its future result.

        Raises:
            BusyError: If the queue is full.
        """
        ticket = Ticket(Patience(seconds))
        with self._lock:
            if len(self._tickets) >= self.at_once + self.waiting:
                raise BusyError(self._retry_after())
            self._tickets.add(ticket)
        future = self._threads.submit(self._run, ticket, work)
        ticket.future = future  # type: ignore[assignment]
        future.add_done_callback(lambda _: self._forget(ticket))
        return ticket, future

    async def answer(
        self, work: Callable[[], T], seconds: float, receive: Receive
    ) -> T:
        """Queue a question and wait for its result, or until the client disconnects.

        Args:
            work: Answers the question.
            seconds: The time limit, including waiting.
            receive: The ASGI channel of the client.

        Raises:
            BusyError: If the queue is full.
            AbandonedError: If the client disconnected.
        """
        answer = asyncio.ensure_future(self.run(work, seconds))
        leaving = asyncio.ensure_future(wait_for_disconnect(receive))
        try:
            both: list[asyncio.Future[Any]] = [answer, leaving]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise AbandonedError
            return answer.result()
        finally:
            leaving.cancel()
            answer.cancel()

    async def run(self, work: Callable[[], T], seconds: float) -> T:
        """Queue a question and wait for its result; cancelling the task stops it.

        Args:
            work: Answers the question.
            seconds: The time limit, including waiting.

        Raises:
            BusyError: If the queue is full.
        """
        ticket, future = self.submit(work, seconds)
        outcome = asyncio.wrap_future(future)
        try:
            return await asyncio.shield(outcome)
        finally:
            if not outcome.done():
                ticket.leave()
                outcome.add_done_callback(_ignore_failure)

    def close(self) -> None:
        """Refuse further questions and stop the running ones."""
        with self._lock:
            tickets = list(self._tickets)
        for ticket in tickets:
            ticket.leave()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run(self, ticket: Ticket, work: Callable[[], T]) -> T:
        started = monotonic()
        try:
            with ticket.patience.apply():
                ticket.patience.check_asker()
                return work()
        finally:
            spent = monotonic() - started
            self._mean += SHARE * (spent - self._mean)

    def _forget(self, ticket: Ticket) -> None:
        # The future keeps its callbacks and its result; a ticket that kept the future
        # would make a cycle, and the collector stops all threads to free those.
        ticket.future = None
        with self._lock:
            self._tickets.discard(ticket)

    def _retry_after(self) -> int:
        """Return the seconds until the queued questions are likely to be answered."""
        guess = self._mean * len(self._tickets) / self.at_once
        return max(1, min(math.ceil(guess), LONGEST_RETRY))


async def wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _ignore_failure(outcome: "asyncio.Future[T]") -> None:
    """Retrieve the exception, so that asyncio does not log it; no client waits."""
    with contextlib.suppress(asyncio.CancelledError):
        outcome.exception()
