"""Ctrl-C: once for an orderly end, twice to end at once."""

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


DIED = 128  # offset of a shell's exit code for a signal


class Stop:
    """Whether and how the user asked to stop. Call it to check."""

    def __init__(self) -> None:
        self._signal = 0

    def __call__(self) -> bool:
        """Return whether to end after the current item."""
        return bool(self._signal)

    @property
    def exit_code(self) -> int:
        """Return 130 after Ctrl-C, 143 after SIGTERM, otherwise 0."""
        return DIED + self._signal if self._signal else 0

    def ask(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal: record the first, exit at once at the second."""
        if not self._signal:
            self._signal = number
            # The handler may interrupt a write to stderr, which does not allow a nested
            # one.
            os.write(STDERR, ASKED)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(DIED + number)


@contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """Handle SIGINT and SIGTERM in this block, except in threads.

    The block checks the `Stop` between items.
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
