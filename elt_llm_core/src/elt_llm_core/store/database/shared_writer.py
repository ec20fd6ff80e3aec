"""A connection for short changes without the writer lock, such as a message."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from threading import Lock

from elt_llm_core.errors import NoDataError
from elt_llm_core.store.database import schema
from elt_llm_core.store.database.reader import FILE, file_at


class SharedWriter:
    """Runs one transaction at a time, for all threads.

    SQLite lets one process write at a time; the others wait up to 30 s. The connection
    is opened by the first change, and again after a restore replaced the database.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._path = data_dir / FILE
        self._lock = Lock()
        self._connection: Connection | None = None
        self._file: tuple[int, int] | None = None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Run this block as one transaction.

        Raises:
            NoDataError: If there is no database yet.
            UnusableDatabaseError: If its schema is older or newer than this program's.
            StoreWriteError: If the disk is full or read-only.
            StoreLockedError: If another process writes for more than 30 s.
        """
        with self._lock:
            connection = self._connect()
            with schema.translate_errors(self._path), schema.transaction(connection):
                yield connection

    def close(self) -> None:
        """Close the connection; the next change opens another."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connect(self) -> Connection:
        file = file_at(self._path)
        if file is None:
            schema.require_whole(self._path)
            raise NoDataError(str(self._data_dir))
        if self._connection is None or file != self._file:
            self._connection = schema.connect_writer(self._path)
            self._file = file
        return self._connection
