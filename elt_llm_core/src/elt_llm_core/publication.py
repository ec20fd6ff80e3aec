"""Publish the files of a job together, without overwriting edited files.

The journal of the data root contains the digest of every file that was written. A file
whose content has no such digest was edited by a person or comes from elsewhere: it is
kept, and the whole set is written next to it under a new name.

Several files cannot be renamed in one step, so the plan is committed before the first
byte is written. The next publication in the data root completes an interrupted plan if
all of its files are complete, and removes its parts otherwise. A plan whose folder
cannot be reached waits without blocking others: `doctor` names it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import StoreWriteError
from elt_llm_core.files.atomic import fsync_folder, write_atomic
from elt_llm_core.identifiers import item_key
from elt_llm_core.records import Record
from elt_llm_core.store import Store
from elt_llm_core.store.database.journal import Journal
from elt_llm_core.store.database.lock import writer_lock

LOCK = "LOCK-FILES"
PATIENCE = 10.0  # seconds; another publication takes milliseconds
WRITTEN, PLANNED = "files.written", "files.planned"  # runs of the journal


class _Move(Record):
    """One step of a plan: the content of `digest` is moved from `aside` to `target`."""

    aside: Path
    target: Path
    digest: str


class Publication(Record):
    """The published paths. `kept` are edited files that were not overwritten."""

    paths: tuple[Path, ...]
    kept: tuple[Path, ...] = ()


def publish(store: Store, files: Sequence[tuple[Path, str | bytes]]) -> Publication:
    """Write all files, or none.

    Args:
        store: The data root, which records the written files.
        files: Path and content of each file, text as UTF-8; the paths differ.

    Returns:
        The written paths, in order. They are the given ones, or all with `.new`,
        `.new-2` ... before the extension if one of the given was edited.

    Raises:
        StoreWriteError: If writing fails; then nothing was published.
        StoreLockedError: If another publication in this data root does not end.
    """
    contents = [c.encode("utf-8") if isinstance(c, str) else c for _, c in files]
    with writer_lock(store.data_dir / LOCK, PATIENCE):
        for row in store.journal.rows(PLANNED):
            with suppress(StoreWriteError):  # its disk may be available again later
                _finish(store.journal, row["key"], row["result"])
        paths, kept = _places(store.journal, [p for p, _ in files], contents)
        _publish(store.journal, paths, contents)
    return Publication(paths=tuple(paths), kept=tuple(kept))


def is_replaceable(store: Store, path: Path) -> bool:
    """Return whether `path` is free, or an unchanged file of this program.

    Raises:
        StoreWriteError: If it cannot be read.
    """
    return _is_free(store.journal, path, None)


def release_file(store: Store, path: Path) -> None:
    """Allow the next publication to replace an edited file.

    Args:
        store: The data root, which records the written files.
        path: The file, whose contents have been imported.
    """
    key = _key(_digest(path.read_bytes()))
    store.journal.put(WRITTEN, key, 0, path.name, result={"path": str(path)})


def beside(path: Path, number: int) -> Path:
    """Return `glossary.new.csv` for number 1, `glossary.new-2.csv` for 2."""
    mark = "new" if number == 1 else f"new-{number}"
    return path.with_name(f"{path.stem}.{mark}{path.suffix}")


def _places(
    journal: Journal, paths: Sequence[Path], contents: Sequence[bytes]
) -> tuple[list[Path], list[Path]]:
    """Return the first names for the whole set, and the files in the way."""
    kept: list[Path] = []
    for number in count():
        tried = [beside(path, number) if number else path for path in paths]
        edited = [
            path
            for path, content in zip(tried, contents, strict=True)
            if not _is_free(journal, path, content)
        ]
        if not edited:
            return tried, kept
        kept += edited
    raise AssertionError  # count() does not end


def _is_free(journal: Journal, path: Path, content: bytes | None) -> bool:
    """Return whether nothing is at `path`, or the same content, or our own file."""
    try:
        held = path.read_bytes()
    except FileNotFoundError:
        return True
    except OSError as error:  # a folder, or a file without permission
        raise StoreWriteError(str(path), error.strerror or str(error)) from error
    return held == content or journal.get(_key(_digest(held))) is not None


def _publish(
    journal: Journal, paths: Sequence[Path], contents: Sequence[bytes]
) -> None:
    moves = [
        _move(path.absolute(), _digest(content))
        for path, content in zip(paths, contents, strict=True)
    ]
    for move in moves:
        result = {"path": str(move.target)}
        journal.put(WRITTEN, _key(move.digest), 0, move.target.name, result=result)
    key = item_key(PLANNED, *(str(move.target) for move in moves))
    plan = {"moves": [move.model_dump(mode="json") for move in moves]}
    journal.put(PLANNED, key, 0, moves[0].target.name, result=plan)
    crash_point(CrashPoint.FILES_PLANNED)
    try:
        for move, content in zip(moves, contents, strict=True):
            _write(move.aside, content)
            crash_point(CrashPoint.FILE_ASIDE)
    except (OSError, StoreWriteError):
        _withdraw(journal, key, moves)
        raise
    crash_point(CrashPoint.FILES_ASIDE)
    _finish(journal, key, plan)
    crash_point(CrashPoint.FILES_PUBLISHED)


def list_unfinished(store: Store) -> list[Path]:
    """Return the files of interrupted publications that cannot be completed yet.

    Args:
        store: The data root, which records the planned files.

    Returns:
        The planned paths, sorted.
    """
    rows = store.journal.rows(PLANNED)
    return sorted(
        _Move.model_validate(move).target
        for row in rows
        for move in row["result"]["moves"]
    )


def _withdraw(journal: Journal, key: str, moves: Sequence[_Move]) -> None:
    """Drop a plan without any moved file, and remove its parts."""
    for move in moves:
        with suppress(OSError):  # a part in a removed folder is removed with it
            move.aside.unlink(missing_ok=True)
    journal.put(PLANNED, key, 0, moves[0].target.name, result={"moves": []})


def _move(target: Path, digest: str) -> _Move:
    aside = target.with_name(f".{target.name[:40]}.{digest[:16]}.tmp")
    return _Move(aside=aside, target=target, digest=digest)


def _write(path: Path, content: bytes) -> None:
    write_atomic(path, content)


def _finish(journal: Journal, key: str, plan: Mapping[str, Any]) -> None:
    """Complete a plan if all of its files are complete; otherwise remove its parts."""
    moves = [_Move.model_validate(move) for move in plan["moves"]]
    if not moves:
        return
    try:
        if all(_is_whole(move) for move in moves):
            for move in moves:
                _replace(journal, move)
        for move in moves:
            move.aside.unlink(missing_ok=True)
        for folder in sorted({move.target.parent for move in moves}):
            if folder.is_dir():
                fsync_folder(folder)
    except OSError as error:
        path = error.filename or str(moves[0].target)
        raise StoreWriteError(path, error.strerror or str(error)) from error
    journal.put(PLANNED, key, 0, moves[0].target.name, result={"moves": []})


def _is_whole(move: _Move) -> bool:
    return move.digest in (_digest_at(move.aside), _digest_at(move.target))


def _replace(journal: Journal, move: _Move) -> None:
    """Move the new content into place, unless the old one was edited meanwhile."""
    held = _digest_at(move.target)
    if held and held != move.digest and journal.get(_key(held)) is None:
        return
    if held != move.digest:
        move.aside.replace(move.target)
    crash_point(CrashPoint.FILE_REPLACED)


def _digest_at(path: Path) -> str:
    with suppress(FileNotFoundError):
        return _digest(path.read_bytes())
    return ""


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _key(digest: str) -> str:
    return item_key(WRITTEN, digest)
