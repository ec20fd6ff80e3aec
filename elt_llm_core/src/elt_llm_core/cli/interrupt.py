"""Ctrl-C: once to end in good order, twice to end at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


ASKED = (
    b"\nelt-llm: stopping after this item; once more stops at once. "
    b"The same command goes on where it stopped.\n"
)


STDERR = 2


DIED = 128  # what a shell adds to the number of a signal


class Stop:
    """Whether the user asked for the end, and how. Call it to know."""

    def __init__(self) -> None:
        self._signal = 0

    def __call__(self) -> bool:
        """Whether to end after the item at hand."""
        return bool(self._signal)

    @property
    def exit_code(self) -> int:
        """130 after Ctrl-C, 143 after SIGTERM; 0 where nobody asked."""
        return DIED + self._signal if self._signal else 0

    def ask(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal: remember the first, end at once at the second."""
        if not self._signal:
            self._signal = number
            # The handler may interrupt a write to stderr, which would not bear another.
            os.write(STDERR, ASKED)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(DIED + number)


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Take SIGINT and SIGTERM for the body. In a thread the signals stay as they are.

    The body asks the `Stop` between items.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.ask) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
