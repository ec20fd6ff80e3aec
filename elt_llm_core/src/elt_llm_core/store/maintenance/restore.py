"""Putting a backup in the place of the truth."""

import os
import shutil
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import StoreError, StoreWriteError, TruthError, UsageError
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
    """What was put back. `aside` is where the file it replaced was kept, if any.

    `skipped` tells of later copies that are not sound, one sentence each.
    """

    file: str
    aside: str = ""
    skipped: tuple[str, ...] = ()


def restore(data_dir: Path, chosen: str, wait: float = 0.0) -> Restored:
    """Put the backup `chosen` in the place of the truth.

    It is a file, or `latest`: the newest one in the data root that is sound.
    The truth that is there is kept aside, readable or not. Readers notice at their next
    statement. Indexes built from what came after the backup are not believed any more;
    `Writer.publish` builds them anew without embedding. A crash leaves the old truth or
    the new. Raises UsageError where there is no such backup, TruthError where it is
    damaged or of a later schema, StoreLockedError and StoreWriteError.
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
    """Copy the first that is sound; tells which, and why not those before it."""
    skipped: list[str] = []
    for source in sources:
        try:
            backup.copy_truth(source, ready, backup.ANOTHER)
        except TruthError as error:
            # A sound copy of a later program is not given up for an older one.
            if len(sources) == 1 or _is_newer(source):
                raise
            skipped.append(error.message)
        else:
            return source, skipped
    raise TruthError(
        str(sources[0]),
        f"is damaged, and so are the {len(sources) - 1} backups before it",
        "pass the file of a copy made elsewhere: elt-llm store restore FILE",
    )


def _is_newer(path: Path) -> bool:
    with suppress(TruthError):
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


def _swap(truth: Path, ready: Path) -> Path | None:
    """Put `ready` in the place of `truth`; tells where that is kept now."""
    aside = _set_aside(truth)
    crash_point(CrashPoint.RESTORE_ASIDE)
    # A log of the old file must never be taken for one of the new.
    _remove_logs(truth)
    crash_point(CrashPoint.RESTORE_BARE)
    if truth.is_dir():
        shutil.rmtree(truth)  # its content was moved aside
    ready.replace(truth)
    _remove_logs(truth)  # a reader of the old file may have begun one meanwhile
    fsync_folder(truth.parent)
    return aside


def _set_aside(truth: Path) -> Path | None:
    if not truth.exists():
        return None
    aside = truth.with_name(f"truth.damaged-{backup.stamp()}")
    if truth.is_dir():
        truth.rename(aside)
        return aside
    _fold_log(truth)
    for ending in ("", "-wal"):
        path = Path(f"{truth}{ending}")
        if path.exists() and (not ending or path.stat().st_size):
            _link(path, Path(f"{aside}{ending}"))
    fsync_folder(truth.parent)
    return aside


def _fold_log(truth: Path) -> None:
    """Put what the log has into the file, where the file is sound enough."""
    with suppress(StoreError):
        schema.peek(truth)
        with schema.open_database(truth, "mode=rw") as connection, closing(connection):
            schema.fold_log(connection)


def _link(path: Path, name: Path) -> None:
    """A second name for a file; a copy where the file system has no such thing."""
    name.unlink(missing_ok=True)
    try:
        os.link(path, name)
    except OSError:
        shutil.copy2(path, name)


def _remove_logs(truth: Path) -> None:
    for ending in _BESIDE:
        Path(f"{truth}{ending}").unlink(missing_ok=True)
