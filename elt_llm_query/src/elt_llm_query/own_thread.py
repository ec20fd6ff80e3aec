"""Runs work in a thread of its own, which has no event loop.

A notebook and a server run an event loop in the caller's thread, where `asyncio.run` is
refused.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def run_in_own_thread(work: Callable[[], T], name: str) -> T:
    """Return the result of work that runs in a new thread, in the caller's context.

    Args:
        work: The function to run; its error is raised here.
        name: The name of the thread.
    """
    outcome: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again below
            outcome.set_exception(error)

    thread = threading.Thread(target=run, name=name)
    thread.start()
    thread.join()
    return outcome.result()
