"""Events that one thread records and any number of clients read."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

KEPT = 1000  # events; a client that connects later gets the newest of them


@dataclass(frozen=True)
class LoggedEvent:
    """An event: `number` counts from 1 and is the id from which a client resumes."""

    number: int
    name: str
    data: Any


Waiter = tuple[asyncio.AbstractEventLoop, asyncio.Event]


class EventLog:
    """The events of one job or turn, oldest first, until it is closed.

    Methods are safe to call from several threads.
    """

    def __init__(self, most: int = KEPT) -> None:
        # Tuples of numbers and strings, which the garbage collector does not scan.
        self._events: deque[tuple[int, str, Any]] = deque(maxlen=most)
        self._count = 0
        self._closed = False
        self._waiters: set[Waiter] = set()
        self._lock = threading.Lock()

    @property
    def is_closed(self) -> bool:
        """Return whether no further event will be recorded."""
        return self._closed

    def add(self, name: str, data: Any) -> None:
        """Record an event and wake the readers."""
        with self._lock:
            self._count += 1
            self._events.append((self._count, name, data))
        self._wake()

    def close(self) -> None:
        """Let readers end after the last event."""
        with self._lock:
            self._closed = True
        self._wake()

    async def follow(self, after: int = 0) -> AsyncIterator[LoggedEvent]:
        """Yield events as they are recorded, until the log is closed.

        Args:
            after: The number of the last event that the client received.
        """
        woken = asyncio.Event()
        waiter = asyncio.get_running_loop(), woken
        with self._lock:
            self._waiters.add(waiter)
        try:
            while True:
                woken.clear()
                with self._lock:
                    known = max(0, after - self._count + len(self._events))
                    fresh = list(islice(self._events, known, None))
                    closed = self._closed
                for one in fresh:
                    yield LoggedEvent(*one)
                    after = one[0]
                if closed:
                    return
                await woken.wait()
        finally:
            with self._lock:
                self._waiters.discard(waiter)

    def _wake(self) -> None:
        with self._lock:
            waiters = list(self._waiters)
        for loop, woken in waiters:
            with suppress(RuntimeError):  # the loop has ended with its server
                loop.call_soon_threadsafe(woken.set)
