"""Rows of a table that sum up others, found by their numbers."""

from collections.abc import Sequence

from elt_llm_core.tables import Kind, Relation

NUMBERS = frozenset([Kind.INTEGER, Kind.NUMBER])
FEWEST = 2  # rows or columns that are compared


def summed(relation: Relation) -> frozenset[int]:
    """Numbers of rows that are the sum of the rows just before, in two columns."""
    found: set[int] = set()
    for row in relation.rows:
        before = [r.n for r in relation.rows[: row.n - 1] if r.n not in found]
        if any(_sums(relation, row.n, before[-k:]) for k in range(2, len(before) + 1)):
            found.add(row.n)
    return frozenset(found)


def _sums(relation: Relation, n: int, parts: Sequence[int]) -> bool:
    right = 0
    for c, column in enumerate(relation.columns):
        if column.kind not in NUMBERS:
            continue
        values = [_amount(relation, part, c) for part in (n, *parts)]
        told = [v for v in values if v is not None]
        if values[0] is None or len(told) <= FEWEST or not values[0]:
            continue
        off = abs(sum(told[1:]) - values[0])
        right += off <= 0.5 * len(told) * 10.0**-column.places
    return right >= FEWEST


def _amount(relation: Relation, n: int, column: int) -> float | None:
    field = relation.field(n, column)
    return field.value if field and isinstance(field.value, int | float) else None
