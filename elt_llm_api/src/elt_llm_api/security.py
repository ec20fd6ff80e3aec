"""Who may ask: Host, Origin, token, size; and the headers every reply carries.

These are plain ASGI wrappers around the whole application, the mounted page included,
because a framework's own middleware would not cover a mounted one.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Sequence

from pydantic import SecretStr
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from elt_llm_api.problems import problem
from elt_llm_core.errors import (
    ForeignHostError,
    ForeignSiteError,
    RequestError,
    TokenNeededError,
    TooLargeError,
)

JSON_LIMIT = 1_000_000
FORM_OVERHEAD = 64_000  # boundaries and part headers around the files of a form
SAFE_METHODS = frozenset({"GET", "HEAD"})
ASKED = frozenset({"http", "websocket"})
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?", re.IGNORECASE)
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
    """Asks for the token: as a bearer, or as the password of a browser's own form."""

    def __init__(self, app: ASGIApp, token: SecretStr) -> None:
        self.app = app
        self.token = token.get_secret_value().encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 401."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            offered = _offered(Headers(scope=scope).get("authorization", ""))
            if not hmac.compare_digest(offered, self.token):
                reply = _refusal(TokenNeededError(), scope)
                challenge = 'Basic realm="elt_llm", charset="UTF-8"'
                reply.headers["www-authenticate"] = challenge
                await reply(scope, receive, send)
                return
        await self.app(scope, receive, send)


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
