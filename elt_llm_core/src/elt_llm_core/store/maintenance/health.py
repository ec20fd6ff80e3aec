"""Check the database file, and rebuild its word table if it is inconsistent."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import Connection, DatabaseError

from elt_llm_core.errors import NoDataError, UnusableDatabaseError
from elt_llm_core.store.database import schema, vectors
from elt_llm_core.store.database.damage import CURE
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.lock import LOCK, writer_lock
from elt_llm_core.store.database.reader import FILE


def require_sound(data_dir: Path) -> None:
    """Raise UnusableDatabaseError if SQLite finds the database damaged.

    It reads the whole file, one second per gigabyte; nothing is done without a file.
    """
    with closing(Database(data_dir)) as database:
        rows = database.rows("pragma quick_check(3)")
    faults = [str(row[0]) for row in rows if row != ("ok",)]
    if faults:
        raise UnusableDatabaseError(
            str(data_dir / FILE), f"is damaged: {'; '.join(faults)}", CURE
        )


def require_data(data_dir: Path) -> None:
    """Raise if there is no database file, and create nothing.

    Raises NoDataError without any trace of one, UnusableDatabaseError if it is missing.
    """
    path = data_dir / FILE
    if not path.exists():
        schema.require_whole(path)
        raise NoDataError(str(data_dir))


def words_agree(data_dir: Path) -> bool:
    """Return whether SQLite's full-text table has exactly the chunks' words.

    SQLite needs write access but changes nothing. Raises StoreLockedError while another
    process writes, StoreWriteError if the folder is not writable.
    """
    with _connection(data_dir) as connection:
        try:
            connection.execute(
                "insert into words(words, rank) values('integrity-check', 1)"
            )
        except DatabaseError as error:
            if "malformed" not in str(error):
                raise schema.translate(error, data_dir / FILE) from error
            return False
        return True


def rebuild_words(data_dir: Path) -> None:
    """Rebuild the full-text table from the chunks. Raises as `words_agree` does."""
    with _connection(data_dir) as connection:
        try:
            connection.execute("insert into words(words) values('rebuild')")
        except DatabaseError as error:
            raise schema.translate(error, data_dir / FILE) from error


def damaged_vectors(data_dir: Path) -> int:
    """Return the number of damaged cached vectors. Raises UnusableDatabaseError."""
    with closing(Database(data_dir)) as database:
        connection = database.connection()
        if connection is None:
            return 0
        with schema.translate_errors(data_dir / FILE):
            return len(vectors.all_damaged(connection))


def forget_damaged_vectors(data_dir: Path) -> int:
    """Delete the damaged cached vectors; return their number.

    The next ingest computes those that it needs. Raises as `words_agree` does.
    """
    path = data_dir / FILE
    with _connection(data_dir) as connection, schema.translate_errors(path):
        damaged_rows = vectors.all_damaged(connection)
        if damaged_rows:
            with schema.transaction(connection):
                vectors.forget(connection, damaged_rows)
        return len(damaged_rows)


@contextmanager
def _connection(data_dir: Path) -> Iterator[Connection]:
    with (
        writer_lock(data_dir / LOCK),
        closing(schema.connect_writer(data_dir / FILE)) as connection,
    ):
        yield connection
