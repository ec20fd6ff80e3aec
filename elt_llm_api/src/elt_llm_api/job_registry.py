"""Jobs started over HTTP or from the page: one thread each, one writer at a time."""

import logging
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from elt_llm_api.event_log import EventLog
from elt_llm_api.problems import describe
from elt_llm_api.uploads import Workspace
from elt_llm_core.errors import (
    AbandonedError,
    BusyError,
    EltLlmError,
    StoreLockedError,
)
from elt_llm_core.job_records import JobState
from elt_llm_core.job_runs import state_of
from elt_llm_core.jobs import JobReport, Progress
from elt_llm_core.patience import Patience
from elt_llm_ingest.readers.pdf.liteparse import CURE as LOCKED_CURE

logger = logging.getLogger(__name__)

# Concurrent writing jobs: each calls models and reads whole collections.
WRITTEN_AT_ONCE = 4
BUSY_SECONDS = 30  # seconds after which one of them may have ended
KEPT = 100  # finished jobs that are kept; older ones are deleted with their files
PROGRESS_SECONDS = 0.2  # seconds between two progress events
SEND_AGAIN = "send the file again, with its password in the field password"


@dataclass
class Job:
    """One run. Only its thread changes it, the state last."""

    job_id: str
    kind: str
    folder: Path
    exclusive: bool = True
    state: JobState = JobState.RUNNING
    stage: str = "starting"
    done: int = 0
    total: int | None = None
    detail: str = ""
    report: JobReport | None = None
    problem: dict[str, Any] | None = None
    finished: threading.Event = field(default_factory=threading.Event)
    patience: Patience = field(default_factory=Patience)
    events: EventLog = field(default_factory=EventLog)
    _reported: float = 0.0

    def note(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        """Record progress, as the `Progress` of the job's context."""
        begins = stage != self.stage
        self.stage, self.done, self.total, self.detail = stage, done, total, detail
        now = monotonic()
        if begins or done == total or now - self._reported >= PROGRESS_SECONDS:
            self._reported = now
            names = ("stage", "done", "total", "detail")
            self.events.add("progress", {name: getattr(self, name) for name in names})

    def cancel(self) -> None:
        """Request the job to end after its item, and its model calls at once."""
        self.patience.abandon()

    def file(self, name: str) -> Path | None:
        """Return a file of the job by its name in the report, or None."""
        path = Path(self.report.files.get(name, "")) if self.report else Path()
        inside = path.resolve().is_relative_to(self.folder.resolve())
        return path if path.is_file() and inside else None


Work = Callable[[Path, Progress], JobReport]


class JobRegistry:
    """Every job of this process, oldest first.

    Uploads of a job are deleted when it ends, its results when it is removed.
    """

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self.workspace = Workspace()

    def submit(
        self,
        kind: str,
        work: Work,
        folder: Path | None = None,
        *,
        exclusive: bool = True,
    ) -> Job:
        """Start a job in a thread.

        Args:
            kind: The kind of job, for lists.
            work: Called with its own folder and the progress of the job.
            folder: The folder, if it already has uploads.
            exclusive: Whether it may change documents; only one such job runs at a
                time.

        Raises:
            StoreLockedError: If another job runs; there is one writer.
            BusyError: If the maximum number of concurrent jobs is running.
        """
        with self._lock:
            if exclusive:
                self._check_idle()
            else:
                self._check_room()
            own = folder or self.workspace.new_folder()
            job = Job(own.name, kind, own, exclusive)
            self._jobs[job.job_id] = job
            for old in list(self._jobs)[:-KEPT]:
                if self._jobs[old].finished.is_set():
                    remove_folder(self._jobs.pop(old).folder)
        name = f"job-{job.job_id}"
        threading.Thread(target=_run, args=(job, work), name=name, daemon=True).start()
        return job

    def check_idle(self) -> None:
        """Raise StoreLockedError, with the id of the job, if one is running."""
        with self._lock:
            self._check_idle()

    def _check_idle(self) -> None:
        for job in self._jobs.values():
            if job.exclusive and job.state is JobState.RUNNING:
                raise StoreLockedError(f"job {job.job_id} ({job.kind})")

    def _check_room(self) -> None:
        running = [j for j in self._jobs.values() if j.state is JobState.RUNNING]
        if sum(not job.exclusive for job in running) >= WRITTEN_AT_ONCE:
            raise BusyError(BUSY_SECONDS, "writing as many texts")

    def get(self, job_id: str) -> Job | None:
        """Return the job with that id, or None."""
        with self._lock:
            return self._jobs.get(job_id)

    def all(self) -> list[Job]:
        """Return every job, newest first."""
        with self._lock:
            return list(reversed(self._jobs.values()))

    def close(self) -> None:
        """Delete the files of all jobs."""
        self.workspace.close()


def remove_folder(folder: Path) -> None:
    """Delete the files of a job; a failure is logged."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        logger.warning("cannot remove %s: %s", folder, error)


def _run(job: Job, work: Work) -> None:
    state = JobState.FAILED
    try:
        with job.patience.apply():
            report = work(job.folder, job.note)
        job.report = _without_folder(report, job.folder)
        state = state_of(report)
    except AbandonedError:
        state = JobState.CANCELLED
    except EltLlmError as error:
        job.problem = _describe(job, error)
    except Exception as error:  # noqa: BLE001  # the thread's edge: reported in the job
        job.problem = _describe(job, error)
    finally:
        if not (job.report and job.report.files):
            remove_folder(job.folder)
        # A client that sees the end of a job may start the next one at once.
        job.state = state
        job.finished.set()
        job.events.add("end", {"id": job.job_id, "state": job.state.value})
        job.events.close()


def _without_folder(report: JobReport, folder: Path) -> JobReport:
    """Return the report with uploads under their original names."""
    notes = tuple(
        d.model_copy(update={"detail": _hide_folder(d.detail, folder)})
        for d in report.degradations
    )
    return report.model_copy(update={"degradations": notes})


def _describe(job: Job, error: Exception) -> dict[str, Any]:
    """Return the problem document of an error, without the server's folder."""
    body = describe(error)
    texts: dict[str, Any] = {
        name: _hide_folder(body[name], job.folder) for name in ("detail", "hint")
    }
    if "details" in body:
        texts["details"] = [_hide_folder(one, job.folder) for one in body["details"]]
    return body | texts


def _hide_folder(text: str, folder: Path) -> str:
    """Return a message without the server's folder and without a command."""
    return text.replace(f"{folder}/", "").replace(LOCKED_CURE, SEND_AGAIN)
