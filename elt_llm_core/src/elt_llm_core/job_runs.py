"""Running a job so that it is kept: its progress, its end, and whether it shall stop.

    report = run_kept(context, JobRecord(job_id="", kind="glossary"), runner)

Any process can ask the job to stop (`store.jobs.ask_to_stop`). Its process then ends
after the item at hand, and the connections to model servers of that item at once.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Any

from elt_llm_core.errors import AbandonedError, EltLlmError
from elt_llm_core.job_records import JobProgress, JobRecord, JobState
from elt_llm_core.jobs import JobContext, JobReport, Pace, Runner, run_job
from elt_llm_core.patience import Patience, current
from elt_llm_core.store.database.reader import FILE

# Between two writes of progress: a commit costs some milliseconds, a reader looks once
# a second at most.
PROGRESS_SECONDS = 1.0
LOOK_SECONDS = 0.5  # between two looks whether somebody asked the job to stop

Begun = Callable[[JobRecord, Patience], None]


def run_kept(
    context: JobContext,
    record: JobRecord,
    runner: Runner,
    begun: Begun | None = None,
) -> JobReport:
    """Run a job, and keep in the database how it goes.

    Args:
        context: The context of the job.
        record: Kind and options; see `JobRows.hold`.
        runner: The job.
        begun: Is told the kept record, and the patience that stops the job.

    Returns:
        The report; `stopped` is set where somebody asked the job to end.

    Raises:
        EltLlmError: What the runner raises; the job is kept as failed.
    """
    asked = current()
    patience = asked.fork() if asked else Patience()
    if not (context.store.data_dir / FILE).exists():
        return run_job(runner, context)  # no database: the job tells what is missing
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
    """Return the state in which a report leaves its job."""
    if report.stopped:
        return JobState.CANCELLED
    return JobState.PARTIAL if report.exit_code else JobState.SUCCEEDED


def describe_problem(error: EltLlmError) -> dict[str, Any]:
    """Return what is kept of an error."""
    return {"code": error.code, "detail": error.message, "hint": error.hint}


class _KeptRun:
    """One run of a job: writes its progress down, and listens for its end."""

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
                self._pace = (stage, Pace(total or 0))
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
        """In the body, whoever asks the job to stop in the database is heard."""
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
        """Keep how the job ended."""
        changes = {"state": state, "report": report, "problem": problem}
        with self._lock:
            self._record = self._record.model_copy(update=changes)
        self._given.store.jobs.update(self._record)
