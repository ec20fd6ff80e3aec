"""Limits on the size and duration of a model server's answer.

They are part of the HTTP client, below every parser of an answer, so that an endless
line, an endless stream and an endless body are all cut off. A server that timed out is
not waited for repeatedly.
"""

import json
import math
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any

import httpx
from typing_extensions import override

from elt_llm_core.errors import (
    EndlessAnswerError,
    ModelBusyError,
    ModelError,
    SilentServerError,
)
from elt_llm_core.patience import Patience, current

# A token of a stream is one JSON object of 150 to 400 bytes in both protocols.
BYTES_PER_TOKEN = 2_000
LINES_PER_TOKEN = 4  # server-sent events end with an empty line
# A vector of 8,192 numbers of 20 digits, with its brackets.
BYTES_PER_TEXT = 200_000
BYTES_BESIDE = 1_000_000  # lists of models, usage, errors
LINES_BESIDE = 1_000
SECONDS_PER_TOKEN = 1.0  # a slower model is not usable
TOKENS_UNSAID = 4_096
COOL_SECONDS = 30.0  # how long a server is not called after a timeout
BUSY = frozenset({429, 503})
TELLING_SILENCE = 5.0  # seconds; a shorter timeout proves nothing


@dataclass(frozen=True)
class Allowance:
    """The limits of one answer."""

    size: int
    lines: int
    seconds: float


def allowance(request: httpx.Request, silence: float) -> Allowance:
    """Return the limits of the answer to a request, by the request's content.

    Args:
        request: A request to a model server, its body in JSON.
        silence: Maximum seconds without data.

    Returns:
        Bytes and lines by the requested tokens and vectors; seconds for a model that
        writes one token per second after a maximal wait.
    """
    body = _body(request)
    options = body.get("options") or {}
    tokens = options.get("num_predict") or body.get("max_tokens") or TOKENS_UNSAID
    given = body.get("input", ())
    texts = 1 if isinstance(given, str) else len(given)
    return Allowance(
        BYTES_BESIDE + BYTES_PER_TOKEN * tokens + BYTES_PER_TEXT * texts,
        LINES_BESIDE + LINES_PER_TOKEN * tokens,
        silence + SECONDS_PER_TOKEN * tokens,
    )


@dataclass
class Meter:
    """Counts an answer as it arrives."""

    url: str
    most: Allowance
    patience: Patience | None
    started: float = field(default_factory=monotonic)
    size: int = 0
    lines: int = 0

    def add(self, chunk: bytes) -> bytes:
        """Count a chunk and return it.

        Raises:
            EndlessAnswerError: If the answer is longer than requested.
            AbandonedError: If the answer is no longer needed.
            OutOfTimeError: If the question has no time left.
        """
        self.size += len(chunk)
        self.lines += chunk.count(b"\n")
        spent = monotonic() - self.started
        most = self.most
        if self.size > most.size or self.lines > most.lines or spent > most.seconds:
            amount = f"{self.size:,} bytes in {self.lines:,} lines over {spent:.0f} s"
            raise EndlessAnswerError(self.url, amount)
        if self.patience is not None:
            self.patience.seconds_left()
        return chunk


_CLOSED = httpx.ByteStream(b"")


class BoundedStream(httpx.SyncByteStream):
    """A body that is counted while it is read."""

    def __init__(self, inner: httpx.SyncByteStream, meter: Meter) -> None:
        self._inner = inner
        self._meter = meter

    @override
    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            yield self._meter.add(chunk)

    @override
    def close(self) -> None:
        """Close the connection.

        httpx's stream refers to the response that has this one. Without it the response
        is freed at once, and not by the garbage collector.
        """
        inner, self._inner = self._inner, _CLOSED
        inner.close()


class AsyncBoundedStream(httpx.AsyncByteStream):
    """As `BoundedStream`."""

    def __init__(self, inner: httpx.AsyncByteStream, meter: Meter) -> None:
        self._inner = inner
        self._meter = meter

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            yield self._meter.add(chunk)

    @override
    async def aclose(self) -> None:
        """Close the connection, and free the response as `BoundedStream.close` does."""
        inner, self._inner = self._inner, _CLOSED
        await inner.aclose()


class Silences:
    """The circuit breaker: servers that are not called for a while after failures.

    Afterwards one request tries again while the others still fail at once.
    """

    def __init__(self, seconds: float = COOL_SECONDS) -> None:
        self.seconds = seconds
        self._until: dict[str, float] = {}
        self._reasons: dict[str, str] = {}
        self._failures: dict[str, int] = {}
        self._lock = threading.Lock()

    def check(self, server: str) -> None:
        """Raise SilentServerError while the server must not be called."""
        with self._lock:
            until = self._until.get(server)
            if until is None:
                return
            now = monotonic()
            if now < until:
                raise SilentServerError(server, until - now, self._reasons[server])
            self._until[server] = now + self.seconds

    def note(self, server: str) -> None:
        """Stop calling the server for a while, because it timed out."""
        with self._lock:
            self._reasons[server] = "it did not answer in time"
            self._until[server] = monotonic() + self.seconds

    def fail(self, server: str, most: int, seconds: float, reason: str) -> None:
        """Count a failure; after `most` in a row the server is not called for a while.

        Args:
            server: The result of `server_of`.
            most: Number of failures in a row that opens the circuit.
            seconds: How long the server is not called.
            reason: What happened, for the message.
        """
        with self._lock:
            self._failures[server] = self._failures.get(server, 0) + 1
            if self._failures[server] >= most:
                times = self._failures[server]
                self._reasons[server] = f"it failed {times} times in a row: {reason}"
                self._until[server] = monotonic() + seconds

    def succeed(self, server: str) -> None:
        """Reset the failures after a complete answer."""
        with self._lock:
            self._failures.pop(server, None)

    def forget(self, server: str) -> None:
        """Reset the timeout after an answer."""
        with self._lock:
            self._until.pop(server, None)


SILENCES = Silences()


def server_of(url: httpx.URL) -> str:
    """Return the server of an address, without user and path."""
    return f"{url.scheme}://{url.host}:{url.port or ''}".rstrip(":")


def note_timeout(error: httpx.TimeoutException, server: str) -> None:
    """Record a timeout of a server that had its full time."""
    try:
        limits = error.request.extensions.get("timeout") or {}
    except RuntimeError:  # raised before the request existed
        return
    if isinstance(error, httpx.ConnectTimeout) or (
        (limits.get("read") or TELLING_SILENCE) >= TELLING_SILENCE
    ):
        SILENCES.note(server)


def bounds(seconds: float) -> dict[str, Any]:
    """Return options of an `httpx.Client` that limit its answers.

    Args:
        seconds: Maximum seconds without data.

    Returns:
        Headers and hooks for the client.
    """

    def send(request: httpx.Request) -> None:
        _prepare(request, traced=True)

    def receive(response: httpx.Response) -> None:
        assert isinstance(response.stream, httpx.SyncByteStream)  # noqa: S101 - sync
        response.stream = BoundedStream(response.stream, _meter(response, seconds))
        if response.status_code in BUSY:
            response.read()
            raise _busy_error(response)

    return _options(send, receive)


def async_bounds(seconds: float) -> dict[str, Any]:
    """Like `bounds`, for an `httpx.AsyncClient`."""

    async def send(request: httpx.Request) -> None:
        _prepare(request, traced=False)

    async def receive(response: httpx.Response) -> None:
        assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - async
        response.stream = AsyncBoundedStream(response.stream, _meter(response, seconds))
        if response.status_code in BUSY:
            await response.aread()
            raise _busy_error(response)

    return _options(send, receive)


def _options(send: Any, receive: Any) -> dict[str, Any]:
    return {
        # A compressed body could expand a thousandfold after it was counted.
        "headers": {"Accept-Encoding": "identity"},
        "event_hooks": {"request": [send], "response": [receive]},
    }


def _prepare(request: httpx.Request, *, traced: bool) -> None:
    """Set a request's timeout to the question's remaining time, and allow closing."""
    SILENCES.check(server_of(request.url))
    patience = current()
    if patience is None:
        return
    left = patience.seconds_left()
    timeout = dict(request.extensions.get("timeout") or {})
    if left is not None:
        for name, given in timeout.items():
            timeout[name] = left if given is None else min(given, left)
    request.extensions = {**request.extensions, "timeout": timeout}
    if traced:
        request.extensions["trace"] = _watcher(patience)


def _watcher(patience: Patience) -> Any:
    """Return a httpcore callback that registers new connections with the patience."""

    def trace(name: str, info: dict[str, Any]) -> None:
        if name in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            patience.watch(info["return_value"].get_extra_info("socket"))

    return trace


def _meter(response: httpx.Response, seconds: float) -> Meter:
    server = server_of(response.request.url)
    SILENCES.forget(server)
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ModelError(
            f"the model server at {server} sent a compressed answer",
            "ask it to send plain JSON",
        )
    return Meter(server, allowance(response.request, seconds), current())


def _busy_error(response: httpx.Response) -> ModelBusyError:
    # Raised here, because Ollama's official client does not pass headers on.
    message = " ".join(_error_words(response).split())[:200]
    return ModelBusyError(
        server_of(response.request.url),
        retry_after(response.headers.get("retry-after", ""), datetime.now(UTC)),
        f"{response.status_code}: {message}",
    )


def _error_words(response: httpx.Response) -> str:
    """Return the message of an error in Ollama's or OpenAI's format."""
    try:
        error = response.json()["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, TypeError, LookupError, RecursionError):
        return response.text


def retry_after(value: str, now: datetime) -> int:
    """Return the seconds of a Retry-After header; 0 if it is invalid.

    Args:
        value: Seconds, or a date as HTTP writes it.
        now: With its time zone.
    """
    if value.strip().isdecimal():
        return int(value)
    try:
        then = parsedate_to_datetime(value)
    except ValueError:
        return 0
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0, math.ceil((then - now).total_seconds()))


def _body(request: httpx.Request) -> dict[str, Any]:
    try:
        body = json.loads(request.content or b"{}")
    except (ValueError, httpx.RequestNotRead):
        return {}
    return body if isinstance(body, dict) else {}
