"""Connections to the truth file for reading, one a thread."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from elt_llm_core.store import schema

FILE = "truth.sqlite3"


def file_at(path: Path) -> tuple[int, int] | None:
    """Which file lies there now: a restore puts another one in its place."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Reader:
    """Runs statements on the truth file of a data root and never changes it.

    Opening a root that is not there creates nothing; it holds no rows.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE
        self._local = threading.local()

    def connection(self) -> Connection | None:
        """This thread's connection, or None where there is no truth file."""
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
        """Everything read in the body belongs to the moment of its first statement."""
        connection = self.connection()
        if connection is None or connection.in_transaction:
            yield
            return
        with schema.faults_told(self.path):
            connection.execute("begin")
        try:
            yield
        finally:
            with schema.faults_told(self.path):
                connection.execute("commit")

    def rows(
        self, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> list[Any]:
        """All rows of a statement; none where there is no truth file."""
        connection = self.connection()
        if connection is None:
            return []
        with schema.faults_told(self.path):
            return connection.execute(statement, parameters).fetchall()
