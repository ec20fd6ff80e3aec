"""Who may ask: Host, Origin, token, size; and the headers every reply carries.

These are plain ASGI wrappers around the whole application, the mounted page included,
because a framework's own middleware would not cover a mounted one.
"""

import base64
import binascii
import hmac
import json
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
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
from elt_llm_core.errors import (
    ForeignHostError,
    ForeignSiteError,
    RequestError,
    TokenNeededError,
    TooLargeError,
    TooManyGuessesError,
)

JSON_LIMIT = 1_000_000
FORM_OVERHEAD = 64_000  # boundaries and part headers around the files of a form
SAFE_METHODS = frozenset({"GET", "HEAD"})
ASKED = frozenset({"http", "websocket"})
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?", re.IGNORECASE)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//|\\\\", re.IGNORECASE)
MOST_GUESSES = 10  # wrong tokens of one address in
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
    """Adds the headers; takes away any permission for other origins."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with the reply's headers completed."""

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
    """Refuses names that are not ours: another site's name may lead to this machine."""

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        self.app = app
        self.allowed = [pattern.lower() for pattern in allowed]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 400."""
        if scope["type"] in ASKED:
            host = Headers(scope=scope).get("host", "")
            if not self._is_ours(host):
                await _refusal(ForeignHostError(host), scope)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        found = HOST.fullmatch(host)
        name = found[1].lower() if found else ""
        return "*" in self.allowed or any(
            name == pattern or (pattern.startswith("*.") and name.endswith(pattern[1:]))
            for pattern in self.allowed
        )


class OriginCheck:
    """Refuses what another site's page asks for; a link to this server may be followed.

    A program says neither where its request began nor from which site.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 403."""
        if scope["type"] in ASKED and _is_foreign(scope):
            await _refusal(ForeignSiteError(), scope)(scope, receive, send)
            return
        await self.app(scope, receive, send)


class TokenCheck:
    """Asks for the token: as a bearer, or as the password of a browser's own form.

    An address that sent too many wrong ones is not listened to for a while.
    """

    def __init__(self, app: ASGIApp, token: SecretStr) -> None:
        self.app = app
        self.token = token.get_secret_value().encode()
        self.guesses = Guesses()

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
        seconds = self.guesses.wait(address)
        if seconds:
            reply = _refusal(TooManyGuessesError(seconds), scope)
            reply.headers["retry-after"] = str(seconds)
            return reply
        offered = _offered(Headers(scope=scope).get("authorization", ""))
        if hmac.compare_digest(offered, self.token):
            return None
        if offered:  # a browser asks without one first
            self.guesses.note(address)
        reply = _refusal(TokenNeededError(), scope)
        reply.headers["www-authenticate"] = 'Basic realm="elt_llm", charset="UTF-8"'
        return reply


class Guesses:
    """Wrong tokens by address, of the last minute."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    def note(self, address: str) -> None:
        """A wrong token came from there."""
        times = self._wrong.setdefault(address, deque(maxlen=MOST_GUESSES))
        times.append(self._clock())
        self._wrong.move_to_end(address)
        if len(self._wrong) > MOST_ADDRESSES:
            self._wrong.popitem(last=False)

    def wait(self, address: str) -> int:
        """Seconds for which the address is not listened to; 0 is not at all."""
        times = self._wrong.get(address)
        if times is None or len(times) < MOST_GUESSES:
            return 0
        return max(0, ceil(times[0] + GUESS_SECONDS - self._clock()))


class RemoteFiles:
    """Refuses a file of the page that is an address: Gradio would go and fetch it."""

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
        if _names_remote_file(_loaded(body)):
            error = RequestError("a file is not at an address", "send the file itself")
            await _refusal(error, scope)(scope, receive, send)
            return
        await self.app(scope, _replayed(body, receive), send)


class BodyLimit:
    """Refuses large bodies, announced or not: forms up to `upload_mb`, others 1 MB."""

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


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body once more, then whatever comes after it."""
    parts = iter([body])

    async def again() -> Message:
        part = next(parts, None)
        if part is None:
            return await receive()
        return {"type": "http.request", "body": part, "more_body": False}

    return again


def _loaded(body: bytes) -> Any:
    try:
        return json.loads(body or b"null")
    except (ValueError, RecursionError):
        return None


def _names_remote_file(value: Any) -> bool:
    """Whether a `path` or `url` anywhere in it leads elsewhere by a scheme."""
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
    """Whether a page of another site asks, as far as a browser tells."""
    headers = Headers(scope=scope)
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    own = headers.get("host", "").lower()
    if origin is not None and origin.partition("://")[2].lower() != own:
        return True
    if site in {None, "same-origin", "none"}:
        return False
    follows = headers.get("sec-fetch-mode") == "navigate"
    return not (follows and scope.get("method") in SAFE_METHODS)


def _offered(authorization: str) -> bytes:
    """The token in an Authorization header; empty where there is none."""
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
