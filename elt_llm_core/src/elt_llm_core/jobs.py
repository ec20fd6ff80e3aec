"""Long-running work: ingest, glossary, catalogue, coverage.

A job is a strategy of the stage `jobs`: its fields are its options, and `build` returns
a callable that takes a context. The command line, the HTTP API and the demo start jobs
only in this way, so that none of them imports another's package.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.job_records import (
    INTERRUPTED,
    PARTIAL,
    Expected,
    ItemOutcome,
    JobReport,
)
from elt_llm_core.models.gateway.spending import count_days, open_account
from elt_llm_core.strategy import Stage

if TYPE_CHECKING:
    from elt_llm_core.store import Store

__all__ = [
    "INTERRUPTED",
    "JOBS",
    "PARTIAL",
    "UNEVEN",
    "Expected",
    "ItemOutcome",
    "JobContext",
    "JobReport",
    "Pace",
    "Progress",
    "Runner",
    "format_duration",
    "never",
    "run_job",
    "silent",
]


class Progress(Protocol):
    """Called with stage, finished steps, total steps if known, and a detail."""

    def __call__(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        """Record the progress; must return at once and never raise."""


def silent(stage: str, done: int, total: int | None = None, detail: str = "") -> None:
    """Ignore progress."""


def never() -> bool:
    """Return False: the job is never asked to stop."""
    return False


@dataclass(frozen=True)
class JobContext:
    """The context that every job gets.

    `stopped` returns whether the job should end after the current item; a job that does
    not call it runs to its end.
    """

    config: RagConfig
    store: "Store"
    progress: Progress = silent
    stopped: Callable[[], bool] = never


Runner = Callable[[JobContext], JobReport]
JOBS: Stage[Runner] = Stage("jobs")


def run_job(runner: Runner, context: JobContext) -> JobReport:
    """Run a job; its model calls are charged to the budget of a job."""
    with (
        count_days(context.store.day_ledger),
        open_account("job", context.config.gateway),
    ):
        return runner(context)


# Estimates from less time, fewer steps, or a smaller share are unstable; chosen by eye.
BASIS_SECONDS = 3.0
BASIS_STEPS = 3
BASIS_SHARE = 0.02
# The pace of the last steps counts, over at least this time and so many steps: cheap
# items may come first, but a single slow one must not decide.
RECENT_SECONDS = 30.0
RECENT_STEPS = 10
# Files differ too much in size to be counted: the ingest estimates the time itself.
UNEVEN = frozenset({"read", "embed", "store"})
MINUTE, HOUR = 60.0, 3600.0


class _Step(NamedTuple):
    """The work that was done at a time, after so many steps."""

    at: float
    done: float
    number: int


class Pace:
    """The pace of the last steps, measured with a monotonic clock.

    A step is a call with more work done than before. The time before the first step
    ends counts for nothing: it contains the set-up, such as loading a model, and work
    that an earlier run did is no step of this one.

    Args:
        total: The whole work, in any unit proportional to it, such as bytes.
        clock: Returns the time in seconds.
    """

    def __init__(
        self, total: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._clock = clock
        self._done: float | None = None
        self._steps: deque[_Step] = deque()

    def time_left(self, done: float) -> str:
        """Return `about 3 min left`; empty without a basis, and at the end."""
        seconds = self.seconds_left(done)
        return "" if seconds is None else f"about {format_duration(seconds)} left"

    def seconds_left(self, done: float) -> float | None:
        """Return the remaining seconds; None without a basis, and at the end."""
        now = self._clock()
        self._note(now, done)
        if not self._steps or done >= self._total:
            return None
        first = self._steps[0]
        seconds, work = now - first.at, done - first.done
        if (
            seconds < BASIS_SECONDS
            or self._steps[-1].number - first.number < BASIS_STEPS
            or work < BASIS_SHARE * self._total
        ):
            return None
        return (self._total - done) * seconds / work

    def _note(self, now: float, done: float) -> None:
        """Remember a step, and forget those that are no longer recent."""
        before, self._done = self._done, done
        if before is None or done == before:
            return
        if done < before:  # the work began again
            self._steps.clear()
            return
        steps = self._steps
        steps.append(_Step(now, done, steps[-1].number + 1 if steps else 0))
        # The second one must be enough by itself, else the first is needed, too.
        while (
            len(steps) > RECENT_STEPS
            and now - steps[1].at >= RECENT_SECONDS
            and done - steps[1].done >= BASIS_SHARE * self._total
        ):
            steps.popleft()


def format_duration(seconds: float) -> str:
    """Return `40 s`, `3 min`, `2 h`: no more precise than an estimate is."""
    if seconds < MINUTE:
        return f"{max(5, 5 * round(seconds / 5))} s"
    if seconds < 1.5 * HOUR:
        return f"{round(seconds / MINUTE)} min"
    return f"{round(seconds / HOUR)} h"
