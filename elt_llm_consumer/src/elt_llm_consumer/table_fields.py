"""Fields of entities from rows of tables that name them: owner, retention, class.

A wrong owner with a proof is worse than none, so only what a table states for certain
fills a field (`table_statements.py`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from elt_llm_consumer.column_subjects import (
    RULES,
    ColumnVocabulary,
    shipped_columns,
)
from elt_llm_consumer.definitions.terms import fold
from elt_llm_consumer.table_statements import RowQuote, StatementReader, TableStatement
from elt_llm_core.tables.relation_records import Relation


class RowFields(NamedTuple):
    """The rows behind each field of an entity, and values that differ by table."""

    rows: Mapping[str, Sequence[RowQuote]]
    conflicts: Mapping[str, Sequence[str]]

    @property
    def fields(self) -> tuple[str, ...]:
        """The filled fields."""
        return tuple(self.rows)

    def lines(self, field: str) -> list[str]:
        """Return the text of a field: a line a row, and one a conflict."""
        rows = (row.line for row in self.rows.get(field, ()) if row.cells)
        return [*dict.fromkeys(rows), *self.conflicts.get(field, ())]


class TableFields:
    """The fields that tables fill, by the names in their rows.

    Args:
        relations: The tables of the documents.
        names: Names of the model's entities.
        others: Terms and aliases, by which lists of names are known.
        vocabulary: The words of headers; None for those that are shipped.
    """

    def __init__(
        self,
        relations: Iterable[Relation],
        names: Collection[str],
        others: Collection[str],
        vocabulary: ColumnVocabulary | None = None,
    ) -> None:
        words = vocabulary or shipped_columns()
        self._names = {fold(name) for name in names}
        known = self._names | {fold(name) for name in others}
        self._statements: dict[str, list[TableStatement]] = defaultdict(list)
        for relation in relations:
            for one in StatementReader(relation, known, words).statements():
                self._statements[one.name].append(one)

    def of(self, names: Sequence[str]) -> RowFields:
        """Return the fields of an entity.

        Args:
            names: Its name, then its aliases. An alias that is the name of another
                entity is left out.
        """
        keys = dict.fromkeys(map(fold, names))
        own = [k for n, k in enumerate(keys) if n == 0 or k not in self._names]
        statements = [one for key in own for one in self._statements.get(key, ())]
        rows: dict[str, list[RowQuote]] = {}
        for one in statements:
            listed = rows.setdefault(one.field, [])
            listed += [quote for quote in one.quotes if quote not in listed]
        return RowFields(rows, _conflicts(statements))


def _conflicts(statements: Sequence[TableStatement]) -> dict[str, list[str]]:
    """Return a line for each subject that differs by table, or by name in one."""
    by_subject: dict[tuple[str, str], dict[tuple[str, str], dict[str, str]]] = {}
    for one in statements:
        for key, (header, value) in one.values.items():
            rows = by_subject.setdefault((one.field, key), {})
            text = f"{header}: {value} ({one.quotes[0].place})"
            rows.setdefault((one.table, one.name), {}).setdefault(fold(value), text)
    lines: dict[str, list[str]] = {}
    for (field, _), rows in by_subject.items():
        # A thing has one owner and one period, but any number of rules.
        if field != RULES and len({frozenset(t) for t in rows.values()}) > 1:
            values = dict.fromkeys(chain(*(t.values() for t in rows.values())))
            lines.setdefault(field, []).append(f"Conflict: {'; '.join(values)}")
    return lines
