"""Long-running work: ingest, glossary, catalogue, coverage.

A job is a strategy of the stage `jobs`: its fields are its options, and `build` returns
a callable that takes a context. The command line, the HTTP API and the demo start jobs
only in this way, so that none of them imports another's package.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

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


# Estimates from less time, or from a smaller share, are unstable; chosen by eye.
BASIS_SECONDS = 3.0
BASIS_SHARE = 0.02
MINUTE, HOUR = 60.0, 3600.0


class Pace:
    """The work done so far, measured with a monotonic clock.

    `total` is in any unit proportional to the work, such as bytes.
    """

    def __init__(
        self, total: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._clock = clock
        self._began = clock()

    def time_left(self, done: float) -> str:
        """Return `about 3 min left`; empty without a basis, and at the end."""
        seconds = self.seconds_left(done)
        return "" if seconds is None else f"about {format_duration(seconds)} left"

    def seconds_left(self, done: float) -> float | None:
        """Return the remaining seconds; None without a basis, and at the end."""
        seconds = self._clock() - self._began
        share = done / self._total if self._total else 0.0
        if seconds < BASIS_SECONDS or not BASIS_SHARE <= share < 1:
            return None
        return seconds * (1 - share) / share


def format_duration(seconds: float) -> str:
    """Return `40 s`, `3 min`, `2 h`: no more precise than an estimate is."""
    if seconds < MINUTE:
        return f"{max(5, 5 * round(seconds / 5))} s"
    if seconds < 1.5 * HOUR:
        return f"{round(seconds / MINUTE)} min"
    return f"{round(seconds / HOUR)} h"
