"""Work that runs for a while: ingest, glossary, catalogue, coverage.

A job is a strategy of the stage `jobs`: its fields are its options and `build` returns
something to call with a context. The command line, the HTTP API and the demo start jobs
through this door only, so none of them imports another's package.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import Field

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.models.gateway.spending import count_days, open_account
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation
from elt_llm_core.strategy import Stage

if TYPE_CHECKING:
    from elt_llm_core.store import Store

PARTIAL = 2
INTERRUPTED = 130


class Progress(Protocol):
    """Hears of progress: stage, steps done, steps in all if known, a detail."""

    def __call__(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        """Take note; must return at once and never raise."""


def silent(stage: str, done: int, total: int | None = None, detail: str = "") -> None:
    """Progress that nobody watches."""


def never() -> bool:
    """Nobody asks this job to stop."""
    return False


@dataclass(frozen=True)
class JobContext:
    """What every job is given.

    `stopped` tells whether the job shall end after the item it is at; a job that does
    not ask goes on to its end.
    """

    config: RagConfig
    store: "Store"
    progress: Progress = silent
    stopped: Callable[[], bool] = never


class ItemOutcome(Record):
    """What became of one file, or would become of it in a dry run."""

    name: str
    uri: str
    outcome: str = Field(description="added, updated, unchanged, renamed, ...")
    chunks: int = Field(default=0, ge=0)
    to_embed: int = Field(default=0, ge=0, description="texts without a vector yet")
    detail: str = ""


class Expected(Record):
    """How long an ingest would take, in seconds, as far as a dry run can tell.

    `embedding` is None where no ingest with this model has been timed yet.
    """

    reading: float = Field(ge=0)
    embedding: float | None = Field(default=None, ge=0)


class JobReport(Record):
    """How a job ended. `counts` is by outcome; `files` maps a name to a path.

    `items` tells of single files, `expected` of time: a dry run's forecast. `stopped`
    is set where the job was asked to end early; the same call goes on where it stopped.
    """

    job: str
    counts: dict[str, int]
    files: dict[str, str] = Field(default_factory=dict)
    degradations: tuple[Degradation, ...] = ()
    items: tuple[ItemOutcome, ...] = ()
    expected: Expected | None = None
    stopped: bool = False

    @property
    def exit_code(self) -> int:
        """0; 2 where some items failed or lack a part; 130 where it was stopped."""
        if self.stopped:
            return INTERRUPTED
        poorer = self.counts.get("failed") or self.counts.get("quarantined")
        return PARTIAL if poorer else 0


Runner = Callable[[JobContext], JobReport]
JOBS: Stage[Runner] = Stage("jobs")


def run_job(runner: Runner, context: JobContext) -> JobReport:
    """Run a job; what it spends on models is counted against the budget of a job."""
    with (
        count_days(context.store.day_ledger),
        open_account("job", context.config.gateway),
    ):
        return runner(context)


# A forecast from less time, or from a smaller share, is unsteady; chosen by eye.
BASIS_SECONDS = 3.0
BASIS_SHARE = 0.02
MINUTE, HOUR = 60.0, 3600.0


class Pace:
    """Work done so far against the clock, which never jumps.

    `total` is in any unit that grows with the work, such as bytes.
    """

    def __init__(
        self, total: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._clock = clock
        self._began = clock()

    def left(self, done: float) -> str:
        """`about 3 min left`; empty before there is a basis, and at the end."""
        seconds = self._clock() - self._began
        share = done / self._total if self._total else 0.0
        if seconds < BASIS_SECONDS or not BASIS_SHARE <= share < 1:
            return ""
        return f"about {format_duration(seconds * (1 - share) / share)} left"


def format_duration(seconds: float) -> str:
    """`40 s`, `3 min`, `2 h`: no more precise than a forecast is."""
    if seconds < MINUTE:
        return f"{max(5, 5 * round(seconds / 5))} s"
    if seconds < 1.5 * HOUR:
        return f"{round(seconds / MINUTE)} min"
    return f"{round(seconds / HOUR)} h"
