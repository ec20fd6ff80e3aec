"""Numbered versions in the database: reports, topic summaries, concept reports."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from sqlite3 import Connection
from typing import Any

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import VersionNotFoundError
from elt_llm_core.store.database.reader import Reader
from elt_llm_core.versions import Version, VersionKind, VersionRow

_NUMBER = (
    "insert into numbering values(?, ?, 1) "
    "on conflict(kind, subject) do update set last = last + 1 returning last"
)
_WHOLE = "select kind, subject, number, created, key, content from version"
_ROWS = """
select kind, subject, json_extract(content, '$.title'), number, created,
  json_extract(content, '$.sources_digest'),
  coalesce(json_extract(content, '$.collections'), '[]'),
  coalesce(json_extract(content, '$.document_id'), '')
from version where kind = ? and (? = '' or subject = ?) order by subject, number
"""


class Versions:
    """The versions of a data root.

    Content is one JSON object with `title`, `collections` and `sources_digest`.
    """

    def __init__(
        self,
        database: Reader,
        transaction: Callable[[], AbstractContextManager[Connection]],
    ) -> None:
        self._database = database
        self._transaction = transaction

    def add(
        self,
        kind: VersionKind,
        subject: str,
        key: str,
        content: Mapping[str, Any],
        *,
        again: bool = False,
    ) -> Version:
        """Store a text under the next number of its subject.

        Args:
            kind: The kind of text.
            subject: The id of a template, a topic or a concept.
            key: A key of all inputs. If the newest version has the same key and
                content, it is returned and nothing is written.
            content: The text, with `title`, `collections` and `sources_digest`.
            again: Whether to give equal content a new number too.

        Raises:
            NoDataError: If there is no database yet.
        """
        text = json.dumps(dict(content), ensure_ascii=False, sort_keys=True)
        with self._transaction() as connection:
            row = connection.execute(
                f"{_WHOLE} where kind = ? and subject = ? order by number desc limit 1",
                (kind.value, subject),
            ).fetchone()
            if row is not None and row[4:] == (key, text) and not again:
                return _version(row)
            (number,) = connection.execute(_NUMBER, (kind.value, subject)).fetchone()
            now = datetime.now(UTC).isoformat(timespec="seconds")
            row = (kind.value, subject, number, now, key, text)
            connection.execute(
                "insert into version(kind, subject, number, created, key, content) "
                "values(?, ?, ?, ?, ?, ?)",
                row,
            )
            crash_point(CrashPoint.VERSION_WRITTEN)
        return _version(row)

    def get(
        self, kind: VersionKind, subject: str, number: int | None = None
    ) -> Version:
        """Return a version, by default the newest of its subject.

        Raises:
            VersionNotFoundError: If there is none.
        """
        rows = self._database.rows(
            f"{_WHOLE} where kind = ? and subject = ? and (? is null or number = ?) "
            "order by number desc limit 1",
            (kind.value, subject, number, number),
        )
        if not rows:
            raise VersionNotFoundError(kind.value, subject, number)
        return _version(rows[0])

    def rows(self, kind: VersionKind, subject: str = "") -> list[VersionRow]:
        """Return the versions of a kind, of one subject or of all, by number."""
        return [
            VersionRow(
                kind=VersionKind(row[0]),
                subject=row[1],
                title=row[2] or row[1],
                number=row[3],
                created=row[4],
                sources=row[5] or "",
                collections=tuple(json.loads(row[6])),
                document_id=row[7],
            )
            for row in self._database.rows(_ROWS, (kind.value, subject, subject))
        ]

    def delete(self, kind: VersionKind, subject: str, number: int) -> None:
        """Delete a version; its number is not reused.

        Raises:
            VersionNotFoundError: If there is none with that number.
        """
        with self._transaction() as connection:
            done = connection.execute(
                "delete from version where kind = ? and subject = ? and number = ?",
                (kind.value, subject, number),
            )
        if not done.rowcount:
            raise VersionNotFoundError(kind.value, subject, number)


def _version(row: tuple[Any, ...]) -> Version:
    names = ("kind", "subject", "number", "created", "key")
    known = dict(zip(names, row[:5], strict=True))
    return Version.model_validate({**known, "content": json.loads(row[5])})
