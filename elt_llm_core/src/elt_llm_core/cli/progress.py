"""Progress for people: a bar on a terminal, a line every ten seconds elsewhere."""

import sys
import time

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from elt_llm_core.cli.terminal import escape_line
from elt_llm_core.jobs import UNEVEN, Pace, silent
from elt_llm_core.jobs import Progress as ProgressListener

LINE_SECONDS = 10.0  # seconds between lines in a log, where no bar can be redrawn
DETAIL_WIDTH = 40  # characters of a file name: the bar fits into 80 columns


def make_progress(*, quiet: bool) -> ProgressListener:
    """Return the progress listener for the type of stderr."""
    if quiet:
        return silent
    return BarProgress() if sys.stderr.isatty() else LineProgress()


class BarProgress:
    """One bar per stage."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("[bold]{task.description:<12}"),
            BarColumn(bar_width=28),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[detail]}"),
            console=Console(stderr=True),
        )
        self._tasks: dict[str, TaskID] = {}
        self._paces: dict[str, Pace] = {}
        self._started = False

    def __call__(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        """Update the stage's bar."""
        if not self._started:
            self._bars.start()
            self._started = True
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total, detail="")
            self._paces[stage] = Pace(total or 0)
        shown = _format_progress(stage, detail, self._paces[stage].time_left(done))[
            -DETAIL_WIDTH:
        ]
        self._bars.update(self._tasks[stage], completed=done, total=total, detail=shown)

    def close(self) -> None:
        """Leave the finished bars on the screen."""
        if self._started:
            self._bars.stop()
            self._started = False
            self._tasks.clear()
            self._paces.clear()


class LineProgress:
    """Prints a line when a stage ends, and one every ten seconds in between.

    A stage that ends repeatedly, once per file, is printed every ten seconds too.
    """

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._paces: dict[str, Pace] = {}
        self._ended: set[str] = set()

    def __call__(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        """Print the state of the stage if it is due."""
        now = time.monotonic()
        pace = self._paces.setdefault(stage, Pace(total or 0))
        left = pace.time_left(done)  # every call is a step of the pace
        ended = done == total and stage not in self._ended
        if now - self._last < LINE_SECONDS and not ended:
            return
        self._last = now
        if ended:
            self._ended.add(stage)
        of = f" of {total}" if total is not None else ""
        line = _format_progress(stage, detail, left)
        click.echo(f"{stage}: {done}{of} {line}".rstrip(), err=True)


def _format_progress(stage: str, detail: str, left: str) -> str:
    """Return the detail and the remaining time, if the items are similar."""
    return ", ".join(
        filter(None, (escape_line(detail), "" if stage in UNEVEN else left))
    )
