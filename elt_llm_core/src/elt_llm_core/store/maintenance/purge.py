"""Taking the bytes of removed documents out of every file, not only out of answers."""

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.records import Record
from elt_llm_core.store.database import disk_space, schema, vectors
from elt_llm_core.store.database.reader import FILE, Truth
from elt_llm_core.store.database.records import INDEXES
from elt_llm_core.store.index.manifest import IndexFolder

SLICE = 5_000
_BESIDE = ("-wal", "-shm", "-journal")
_UNUSED = "not exists (select 1 from document d where d.sha256 = original.sha256)"


class Purged(Record):
    """What a purge took away, and what still holds what was removed.

    `complete` is false where a reader kept the truth from being rewritten in place.
    """

    rebuilt: dict[str, int]
    vectors: int
    originals: int
    journal: int
    journal_kept: int
    bytes_before: int
    bytes_after: int
    remaining: tuple[str, ...] = ()
    complete: bool = True


class Purge:
    """One purge of a data root. The caller holds the writer lock.

    Every step can be done again: after a crash the same command finishes it.
    """

    def __init__(self, connection: Connection, truth: Truth, data_dir: Path) -> None:
        self._connection = connection
        self._truth = truth
        self._data_dir = data_dir
        self._path = data_dir / FILE

    def run(
        self,
        publish: Callable[[Sequence[str]], dict[str, int]],
        *,
        backups: bool,
        journal: bool,
    ) -> Purged:
        """Do it. `publish` builds the next generations of the collections it is given.

        Raises StoreWriteError before anything is done where there is no room.
        """
        before = _bytes_of(self._data_dir)
        disk_space.require_space(self._data_dir, self._path.stat().st_size)
        with schema.faults_told(self._path):
            self._connection.execute("pragma secure_delete = on")
            counts = self._forget(journal=journal)
            crash_point(CrashPoint.PURGE_FORGOTTEN)
            rebuilt = self._renew_indexes(publish)
            crash_point(CrashPoint.PURGE_REBUILT)
            with schema.transaction(self._connection):
                prune_history(self._connection, self._truth, self._data_dir)
            complete = self._rewrite()
        crash_point(CrashPoint.PURGE_VACUUMED)
        if backups:
            for path in copies(self._data_dir):
                _remove(path)
        remaining = copies(self._data_dir)
        crash_point(CrashPoint.PURGED)
        return Purged(
            rebuilt=rebuilt,
            **counts,
            bytes_before=before,
            bytes_after=_bytes_of(self._data_dir),
            remaining=tuple(str(p.relative_to(self._data_dir)) for p in remaining),
            complete=complete,
        )

    def _forget(self, *, journal: bool) -> dict[str, int]:
        """Rows that nothing stored needs any more; tells how many of each."""
        connection = self._connection
        self._note_used_vectors()
        with schema.transaction(connection):
            counts = {
                "vectors": connection.execute(
                    "delete from vector where key not in (select key from used)"
                ).rowcount,
                "originals": connection.execute(
                    f"delete from original where {_UNUSED}"
                ).rowcount,
                "journal": connection.execute("delete from batch_item").rowcount
                if journal
                else 0,
                "journal_kept": connection.execute(
                    "select count(*) from batch_item"
                ).fetchone()[0],
            }
            # What was deleted from the word index stays in it until it is made anew.
            connection.execute("insert into words(words) values('rebuild')")
        connection.execute("drop table temp.used")
        return counts

    def _note_used_vectors(self) -> None:
        """The keys of the vectors that stored chunks were made with."""
        connection = self._connection
        connection.execute("drop table if exists temp.used")
        connection.execute("create temp table used(key blob primary key) without rowid")
        texts = connection.execute(
            "select c.embedder_digest, n.index_text from node n "
            "join collection c on c.name = n.collection"
        )
        while rows := texts.fetchmany(SLICE):
            connection.executemany(
                "insert or ignore into used values(?)",
                [(vectors.vector_key(model, text),) for model, text in rows],
            )

    def _renew_indexes(
        self, publish: Callable[[Sequence[str]], dict[str, int]]
    ) -> dict[str, int]:
        """Generations that hold removed chunks, and earlier ones, are replaced."""
        names = [card.name for card in self._truth.collections()]
        rebuilt = publish([name for name in names if self._holds_removed(name)])
        for name in names:
            index = IndexFolder(self._data_dir, name)
            for generation in index.generations()[:-1]:
                shutil.rmtree(index.path(generation), ignore_errors=True)
        return rebuilt

    def _holds_removed(self, name: str) -> bool:
        """Whether the newest generation has what is gone, or cannot be read."""
        folder = IndexFolder(self._data_dir, name)
        generations, known = folder.generations(), folder.manifests()
        if not generations:
            return False
        if not known or known[0].generation != generations[-1]:
            return True
        newest = known[0]
        ours = self._truth.made(name, newest.seq, newest.stamp)
        return not ours or bool(self._truth.removed(name, newest.seq))

    def _rewrite(self) -> bool:
        """Write the truth anew without what was deleted; tells whether all of it."""
        self._truth.close()
        self._connection.execute("vacuum")
        (busy, _, _) = self._connection.execute(
            "pragma wal_checkpoint(truncate)"
        ).fetchone()
        return not busy


def copies(data_dir: Path) -> list[Path]:
    """What may hold earlier states of the truth, in order: files, and a folder aside.

    That is all in the backups folder, what a restore kept aside, and every other
    SQLite file that is neither the truth nor an index. Half-made copies are not told.
    """
    live = {data_dir / f"{FILE}{ending}" for ending in ("", *_BESIDE)}
    aside = set(data_dir.glob("truth.damaged-*"))
    paths = [*(data_dir / schema.BACKUPS).rglob("*"), *data_dir.rglob("*.sqlite3*")]
    files = {p for p in paths if _is_kept(p, data_dir) and not aside & {*p.parents}}
    return sorted((files | aside) - live)


def _is_kept(path: Path, data_dir: Path) -> bool:
    within = path.relative_to(data_dir)
    if within.parts[0] == INDEXES or path.name.startswith("."):
        return False
    return path.is_symlink() or path.is_file()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):  # what could not go is told as remaining
        path.unlink(missing_ok=True)


def prune_history(connection: Connection, truth: Truth, data_dir: Path) -> None:
    """Forget removals and changes that every generation on disk is past.

    The caller holds the transaction.
    """
    for card in truth.collections():
        oldest = IndexFolder(data_dir, card.name).oldest_seq()
        newest = truth.sequence(card.name)
        past = newest if oldest is None else oldest
        connection.execute(
            "delete from removed where collection = ? and seq <= ?", (card.name, past)
        )
        connection.execute(
            "delete from change where collection = ? and seq < ?", (card.name, past)
        )


def _bytes_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # gone meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total
