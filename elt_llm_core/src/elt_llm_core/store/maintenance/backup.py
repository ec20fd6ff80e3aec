"""Complete copies of the database, made while others read and write."""

import fcntl
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import Connection, DatabaseError

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import (
    StoreError,
    StoreWriteError,
    UnusableDatabaseError,
    UsageError,
)
from elt_llm_core.files.atomic import fsync_folder
from elt_llm_core.identifiers import node_id
from elt_llm_core.records import Record
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store.database import disk_space, schema
from elt_llm_core.store.database.codec import check_sum
from elt_llm_core.store.database.damage import CURE
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.maintenance.health import require_data

SUMMED = 2  # the first schema whose rows have check sums
_ROWS = """
select n.node_id, n.document_id, d.config_key, n.ordinal, n.text, n.metadata,
  n.index_text, n.vector, n.place_sum, n.index_sum
from node n left join document d using (document_id)
"""


def row_fault(connection: Connection) -> str:
    """Return the fault of the first damaged chunk; empty if there is none.

    Reads every chunk once, one at a time: about a second for 100,000.
    """
    try:
        return next(_faults(connection), "")
    # A text that is no longer valid, or a value of another type than was stored.
    except (DatabaseError, ValueError, TypeError, AttributeError):
        return "a chunk cannot be read"


def _faults(connection: Connection) -> Iterator[str]:
    for (
        key,
        document,
        config,
        ordinal,
        text,
        place,
        words,
        vector,
        *sums,
    ) in connection.execute(_ROWS):
        if check_sum(place) != sums[0]:
            yield f"chunk {key}: the metadata were changed"
        if check_sum(words, vector) != sums[1]:
            yield f"chunk {key}: the index text or vector was changed"
        if key != node_id(document, config, ordinal, text):
            yield f"chunk {key}: the text was changed"


FOLDER = schema.BACKUPS
HOUR = 3600.0
ANOTHER = "choose an intact backup: elt-llm store backups"
_NO_COPY = "there is no backup; index the sources again with another --data-dir"
_NAME = re.compile(r"truth-(\d{8}T\d{6}Z)(-\w+)?\.sqlite3")
_STAMP = "%Y%m%dT%H%M%SZ"
_HALF = ".truth-"
_BESIDE = ("-journal", "-wal", "-shm")


class Backup(Record):
    """A backup in the data root. `made` is in UTC."""

    file: str
    made: str
    bytes: int
    schema_version: int


def stamp() -> str:
    """Return the present second in UTC, as used in names."""
    return datetime.now(UTC).strftime(_STAMP)


def next_file(data_dir: Path, note: str = "") -> Path:
    """Return the path of the next backup of a data root.

    Its time is later than that of every existing backup, even if the clock was set
    back, because backups are ordered by name.
    """
    moment = datetime.now(UTC)
    for newest in backup_files(data_dir)[:1]:
        moment = max(moment, _moment(newest) + timedelta(seconds=1))
    return data_dir / FOLDER / f"truth-{moment.strftime(_STAMP)}{note}.sqlite3"


def backup_files(data_dir: Path) -> list[Path]:
    """Return the backups of a data root, the newest first."""
    files = (data_dir / FOLDER).glob("truth-*.sqlite3")
    return sorted((p for p in files if _NAME.fullmatch(p.name)), reverse=True)


def backups(data_dir: Path) -> list[Backup]:
    """Return backups with data known without reading them, the newest first."""
    return [
        Backup(
            file=str(path),
            made=_moment(path).isoformat(),
            bytes=path.stat().st_size,
            schema_version=schema.peek(path),
        )
        for path in backup_files(data_dir)
    ]


def back_up(data_dir: Path, target: Path | None = None, kept: int = 0) -> Path:
    """Copy the database to `target`, or into the data root's folder; return the path.

    The newest `kept` in the data root stay, or all if it is 0; copies made before a
    migration stay. Raises NoDataError, UsageError for a target that a purge would not
    find, StoreWriteError, and UnusableDatabaseError if the database is damaged; then no
    copy is left and no earlier one removed.
    """
    require_data(data_dir)
    if target:
        _refuse_hidden(data_dir, target)
    made = target or next_file(data_dir)
    copy_database(data_dir / FILE, made, CURE if backup_files(data_dir) else _NO_COPY)
    if target is None and kept:
        prune(data_dir, kept)
    return made


def back_up_if_due(data_dir: Path, hours: float, kept: int) -> Degradation | None:
    """Copy the database if the newest copy is older than `hours` and outdated.

    With 0 hours nothing is done. If the disk is full or the database damaged, no copy
    is left and a notice is returned.
    """
    source = data_dir / FILE
    if not hours or not source.is_file() or not _is_due(data_dir, hours):
        return None
    try:
        disk_space.require_space(data_dir, _size(source))
        back_up(data_dir, kept=kept)
    except StoreError as error:
        kind = DegradationKind.BACKUP_SKIPPED
        return Degradation(kind=kind, detail=f"no backup was made: {error}")
    return None


def copy_database(source: Path, target: Path, cure: str = CURE) -> None:
    """Copy a database file to `target`, complete and checked, or not at all.

    Works during reads and writes. Raises UnusableDatabaseError, with a hint, if the
    source is damaged.
    """
    _sweep_folder(target.parent)
    with _half_made(target.parent) as half:
        with (
            schema.open_database(source, schema.read_mode(source)) as connection,
            closing(connection),
        ):
            # If the tables of the source are unreadable, SQLite blames the target.
            connection.execute("select count(*) from sqlite_master")
            connection.execute("vacuum into ?", (str(half),))
        check(half, source, cure)
        crash_point(CrashPoint.BACKUP_WRITTEN)
        half.replace(target)
        fsync_folder(target.parent)
    crash_point(CrashPoint.BACKED_UP)


def check(path: Path, name: Path | None = None, cure: str = ANOTHER) -> None:
    """Raise UnusableDatabaseError unless the file is sound and its schema known.

    Its chunks are compared with their checksums. Errors use `name` for it.
    """
    name = name or path
    with schema.open_database(path, "mode=rw") as connection, closing(connection):
        faults = connection.execute("pragma integrity_check(3)").fetchall()
        if faults != [("ok",)]:
            reasons = "; ".join(str(row[0]) for row in faults)
            raise _damage(name, reasons, cure)
        known = schema.schema_of(connection)
        schema.refuse_newer(known, name)
        if known >= SUMMED and (fault := row_fault(connection)):
            raise _damage(name, fault, cure)
    if not known:
        raise _damage(name, "it has no tables", cure)


def _damage(path: Path, reason: str, cure: str) -> UnusableDatabaseError:
    return UnusableDatabaseError(str(path), f"is damaged: {reason}", cure)


def _refuse_hidden(data_dir: Path, target: Path) -> None:
    """Refuse other places in the data root, where copies would not be found."""
    root, place = data_dir.resolve(), target.resolve()
    if place.is_relative_to(root) and place.parent != (root / FOLDER).resolve():
        raise UsageError(
            f"{target} is within the data root, but not in {data_dir / FOLDER}",
            "choose a path outside, or write it to the default folder: elt-llm "
            "store backup",
        )


def prune(data_dir: Path, kept: int) -> list[Path]:
    """Remove all but the newest `kept` backups; return those removed."""
    plain = [p for p in backup_files(data_dir) if not _is_named(p)]
    for path in plain[kept:]:
        path.unlink(missing_ok=True)
        crash_point(CrashPoint.BACKUP_PRUNED)
    return plain[kept:]


def sweep(data_dir: Path) -> None:
    """Remove unfinished files of killed processes that are not in use."""
    for folder in (data_dir, data_dir / FOLDER):
        _sweep_folder(folder)


def _sweep_folder(folder: Path) -> None:
    for path in folder.glob(f"{_HALF}*.tmp"):
        _sweep_one(path)


def _sweep_one(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return  # gone meanwhile
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove_half(path)
    except BlockingIOError:
        return  # a backup in progress
    finally:
        os.close(handle)


@contextmanager
def _half_made(folder: Path) -> Iterator[Path]:
    """Yield a new file in `folder`, locked while in use, removed afterwards."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=folder, prefix=_HALF, suffix=".tmp")
    except OSError as error:
        raise StoreWriteError(str(folder), error.strerror or str(error)) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield Path(name)
    except OSError as error:
        raise StoreWriteError(str(folder), error.strerror or str(error)) from error
    finally:
        _remove_half(Path(name))
        os.close(handle)


def _remove_half(path: Path) -> None:
    for ending in (*_BESIDE, ""):  # the file itself last: by it they are found again
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _is_due(data_dir: Path, hours: float) -> bool:
    newest = next(iter(backup_files(data_dir)), None)
    if newest is None:
        return True
    made, database = newest.stat().st_mtime, data_dir / FILE
    # A time in the future: the clock was set back since.
    if 0 <= time.time() - made <= hours * HOUR:
        return False
    return _modified_at(database) > made or _sequence(database) != _sequence(newest)


def _modified_at(path: Path) -> float:
    """Return the last write to the database, as a POSIX time."""
    log = Path(f"{path}-wal")
    return max(p.stat().st_mtime for p in (path, log) if p.exists())


def _sequence(path: Path) -> int | None:
    """Return the last change in a database file; None if it cannot be read."""
    mode = schema.read_mode(path)
    with suppress(StoreError), schema.open_database(path, mode) as file, closing(file):
        (number,) = file.execute("select value from counter").fetchone()
        return int(number)
    return None


def _size(path: Path) -> int:
    log = Path(f"{path}-wal")
    return sum(p.stat().st_size for p in (path, log) if p.exists())


def _moment(path: Path) -> datetime:
    """Return the time of a backup from its name."""
    match = _NAME.fullmatch(path.name)
    stamp = match.group(1) if match else ""
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)


def _is_named(path: Path) -> bool:
    match = _NAME.fullmatch(path.name)
    return bool(match and match.group(2))
