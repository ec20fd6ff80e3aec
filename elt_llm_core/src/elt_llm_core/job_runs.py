"""Run a job with its progress and outcome stored, and its cancellation.

    report = run_kept(context, JobRecord(job_id="", kind="glossary"), runner)

Any process can ask the job to stop (`store.jobs.ask_to_stop`). Its process then ends
after the current item, and closes the item's connections to model servers at once.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Any

from elt_llm_core.errors import AbandonedError, EltLlmError
from elt_llm_core.job_records import JobProgress, JobRecord, JobState
from elt_llm_core.jobs import (
    UNEVEN,
    JobContext,
    JobReport,
    Pace,
    Runner,
    run_job,
)
from elt_llm_core.patience import Patience, current
from elt_llm_core.store.database.reader import FILE

# Seconds between two writes of progress: a commit takes some milliseconds, and readers
# poll at most once a second.
PROGRESS_SECONDS = 1.0
LOOK_SECONDS = 0.5  # seconds between two checks for a stop request

Begun = Callable[[JobRecord, Patience], None]


def run_recorded_job(
    context: JobContext,
    record: JobRecord,
    runner: Runner,
    begun: Begun | None = None,
) -> JobReport:
    """Run a job, and store its progress and outcome in the database.

    Args:
        context: The context of the job.
        record: Kind and options; see `JobRows.hold`.
        runner: The job.
        begun: Called with the stored record and the patience that stops the job.

    Returns:
        The report; `stopped` is set if the job was asked to end.

    Raises:
        EltLlmError: The errors of the runner; the job is stored as failed.
    """
    asked = current()
    patience = asked.fork() if asked else Patience()
    if not (context.store.data_dir / FILE).exists():
        return run_job(runner, context)  # no database: the job reports what is missing
    with context.store.jobs.hold(record) as kept:
        run = _KeptRun(context, kept, patience)
        if begun is not None:
            begun(kept, patience)
        try:
            with run.watch(), patience.apply():
                report = run_job(runner, run.context)
        except AbandonedError:
            report = JobReport(job=kept.kind, counts={}, stopped=True)
        except EltLlmError as error:
            run.end(JobState.FAILED, problem=describe_problem(error))
            raise
        except BaseException:
            run.end(JobState.INTERRUPTED)
            raise
        run.end(state_of(report), report=report)
    return report


def state_of(report: JobReport) -> JobState:
    """Return the state of a job with this report."""
    if report.stopped:
        return JobState.CANCELLED
    return JobState.PARTIAL if report.exit_code else JobState.SUCCEEDED


def describe_problem(error: EltLlmError) -> dict[str, Any]:
    """Return the stored form of an error."""
    return {"code": error.code, "detail": error.message, "hint": error.hint}


class _KeptRun:
    """One run of a job: stores its progress, and checks for a stop request."""

    def __init__(
        self, context: JobContext, record: JobRecord, patience: Patience
    ) -> None:
        self._given = context
        self._record = record
        self._patience = patience
        self._written = monotonic()
        self._pace: tuple[str, Pace] = ("", Pace(0))
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.context = replace(context, progress=self._note, stopped=self._must_stop)

    def _must_stop(self) -> bool:
        return self._patience.is_abandoned or self._given.stopped()

    def _note(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        self._given.progress(stage, done, total, detail)
        with self._lock:
            if self._pace[0] != stage:
                self._pace = (stage, Pace(0 if stage in UNEVEN else total or 0))
            left = self._pace[1].seconds_left(done)
            progress = JobProgress(
                stage=stage, done=done, total=total, detail=detail, seconds_left=left
            )
            self._record = self._record.model_copy(update={"progress": progress})
            now = monotonic()
            if now - self._written < PROGRESS_SECONDS:
                return
            self._written = now
            record = self._record
        self._given.store.jobs.update(record)

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Check for stop requests in the database during this block."""
        thread = threading.Thread(target=self._listen, name="job-watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def _listen(self) -> None:
        jobs = self._given.store.jobs
        try:
            while not self._ended.wait(LOOK_SECONDS):
                if jobs.must_stop(self._record.job_id):
                    self._patience.abandon()
                    return
        finally:
            jobs.close_reader()

    def end(
        self,
        state: JobState,
        report: JobReport | None = None,
        problem: dict[str, Any] | None = None,
    ) -> None:
        """Store the outcome of the job."""
        changes = {"state": state, "report": report, "problem": problem}
        with self._lock:
            self._record = self._record.model_copy(update=changes)
        self._given.store.jobs.update(self._record)
