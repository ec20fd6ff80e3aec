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
    TimeRemainingColumn,
)

from elt_llm_core.jobs import Progress as ProgressListener
from elt_llm_core.jobs import silent

LINE_SECONDS = 10.0
DETAIL_WIDTH = 40


def make_progress(*, quiet: bool) -> ProgressListener:
    """A listener that suits where stderr goes."""
    if quiet:
        return silent
    return BarProgress() if sys.stderr.isatty() else LineProgress()


class BarProgress:
    """One bar a stage."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("[bold]{task.description:<12}"),
            BarColumn(bar_width=28),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[detail]}"),
            console=Console(stderr=True),
        )
        self._tasks: dict[str, TaskID] = {}
        self._started = False

    def __call__(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        """Move the stage's bar."""
        if not self._started:
            self._bars.start()
            self._started = True
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total, detail="")
        shown = detail[-DETAIL_WIDTH:]
        self._bars.update(self._tasks[stage], completed=done, total=total, detail=shown)

    def close(self) -> None:
        """Leave the finished bars on the screen."""
        if self._started:
            self._bars.stop()
            self._started = False
            self._tasks.clear()


class LineProgress:
    """A line when a stage ends, and one every ten seconds while it lasts."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        """Print where the stage is, if it is time to."""
        now = time.monotonic()
        if now - self._last < LINE_SECONDS and done != total:
            return
        self._last = now
        of = f" of {total}" if total is not None else ""
        click.echo(f"{stage}: {done}{of} {detail}".rstrip(), err=True)
