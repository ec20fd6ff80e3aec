"""A bounded number of questions at a time, and none for a client that has left."""

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

# What Retry-After says before any question was timed, and at most.
FIRST_GUESS = 2.0
LONGEST_RETRY = 60
SHARE = 0.2  # of the newest duration in the running mean


@dataclass(eq=False)
class Ticket:
    """A question that was let in."""

    patience: Patience
    future: "Future[object] | None" = None

    def leave(self) -> None:
        """Nobody waits for it any more: what has begun stops, the rest is dropped."""
        self.patience.abandon()
        if self.future is not None:
            self.future.cancel()


@dataclass
class QuestionQueue:
    """Works on `at_once` questions in threads of its own while `waiting` more wait."""

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
        """Let a question in.

        Args:
            work: What answers it; it finds its `Patience` as the current one.
            seconds: How long it may take, waiting included.

        Returns:
            A ticket to leave with, and the outcome.

        Raises:
            BusyError: if too many wait already.
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
        """As `submit`, for an HTTP client that may leave.

        Raises:
            BusyError: if too many wait already.
            AbandonedError: if the client left.
        """
        ticket, future = self.submit(work, seconds)
        outcome = asyncio.wrap_future(future)
        leaving = asyncio.ensure_future(_left(receive))
        try:
            both: list[asyncio.Future[Any]] = [outcome, leaving]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not outcome.done():
                raise AbandonedError
            return outcome.result()
        finally:
            leaving.cancel()
            if not outcome.done():
                ticket.leave()
                outcome.add_done_callback(_look_away)

    def close(self) -> None:
        """Let nobody in any more and stop what is being worked on."""
        with self._lock:
            tickets = list(self._tickets)
        for ticket in tickets:
            ticket.leave()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run(self, ticket: Ticket, work: Callable[[], T]) -> T:
        started = monotonic()
        try:
            with ticket.patience.applied():
                ticket.patience.check_asker()
                return work()
        finally:
            spent = monotonic() - started
            self._mean += SHARE * (spent - self._mean)

    def _forget(self, ticket: Ticket) -> None:
        with self._lock:
            self._tickets.discard(ticket)

    def _retry_after(self) -> int:
        """Seconds after which those who wait now will likely have been answered."""
        guess = self._mean * len(self._tickets) / self.at_once
        return max(1, min(math.ceil(guess), LONGEST_RETRY))


async def _left(receive: Receive) -> None:
    """Returns when the client has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _look_away(outcome: "asyncio.Future[T]") -> None:
    """Nobody is left to be told of a failure."""
    with contextlib.suppress(asyncio.CancelledError):
        outcome.exception()
