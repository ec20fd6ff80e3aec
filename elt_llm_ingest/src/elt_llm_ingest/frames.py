"""Messages between the job and the reading process: a length, then so many bytes."""

import struct
from typing import Protocol

LENGTH = struct.Struct(">Q")
MAX_MESSAGE = 1 << 32


class Source(Protocol):
    """Something to read bytes from."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, empty at the end."""


class Sink(Protocol):
    """Something to write bytes to."""

    def write(self, data: bytes, /) -> object:
        """Take all the bytes."""

    def flush(self) -> None:
        """Pass them on."""


def send(sink: Sink, message: bytes) -> None:
    """Write one message."""
    sink.write(LENGTH.pack(len(message)))
    sink.write(message)
    sink.flush()


def receive(source: Source) -> bytes:
    """Read one message. Raises EOFError where the other side has gone."""
    (size,) = LENGTH.unpack(_exactly(source, LENGTH.size))
    if size > MAX_MESSAGE:
        raise EOFError(f"a message of {size} bytes")
    return _exactly(source, size)


def _exactly(source: Source, size: int) -> bytes:
    parts = []
    while size:
        part = source.read(min(size, 1 << 20))
        if not part:
            raise EOFError("the other side has gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
