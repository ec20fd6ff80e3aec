"""Jobs in the database: what runs, how it ended, and what can go on.

A process that works on a job holds the lock of the job's folder, which the system frees
with the process. A job that the database says is running, and whose lock nobody holds,
was interrupted: nothing has to be written down when a process is killed.
"""

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import JobNotFoundError
from elt_llm_core.job_records import JobRecord, JobState
from elt_llm_core.store.database.lock import lock_holder, writer_lock
from elt_llm_core.store.database.reader import Reader

JOBS = "jobs"  # the folder in a data root: uploads and results, a folder for each job
LOCK = "LOCK"
KEPT = 100  # ended jobs; a page of a list, and uploads do not fill the disk
_COLUMNS = "job_id, kind, state, created, changed, content"
_OUTSIDE = frozenset({"job_id", "kind", "state", "created", "changed"})


class JobRows:
    """The jobs of a data root."""

    def __init__(
        self,
        truth: Reader,
        transaction: Callable[[], AbstractContextManager[Connection]],
        data_dir: Path,
    ) -> None:
        self._truth = truth
        self._transaction = transaction
        self._folder = data_dir / JOBS

    def folder(self, job_id: str) -> Path:
        """Return the folder of a job, which may not be there."""
        return self._folder / job_id

    @contextmanager
    def hold(self, record: JobRecord) -> Iterator[JobRecord]:
        """Keep a job in the database, and hold its lock, for the body.

        Of the jobs that ended all but the newest 100 are forgotten, with their files.

        Args:
            record: The job; without an id it gets a random one. A job of that id that
                was kept before is replaced.

        Raises:
            NoDataError: If there is no database yet.
            StoreLockedError: If a process works on this job already.
        """
        job_id = record.job_id or new_job_id()
        now = _now()
        own = {"job_id": job_id, "created": record.created or now, "pid": os.getpid()}
        record = record.model_copy(update=own)
        with writer_lock(self.folder(job_id) / LOCK):
            self._put(record, now)
            crash_point(CrashPoint.JOB_BEGUN)
            self.forget_old(KEPT)
            yield record
            crash_point(CrashPoint.JOB_DONE)
        folder = self.folder(job_id)
        with suppress(OSError):  # a folder with uploads or results stays
            if [path.name for path in folder.iterdir()] == [LOCK]:
                shutil.rmtree(folder)

    def update(self, record: JobRecord) -> None:
        """Write a job as it is now; whether it was asked to stop stays."""
        content = _content(record)
        with self._transaction() as connection:
            connection.execute(
                "update job set state = ?, changed = ?, content = ? where job_id = ?",
                (record.state.value, _now(), content, record.job_id),
            )

    def get(self, job_id: str) -> JobRecord:
        """Return a job.

        Raises:
            JobNotFoundError: If there is none of that id.
        """
        rows = self._truth.rows(
            f"select {_COLUMNS} from job where job_id = ?", (job_id,)
        )
        if not rows:
            raise JobNotFoundError(job_id)
        return self._record(rows[0])

    def all(self, most: int = KEPT) -> list[JobRecord]:
        """Return the jobs, the one begun last first."""
        rows = self._truth.rows(
            f"select {_COLUMNS} from job order by num desc limit ?", (most,)
        )
        return [self._record(row) for row in rows]

    def ask_to_stop(self, job_id: str) -> JobRecord:
        """Ask a job to end; its process does, wherever it is.

        Raises:
            JobNotFoundError: If there is none of that id.
        """
        with self._transaction() as connection:
            connection.execute("update job set stop = 1 where job_id = ?", (job_id,))
        return self.get(job_id)

    def must_stop(self, job_id: str) -> bool:
        """Whether somebody asked a job to end."""
        rows = self._truth.rows("select stop from job where job_id = ?", (job_id,))
        return bool(rows and rows[0][0])

    def close_reader(self) -> None:
        """Close the connection of a thread that ends."""
        self._truth.close()

    def forget(self, job_id: str) -> None:
        """Forget a job that ended, with its folder.

        Raises:
            JobNotFoundError: If there is none of that id.
            UsageError: If it has not ended.
        """
        record = self.get(job_id)
        record.require_ended()
        with self._transaction() as connection:
            connection.execute("delete from job where job_id = ?", (job_id,))
        shutil.rmtree(self.folder(job_id), ignore_errors=True)

    def forget_old(self, kept: int) -> None:
        """Forget ended jobs but the newest."""
        for record in self.all(-1)[kept:]:
            if record.state.has_ended:
                self.forget(record.job_id)

    def _put(self, record: JobRecord, now: str) -> None:
        row = (record.job_id, record.kind, record.state.value, record.created, now)
        with self._transaction() as connection:
            connection.execute("delete from job where job_id = ?", (record.job_id,))
            connection.execute(
                "insert into job(job_id, kind, state, created, changed, content) "
                "values(?, ?, ?, ?, ?, ?)",
                (*row, _content(record)),
            )

    def _record(self, row: tuple[Any, ...]) -> JobRecord:
        names = ("job_id", "kind", "state", "created", "changed")
        known = dict(zip(names, row[:5], strict=True))
        record = JobRecord.model_validate({**known, **json.loads(row[5])})
        alive = record.state.has_ended or lock_holder(self.folder(record.job_id) / LOCK)
        if alive:
            return record
        return record.model_copy(update={"state": JobState.INTERRUPTED})


def new_job_id() -> str:
    """Return a random id."""
    return secrets.token_hex(8)


def _content(record: JobRecord) -> str:
    plain = record.model_dump(mode="json", exclude=set(_OUTSIDE), exclude_defaults=True)
    return json.dumps(plain, ensure_ascii=False, sort_keys=True)


def _now() -> str:
    """The time, for people: the order of jobs is that of their rows."""
    return datetime.now(UTC).isoformat(timespec="seconds")
