"""Work that is begun before it is known whether it is needed.

A branch runs in a thread of its own. One that turns out not to be needed is superseded:
its connections to model servers end at once, and what it still says is ignored.
"""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Generic, TypeVar

from elt_llm_core.patience import Patience, current

T = TypeVar("T")


class BranchState(StrEnum):
    """How far a branch is."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    COMPLETED = "completed"
    FAILED = "failed"


class Branch(Generic[T]):
    """One piece of work in a thread. It must be made where an event loop runs.

    Args:
        work: What it does.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        asked = current()
        self._patience = asked.fork() if asked else Patience()
        self._state = BranchState.ACTIVE
        self._task = asyncio.create_task(asyncio.to_thread(self._run, work))
        # Its failure is told where it is awaited; a superseded one has none to tell.
        self._task.add_done_callback(_read_failure)

    @property
    def state(self) -> BranchState:
        """How far it is."""
        return self._state

    async def result(self) -> T:
        """Wait for it and return what it brought. Raises what it raised."""
        return await self._task

    def supersede(self) -> None:
        """Stop it, down to the call to the model."""
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
