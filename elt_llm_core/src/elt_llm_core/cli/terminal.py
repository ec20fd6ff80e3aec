"""Names and words from outside, as a terminal may be given them."""

import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# What moves the cursor, colours the screen or turns the order of the letters around.
ORDERS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
SEPARATORS = "\u2028\u2029"
_TEXT = re.compile(f"[{ORDERS}{SEPARATORS}\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE = re.compile(f"[{ORDERS}{SEPARATORS}\ud800-\udfff\t\n]")


class Styled(str):
    """Text with colours of ours, what is from outside in it made harmless before."""

    __slots__ = ()


def harmless(text: str) -> str:
    """The text with such characters as escapes of Python; lines stay lines."""
    if isinstance(text, Styled):
        return text
    return _TEXT.sub(_escaped, text)


def in_line(text: str) -> str:
    """The same for a name or a sentence in a line: its line ends are escaped too."""
    return _LINE.sub(_escaped, text)


def json_text(value: Any, indent: int | None = 2) -> str:
    """Return `value` as JSON that can be written as UTF-8.

    A file name that is not UTF-8 has lone surrogates in Python; they are escaped, so
    that a program that reads the JSON gets the same name back.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _SURROGATE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")


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
