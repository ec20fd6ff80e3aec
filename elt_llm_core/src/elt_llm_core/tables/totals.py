"""Rows of a table that are the sum of rows before them."""

from collections.abc import Sequence

from elt_llm_core.tables.column_types import NUMBERS
from elt_llm_core.tables.relation_records import Relation

# In a single column a row may be the sum of those before it by chance.
_FEWEST_SUMS = 2
_LEAST_SUM = 100  # in units of the last shown digit
_ROUNDED = 0.02  # a sum may be off by this share of it


def total_rows(relation: Relation) -> frozenset[int]:
    """Return the numbers of rows that are the sum of the rows just before them.

    Two different sums must agree, each in a column, within the shown decimals, and one
    must have three digits: in a table of goals, or of loans that are the same in each
    year, a row is the sum of others by chance. They may be smaller if the last row is
    the sum of all others in every column of numbers. Sums are not added again.
    """
    totals: set[int] = set()
    for row in relation.rows:
        before = [r.n for r in relation.rows[: row.n - 1] if r.n not in totals]
        counts = range(2, len(before) + 1)
        is_last = row.n == len(relation.rows)
        if any(
            _is_total(
                relation,
                row.n,
                before[-count:],
                is_whole=is_last and count == len(before),
            )
            for count in counts
        ):
            totals.add(row.n)
    return frozenset(totals)


def _is_total(
    relation: Relation, n: int, parts: Sequence[int], *, is_whole: bool
) -> bool:
    """Return whether row `n` is the sum of the parts in two columns.

    `is_whole`: it is the last row and the parts are all others.
    """
    columns = [c for c, one in enumerate(relation.columns) if one.kind in NUMBERS]
    sums = [
        total
        for c in columns
        if (total := _sum_of_parts(relation, n, c, parts)) is not None
    ]
    if len(set(sums)) < _FEWEST_SUMS:
        return False
    return max(sums) >= _LEAST_SUM or (is_whole and len(sums) == len(columns))


def _sum_of_parts(
    relation: Relation, n: int, c: int, parts: Sequence[int]
) -> float | None:
    """Return the value of row `n` in shown units, if it is the sum of the parts."""
    values = [_amount(relation, part, c) for part in (n, *parts)]
    amounts = [v for v in values if v is not None]
    total = values[0]
    if not total or len(amounts) <= 2:  # noqa: PLR2004 - the sum and one part
        return None
    shown = 10.0 ** -relation.columns[c].places
    off = abs(sum(amounts[1:]) - total)
    # Each shown number is rounded, but not those of a table of goals.
    right = off <= min(0.5 * len(amounts) * shown, max(_ROUNDED * abs(total), 1e-9))
    return abs(total) / shown if right else None


def _amount(relation: Relation, n: int, column: int) -> float | None:
    field = relation.field(n, column)
    return field.value if field and isinstance(field.value, int | float) else None
