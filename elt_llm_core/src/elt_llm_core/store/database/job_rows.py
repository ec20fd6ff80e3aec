"""Jobs in the database: their state, their outcome, and how to resume them.

A process that works on a job holds the lock of the job's folder, which the system
releases with the process. A job that is marked as running and whose lock is free was
interrupted, so nothing has to be recorded when a process is killed.
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
KEPT = 100  # ended jobs that are kept: one page of a list, and limited disk space
_COLUMNS = "job_id, kind, state, created, changed, content"
_OUTSIDE = frozenset({"job_id", "kind", "state", "created", "changed"})


class JobRows:
    """The jobs of a data root."""

    def __init__(
        self,
        database: Reader,
        transaction: Callable[[], AbstractContextManager[Connection]],
        data_dir: Path,
    ) -> None:
        self._database = database
        self._transaction = transaction
        self._folder = data_dir / JOBS

    def folder(self, job_id: str) -> Path:
        """Return the folder of a job, which may not exist."""
        return self._folder / job_id

    @contextmanager
    def hold(self, record: JobRecord) -> Iterator[JobRecord]:
        """Store a job and hold its lock during this block.

        Of the jobs that ended, all but the newest 100 are deleted, with their files.

        Args:
            record: The job; without an id it gets a random one. A stored job with that
                id is replaced.

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
        """Store the present state of a job; a stop request stays."""
        content = _content(record)
        with self._transaction() as connection:
            connection.execute(
                "update job set state = ?, changed = ?, content = ? where job_id = ?",
                (record.state.value, _now(), content, record.job_id),
            )

    def get(self, job_id: str) -> JobRecord:
        """Return a job.

        Raises:
            JobNotFoundError: If there is none with that id.
        """
        rows = self._database.rows(
            f"select {_COLUMNS} from job where job_id = ?", (job_id,)
        )
        if not rows:
            raise JobNotFoundError(job_id)
        return self._record(rows[0])

    def all(self, most: int = KEPT) -> list[JobRecord]:
        """Return the jobs, the most recently started first."""
        rows = self._database.rows(
            f"select {_COLUMNS} from job order by num desc limit ?", (most,)
        )
        return [self._record(row) for row in rows]

    def ask_to_stop(self, job_id: str) -> JobRecord:
        """Request a job to end, in whatever process it runs.

        Raises:
            JobNotFoundError: If there is none with that id.
        """
        with self._transaction() as connection:
            connection.execute("update job set stop = 1 where job_id = ?", (job_id,))
        return self.get(job_id)

    def must_stop(self, job_id: str) -> bool:
        """Return whether a job was requested to end."""
        rows = self._database.rows("select stop from job where job_id = ?", (job_id,))
        return bool(rows and rows[0][0])

    def close_reader(self) -> None:
        """Close the connection of an ending thread."""
        self._database.close()

    def forget(self, job_id: str) -> None:
        """Delete a job that ended, with its folder.

        Raises:
            JobNotFoundError: If there is none with that id.
            UsageError: If it has not ended.
        """
        record = self.get(job_id)
        record.require_ended()
        with self._transaction() as connection:
            connection.execute("delete from job where job_id = ?", (job_id,))
        shutil.rmtree(self.folder(job_id), ignore_errors=True)

    def forget_old(self, kept: int) -> None:
        """Delete ended jobs except the newest."""
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
    """Return the time for display; the order of jobs is that of their rows."""
    return datetime.now(UTC).isoformat(timespec="seconds")
