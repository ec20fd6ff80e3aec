"""Restore the database from a backup."""

import os
import shutil
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import (
    StoreError,
    StoreWriteError,
    UnusableDatabaseError,
    UsageError,
)
from elt_llm_core.files.atomic import fsync_folder
from elt_llm_core.records import Record
from elt_llm_core.store.database import schema
from elt_llm_core.store.database.lock import writer_lock
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.database.records import SCHEMA_VERSION
from elt_llm_core.store.index import publish
from elt_llm_core.store.maintenance import backup

LATEST = "latest"
_BESIDE = ("-wal", "-shm")


class Restored(Record):
    """The restored backup. `aside` is the path of the replaced file, if any.

    `skipped` has a sentence for each later copy that is damaged.
    """

    file: str
    aside: str = ""
    skipped: tuple[str, ...] = ()


def restore(data_dir: Path, chosen: str, wait: float = 0.0) -> Restored:
    """Replace the database with the backup `chosen`.

    It is a file, or `latest`: the newest sound one in the data root. The present
    database is kept in the same folder, readable or not. Readers notice at their next
    statement. Indexes built from later changes are no longer used; `Writer.publish`
    rebuilds them without embedding. A crash leaves the old database or the new one.
    Raises UsageError if there is no such backup, UnusableDatabaseError if it is damaged
    or has a later schema, StoreLockedError and StoreWriteError.
    """
    sources = _sources(data_dir, chosen)
    with writer_lock(data_dir / "LOCK", wait):
        backup.sweep(data_dir)
        ready = data_dir / ".truth-restored.tmp"
        try:
            source, skipped = _copy_first_sound(sources, ready)
            crash_point(CrashPoint.RESTORE_READY)
            aside = _swap(data_dir / FILE, ready)
            publish.discard_ahead(data_dir)
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreWriteError(str(error.filename or data_dir), reason) from error
        finally:
            ready.unlink(missing_ok=True)
    crash_point(CrashPoint.RESTORED)
    return Restored(file=str(source), aside=str(aside or ""), skipped=tuple(skipped))


def _copy_first_sound(sources: Sequence[Path], ready: Path) -> tuple[Path, list[str]]:
    """Copy the first sound backup; return it, and the faults of those before it."""
    skipped: list[str] = []
    for source in sources:
        try:
            backup.copy_database(source, ready, backup.ANOTHER)
        except UnusableDatabaseError as error:
            # A sound copy of a later program version is not skipped for an older copy.
            if len(sources) == 1 or _is_newer(source):
                raise
            skipped.append(error.message)
        else:
            return source, skipped
    raise UnusableDatabaseError(
        str(sources[0]),
        f"is damaged, and so are the {len(sources) - 1} backups before it",
        "pass the file of a copy made elsewhere: elt-llm store restore FILE",
    )


def _is_newer(path: Path) -> bool:
    with suppress(UnusableDatabaseError):
        return schema.peek(path) > SCHEMA_VERSION
    return False


def _sources(data_dir: Path, chosen: str) -> list[Path]:
    if chosen != LATEST:
        if not Path(chosen).is_file():
            raise UsageError(f"no backup {chosen}", "see: elt-llm store backups")
        return [Path(chosen)]
    files = backup.backup_files(data_dir)
    if not files:
        raise UsageError(
            f"there is no backup in {data_dir / backup.FOLDER}",
            "pass the file of a backup: elt-llm store restore FILE",
        )
    return files


def _swap(database: Path, ready: Path) -> Path | None:
    """Replace `database` by `ready`; return where the old file is kept."""
    aside = _set_aside(database)
    crash_point(CrashPoint.RESTORE_ASIDE)
    # A log of the old file must never be applied to the new one.
    _remove_logs(database)
    crash_point(CrashPoint.RESTORE_BARE)
    if database.is_dir():
        shutil.rmtree(database)  # its content was moved before
    ready.replace(database)
    _remove_logs(
        database
    )  # a reader of the old file may have created one in the meantime
    fsync_folder(database.parent)
    return aside


def _set_aside(database: Path) -> Path | None:
    if not database.exists():
        return None
    aside = database.with_name(f"truth.damaged-{backup.stamp()}")
    if database.is_dir():
        database.rename(aside)
        return aside
    _fold_log(database)
    for ending in ("", "-wal"):
        path = Path(f"{database}{ending}")
        if path.exists() and (not ending or path.stat().st_size):
            _link(path, Path(f"{aside}{ending}"))
    fsync_folder(database.parent)
    return aside


def _fold_log(database: Path) -> None:
    """Checkpoint the log, if the file is sound enough."""
    with suppress(StoreError):
        schema.peek(database)
        with (
            schema.open_database(database, "mode=rw") as connection,
            closing(connection),
        ):
            schema.fold_log(connection)


def _link(path: Path, name: Path) -> None:
    """Create a hard link to a file, or a copy if the file system has no links."""
    name.unlink(missing_ok=True)
    try:
        os.link(path, name)
    except OSError:
        shutil.copy2(path, name)


def _remove_logs(database: Path) -> None:
    for ending in _BESIDE:
        Path(f"{database}{ending}").unlink(missing_ok=True)
