"""Erase the bytes of removed documents from every file."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.records import Record
from elt_llm_core.store.database import disk_space, schema, vectors
from elt_llm_core.store.database.codec import unpack_json
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.database.records import INDEXES
from elt_llm_core.store.index.manifest import IndexFolder

SLICE = 5_000
OUTPUT = "output"  # default output files of products
_BESIDE = ("-wal", "-shm", "-journal")
_UNUSED = "not exists (select 1 from document d where d.sha256 = original.sha256)"
# Conversations and stored texts that cite a removed document.
_CITES_REMOVED = """
exists (select 1 from json_tree({content}) t where t.key = 'document_id'
  and not exists (select 1 from document d where d.document_id = t.atom))
"""
_QUOTING = {
    "conversation": "conversation_id in (select m.conversation_id from message m "
    f"where {_CITES_REMOVED.format(content='m.content')})",
    "version": _CITES_REMOVED.format(content="version.content"),
}


class Purged(Record):
    """The result of a purge, and what still contains removed text.

    `texts` are the conversations, stored texts and generated rows of products that cite
    removed documents, `decisions` the decisions of reviews, which keep their texts.
    `outputs` are product files in the data root. `complete` is false if a reader
    prevented the database from being rewritten in place.
    """

    rebuilt: dict[str, int]
    vectors: int
    originals: int
    journal: int
    journal_kept: int
    texts: int
    texts_kept: int
    decisions: int
    bytes_before: int
    bytes_after: int
    remaining: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    complete: bool = True


class Purge:
    """One purge of a data root. The caller holds the writer lock.

    Every step is repeatable: after a crash the same command finishes it.
    """

    def __init__(
        self, connection: Connection, database: Database, data_dir: Path
    ) -> None:
        self._connection = connection
        self._database = database
        self._data_dir = data_dir
        self._path = data_dir / FILE

    def run(
        self,
        publish: Callable[[Sequence[str]], dict[str, int]],
        *,
        backups: bool,
        journal: bool,
        texts: bool,
    ) -> Purged:
        """Run the purge. `publish` builds the next generations of given collections.

        Raises StoreWriteError before any change if the disk is too full.
        """
        before = _bytes_of(self._data_dir)
        disk_space.require_space(self._data_dir, self._path.stat().st_size)
        with schema.translate_errors(self._path):
            self._connection.execute("pragma secure_delete = on")
            counts = self._forget(journal=journal, texts=texts)
            crash_point(CrashPoint.PURGE_FORGOTTEN)
            rebuilt = self._renew_indexes(publish)
            crash_point(CrashPoint.PURGE_REBUILT)
            with schema.transaction(self._connection):
                prune_history(self._connection, self._database, self._data_dir)
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
            remaining=_names(remaining, self._data_dir),
            outputs=_names(outputs(self._data_dir), self._data_dir),
            complete=complete,
        )

    def _forget(self, *, journal: bool, texts: bool) -> dict[str, int]:
        """Delete rows that nothing references any more; return the numbers."""
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
                "texts": self._count_quoting(delete=True) if texts else 0,
                "texts_kept": self._count_quoting(),
                "journal_kept": self._count("batch_item"),
                "decisions": self._count("review"),
            }
            # Deleted words stay in the word index until it is rebuilt.
            connection.execute("insert into words(words) values('rebuild')")
        connection.execute("drop table temp.used")
        return counts

    def _count_quoting(self, *, delete: bool = False) -> int:
        """Count, or delete, the texts that quote removed documents."""
        rows = self._quoting_rows()
        if not delete:
            texts = (self._count(f"{t} where {q}") for t, q in _QUOTING.items())
            return sum(texts) + len(rows)
        connection = self._connection
        statement = "delete from review_item where product = ? and item_id = ?"
        connection.executemany(statement, rows)
        # A sheet is the base of a merge and contains all rows of its product.
        products = sorted({(product,) for product, _ in rows})
        connection.executemany("delete from review_sheet where product = ?", products)
        return len(rows) + sum(
            connection.execute(f"delete from {table} where {quoting}").rowcount
            for table, quoting in _QUOTING.items()
        )

    def _quoting_rows(self) -> list[tuple[str, str]]:
        """Return product and id of generated rows that name a removed document."""
        documents = self._connection.execute(
            "select document_id, name, title from document"
        ).fetchall()
        ids = {row[0] for row in documents}
        names = {name for row in documents for name in row[1:]}
        rows = self._connection.execute(
            "select product, item_id, content from review_item"
        )
        return [
            (product, item)
            for product, item, content in rows
            if any(
                value and value not in (ids if key == "document_id" else names)
                for key, value in _documents_in(unpack_json(content))
            )
        ]

    def _count(self, rows: str) -> int:
        row = self._connection.execute(f"select count(*) from {rows}").fetchone()
        return int(row[0])

    def _note_used_vectors(self) -> None:
        """Record the keys of the vectors of stored chunks."""
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
        """Replace generations with removed chunks, and earlier ones."""
        names = [card.name for card in self._database.collections()]
        rebuilt = publish([name for name in names if self._holds_removed(name)])
        for name in names:
            index = IndexFolder(self._data_dir, name)
            for generation in index.generations()[:-1]:
                shutil.rmtree(index.path(generation), ignore_errors=True)
        return rebuilt

    def _holds_removed(self, name: str) -> bool:
        """Return whether the newest generation has removed chunks, or is unreadable."""
        folder = IndexFolder(self._data_dir, name)
        generations, known = folder.generations(), folder.manifests()
        if not generations:
            return False
        if not known or known[0].generation != generations[-1]:
            return True
        newest = known[0]
        ours = self._database.has_change(name, newest.seq, newest.stamp)
        return not ours or bool(self._database.removed_nodes(name, newest.seq))

    def _rewrite(self) -> bool:
        """Rewrite the database without deleted data; return whether it was complete."""
        self._database.close()
        self._connection.execute("vacuum")
        (busy, _, _) = self._connection.execute(
            "pragma wal_checkpoint(truncate)"
        ).fetchone()
        return not busy


def _names(paths: Iterable[Path], data_dir: Path) -> tuple[str, ...]:
    return tuple(str(path.relative_to(data_dir)) for path in paths)


def _documents_in(content: Any) -> Iterator[tuple[str, str]]:
    """Yield each document that a product row names, with the key of its name."""
    if isinstance(content, Mapping):
        for key, value in content.items():
            if key in {"document_id", "document"} and isinstance(value, str):
                yield key, value
            else:
                yield from _documents_in(value)
    elif isinstance(content, list):
        for value in content:
            yield from _documents_in(value)


def outputs(data_dir: Path) -> list[Path]:
    """Return the product files in the data root, in order."""
    return sorted(p for p in (data_dir / OUTPUT).rglob("*") if p.is_file())


def copies(data_dir: Path) -> list[Path]:
    """Return files with earlier states of the database, in order.

    These are all files of the backups folder, files kept by a restore, and every other
    SQLite file that is neither the database nor an index, without unfinished copies.
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
    with suppress(OSError):  # files that could not be deleted are reported
        path.unlink(missing_ok=True)


def prune_history(connection: Connection, database: Database, data_dir: Path) -> None:
    """Delete removals and changes that every generation on disk includes.

    The caller holds the transaction.
    """
    for card in database.collections():
        oldest = IndexFolder(data_dir, card.name).oldest_seq()
        newest = database.sequence(card.name)
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
