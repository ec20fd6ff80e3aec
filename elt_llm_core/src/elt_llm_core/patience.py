"""The time limit of a question over all stages, and its cancellation.

The caller creates a `Patience` and applies it; all code that calls a model server finds
it with `current()`. Abandoning it closes the question's connections, so that a model
server stops generating.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from elt_llm_core.errors import AbandonedError, OutOfTimeError

SHORTEST = 0.01  # seconds; a limit of zero would mean "do not wait" to a socket
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # linger, for zero seconds

_CURRENT: ContextVar["Patience | None"] = ContextVar("patience", default=None)


class Patience:
    """The time limit of one question, and whether its client still waits."""

    def __init__(
        self, seconds: float | None = None, within: "Patience | None" = None
    ) -> None:
        """Start the time limit.

        Args:
            seconds: The limit in seconds; None for no limit.
            within: The patience of the surrounding job; if it is abandoned, so is this
                one.
        """
        self.seconds = seconds
        self._within = within
        self._ends = None if seconds is None else monotonic() + seconds
        self._abandoned = False
        self._sockets: list[socket.socket] = []
        self._forks: list[Patience] = []
        self._lock = threading.Lock()

    def fork(self) -> "Patience":
        """Return the patience of a branch, abandoned alone or with this one.

        Raises:
            AbandonedError: If the answer is no longer needed.
            OutOfTimeError: If the time is over.
        """
        branch = Patience(self.seconds_left())
        with self._lock:
            self._forks.append(branch)
            is_late = self._abandoned
        if is_late:
            branch.abandon()
        return branch

    @property
    def is_abandoned(self) -> bool:
        """Return True once the answer is no longer needed."""
        outer = self._within
        return self._abandoned or (outer is not None and outer.is_abandoned)

    def seconds_left(self) -> float | None:
        """Return the remaining time.

        Returns:
            Seconds, or None without a limit.

        Raises:
            AbandonedError: If the answer is no longer needed.
            OutOfTimeError: If the time is over.
        """
        self.check_asker()
        if self._ends is None or self.seconds is None:
            return None
        left = self._ends - monotonic()
        if left <= 0:
            raise OutOfTimeError(self.seconds)
        return max(left, SHORTEST)

    def check_asker(self) -> None:
        """Raise AbandonedError if the answer is no longer needed."""
        if self.is_abandoned:
            raise AbandonedError

    def abandon(self) -> None:
        """Stop the work: connections are closed, and the next step raises."""
        with self._lock:
            self._abandoned = True
            for one in self._sockets:
                _shut(one)
            self._sockets.clear()
            forks = list(self._forks)
        for branch in forks:
            branch.abandon()

    def watch(self, one: socket.socket) -> None:
        """Close this connection when the question is abandoned."""
        if self._within is not None:
            self._within.watch(one)
        with self._lock:
            self._sockets = [s for s in self._sockets if s.fileno() >= 0]
            if self._abandoned:
                _shut(one)
            else:
                self._sockets.append(one)

    @contextmanager
    def apply(self) -> Iterator["Patience"]:
        """Make this one `current()` in this block and in its threads."""
        before = _CURRENT.set(self)
        try:
            yield self
        finally:
            _CURRENT.reset(before)


def current() -> Patience | None:
    """Return the patience of the current question, if it has one."""
    return _CURRENT.get()


def check_asker() -> None:
    """Raise AbandonedError if nobody waits for the current question any more."""
    patience = current()
    if patience is not None:
        patience.check_asker()


@contextmanager
def at_most(seconds: float) -> Iterator[Patience]:
    """Return the current patience, or a new one of `seconds` if it has no limit."""
    patience = current()
    if patience is not None and patience.seconds is not None:
        yield patience
        return
    with Patience(seconds, patience).apply() as made:
        yield made


def _shut(one: socket.socket) -> None:
    # The reader wakes up at once; closing is left to its owner. Without a reset, a
    # server that waits for space in a full window would wait until the kernel gives up
    # the half-closed connection, a minute later.
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        one.shutdown(socket.SHUT_RDWR)
