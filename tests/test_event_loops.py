"""No test leaves an event loop open, which would fail another one."""

import asyncio

from llama_index.core.async_utils import asyncio_run


async def _nothing() -> None:
    await asyncio.sleep(0)


def test_a_synchronous_call_of_llamaindex_leaves_no_event_loop() -> None:
    asyncio_run(_nothing())
    assert asyncio.get_event_loop_policy()._local._loop is None
