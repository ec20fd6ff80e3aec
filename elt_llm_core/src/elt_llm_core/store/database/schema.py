"""Open the database file, check its schema, and translate its errors."""

import errno
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.metadata import version as package_version
from pathlib import Path

from elt_llm_core.errors import (
    StoreError,
    StoreLockedError,
    StoreWriteError,
    UnusableDatabaseError,
)
from elt_llm_core.store.database.records import INDEXES, SCHEMA_VERSION

# Prefixes of the keys in `meta` for the priority of a collection or a document.
COLLECTION_PRIORITY = "priority:collection:"
DOCUMENT_PRIORITY = "priority:document:"
TITLE = "title:"  # prefix of the key in `meta` for the title of a collection
META = "create table meta(key text primary key, value text not null) without rowid"
CHANGE = """
create table change(
  collection text not null references collection(name) on delete cascade,
  seq integer not null, stamp blob not null,
  primary key(collection, seq)) without rowid
"""
QUARANTINE = """
create table quarantine(
  node_id text primary key references node(node_id) on delete cascade,
  collection text not null references collection(name) on delete cascade,
  document_id text not null references document(document_id) on delete cascade,
  reason text not null);
create index quarantine_collection on quarantine(collection);
create index quarantine_document on quarantine(document_id)
"""
REMOVED = """
create table removed(
  collection text not null references collection(name) on delete cascade,
  seq integer not null, node_id text not null,
  primary key(collection, seq, node_id)) without rowid
"""
VECTOR = """
create table vector(
  num integer primary key, key blob not null unique, data blob not null,
  data_sum integer not null)
"""
# A message with a non-empty `turn` belongs to an incomplete turn.
CONVERSATION = """
create table conversation(
  conversation_id text primary key, owner text not null, title text not null,
  created text not null, last_used text not null, used integer not null);
create index conversation_owner on conversation(owner, used);
create table message(
  conversation_id text not null
    references conversation(conversation_id) on delete cascade,
  ordinal integer not null, turn text not null,
  role text not null check(role in ('user', 'assistant')), created text not null,
  text text not null, content text not null, primary key(conversation_id, ordinal))
"""
# Every revision of a decision is kept; the newest is the state of its item.
REVIEW = """
create table review_item(
  product text not null, item_id text not null, ordinal integer not null,
  content blob not null, primary key(product, item_id)) without rowid;
create table review(
  num integer primary key, product text not null, item_id text not null,
  revision integer not null check(revision > 0), content text not null,
  unique(product, item_id, revision));
create trigger review_is_kept before update on review
begin select raise(abort, 'decisions are never changed'); end;
create trigger review_stays before delete on review
begin select raise(abort, 'decisions are never removed'); end;
create table review_sheet(
  num integer primary key, sheet_id text not null unique, product text not null,
  content blob not null)
"""
# `stop` is 1 once a job was requested to end; its process polls it.
JOB = """
create table job(
  num integer primary key, job_id text not null unique, kind text not null,
  state text not null, stop integer not null default 0, created text not null,
  changed text not null, content text not null)
"""
# Texts on a subject, such as the summaries of a topic. Numbers are never reused, even
# after the newest version was deleted.
VERSION = """
create table numbering(
  kind text not null, subject text not null, last integer not null,
  primary key(kind, subject)) without rowid;
create table version(
  num integer primary key, kind text not null, subject text not null,
  number integer not null check(number > 0), created text not null,
  key text not null, content text not null, unique(kind, subject, number))
"""
DOCUMENT_SHA256 = "create index document_sha256 on document(sha256)"

TABLES = f"""
{META};
create table counter(name text primary key, value integer not null);
insert into counter values('seq', 0);
create table collection(
  name text primary key, embedder text not null, embedder_digest text not null,
  dimension integer not null, distance text not null, chunker text not null,
  epoch integer not null, seq integer not null);
{CHANGE};
create table original(sha256 text primary key, content blob not null);
create table document(
  document_id text primary key,
  collection text not null references collection(name) on delete cascade,
  uri text not null, part text not null, name text not null, title text not null,
  sha256 text not null, mime text not null, parser text not null,
  config_key text not null, page_count integer not null, warnings text not null,
  text blob not null, blocks blob not null, unique(collection, uri, part));
{DOCUMENT_SHA256};
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
  metadata text not null, vector blob not null, seq integer not null,
  place_sum integer not null default 0, index_sum integer not null default 0);
create index node_document on node(document_id, ordinal);
create index node_seq on node(collection, seq);
{QUARANTINE};
{REMOVED};
create virtual table words using fts5(
  index_text, content='node', content_rowid='num', tokenize='porter unicode61');
{VECTOR};
create table batch_item(
  key text primary key, run text not null, ordinal integer not null,
  item text not null, state text not null check(state in ('done', 'failed')),
  result text not null);
create index batch_run on batch_item(run, ordinal);
{CONVERSATION};
{REVIEW};
{JOB};
{VERSION}
"""


def statements(script: str) -> list[str]:
    """Split a script into statements, so that they fit into one transaction."""
    return [part.strip() for part in script.split(";\n") if part.strip()]


BACKUPS = "backups"
WAL_BYTES = 64_000_000
CACHE_KIB = 65_536
CHECKPOINT_PAGES = 4_000
_ANYBODY_WRITES = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
HEADER_BYTES = 100  # of every SQLite file
_RESTORE = "restore it: elt-llm store restore latest"
_WRITE_SIGNS = ("full", "readonly", "unable to open", "disk I/O")


class _Connection(sqlite3.Connection):
    """A connection that closes itself, because threads end without notice."""

    def __del__(self) -> None:
        with suppress(sqlite3.ProgrammingError):  # never opened
            self.close()


def connect_writer(path: Path) -> sqlite3.Connection:
    """Return a connection in autocommit mode; create file and tables if missing.

    The file is readable by its owner only. Raises UnusableDatabaseError for a file with
    another schema, or one that is not a database.
    """
    _make(path)
    with open_database(path, "mode=rw") as connection:
        version = schema_of(connection)
        if version:
            check_schema(version, path)
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        connection.execute(f"pragma journal_size_limit = {WAL_BYTES}")
        connection.execute(f"pragma cache_size = -{CACHE_KIB}")
        connection.execute(f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
        if not version:
            _refuse_to_forget(path, "holds nothing")
            _create(connection)
    return connection


def connect_reader(path: Path) -> sqlite3.Connection | None:
    """Return a read-only connection; None if the tables do not exist yet.

    Raises the UnusableDatabaseError of `connect_writer`.
    """
    refuse_newer(peek(path), path)
    try:
        with open_database(path, read_mode(path)) as connection:
            version = schema_of(connection)
            if not version:
                connection.close()
                _refuse_to_forget(path, "holds nothing")
                return None
            check_schema(version, path)
    except StoreWriteError as error:
        reason = f"cannot be read without its write-ahead log: {error.__cause__}"
        cure = "make the folder writable for this user, or copy it to a writable place"
        raise UnusableDatabaseError(str(path), reason, cure) from error
    return connection


@contextmanager
def open_database(path: Path, query: str) -> Iterator[sqlite3.Connection]:
    """Yield a connection that stays open after this block, unless it fails."""
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
    """Return the project's error for an SQLite error."""
    text = str(error)
    if "locked" in text:
        return StoreLockedError("another process")
    if any(sign in text for sign in _WRITE_SIGNS):
        return StoreWriteError(str(path), text)
    return UnusableDatabaseError(str(path), f"cannot be used: {text}", _RESTORE)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run this block as one transaction."""
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Convert SQLite's errors in this block to the project's errors."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise translate(error, path) from error


def schema_of(connection: sqlite3.Connection) -> int:
    """Return the schema of an open file; 0 without tables."""
    return int(connection.execute("pragma user_version").fetchone()[0])


def peek(path: Path) -> int:
    """Return the schema in the file's header, without opening the database.

    It is 0 for an empty file. Raises UnusableDatabaseError for other files and
    unreadable ones.
    """
    size = _readable_size(path)
    if not size:
        return 0
    if size < HEADER_BYTES:
        raise UnusableDatabaseError(str(path), "is truncated", _RESTORE)
    # Through SQLite: opening and closing the file directly would release the locks of
    # every connection of this process, and the next process to exit would remove the
    # log that is still in use.
    with open_database(path, "mode=ro&immutable=1") as connection, closing(connection):
        # A full disk may interrupt the checkpoint of the log: the header counts pages
        # that are still in the log. That is no damage.
        connection.execute("pragma writable_schema = on")
        try:
            return schema_of(connection)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise
            raise UnusableDatabaseError(
                str(path), "is not an SQLite file", _RESTORE
            ) from error


def _readable_size(path: Path) -> int:
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        reason = error.strerror or str(error)
        cure = (
            "make it readable and writable for this user, or choose another --data-dir"
        )
        raise UnusableDatabaseError(
            str(path), f"cannot be read: {reason}", cure
        ) from error
    return size


def refuse_newer(version: int, path: Path) -> None:
    """Raise UnusableDatabaseError for a schema of a later version of the program."""
    if version > SCHEMA_VERSION:
        raise UnusableDatabaseError(
            str(path),
            f"has schema {version}, this program supports {SCHEMA_VERSION}; "
            "nothing was changed",
            "use the version of the program that wrote it, or another --data-dir",
        )


def check_schema(version: int, path: Path) -> None:
    """Raise UnusableDatabaseError, with a hint, for another program's schema."""
    refuse_newer(version, path)
    if version < SCHEMA_VERSION:
        raise UnusableDatabaseError(
            str(path),
            f"has the older schema {version}, this program reads {SCHEMA_VERSION}",
            "migrate it (a backup is made first): elt-llm store migrate",
        )


def fold_log(connection: sqlite3.Connection) -> None:
    """Checkpoint the log, so that the file alone is complete.

    The log stays if a reader still needs it or the disk is full; nothing is lost.
    """
    with suppress(sqlite3.DatabaseError):
        connection.execute("pragma busy_timeout = 100")
        connection.execute("pragma wal_checkpoint(passive)")
        connection.execute("pragma wal_checkpoint(truncate)")


def put_meta(connection: sqlite3.Connection) -> None:
    """Record the creator of the file, and a unique name of the data root."""
    connection.executemany(
        "insert into meta values(?, ?)",
        [
            ("made_by", f"elt-llm-core {package_version('elt-llm-core')}"),
            ("root", secrets.token_hex(16)),
        ],
    )


def require_whole(path: Path) -> None:
    """Raise UnusableDatabaseError if indexes exist but the file is missing or empty."""
    try:
        if path.is_file() and path.stat().st_size:
            return
    except PermissionError as error:
        reason = f"cannot be reached: {error.strerror}"
        raise UnusableDatabaseError(
            str(path), reason, "run the command as the owner of the folder"
        ) from error
    _refuse_to_forget(path, "is empty" if path.exists() else "is gone")


def _refuse_to_forget(path: Path, how: str) -> None:
    """Raise UnusableDatabaseError if indexes or backups show that data was lost."""
    indexes = (path.parent / INDEXES).glob("*/gen-*")
    backups = (path.parent / BACKUPS).glob("truth-*.sqlite3")
    for left in (*indexes, *backups):
        raise UnusableDatabaseError(
            str(path),
            f"{how}, although {left.relative_to(path.parent)} is there",
            f"{_RESTORE}, or remove {path.parent} to start over",
        )


def read_mode(path: Path) -> str:
    """Return SQLite's mode for reading the file.

    Without a writable folder for its log SQLite cannot read a file, unless it is opened
    as immutable, which is safe only if nobody may write to it.
    """
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        return "mode=ro"
    return "mode=ro&immutable=1" if _is_read_only(path) else "mode=ro"


def _is_read_only(path: Path) -> bool:
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        return True
    places = (path, path.parent)
    return not any(place.stat().st_mode & _ANYBODY_WRITES for place in places)


def _make(path: Path) -> None:
    """Create an empty file, readable by its owner only, if there is none."""
    require_whole(path)
    if path.exists():
        refuse_newer(peek(path), path)
        return
    try:
        path.touch(mode=0o600)
    except OSError as error:
        raise StoreWriteError(str(path), error.strerror or str(error)) from error


def _create(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        if schema_of(connection):
            return  # another process created it first
        for statement in statements(TABLES):
            connection.execute(statement)
        put_meta(connection)
        connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
