"""Messages between two processes as bytes: a length, then so many bytes.

Apart from what is in them, so that a process that draws a page starts in a seventh of a
second instead of one.
"""

import struct
from typing import Protocol

LENGTH = struct.Struct(">Q")
MAX_MESSAGE = 1 << 32


class ByteSource(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; empty at the end."""


class Sink(Protocol):
    """A target of bytes."""

    def write(self, data: bytes, /) -> object:
        """Write all the bytes."""

    def flush(self) -> None:
        """Flush the written bytes."""


def send(sink: Sink, message: bytes) -> None:
    """Write one message."""
    sink.write(LENGTH.pack(len(message)))
    sink.write(message)
    sink.flush()


def receive(source: ByteSource) -> bytes:
    """Read one message. Raises EOFError if the other side has ended."""
    (size,) = LENGTH.unpack(_exactly(source, LENGTH.size))
    if size > MAX_MESSAGE:
        raise EOFError(f"a message of {size} bytes")
    return _exactly(source, size)


def _exactly(source: ByteSource, size: int) -> bytes:
    parts = []
    while size:
        part = source.read(min(size, 1 << 20))
        if not part:
            raise EOFError("the other process has ended")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
