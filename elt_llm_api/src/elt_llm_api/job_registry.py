"""Jobs started over HTTP or from the page: a thread each, one writer at a time."""

import logging
import secrets
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Any

from elt_llm_api.event_log import EventLog
from elt_llm_api.problems import describe
from elt_llm_api.uploads import Workspace
from elt_llm_core.errors import EltLlmError, StoreLockedError
from elt_llm_core.jobs import JobReport, Progress
from elt_llm_ingest.readers.pdf.liteparse import CURE as LOCKED_CURE

logger = logging.getLogger(__name__)

KEPT = 100  # finished jobs; older ones are forgotten with their files
PROGRESS_SECONDS = 0.2  # between two events of progress: what an eye can follow
SEND_AGAIN = "send the file again, with its password in the field password"


class JobState(StrEnum):
    """The state of a job."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass
class Job:
    """One run. Its thread alone changes it; `finished` is set last."""

    job_id: str
    kind: str
    folder: Path
    state: JobState = JobState.RUNNING
    stage: str = "starting"
    done: int = 0
    total: int | None = None
    detail: str = ""
    report: JobReport | None = None
    problem: dict[str, Any] | None = None
    finished: threading.Event = field(default_factory=threading.Event)
    events: EventLog = field(default_factory=EventLog)
    _reported: float = 0.0

    def note(
        self, stage: str, done: int, total: int | None = None, detail: str = ""
    ) -> None:
        """Record progress; the `Progress` of the job's context."""
        begins = stage != self.stage
        self.stage, self.done, self.total, self.detail = stage, done, total, detail
        now = monotonic()
        if begins or done == total or now - self._reported >= PROGRESS_SECONDS:
            self._reported = now
            names = ("stage", "done", "total", "detail")
            self.events.add("progress", {name: getattr(self, name) for name in names})

    def file(self, name: str) -> Path | None:
        """Return a file the job made, by the name its report gives it, or None."""
        path = Path(self.report.files.get(name, "")) if self.report else Path()
        inside = path.resolve().is_relative_to(self.folder.resolve())
        return path if path.is_file() and inside else None


Work = Callable[[Path, Progress], JobReport]


class JobRegistry:
    """Every job of this process, oldest first.

    Uploads of a job are deleted when it ends, its results when it is forgotten.
    """

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self.workspace = Workspace()

    def submit(self, kind: str, work: Work, folder: Path | None = None) -> Job:
        """Start a job in a thread.

        Args:
            kind: What the job is, for lists.
            work: Is called with a folder of its own and the progress of the job.
            folder: The folder, if it has uploads already.

        Raises:
            StoreLockedError: If another job runs; there is one writer.
        """
        with self._lock:
            self._check_idle()
            own = folder or self.workspace.new_folder()
            job = Job(secrets.token_hex(8), kind, own)
            self._jobs[job.job_id] = job
            for old in list(self._jobs)[:-KEPT]:
                remove_folder(self._jobs.pop(old).folder)
        name = f"job-{job.job_id}"
        threading.Thread(target=_run, args=(job, work), name=name, daemon=True).start()
        return job

    def check_idle(self) -> None:
        """Raise StoreLockedError, with the id of the job, if one runs."""
        with self._lock:
            self._check_idle()

    def _check_idle(self) -> None:
        for job in self._jobs.values():
            if not job.finished.is_set():
                raise StoreLockedError(f"job {job.job_id} ({job.kind})")

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
    try:
        job.report = _without_folder(work(job.folder, job.note), job.folder)
        partial = job.report.exit_code != 0
        job.state = JobState.PARTIAL if partial else JobState.SUCCEEDED
    except EltLlmError as error:
        _fail(job, error)
    except Exception as error:  # noqa: BLE001  # the thread's edge: reported in the job
        _fail(job, error)
    finally:
        if not (job.report and job.report.files):
            remove_folder(job.folder)
        job.finished.set()
        job.events.add("end", {"id": job.job_id, "state": job.state.value})
        job.events.close()


def _without_folder(report: JobReport, folder: Path) -> JobReport:
    """Return the report with uploads named as the user knows them."""
    notes = tuple(
        d.model_copy(update={"detail": _hide_folder(d.detail, folder)})
        for d in report.degradations
    )
    return report.model_copy(update={"degradations": notes})


def _fail(job: Job, error: Exception) -> None:
    body = describe(error)
    texts: dict[str, Any] = {
        name: _hide_folder(body[name], job.folder) for name in ("detail", "hint")
    }
    if "details" in body:
        texts["details"] = [_hide_folder(one, job.folder) for one in body["details"]]
    job.problem = body | texts
    job.state = JobState.FAILED


def _hide_folder(text: str, folder: Path) -> str:
    """Return a message without the server's folder and without a command to run."""
    return text.replace(f"{folder}/", "").replace(LOCKED_CURE, SEND_AGAIN)
