"""Which failed calls are retried, when, and how often."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic, sleep
from typing import Any, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    wait_random_exponential,
)

from elt_llm_core.config.sections import GatewaySection
from elt_llm_core.errors import (
    BrokenAnswerError,
    ModelBusyError,
    ModelUnavailableError,
    OutOfTimeError,
    RunnerDiedError,
)
from elt_llm_core.models.gateway.slots import LOOK_SECONDS
from elt_llm_core.patience import check_asker, current

T = TypeVar("T")

# Temporary failures. A missing model, a prompt that is too long, a malformed answer and
# a timeout are not: a retry would only take the same time again.
PASSING = (
    BrokenAnswerError,
    ModelBusyError,
    ModelUnavailableError,
    RunnerDiedError,
)
_IS_PASSING = retry_if_exception_type(PASSING)
RUNNER_SECONDS = 2.0  # Ollama restarts the runner with the next call
RUNNER_TRIES = 2  # a second crash is caused by the model or the window


def call_again(settings: GatewaySection, once: Callable[[], T]) -> T:
    """Make a call, retrying temporary failures.

    Raises:
        ModelError: The error of the last attempt.
        AbandonedError: If the answer is no longer needed.
    """
    retrying = Retrying(**_policy(settings), sleep=_pause)
    try:
        return retrying(once)
    finally:
        retrying.iter_state.reset()  # its actions refer to it: a cycle for each call


async def acall_again(settings: GatewaySection, once: Callable[[], Awaitable[T]]) -> T:
    """Like `call_again`."""
    retrying = AsyncRetrying(**_policy(settings), sleep=_apause)
    try:
        return await retrying(once)
    finally:
        retrying.iter_state.reset()


def _policy(settings: GatewaySection) -> dict[str, Any]:
    backoff = wait_random_exponential(
        multiplier=settings.retry_seconds, max=settings.longest_wait
    )

    def wait(state: RetryCallState) -> float:
        error = _error_of(state)
        if isinstance(error, ModelBusyError) and error.seconds:
            return float(error.seconds)  # stated by the server
        if isinstance(error, RunnerDiedError):
            return RUNNER_SECONDS
        return backoff(state)

    def stop(state: RetryCallState) -> bool:
        tries = settings.retries + 1
        if isinstance(_error_of(state), RunnerDiedError):
            tries = min(tries, RUNNER_TRIES)
        soon = state.upcoming_sleep <= min(settings.longest_wait, _time_left())
        return state.attempt_number >= tries or not soon

    return {
        "retry": _IS_PASSING,
        "wait": wait,
        "stop": stop,
        "reraise": True,
    }


def _error_of(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _time_left() -> float:
    """Return the question's remaining seconds."""
    patience = current()
    try:
        left = patience.seconds_left() if patience else None
    except OutOfTimeError:
        return 0.0
    return float("inf") if left is None else left


def _pause(seconds: float) -> None:
    ends = monotonic() + seconds
    while (left := ends - monotonic()) > 0:
        check_asker()
        sleep(min(left, LOOK_SECONDS))


async def _apause(seconds: float) -> None:
    ends = monotonic() + seconds
    while (left := ends - monotonic()) > 0:
        check_asker()
        await asyncio.sleep(min(left, LOOK_SECONDS))
