"""HTTP to a model server: time limits, and the meaning of failures."""

import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from elt_llm_core.errors import (
    BrokenAnswerError,
    ModelError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    RunnerDiedError,
)
from elt_llm_core.models.bounds import note_timeout, server_of
from elt_llm_core.patience import current

# A running server accepts at once; chosen, not measured.
CONNECT_SECONDS = 3.0
PROBE_SECONDS = 5.0

# Errors of parsing an unexpected body, such as a list instead of an object. JSON and
# Pydantic errors are both ValueErrors; deep nesting ends in RecursionError.
SHAPE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
# Errors of httpx and of the official client. The client raises the builtin
# ConnectionError, and parses bodies without checking them.
WIRE_ERRORS = (httpx.HTTPError, ConnectionError, *SHAPE_ERRORS)

_NOT_FOUND = 404
_REFUSED = frozenset({401, 403})
# Ollama's message: "llama runner process has terminated: signal: killed".
_RUNNER = re.compile(
    r"runner process (?:has terminated|no longer running)|unexpectedly stopped",
    re.IGNORECASE,
)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(url: str) -> bool:
    """Return whether the server is on this machine."""
    return urlsplit(url).hostname in _LOOPBACK


def hide_credentials(url: str) -> str:
    """Return the address without user and password, for messages."""
    parts = urlsplit(url)
    host = parts.netloc.rsplit("@", 1)[-1]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def client_options(url: str, seconds: float) -> dict[str, Any]:
    """Return options of an httpx client.

    `seconds` limits each wait for data (first token, next token, whole answer if it
    does not stream). `bounds` limits the whole answer.
    """
    return {
        "timeout": httpx.Timeout(seconds, connect=CONNECT_SECONDS),
        # Connections are not kept open, so that one client works in any event loop and
        # leaves no socket behind; a new local connection takes 0.1 ms.
        "limits": httpx.Limits(max_keepalive_connections=0),
        # A redirect would send the prompt to an address that is not configured.
        "follow_redirects": False,
        # A proxy for the web must not see requests to a local server.
        "trust_env": not is_loopback(url),
    }


def wire_error(error: Exception, url: str, model: str, seconds: float) -> ModelError:
    """Return the error for a failed exchange: no server, timeout, or broken answer.

    Raises:
        AbandonedError: If it failed because the answer is no longer needed.
        OutOfTimeError: If it failed because the question has no time left.
    """
    if isinstance(error, httpx.TimeoutException):
        note_timeout(error, server_of(httpx.URL(url)))
    patience = current()
    if patience is not None:
        patience.seconds_left()
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | ConnectionError):
        reason = (
            str(error) if isinstance(error, httpx.ConnectError) else "no connection"
        )
        return ModelUnavailableError(hide_credentials(url), reason or "no connection")
    if isinstance(error, httpx.TimeoutException):
        return ModelTimeoutError(model, seconds)
    if isinstance(error, httpx.HTTPError):
        return BrokenAnswerError(
            f"the connection to {model!r} at {hide_credentials(url)} broke: {error}",
            "try again; the server's log says why",
        )
    return unreadable(f"{model!r} at {hide_credentials(url)}", error)


def unreadable(who: str, error: Exception) -> ModelError:
    """Return the error for an unexpected body."""
    return ModelError(
        f"the response of {who} cannot be read ({type(error).__name__})",
        "check that a model server listens at the address",
    )


def status_error(
    status: int, text: str, model: str, known: tuple[str, ...] = ()
) -> ModelError:
    """Return the error for an HTTP error status."""
    message = " ".join(text.split())[:200]
    if status == _NOT_FOUND:
        return ModelMissingError(model, known)
    if _RUNNER.search(message):
        return RunnerDiedError(model, message)
    if status in _REFUSED:
        return ModelError(
            f"the model server refused the request ({status}: {message})",
            "set the correct api_key",
        )
    return ModelError(
        f"{model!r} failed ({status}: {message})",
        "see the server's log; a smaller model or context_window may help",
    )


def says_too_long(status: int, text: str) -> bool:
    """Return whether a refusal is about the length of the input."""
    lowered = text.lower()
    return (
        status in {400, 413}
        and "context" in lowered
        and any(word in lowered for word in ("exceed", "length", "longer"))
    )


def ended_early(model: str) -> ModelError:
    """Return the error for a stream that ended without its last part."""
    return BrokenAnswerError(
        f"the answer of {model!r} is incomplete: the stream ended early",
        "try again; the server's log says why",
    )
