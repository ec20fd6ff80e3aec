"""Work that runs for a while: ingest, glossary, catalogue, coverage.

A job is a strategy of the stage `jobs`: its fields are its options and `build` returns
something to call with a context. The command line, the HTTP API and the demo start jobs
through this door only, so none of them imports another's package.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from elt_llm_core.config import RagConfig
from elt_llm_core.results import Degradation, Record
from elt_llm_core.store import Store
from elt_llm_core.strategy import Stage


class Progress(Protocol):
    """Hears of progress: stage, steps done, steps in all if known, a detail."""

    def __call__(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        """Take note; must return at once and never raise."""


def silent(stage: str, done: int, total: int | None = None, detail: str = "") -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)
class JobContext:
    """What every job is given."""

    config: RagConfig
    store: Store
    progress: Progress = silent


class JobReport(Record):
    """How a job ended. `counts` is by outcome; `files` maps a name to a path."""

    job: str
    counts: dict[str, int]
    files: dict[str, str] = Field(default_factory=dict)
    degradations: tuple[Degradation, ...] = ()

    @property
    def exit_code(self) -> int:
        """0, or 2 where some items failed and the others are good."""
        return 2 if self.counts.get("failed") else 0


Runner = Callable[[JobContext], JobReport]
JOBS: Stage[Runner] = Stage("jobs")
