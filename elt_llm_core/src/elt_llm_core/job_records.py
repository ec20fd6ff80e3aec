"""Stored jobs: progress, outcome, and options for running them again."""

import json
from enum import StrEnum
from typing import Any

from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import UsageError
from elt_llm_core.identifiers import item_key
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation

# The option of products that processes finished items again; a resumed run does not.
FRESH = "fresh"


PARTIAL = 2  # exit codes of a job
INTERRUPTED = 130


class ItemOutcome(Record):
    """The outcome of one file, or its forecast in a dry run."""

    name: str
    uri: str
    outcome: str = Field(description="added, updated, unchanged, renamed, ...")
    chunks: int = Field(default=0, ge=0)
    to_embed: int = Field(default=0, ge=0, description="texts without a vector yet")
    detail: str = ""


class Expected(Record):
    """Estimated time of an ingest in seconds, from a dry run.

    `embedding` is None where no ingest with this model has been timed yet.
    """

    reading: float = Field(ge=0)
    embedding: float | None = Field(default=None, ge=0)


class JobReport(Record):
    """The outcome of a job. `counts` is by outcome; `files` maps a name to a path.

    `items` lists single files and `expected` the time of a dry run. `stopped` is set if
    the job was asked to end early; the same call resumes it.
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
        """Return 0; 2 if items failed or are incomplete; 130 if it was stopped."""
        if self.stopped:
            return INTERRUPTED
        poorer = self.counts.get("failed") or self.counts.get("quarantined")
        return PARTIAL if poorer else 0


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"  # on request; finished items are kept
    INTERRUPTED = "interrupted"  # its process died; finished items are kept

    @classmethod
    @override
    def _missing_(cls, value: object) -> "JobState | None":
        # The name in rows of earlier versions.
        return cls.CANCELLED if value == "stopped" else None

    @property
    def has_ended(self) -> bool:
        """Return whether the job is no longer processed."""
        return self not in (JobState.QUEUED, JobState.RUNNING)

    @property
    def resumable(self) -> bool:
        """Return whether another run may finish the job."""
        return self.has_ended and self is not JobState.SUCCEEDED


class JobProgress(Record):
    """The progress of a job; `total` is unknown in some stages."""

    stage: str = "starting"
    done: int = 0
    total: int | None = None
    detail: str = ""
    seconds_left: float | None = Field(
        default=None, description="a forecast, once there is a basis for one"
    )


class JobRecord(Record):
    """A job as stored in the database.

    `options` are those of its strategy, without secrets, so that the job can be run
    again.
    """

    job_id: str
    kind: str
    state: JobState = JobState.RUNNING
    label: str = Field(default="", description="its subject, shown in lists")
    options: dict[str, Any] = Field(default_factory=dict)
    progress: JobProgress = JobProgress()
    report: JobReport | None = None
    problem: dict[str, Any] | None = None
    created: str = ""
    changed: str = ""
    pid: int = 0
    resumes: str = Field(default="", description="the job that this one continues")

    @property
    def work_key(self) -> str:
        """Return a key that is the same for all runs of the same work."""
        options = {k: v for k, v in self.options.items() if k != FRESH}
        return item_key(self.kind, json.dumps(options, sort_keys=True))

    def again(self) -> "JobRecord":
        """Return the record of another run, which reuses finished items.

        Raises:
            UsageError: If the job is still running.
        """
        self.require_ended()
        options = {k: v for k, v in self.options.items() if k != FRESH}
        return JobRecord(
            job_id="",
            kind=self.kind,
            label=self.label,
            options=options,
            resumes=self.job_id,
        )

    def require_ended(self) -> None:
        """Raise UsageError if the job is still running."""
        if not self.state.has_ended:
            raise UsageError(
                f"job {self.job_id} is {self.state.value}",
                f"stop it first: elt-llm jobs cancel {self.job_id}",
            )
