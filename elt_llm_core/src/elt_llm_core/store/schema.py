"""The tables of the truth file, and how it is opened."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elt_llm_core.errors import StoreError, StoreLockedError, StoreWriteError
from elt_llm_core.store.records import SCHEMA_VERSION

TABLES = """
create table counter(name text primary key, value integer not null);
insert into counter values('seq', 0);
create table collection(
  name text primary key, embedder text not null, embedder_digest text not null,
  dimension integer not null, distance text not null, chunker text not null,
  epoch integer not null, seq integer not null);
create table original(sha256 text primary key, content blob not null);
create table document(
  document_id text primary key,
  collection text not null references collection(name) on delete cascade,
  uri text not null, part text not null, name text not null, title text not null,
  sha256 text not null, mime text not null, parser text not null,
  config_key text not null, page_count integer not null, warnings text not null,
  text blob not null, blocks blob not null, unique(collection, uri, part));
create table page(
  document_id text not null references document(document_id) on delete cascade,
  number integer not null, width real not null, height real not null,
  label text not null, words blob not null, primary key(document_id, number));
create table sidecar(
  document_id text not null references document(document_id) on delete cascade,
  kind text not null, name text not null, content blob not null,
  primary key(document_id, kind, name));
create table node(
  num integer primary key, node_id text not null unique,
  collection text not null references collection(name) on delete cascade,
  document_id text not null references document(document_id) on delete cascade,
  ordinal integer not null, kind text not null, section text not null,
  page integer, end_page integer, text text not null, index_text text not null,
  metadata text not null, vector blob not null, seq integer not null);
create index node_document on node(document_id, ordinal);
create index node_seq on node(collection, seq);
create table removed(
  collection text not null references collection(name) on delete cascade,
  node_id text not null, seq integer not null);
create index removed_seq on removed(collection, seq);
create virtual table words using fts5(
  index_text, content='node', content_rowid='num', tokenize='porter unicode61');
create table vector(key blob primary key, data blob not null) without rowid;
create table batch_item(
  key text primary key, run text not null, ordinal integer not null,
  item text not null, state text not null check(state in ('done', 'failed')),
  result text not null);
create index batch_run on batch_item(run, ordinal);
"""


class _Connection(sqlite3.Connection):
    """A connection that closes itself: threads end without telling it."""

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # it was never opened
            self.close()


def connect_writer(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode; makes the file and its tables where needed.

    The file is readable by its owner only. Raises StoreError for a file of a newer
    schema, or one that is no truth file.
    """
    try:
        path.touch(mode=0o600)
    except OSError as error:
        raise StoreWriteError(str(path), error.strerror or str(error)) from error
    with _opened(path, "mode=rw") as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        _create(connection)
        _check_version(connection, path)
    return connection


def connect_reader(path: Path) -> sqlite3.Connection | None:
    """A connection that cannot write; None where a writer has not made the tables yet.

    Raises StoreError as `connect_writer` does.
    """
    with _opened(path, "mode=ro") as connection:
        if not _version(connection):
            connection.close()
            return None
        _check_version(connection, path)
    return connection


@contextmanager
def _opened(path: Path, query: str) -> Iterator[sqlite3.Connection]:
    """A connection that stays open after the body, unless the body fails."""
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{query}",
            uri=True,
            isolation_level=None,
            timeout=30.0,
            check_same_thread=False,
            factory=_Connection,
        )
    except sqlite3.DatabaseError as error:
        raise translate(error, path) from error
    try:
        connection.execute("pragma foreign_keys = on")
        yield connection
    except sqlite3.DatabaseError as error:
        connection.close()
        raise translate(error, path) from error
    except StoreError:
        connection.close()
        raise


def translate(error: sqlite3.DatabaseError, path: Path) -> StoreError:
    """The error of the truth file as one of ours."""
    text = str(error)
    if "locked" in text:
        return StoreLockedError("another process")
    if any(sign in text for sign in ("full", "readonly", "unable to open", "disk I/O")):
        return StoreWriteError(str(path), text)
    return StoreError(
        f"the truth file {path} cannot be used: {text}",
        "check it with: elt-llm doctor",
    )


def _create(connection: sqlite3.Connection) -> None:
    if _version(connection):
        return
    connection.execute("begin immediate")
    if not _version(connection):
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
    connection.execute("commit")


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection)
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"the truth file {path} has schema {version}, this program knows "
            f"{SCHEMA_VERSION}",
            "use the program version that wrote it, or another --data-dir",
        )


def _version(connection: sqlite3.Connection) -> int:
    """The schema of an open file; 0 where it has no tables yet."""
    return int(connection.execute("pragma user_version").fetchone()[0])
