"""Limits of concurrent and waiting calls per model server."""

import asyncio
import math
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from time import monotonic

from elt_llm_core.errors import ModelBusyError
from elt_llm_core.patience import current

LOOK_SECONDS = 0.05  # seconds between checks of a waiting call for its client
FIRST_GUESS = 2.0  # assumed seconds per call, until one has been timed
LONGEST_RETRY = 60  # seconds
SHARE = 0.2  # weight of the newest duration in the running mean: about five calls


@dataclass(frozen=True)
class Room:
    """The limits of concurrent and waiting calls."""

    at_once: int
    waiting: int


@dataclass(eq=False)
class Turn:
    """One waiting or running call."""

    started: float = 0.0


@dataclass
class Slots:
    """The calls to one server, in order of arrival."""

    server: str
    _queue: deque[Turn] = field(default_factory=deque)
    _running: set[Turn] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _mean: float = FIRST_GUESS

    @contextmanager
    def turn(self, room: Room) -> Iterator[None]:
        """Wait for a slot and hold it.

        Raises:
            ModelBusyError: If the queue is full.
            AbandonedError: If the answer is no longer needed.
            OutOfTimeError: If the question has no time left.
        """
        turn = self._join(room)
        try:
            while not self._take(turn, room):
                _check_patience()
                with self._changed:
                    self._changed.wait(LOOK_SECONDS)
            yield
        finally:
            self._leave(turn)

    @asynccontextmanager
    async def aturn(self, room: Room) -> AsyncIterator[None]:
        """Like `turn`, without blocking a thread while it waits."""
        turn = self._join(room)
        try:
            while not self._take(turn, room):
                _check_patience()
                await asyncio.sleep(LOOK_SECONDS)
            yield
        finally:
            self._leave(turn)

    def _join(self, room: Room) -> Turn:
        with self._changed:
            free = room.at_once - len(self._running)
            if len(self._queue) >= room.waiting + max(free, 0):
                raise ModelBusyError(self.server, self._retry_after(room), "our queue")
            turn = Turn()
            self._queue.append(turn)
            return turn

    def _take(self, turn: Turn, room: Room) -> bool:
        with self._changed:
            if self._queue[0] is not turn or len(self._running) >= room.at_once:
                return False
            self._queue.popleft()
            self._running.add(turn)
            turn.started = monotonic()
            return True

    def _leave(self, turn: Turn) -> None:
        with self._changed:
            if turn in self._running:
                self._running.remove(turn)
                self._mean += SHARE * (monotonic() - turn.started - self._mean)
            else:
                self._queue.remove(turn)
            self._changed.notify_all()

    def _retry_after(self, room: Room) -> int:
        """Return the seconds until the queued calls are likely to be finished."""
        ahead = len(self._queue) + len(self._running)
        guess = math.ceil(self._mean * ahead / room.at_once)
        return max(1, min(guess, LONGEST_RETRY))


def _check_patience() -> None:
    patience = current()
    if patience is not None:
        patience.seconds_left()


_SLOTS: dict[str, Slots] = {}
_LOCK = threading.Lock()


def slots_of(server: str) -> Slots:
    """Return the slots of a server, shared by all models of this process."""
    with _LOCK:
        return _SLOTS.setdefault(server, Slots(server))
