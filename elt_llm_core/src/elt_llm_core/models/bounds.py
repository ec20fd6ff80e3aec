"""Bounds on what a model server may send, for how long, and for whom.

They sit on the HTTP client itself, below every reader of an answer: one endless line,
an endless stream and a body that never ends are cut off alike. A server that keeps
silent is not waited for again and again.
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
LINES_PER_TOKEN = 4  # server-sent events put a blank line behind each
# A vector of 8,192 numbers of 20 digits, with its brackets.
BYTES_PER_TEXT = 200_000
BYTES_BESIDE = 1_000_000  # lists of models, usage, errors
LINES_BESIDE = 1_000
SECONDS_PER_TOKEN = 1.0  # a model that is slower is of no use to anybody
TOKENS_UNSAID = 4_096
COOL_SECONDS = 30.0  # how long a silent server is left alone
BUSY = frozenset({429, 503})
TELLING_SILENCE = 5.0  # seconds; what was cut shorter proves nothing


@dataclass(frozen=True)
class Allowance:
    """The most that one answer may be."""

    size: int
    lines: int
    seconds: float


def allowance(request: httpx.Request, silence: float) -> Allowance:
    """What the answer to a request may be at most, by what the request asks for.

    Args:
        request: A request to a model server, its body in JSON.
        silence: Seconds that the server may be silent.

    Returns:
        Bytes and lines by the tokens and vectors asked for; seconds for a model that
        writes one token a second after a whole silence.
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
    """Counts an answer as it comes."""

    url: str
    most: Allowance
    patience: Patience | None
    started: float = field(default_factory=monotonic)
    size: int = 0
    lines: int = 0

    def add(self, chunk: bytes) -> bytes:
        """Count a chunk and return it.

        Raises:
            EndlessAnswerError: if the answer is longer than was asked for.
            AbandonedError: if nobody waits for it any more.
            OutOfTimeError: if the question has no time left.
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
        """Close the connection."""
        self._inner.close()


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
        """Close the connection."""
        await self._inner.aclose()


class Silences:
    """The circuit breaker: servers that kept silent or failed, left alone for a while.

    After it one request tries again while the others still fail at once.
    """

    def __init__(self, seconds: float = COOL_SECONDS) -> None:
        self.seconds = seconds
        self._until: dict[str, float] = {}
        self._reasons: dict[str, str] = {}
        self._failures: dict[str, int] = {}
        self._lock = threading.Lock()

    def check(self, server: str) -> None:
        """Raise SilentServerError while the server is left alone."""
        with self._lock:
            until = self._until.get(server)
            if until is None:
                return
            now = monotonic()
            if now < until:
                raise SilentServerError(server, until - now, self._reasons[server])
            self._until[server] = now + self.seconds

    def note(self, server: str) -> None:
        """Leave the server alone from now on, because it kept silent."""
        with self._lock:
            self._reasons[server] = "it did not answer in time"
            self._until[server] = monotonic() + self.seconds

    def fail(self, server: str, most: int, seconds: float, reason: str) -> None:
        """Count a failure; from `most` in a row on the server is left alone.

        Args:
            server: As `server_of` gives it.
            most: Failures in a row that are let pass, and one more.
            seconds: How long it is left alone.
            reason: What happened, for the message.
        """
        with self._lock:
            self._failures[server] = self._failures.get(server, 0) + 1
            if self._failures[server] >= most:
                times = self._failures[server]
                self._reasons[server] = f"it failed {times} times in a row: {reason}"
                self._until[server] = monotonic() + seconds

    def succeed(self, server: str) -> None:
        """A whole answer came: failures are counted from zero again."""
        with self._lock:
            self._failures.pop(server, None)

    def forget(self, server: str) -> None:
        """It answered."""
        with self._lock:
            self._until.pop(server, None)


SILENCES = Silences()


def server_of(url: httpx.URL) -> str:
    """The server of an address, without user and path."""
    return f"{url.scheme}://{url.host}:{url.port or ''}".rstrip(":")


def note_timeout(error: httpx.TimeoutException, server: str) -> None:
    """Remember that a server kept silent for as long as it was given."""
    try:
        limits = error.request.extensions.get("timeout") or {}
    except RuntimeError:  # raised before there was a request
        return
    if isinstance(error, httpx.ConnectTimeout) or (
        (limits.get("read") or TELLING_SILENCE) >= TELLING_SILENCE
    ):
        SILENCES.note(server)


def bounds(seconds: float) -> dict[str, Any]:
    """Options of an `httpx.Client` that bound its answers.

    Args:
        seconds: Seconds that a server may be silent.

    Returns:
        Headers and hooks, to be passed on.
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
    """As `bounds`, for an `httpx.AsyncClient`."""

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
        # A compressed body could grow a thousandfold after it was counted.
        "headers": {"Accept-Encoding": "identity"},
        "event_hooks": {"request": [send], "response": [receive]},
    }


def _prepare(request: httpx.Request, *, traced: bool) -> None:
    """Give a request the time its question has left, and its connection an end."""
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
    """A callback of httpcore that tells the patience of a new connection."""

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
    # Raised here, as the official client of Ollama hands no headers on.
    message = " ".join(_error_words(response).split())[:200]
    return ModelBusyError(
        server_of(response.request.url),
        retry_after(response.headers.get("retry-after", ""), datetime.now(UTC)),
        f"{response.status_code}: {message}",
    )


def _error_words(response: httpx.Response) -> str:
    """The words of an error, of which Ollama and OpenAI's protocol each have a form."""
    try:
        error = response.json()["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, TypeError, LookupError, RecursionError):
        return response.text


def retry_after(value: str, now: datetime) -> int:
    """Seconds that a Retry-After header asks to wait; 0 where it is none.

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
