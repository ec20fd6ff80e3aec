"""How many calls a model server works on at a time, and how many more may wait."""

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

LOOK_SECONDS = 0.05  # how often a waiting call looks whether its asker is still there
FIRST_GUESS = 2.0  # seconds a call takes, until one has been timed
LONGEST_RETRY = 60  # seconds
SHARE = 0.2  # weight of the newest duration in the running mean: about five calls


@dataclass(frozen=True)
class Room:
    """How many calls run at a time, and how many more may wait for it."""

    at_once: int
    waiting: int


@dataclass(eq=False)
class Turn:
    """One call in the queue or on its way."""

    started: float = 0.0


@dataclass
class Slots:
    """The calls to one server: first come, first served."""

    server: str
    _queue: deque[Turn] = field(default_factory=deque)
    _running: set[Turn] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _mean: float = FIRST_GUESS

    @contextmanager
    def turn(self, room: Room) -> Iterator[None]:
        """Wait for a place and hold it.

        Raises:
            ModelBusyError: if as many calls wait as may.
            AbandonedError: if nobody waits for the answer any more.
            OutOfTimeError: if the question has no time left.
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
        """As `turn`; it keeps no thread while it waits."""
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
        """Seconds until the calls in the queue are likely to be answered."""
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
    """Return the slots of a server: the same for every model of this process."""
    with _LOCK:
        return _SLOTS.setdefault(server, Slots(server))
