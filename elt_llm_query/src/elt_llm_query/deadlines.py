"""A bound on the time that a model may take."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextvars import copy_context
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from elt_llm_core.errors import ModelError

T = TypeVar("T")


def time_is_up(seconds: float) -> ModelError:
    """The error of whatever took longer than it may."""
    return ModelError(
        f"it took more than {seconds:g} s",
        "raise query.reranker_timeout, lower query.reranker_retrieve_k, or take a "
        "smaller model",
    )


@dataclass(frozen=True)
class Deadline:
    """A moment, `seconds` after it was made. None is never."""

    seconds: float | None
    started: float = field(default_factory=perf_counter)

    def left(self) -> float | None:
        """Seconds until then. Raises ModelError once it has passed."""
        self.check()
        if self.seconds is None:
            return None
        return max(self.seconds - (perf_counter() - self.started), 0.001)

    def check(self) -> None:
        """Raise ModelError once it has passed."""
        if self.seconds is not None and perf_counter() - self.started >= self.seconds:
            raise time_is_up(self.seconds)


def in_time(
    seconds: float | None, work: Callable[[], T], allowed: float | None = None
) -> T:
    """What `work` returns or raises, or ModelError once `seconds` have passed.

    `allowed` is named in the error where `seconds` are only what is left of it. Work
    that is late goes on in a thread that keeps no process from ending; what
    becomes of it is dropped. With None it is done here, without a thread.
    """
    if seconds is None:
        return work()
    outcome: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again by who waits
            outcome.set_exception(error)

    threading.Thread(target=run, name="in-time", daemon=True).start()
    try:
        return outcome.result(timeout=seconds)
    except FutureTimeoutError as error:
        if outcome.done() and outcome.exception() is error:
            raise  # the work's own
        raise time_is_up(allowed or seconds) from error
