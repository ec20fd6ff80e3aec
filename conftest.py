"""What all tests share."""

import asyncio
import gc

import pytest
from hypothesis import settings

# A deadline fails whichever example runs while the machine is busy.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")

gc.disable()  # a quarter of the collection is the collector's scans of what stays


def pytest_collection_finish() -> None:
    """Set what was imported and collected aside from the garbage collector."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _no_event_loop() -> None:
    """Let LlamaIndex's synchronous calls leave no event loop open.

    In a thread that never had one they make one and leave it; the next `asyncio.run`
    drops it, and whichever test runs then fails with its ResourceWarning. In a thread
    whose event loop was set, to none, they use `asyncio.run`.
    """
    asyncio.set_event_loop(None)
