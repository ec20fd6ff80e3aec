"""Migrate a database of an earlier schema: first a copy, then one step at a time."""

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.store.database import rows, schema
from elt_llm_core.store.database import schema as tables
from elt_llm_core.store.database.codec import check_sum
from elt_llm_core.store.database.reader import FILE
from elt_llm_core.store.database.records import SCHEMA_VERSION
from elt_llm_core.store.maintenance import backup


def migrate(data_dir: Path) -> Path | None:
    """Migrate an older database; return the backup that was made before.

    The caller holds the writer lock. A crash leaves the old schema or the new one.
    Raises UnusableDatabaseError for a schema newer than this program, and
    StoreWriteError.
    """
    path = data_dir / FILE
    version = schema.peek(path) if path.exists() else 0
    schema.refuse_newer(version, path)
    if not version:
        return None
    with schema.open_database(path, "mode=rw") as connection, closing(connection):
        # The header of the file may be older than the log.
        version = schema.schema_of(connection)
        schema.refuse_newer(version, path)
        if version == SCHEMA_VERSION:
            return None
        kept = backup.next_file(data_dir, f"-schema_{version}")
        backup.copy_database(path, kept)
        crash_point(CrashPoint.MIGRATION_BACKED_UP)
        with schema.translate_errors(path):
            _step(connection, version)
    crash_point(CrashPoint.MIGRATED)
    return kept


def _step(connection: Connection, current: int) -> None:
    connection.execute("pragma synchronous = full")
    with schema.transaction(connection):
        for version in range(current, SCHEMA_VERSION):
            _STEPS[version](connection)
            crash_point(CrashPoint.MIGRATION_HALF)
        connection.execute(f"pragma user_version = {SCHEMA_VERSION}")


def _from_1(connection: Connection) -> None:
    """Add quarantine, stamped changes, and tables for large collections."""
    for statement in tables.statements(_FROM_1):
        connection.execute(statement)
    connection.create_function("check_sum", -1, check_sum, deterministic=True)
    connection.execute(
        "update node set place_sum = check_sum(metadata), "
        "index_sum = check_sum(index_text, vector)"
    )
    schema.put_meta(connection)
    for name, seq in connection.execute("select name, seq from collection").fetchall():
        rows.mark_change(connection, name, seq)


def _from_2(connection: Connection) -> None:
    """Add a checksum for each cached vector."""
    connection.create_function("check_sum", -1, check_sum, deterministic=True)
    for statement in tables.statements(_FROM_2):
        connection.execute(statement)


def _from_3(connection: Connection) -> None:
    """Add conversations."""
    for statement in tables.statements(tables.CONVERSATION):
        connection.execute(statement)


def _from_4(connection: Connection) -> None:
    """Add reviews of products."""
    for statement in tables.statements(tables.REVIEW):
        connection.execute(statement)


def _from_5(connection: Connection) -> None:
    """Add jobs, and numbered versions of texts."""
    for statement in tables.statements(f"{tables.JOB};\n{tables.VERSION}"):
        connection.execute(statement)


_VECTOR_2 = """
create table vector(
  num integer primary key, key blob not null unique, data blob not null)
"""
_FROM_1 = f"""
{tables.META};
{tables.CHANGE};
{tables.DOCUMENT_SHA256};
{tables.QUARANTINE};
alter table removed rename to old_removed;
drop index removed_seq;
{tables.REMOVED};
insert or ignore into removed select collection, seq, node_id from old_removed;
drop table old_removed;
alter table vector rename to old_vector;
{_VECTOR_2};
insert into vector(key, data) select key, data from old_vector;
drop table old_vector;
alter table node add column place_sum integer not null default 0;
alter table node add column index_sum integer not null default 0
"""
_FROM_2 = f"""
alter table vector rename to old_vector;
{tables.VECTOR};
insert into vector select num, key, data, check_sum(key, data) from old_vector;
drop table old_vector
"""
_STEPS: Mapping[int, Callable[[Connection], None]] = {
    1: _from_1,
    2: _from_2,
    3: _from_3,
    4: _from_4,
    5: _from_5,
}
