"""What is kept of a job: how far it is, how it ended, and how to run it again."""

import json
from enum import StrEnum
from typing import Any

from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import UsageError
from elt_llm_core.identifiers import item_key
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation

# The option of products that does finished items again; a run that goes on does not.
FRESH = "fresh"


PARTIAL = 2  # exit codes of a job
INTERRUPTED = 130


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


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"  # somebody asked for it; what was done is kept
    INTERRUPTED = "interrupted"  # its process is gone; what was done is kept

    @classmethod
    @override
    def _missing_(cls, value: object) -> "JobState | None":
        # Rows that earlier versions wrote have it under this name.
        return cls.CANCELLED if value == "stopped" else None

    @property
    def has_ended(self) -> bool:
        """Whether nothing works on the job any more."""
        return self not in (JobState.QUEUED, JobState.RUNNING)

    @property
    def resumable(self) -> bool:
        """Whether another run of the job may do what this one did not."""
        return self.has_ended and self is not JobState.SUCCEEDED


class JobProgress(Record):
    """How far a job is; `total` is unknown in some stages."""

    stage: str = "starting"
    done: int = 0
    total: int | None = None
    detail: str = ""
    seconds_left: float | None = Field(
        default=None, description="a forecast, once there is a basis for one"
    )


class JobRecord(Record):
    """A job as it is kept in the database.

    `options` are those of its strategy, so that the job can be run again; secrets are
    not among them.
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
        """The same for all runs of the same work."""
        options = {k: v for k, v in self.options.items() if k != FRESH}
        return item_key(self.kind, json.dumps(options, sort_keys=True))

    def again(self) -> "JobRecord":
        """Return the record of another run, which reuses what this one finished.

        Raises:
            UsageError: If something still works on the job.
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
        """Raise UsageError if something still works on the job."""
        if not self.state.has_ended:
            raise UsageError(
                f"job {self.job_id} is {self.state.value}",
                f"stop it first: elt-llm jobs cancel {self.job_id}",
            )
