"""Health checks are answered while every thread of the other routes is busy."""

import asyncio
import threading

import httpx
import pytest
from anyio import to_thread

from elt_llm_api import create_app
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.store import Store

SECONDS = 20.0  # of a check on a busy machine; one that waits for a thread never ends


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz"])
def test_health_does_not_wait_for_a_thread(path, root):
    store, free = Store(root), threading.Event()
    app = create_app(RagConfig(), store)

    async def check() -> int:
        limiter = to_thread.current_default_thread_limiter()
        limiter.total_tokens = 1
        taken = asyncio.Event()
        take = asyncio.get_running_loop().call_soon_threadsafe

        def hold() -> None:
            take(taken.set)
            free.wait()

        busy = asyncio.create_task(to_thread.run_sync(hold))
        await taken.wait()
        transport = httpx.ASGITransport(app)
        try:
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(
                    transport=transport, base_url="http://localhost"
                ) as client,
            ):
                reply = await asyncio.wait_for(client.get(path), SECONDS)
        finally:
            free.set()
            await busy
        return reply.status_code

    assert asyncio.run(check()) == 200
    store.close()
