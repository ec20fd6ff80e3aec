"""Waits for a model server that answered before and is unavailable now."""

import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from elt_llm_core.errors import (
    AbandonedError,
    EltLlmError,
    ModelUnavailableError,
    RunnerDiedError,
    SilentServerError,
)
from elt_llm_core.jobs import JobContext, format_duration
from elt_llm_core.patience import check_asker

# A local model that is being reloaded answers within a minute; polling every second is
# cheap, and a request to stop the job takes effect at once.
LOOK_SECONDS = 0.2
# Silent: the gateway suspends its calls after repeated failures.
AWAY = (ModelUnavailableError, RunnerDiedError, SilentServerError)
Result = TypeVar("Result")


class WaitEndedError(Exception):
    """A model server stays unavailable for a call that was waited for, or in vain.

    No `EltLlmError`, so that no wait around that one begins.

    Attributes:
        error: What failed.
    """

    def __init__(self, error: EltLlmError) -> None:
        super().__init__(error.message)
        self.error = error


def call_patiently(
    call: Callable[[], Result],
    context: JobContext,
    is_hopeless: Callable[[], bool],
    show: Callable[[str], None],
) -> Result:
    """Return what a call returns, repeated until its model server is back.

    Args:
        call: Calls a model server.
        context: The job, with the setting `server_patience`.
        is_hopeless: Whether to give up at once. A server that never answered is not
            started, or has a wrong address, which the user must learn at once; one
            that answered before will probably return.
        show: Shows the progress of the wait.

    Raises:
        ModelUnavailableError: If the server stays unavailable, or another of `AWAY`.
        AbandonedError: If the job is asked to stop.
    """
    began = monotonic()
    while True:
        try:
            return call()
        except AWAY:
            left = context.config.consumer.server_patience - (monotonic() - began)
            if is_hopeless() or left <= 0:
                raise
            pause = min(context.config.gateway.breaker_seconds, left)
            wait = f"next try in {format_duration(pause)}"
            show(f"the model server is unreachable; {wait}")
            _pause(pause, context)


def _pause(seconds: float, context: JobContext) -> None:
    """Wait until an unavailable server may be called again, or the job must stop."""
    until = monotonic() + seconds
    waiting = threading.Event()  # never set; used only for its timeout
    while (left := until - monotonic()) > 0:
        waiting.wait(min(left, LOOK_SECONDS))
        check_asker()
        if context.stopped():
            raise AbandonedError
