"""Middleware that checks Host, Origin, token and size, and adds security headers.

Each is a plain ASGI wrapper around the whole application, because the middleware of
FastAPI does not cover the mounted Gradio page.
"""

import base64
import binascii
import hmac
import json
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from time import monotonic
from typing import Any

from pydantic import SecretStr
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from elt_llm_api.problems import problem
from elt_llm_api.server.exposure import SHORTEST_TOKEN
from elt_llm_core.errors import (
    ForeignHostError,
    ForeignSiteError,
    RequestError,
    TokenNeededError,
    TooLargeError,
    TooManyGuessesError,
)

JSON_LIMIT = 1_000_000  # bytes; a question has at most 8,000 characters
FORM_OVERHEAD = 64_000  # boundaries and part headers around the files of a form
SAFE_METHODS = frozenset({"GET", "HEAD"})
REQUEST_TYPES = frozenset({"http", "websocket"})
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?", re.IGNORECASE)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//|\\\\", re.IGNORECASE)
# Ten attempts are enough for a person who mistypes, and too few to guess a token.
MOST_GUESSES = 10
GUESS_SECONDS = 60
MOST_ADDRESSES = 10_000  # that are remembered
OPEN_PATHS = frozenset({"/livez", "/readyz", "/healthz"})
# Gradio compiles its HTML templates in the browser, hence 'unsafe-eval'; it also writes
# inline scripts and styles. Nothing may come from, or go to, another origin.
CSP = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    """Adds the security headers and removes permissions for other origins."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and complete the headers of the reply."""

        async def finish(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name in [k for k in headers if k.startswith("access-control-")]:
                    del headers[name]
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, finish)


class HostCheck:
    """Refuses unknown hosts, because another site's name may resolve to this machine.

    This is DNS rebinding.
    """

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        self.app = app
        self.allowed = [pattern.lower() for pattern in allowed]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 400."""
        if scope["type"] in REQUEST_TYPES:
            host = Headers(scope=scope).get("host", "")
            if not self._is_ours(host):
                await _refusal(ForeignHostError(host), scope)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        match = HOST.fullmatch(host)
        name = match[1].lower() if match else ""
        return "*" in self.allowed or any(
            name == pattern or (pattern.startswith("*.") and name.endswith(pattern[1:]))
            for pattern in self.allowed
        )


class OriginCheck:
    """Refuses requests from another site's page; links to this server may be followed.

    Programs send neither Origin nor Sec-Fetch-Site, and are let through.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 403."""
        if scope["type"] in REQUEST_TYPES and _is_foreign(scope):
            await _refusal(ForeignSiteError(), scope)(scope, receive, send)
            return
        await self.app(scope, receive, send)


class TokenCheck:
    """Requires a token, as a bearer token or as the password of Basic authentication.

    Its owner is stored as `user` in the request's state. An address that sent too many
    wrong tokens gets 429 for a while, except with a long token that it used before:
    behind a proxy all users have one address.
    """

    def __init__(self, app: ASGIApp, tokens: Mapping[str, SecretStr]) -> None:
        self.app = app
        self.tokens = {
            user: token.get_secret_value().encode() for user, token in tokens.items()
        }
        self.guesses = Guesses()
        self.known: set[tuple[str, str]] = set()  # addresses and their users

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 401 or 429."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            refusal = self._refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        client = Request(scope).client
        address = client.host if client else ""
        offered = _read_token(Headers(scope=scope).get("authorization", ""))
        # All are compared, so that the time does not reveal whose token it is.
        users = [u for u, t in self.tokens.items() if hmac.compare_digest(offered, t)]
        seconds = self.guesses.wait(address)
        # A short token stays locked: unlimited guesses could find it.
        is_known = len(offered) >= SHORTEST_TOKEN and any(
            (address, user) in self.known for user in users
        )
        if seconds and not is_known:
            reply = _refusal(TooManyGuessesError(seconds), scope)
            reply.headers["retry-after"] = str(seconds)
            return reply
        if users:
            self.known.add((address, users[0]))
            scope.setdefault("state", {})["user"] = users[0]
            return None
        if offered:  # a browser first sends a request without one
            self.guesses.note(address)
        reply = _refusal(TokenNeededError(), scope)
        reply.headers["www-authenticate"] = 'Basic realm="elt_llm", charset="UTF-8"'
        return reply


class Guesses:
    """Counts the wrong tokens of each address within the last minute."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    def note(self, address: str) -> None:
        """Count a wrong token of an address."""
        times = self._wrong.setdefault(address, deque(maxlen=MOST_GUESSES))
        times.append(self._clock())
        self._wrong.move_to_end(address)
        if len(self._wrong) > MOST_ADDRESSES:
            self._wrong.popitem(last=False)

    def wait(self, address: str) -> int:
        """Return the seconds for which the address is refused, or 0."""
        times = self._wrong.get(address)
        if times is None or len(times) < MOST_GUESSES:
            return 0
        return max(0, ceil(times[0] + GUESS_SECONDS - self._clock()))


class RemoteFiles:
    """Refuses a URL in place of a file of the page, because Gradio would fetch it."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = f"{path}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on with the body as it came, or answer 422."""
        ours = scope["type"] == "http" and scope["path"].startswith(self.path)
        kind = Headers(scope=scope).get("content-type", "") if ours else ""
        if (
            not ours
            or scope["method"] in SAFE_METHODS
            or kind.startswith("multipart/form-data")
        ):
            await self.app(scope, receive, send)
            return
        body = await Request(scope, receive).body()  # at most 1 MB: see BodyLimit
        if _names_remote_file(_parse_json(body)):
            error = RequestError(
                "a file cannot be given by URL", "send the file itself"
            )
            await _refusal(error, scope)(scope, receive, send)
            return
        await self.app(scope, _replay(body, receive), send)


class BodyLimit:
    """Refuses forms over `upload_mb` and other bodies over 1 MB, announced or not."""

    def __init__(self, app: ASGIApp, upload_mb: int) -> None:
        self.app = app
        self.form_limit = upload_mb * 1_000_000 + FORM_OVERHEAD
        self.form = RequestBodyLimitMiddleware(app, self.form_limit)
        self.other = RequestBodyLimitMiddleware(app, JSON_LIMIT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on with a counted body, or answer 413."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_form = headers.get("content-type", "").startswith("multipart/form-data")
        limit = self.form_limit if is_form else JSON_LIMIT
        announced = headers.get("content-length", "0")
        if not announced.isdecimal() or int(announced) > limit:
            error = TooLargeError(f"the body is larger than {limit} bytes")
            reply = _refusal(error, scope)
            reply.headers["connection"] = "close"
            await reply(scope, receive, send)
            return
        await (self.form if is_form else self.other)(scope, receive, send)


def _refusal(error: RequestError, scope: Scope) -> Response:
    return problem(error, extra={"instance": scope["path"]})


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a channel that yields the body again, then what follows it."""
    parts = iter([body])

    async def again() -> Message:
        part = next(parts, None)
        if part is None:
            return await receive()
        return {"type": "http.request", "body": part, "more_body": False}

    return again


def _parse_json(body: bytes) -> Any:
    try:
        return json.loads(body or b"null")
    except (ValueError, RecursionError):
        return None


def _names_remote_file(value: Any) -> bool:
    """Return whether any `path` in the value is a URL with a scheme."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            path = one.get("path")
            if isinstance(path, str) and SCHEME.match(path.strip()):
                return True
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return False


def _is_foreign(scope: Scope) -> bool:
    """Return whether a browser's headers show that another site's page sent this."""
    headers = Headers(scope=scope)
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    own = headers.get("host", "").lower()
    if origin is not None and origin.partition("://")[2].lower() != own:
        return True
    if site in {None, "same-origin", "none"}:
        return False
    follows = headers.get("sec-fetch-mode") == "navigate"
    return not (follows and scope.get("method") in SAFE_METHODS)


def _read_token(authorization: str) -> bytes:
    """Return the token in an Authorization header, or nothing."""
    kind, _, value = authorization.partition(" ")
    if kind.lower() == "bearer":
        return value.strip().encode()
    if kind.lower() == "basic":
        try:
            decoded = base64.b64decode(value.strip(), validate=True)
        except binascii.Error:
            return b""
        return decoded.partition(b":")[2]
    return b""
