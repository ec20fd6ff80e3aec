"""The route /mcp of the served application: streamable HTTP, by the SDK.

Host, Origin, token and size are checked by the middleware around the application. The
SDK is loaded by the first request, because that takes a second and most servers get
none.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

from elt_llm_api.api_context import ApiContext
from elt_llm_api.problems import problem
from elt_llm_api.server.question_queue import QuestionQueue
from elt_llm_core.errors import ConfigError, installs

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
NOT_IMPLEMENTED = 501


class McpEndpoint:
    """An ASGI application that answers requests of MCP clients."""

    def __init__(self, context: ApiContext, queue: QuestionQueue) -> None:
        self._context = context
        self._queue = queue
        self._manager: StreamableHTTPSessionManager | None = None
        self._runner: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or respond with 501 and the missing package."""
        if find_spec("mcp") is None:
            reply = problem(missing_sdk(), status=NOT_IMPLEMENTED)
            await reply(scope, receive, send)
            return
        manager = await self._start()
        await manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """End all sessions after this block."""
        try:
            yield
        finally:
            if self._runner is not None:
                self._runner.cancel()
                await asyncio.wait([self._runner])
            self._manager = self._runner = None

    async def _start(self) -> "StreamableHTTPSessionManager":
        async with self._lock:
            if self._manager is None:
                manager = await asyncio.to_thread(self._build)
                ready = asyncio.Event()
                # In a separate task, because sessions outlive the first request.
                self._runner = asyncio.create_task(_run(manager, ready))
                await ready.wait()
                self._manager = manager
            return self._manager

    def _build(self) -> "StreamableHTTPSessionManager":
        from mcp.server.transport_security import (  # noqa: PLC0415 - see above
            TransportSecuritySettings,
        )

        from elt_llm_api.mcp_server.tool_server import build_server  # noqa: PLC0415

        server = build_server(self._context, self._queue)
        # Stateless, because no tool keeps anything between calls.
        server.streamable_http_app(
            stateless_http=True,
            transport_security=TransportSecuritySettings(
                enable_dns_rebinding_protection=False  # ours knows `api.allowed_hosts`
            ),
        )
        return server.session_manager


def missing_sdk() -> ConfigError:
    """Return the error for a missing SDK, with the command to install it."""
    return ConfigError(
        "MCP needs the package 'mcp', which is not installed",
        f"install the extra that brings it: {installs('mcp')}",
    )


async def _run(manager: "StreamableHTTPSessionManager", ready: asyncio.Event) -> None:
    async with manager.run():
        ready.set()
        await asyncio.Event().wait()
