"""The cost of a day's model calls, over all processes on the same database."""

from collections.abc import Callable, Mapping
from sqlite3 import Connection

from elt_llm_core.store.database import schema
from elt_llm_core.store.database.reader import Reader

SPENT = "spent:"  # prefix of the keys in `meta`: spent:<day>:<unit>

# One statement is one transaction, so that concurrent processes see each other's sums.
_ADD = (
    "insert into meta values(?, ?) on conflict(key) do update "
    "set value = value + excluded.value"
)
_TAKE = (
    "insert into meta values(?, '1') on conflict(key) do update "
    "set value = value + 1 where ? = 0 or value + 0 < ? returning value"
)


class DayLedger:
    """The sums of a day by unit, in the database."""

    def __init__(self, database: Reader, write: Callable[[], Connection]) -> None:
        self._database = database
        self._write = write

    def take_call(self, day: str, most: float) -> bool:
        """Count one more call, unless the limit is reached.

        Args:
            day: A day such as 2026-01-31.
            most: Maximum calls of that day; 0 for no limit.

        Returns:
            False if the call is refused and was not counted.
        """
        with schema.translate_errors(self._database.path):
            key = f"{SPENT}{day}:calls"
            given = self._write().execute(_TAKE, (key, most, most))
            return bool(given.fetchall())

    def add(self, day: str, amounts: Mapping[str, float]) -> None:
        """Add to the sums of a day, and delete those of earlier days."""
        with schema.translate_errors(self._database.path):
            connection = self._write()
            for unit, amount in sorted(amounts.items()):
                connection.execute(_ADD, (f"{SPENT}{day}:{unit}", str(amount)))
            earlier = (SPENT, f"{SPENT}{day}")
            connection.execute("delete from meta where key >= ? and key < ?", earlier)

    def sums(self, day: str) -> dict[str, float]:
        """Return the usage of that day by unit, without zeros."""
        begin = f"{SPENT}{day}:"
        with schema.translate_errors(self._database.path):
            rows = self._write().execute(
                "select key, value + 0 from meta where key >= ? and key < ?",
                (begin, f"{SPENT}{day};"),  # the semicolon comes after the colon
            )
            return {key.removeprefix(begin): value for key, value in rows}
