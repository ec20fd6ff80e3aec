"""Run statements on the database file of a data root without changing it."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from elt_llm_core.store.database import schema

FILE = "truth.sqlite3"


def file_at(path: Path) -> tuple[int, int] | None:
    """Return the identity of the file at a path, which a restore replaces."""
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


class Reader:
    """Runs statements on the database of a data root without changing it.

    Opening a missing root creates nothing; it has no rows.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE
        self._local = threading.local()

    def connection(self) -> Connection | None:
        """Return this thread's connection, or None without a database file."""
        held: Connection | None = getattr(self._local, "connection", None)
        if held is not None and held.in_transaction:
            return held
        file = file_at(self.path)
        if held is not None and file == self._local.file:
            return held
        self.close()
        if file is None:
            schema.require_whole(self.path)
            return None
        self._local.connection = schema.connect_reader(self.path)
        self._local.file = file
        opened: Connection | None = self._local.connection
        return opened

    def close(self) -> None:
        """Close this thread's connection."""
        held: Connection | None = getattr(self._local, "connection", None)
        if held is not None:
            held.close()
            self._local.connection = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read from one consistent snapshot in this block."""
        connection = self.connection()
        if connection is None or connection.in_transaction:
            yield
            return
        with schema.translate_errors(self.path):
            connection.execute("begin")
        try:
            yield
        finally:
            with schema.translate_errors(self.path):
                connection.execute("commit")

    def rows(
        self, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> list[Any]:
        """Return all rows of a statement; none without a database file."""
        connection = self.connection()
        if connection is None:
            return []
        with schema.translate_errors(self.path):
            return connection.execute(statement, parameters).fetchall()
