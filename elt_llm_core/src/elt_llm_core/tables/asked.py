"""The questions that are asked of a table most: the best rows, those beyond a limit.

Identifiers are made of the number of a column, functions and operators come from fixed
sets; every value is a parameter.
"""

from collections.abc import Sequence
from typing import Literal

from elt_llm_core.tables.relation import Relation
from elt_llm_core.tables.select import select

Best = Literal["max", "min"]
Operator = Literal["<", "<=", ">", ">="]
_BEST = (
    "select n from t where COLUMN = (select WORD(COLUMN) from t where n in (ROWS)) "
    "and n in (ROWS) order by n"
)
_BEYOND = "select n from t where COLUMN WORD ? and n in (ROWS) order by n"
_OF_ALL = "select WORD(COLUMN) from t where n in (ROWS)"


def best_rows(
    relation: Relation, column: int, best: Best, rows: Sequence[int]
) -> list[int]:
    """Numbers of those of `rows` with the highest or lowest value, all that tie."""
    return _numbers(relation, _sql(_BEST, column, best, rows), [*rows, *rows])


def rows_beyond(
    relation: Relation,
    column: int,
    limit: tuple[Operator, float],
    rows: Sequence[int],
) -> list[int]:
    """Numbers of those of `rows` for whose value `operator amount` holds."""
    operator, amount = limit
    return _numbers(relation, _sql(_BEYOND, column, operator, rows), [amount, *rows])


def of_all(
    relation: Relation,
    column: int,
    function: Literal["sum", "avg"],
    rows: Sequence[int],
) -> float | None:
    """Sum or average of the values of `rows`; None where they have none."""
    found = select(relation, _sql(_OF_ALL, column, function, rows), rows).rows[0][0]
    return found if isinstance(found, int | float) else None


def _sql(template: str, column: int, word: str, rows: Sequence[int]) -> str:
    told = template.replace("COLUMN", f"c{int(column)}").replace("WORD", word)
    return told.replace("ROWS", ", ".join("?" * len(rows)))


def _numbers(relation: Relation, sql: str, parameters: Sequence[float]) -> list[int]:
    found = select(relation, sql, parameters, most=len(relation.rows))
    return [n for n in found.sources if n is not None]
