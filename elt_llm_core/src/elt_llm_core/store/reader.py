"""Connections to the truth file for reading, one a thread."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection, DatabaseError
from typing import Any

from elt_llm_core.store import schema

FILE = "truth.sqlite3"


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
        if held is None and self.path.exists():
            held = schema.connect_reader(self.path)
            self._local.connection = held
        return held

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
        connection.execute("begin")
        try:
            yield
        finally:
            connection.execute("commit")

    def rows(
        self, statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> list[Any]:
        """All rows of a statement; none where there is no truth file."""
        connection = self.connection()
        if connection is None:
            return []
        try:
            return connection.execute(statement, parameters).fetchall()
        except DatabaseError as error:
            raise schema.translate(error, self.path) from error
