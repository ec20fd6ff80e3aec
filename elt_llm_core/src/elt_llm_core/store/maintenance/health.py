"""Whether the truth file is whole, and its word table made anew where it is not."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import Connection, DatabaseError

from elt_llm_core.errors import NoDataError, TruthError
from elt_llm_core.store.database import schema, vectors
from elt_llm_core.store.database.damage import CURE
from elt_llm_core.store.database.lock import LOCK, writer_lock
from elt_llm_core.store.database.reader import FILE, Truth


def require_sound(data_dir: Path) -> None:
    """Raise TruthError where SQLite finds the truth file damaged.

    Reads it through once, a second a gigabyte; nothing is done where there is none.
    """
    with closing(Truth(data_dir)) as truth:
        rows = truth.rows("pragma quick_check(3)")
    faults = [str(row[0]) for row in rows if row != ("ok",)]
    if faults:
        raise TruthError(str(data_dir / FILE), f"is damaged: {'; '.join(faults)}", CURE)


def require_data(data_dir: Path) -> None:
    """Raise where there is no truth file, and create nothing.

    NoDataError where there is no sign of one, TruthError where it is gone.
    """
    path = data_dir / FILE
    if not path.exists():
        schema.require_whole(path)
        raise NoDataError(str(data_dir))


def words_agree(data_dir: Path) -> bool:
    """Whether SQLite's full-text table holds the words of the chunks and no others.

    SQLite asks for the right to write, and changes nothing. Raises StoreLockedError
    while another process writes, StoreWriteError where the folder cannot be written.
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
    """Make the full-text table anew from the chunks. Raises as `words_agree` does."""
    with _connection(data_dir) as connection:
        try:
            connection.execute("insert into words(words) values('rebuild')")
        except DatabaseError as error:
            raise schema.translate(error, data_dir / FILE) from error


def damaged_vectors(data_dir: Path) -> int:
    """How many cached vectors are not as they were stored. Raises TruthError."""
    with closing(Truth(data_dir)) as truth:
        connection = truth.connection()
        if connection is None:
            return 0
        with schema.faults_told(data_dir / FILE):
            return len(vectors.all_damaged(connection))


def forget_damaged_vectors(data_dir: Path) -> int:
    """Delete the cached vectors that are not as they were stored; tells how many.

    The next ingest makes those again that it needs. Raises as `words_agree` does.
    """
    path = data_dir / FILE
    with _connection(data_dir) as connection, schema.faults_told(path):
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
