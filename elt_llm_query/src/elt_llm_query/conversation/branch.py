"""Work that starts before it is known to be needed.

A branch runs in a separate thread. A branch that is not needed is superseded: its
connections to model servers are closed at once, and its output is ignored.
"""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Generic, TypeVar

from elt_llm_core.patience import Patience, current

T = TypeVar("T")


class BranchState(StrEnum):
    """The state of a branch."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    COMPLETED = "completed"
    FAILED = "failed"


class Branch(Generic[T]):
    """One piece of work in a thread, created in a running event loop.

    Args:
        work: The function to run.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        asked = current()
        self._patience = asked.fork() if asked else Patience()
        self._state = BranchState.ACTIVE
        self._task = asyncio.create_task(asyncio.to_thread(self._run, work))
        # Its error is raised where it is awaited; a superseded one raises none.
        self._task.add_done_callback(_read_failure)

    @property
    def state(self) -> BranchState:
        """Return its state."""
        return self._state

    async def result(self) -> T:
        """Wait for it and return its result, or raise its error."""
        return await self._task

    def supersede(self) -> None:
        """Stop it, including its call to the model."""
        if self._state is BranchState.ACTIVE:
            self._state = BranchState.SUPERSEDED
        self._patience.abandon()

    def _run(self, work: Callable[[], T]) -> T:
        try:
            with self._patience.apply():
                result = work()
        except BaseException:
            if self._state is BranchState.ACTIVE:
                self._state = BranchState.FAILED
            raise
        if self._state is BranchState.ACTIVE:
            self._state = BranchState.COMPLETED
        return result


def _read_failure(task: "asyncio.Task[T]") -> None:
    if not task.cancelled():
        task.exception()
