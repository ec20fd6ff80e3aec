"""Batch items: one row each, committed when finished, so that no work is repeated."""

import json
from collections.abc import Callable
from sqlite3 import Connection
from typing import Any

from elt_llm_core.store.database import schema
from elt_llm_core.store.database.reader import Reader

_APPEND = (
    "insert into batch_item select ?, ?, coalesce(max(ordinal), 0) + 1, ?, 'done', ? "
    "from batch_item where run = ?"
)
_FORGET = (
    "delete from batch_item where run = ? and ordinal <= "
    "(select max(ordinal) from batch_item where run = ?) - ?"
)


class Journal:
    """The rows of the batch journal."""

    def __init__(self, database: Reader, write: Callable[[], Connection]) -> None:
        self._database = database
        self._write = write

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the result of a finished item, or None."""
        rows = self._database.rows(
            "select result from batch_item where key = ? and state = 'done'", (key,)
        )
        return json.loads(rows[0][0]) if rows else None

    def put(
        self,
        run: str,
        key: str,
        ordinal: int,
        item: str,
        *,
        result: dict[str, Any],
        state: str = "done",
    ) -> None:
        """Store one item; a later one with the same key replaces it.

        `state` is `done` or `failed`; a failed item's result is its error, not content.
        """
        text = json.dumps(result, ensure_ascii=False, sort_keys=True)
        with schema.translate_errors(self._database.path):
            self._write().execute(
                "insert or replace into batch_item values(?, ?, ?, ?, ?, ?)",
                (key, run, ordinal, item, state, text),
            )

    def append(
        self, run: str, key: str, item: str, *, result: dict[str, Any], most: int
    ) -> None:
        """Append one item to a run of which the newest `most` are kept."""
        text = json.dumps(result, ensure_ascii=False, sort_keys=True)
        with schema.translate_errors(self._database.path):
            connection = self._write()
            # Threads share the connection: each statement is a separate transaction.
            connection.execute(_APPEND, (key, run, item, text, run))
            connection.execute(_FORGET, (run, run, most))

    def rows(self, run: str) -> list[dict[str, Any]]:
        """Return the items of a run in order: key, ordinal, item, state, result."""
        rows = self._database.rows(
            "select key, ordinal, item, state, result from batch_item where run = ? "
            "order by ordinal, key",
            (run,),
        )
        names = ("key", "ordinal", "item", "state", "result")
        return [
            {**dict(zip(names, row, strict=True)), "result": json.loads(row[4])}
            for row in rows
        ]
