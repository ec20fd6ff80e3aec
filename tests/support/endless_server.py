"""Model servers that never end: a stream, a line or a silence, in both protocols."""

import contextlib
import json
import socket
import threading
from enum import StrEnum
from types import TracebackType
from typing import Self


class Way(StrEnum):
    """How an answer does not end."""

    PARTS = "parts"  # whole lines for ever, `num_predict` ignored
    LINE = "line"  # one line without an end
    TRICKLE = "trickle"  # a byte now and then
    SILENCE = "silence"  # the request is read, and nothing is said
    HEADERS = "headers"  # the head of an answer, and then nothing


_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n"
    b"Connection: close\r\n\r\n"
)


class EndlessServer:
    """A context manager; inside it `base_url` takes any request and never ends.

    `sent` counts the bytes of answers, `opened` the requests, and `closed` those whose
    connection the client has closed since.
    """

    def __init__(self, way: Way, *, events: bool = False) -> None:
        self.way = way
        self.events = events
        self.sent = 0
        self.opened = 0
        self.closed = 0
        self.left = threading.Event()
        self.asked = threading.Event()
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def _accept(self) -> None:
        while not self._ending.is_set():
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            try:
                client.recv(1_000_000)
                with self._lock:
                    self.opened += 1
                self.asked.set()
                self._answer(client)
            except OSError:
                pass
            with self._lock:
                self.closed += 1
            self.left.set()

    def _answer(self, client: socket.socket) -> None:
        kind = b"text/event-stream" if self.events else b"application/x-ndjson"
        if self.way is not Way.SILENCE:
            client.sendall(_HEAD % kind)
        if self.way in {Way.SILENCE, Way.HEADERS}:
            self._wait_for_close(client)
            return
        part = self._part()
        if self.way is Way.LINE:
            client.sendall(_chunk(part[: part.index(b"word")]))
            part = b"word " * 2_000
        while not self._ending.is_set():
            if self.way is Way.TRICKLE:
                part = b" "
                self._ending.wait(0.05)
            chunk = _chunk(part)
            client.sendall(chunk)
            self.sent += len(chunk)

    def _wait_for_close(self, client: socket.socket) -> None:
        client.settimeout(0.05)
        while not self._ending.is_set():
            with contextlib.suppress(TimeoutError):
                if not client.recv(1_000_000):
                    return

    def _part(self) -> bytes:
        said = {"role": "assistant", "content": "word "}
        if self.events:
            event = {"choices": [{"index": 0, "delta": said}]}
            return b"data: " + json.dumps(event).encode() + b"\n\n"
        part = {"model": "m", "message": said, "done": False}
        return json.dumps(part).encode() + b"\n"


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"
