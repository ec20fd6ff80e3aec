"""Run a plan in SQL, and phrase the answer with the cells that prove it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from elt_llm_core.tables import (
    Field,
    Kind,
    Relation,
    best_rows,
    of_all,
    rows_beyond,
)
from elt_llm_core.tables.column_types import Amount, says_none
from elt_llm_core.tables.numbers import ENGLISH, figures, nothing
from elt_llm_core.tables.sql import Best
from elt_llm_query.analysis.table_question import Ask, NumberLimit
from elt_llm_query.synthesizers.table_qa.planner import TablePlan

MOST_TIED, MOST_LISTED, MOST_CITED = 10, 30, 100
SUPERLATIVES = {Ask.MOST: "highest", Ask.LEAST: "lowest"}
BEST: dict[Ask, Best] = {Ask.MOST: "max", Ask.LEAST: "min"}
DATED = {Ask.MOST: "latest", Ask.LEAST: "earliest"}
_SAID = {">": "over", ">=": "at least", "<": "under", "<=": "at most"}
_SCALES = {
    "thousand": r"thousands?|000\b|\bk\b",
    "million": r"millions?|mn\b|\bm\b",
    "mn": r"millions?|mn\b|\bm\b",
    "billion": r"billions?|bn\b",
    "bn": r"billions?|bn\b",
    "trillion": r"trillions?|tn\b",
}
_ANY_SCALE = re.compile("|".join(f"(?:{p})" for p in _SCALES.values()), re.IGNORECASE)
_TIMES = {
    "thousand": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
}


@dataclass(frozen=True)
class ComputedAnswer:
    """A sentence and the cells that prove it, labels before values."""

    text: str
    cells: tuple[Field, ...]


def compute_answer(plan: TablePlan) -> ComputedAnswer | None:
    """Return the answer of a plan, or None if the cells do not determine one."""
    if plan.wanted.ask is Ask.CELL:
        return _cell(plan)
    if _has_remark(plan):
        return None
    if plan.wanted.ask in SUPERLATIVES:
        return _across(plan) if plan.across else _extreme(plan)
    if plan.wanted.limit:
        return _list_beyond(plan, plan.wanted.limit)
    return _count_rows(plan) if plan.wanted.ask is Ask.COUNT else _total(plan)


def _has_remark(plan: TablePlan) -> bool:
    """Return True if words in the compared cells may change the result."""
    limit = plan.wanted.limit
    ask = plan.wanted.ask
    if limit is not None:
        ask = Ask.MOST if limit.operator in {">", ">="} else Ask.LEAST
    if ask is Ask.COUNT:
        return False
    return has_remark(plan.relation, plan.rows, plan.columns, ask)


def _cell(plan: TablePlan) -> ComputedAnswer | None:
    n, column = plan.rows[0], plan.columns[0]
    field = plan.relation.field(n, column)
    if field is None or nothing(field.text):
        return None
    text = f"{_label(plan.relation, n)} - {_header(plan, column)}: {field.text}"
    text = f"{text} ({_where(plan, [n])})."
    return ComputedAnswer(text, _cells(plan.relation, [n], [column]))


def _across(plan: TablePlan) -> ComputedAnswer | None:
    """Return the best cell of one row, named by its column header."""
    relation, n = plan.relation, plan.rows[0]
    values = {c: _value(plan, n, c) for c in plan.columns}
    amounts = [v for v in values.values() if isinstance(v, int | float)]
    best = max(amounts) if plan.wanted.ask is Ask.MOST else min(amounts)
    won = [c for c, value in values.items() if value == best]
    if len(won) > MOST_TIED:
        return None
    shown = "; ".join(f"{_header(plan, c)}: {_text(plan, n, c)}" for c in won)
    text = f"{_label(relation, n)} - {shown} - the {SUPERLATIVES[plan.wanted.ask]}"
    text = f"{text} of {len(plan.columns)} columns ({_where(plan, [n])})."
    return ComputedAnswer(text, _cells(relation, [n], won))


def _extreme(plan: TablePlan) -> ComputedAnswer | None:
    column = plan.columns[0]
    won = best_rows(plan.relation, column, BEST[plan.wanted.ask], plan.rows)
    if not won or len(won) > MOST_TIED:
        return None
    dated = plan.relation.columns[column].kind is Kind.DATE
    word = (DATED if dated else SUPERLATIVES)[plan.wanted.ask]
    tied = ", tied" if len(won) > 1 else ""
    text = f"{_list_rows(plan, won)} - the {word}{tied} of {_looked_at(plan)}."
    return ComputedAnswer(text, _cells(plan.relation, won, plan.columns))


def _list_beyond(plan: TablePlan, limit: NumberLimit) -> ComputedAnswer | None:
    """Return the number and list of rows that satisfy a comparison."""
    amount, column = _in_column(plan, limit), plan.columns[0]
    if amount is None:
        return None
    won = rows_beyond(plan.relation, column, (limit.operator, amount), plan.rows)
    if not won or len(won) > MOST_LISTED:
        return None
    bound = f"{_SAID[limit.operator]} {amount:,g}{limit.unit}"
    text = f"{len(won)} of {_looked_at(plan)}, {bound}: {_list_rows(plan, won)}."
    return ComputedAnswer(text, _cells(plan.relation, won, plan.columns))


def _count_rows(plan: TablePlan) -> ComputedAnswer | None:
    if len(plan.rows) > MOST_CITED:
        return None
    text = f"{len(plan.rows)} rows ({_where(plan, plan.rows)})."
    return ComputedAnswer(text, _cells(plan.relation, plan.rows, ()))


def _total(plan: TablePlan) -> ComputedAnswer | None:
    column, summed = plan.columns[0], plan.wanted.ask is Ask.SUM
    amount = of_all(plan.relation, column, "sum" if summed else "avg", plan.rows)
    used = [n for n in plan.rows if _value(plan, n, column) is not None]
    if amount is None or not 1 < len(used) <= MOST_CITED:
        return None
    places = plan.relation.columns[column].places + (not summed)
    word = "sum" if summed else "average"
    written = write_number(plan.relation, plan.rows, column, amount, places)
    text = f"{_header(plan, column)}: {written} - the {word}"
    named = f": {_list_rows(plan, used)}" if len(used) <= MOST_TIED else ""
    text = f"{text} of {_looked_at(plan)}{named}."
    return ComputedAnswer(text, _cells(plan.relation, used, plan.columns))


def write_number(
    relation: Relation, rows: Iterable[int], column: int, amount: float, places: int
) -> str:
    """Return a computed number in the notation of its column."""
    english = f"{amount:,.{places}f}"
    for n in rows:
        field = relation.field(n, column)
        read = figures(field.text) if field else {}
        if (
            field
            and read
            and (ENGLISH not in read or read[ENGLISH].amount != field.value)
        ):
            return english.translate(str.maketrans(",.", ".,"))
    return english


def _in_column(plan: TablePlan, limit: NumberLimit) -> float | None:
    """Return the limit in the unit of the column; None if the units differ."""
    column = plan.relation.columns[plan.columns[0]]
    over = (
        f"{column.header} {_header(plan, plan.relation.labels)} {plan.relation.title}"
    )
    if limit.unit == "%":
        percent = re.search(r"%|percent", f"{over} {column.unit}", re.IGNORECASE)
        return limit.amount if percent else None
    if limit.unit and column.unit and limit.unit != column.unit:
        return None
    times = _scale(limit.scaled, column.header, over)
    return None if times is None else limit.amount * times


def _scale(scaled: str, header: str, over: str) -> float | None:
    """Return the factor of "million" in a column that may itself be in millions."""
    if not scaled or re.search(_SCALES[scaled], header, re.IGNORECASE):
        return 1
    return None if _ANY_SCALE.search(over) else _TIMES[scaled]


def _cells(
    relation: Relation, rows: Iterable[int], columns: Sequence[int]
) -> tuple[Field, ...]:
    fields = [relation.field(n, c) for n in rows for c in (relation.labels, *columns)]
    return tuple(f for f in fields if f is not None and f.text)


def _list_rows(plan: TablePlan, rows: Sequence[int]) -> str:
    column = plan.columns[0]
    shown = [f"{_label(plan.relation, n)}: {_text(plan, n, column)}" for n in rows]
    return "; ".join(shown)


def _looked_at(plan: TablePlan) -> str:
    """Return how many rows were compared, by what, and where."""
    bare = sum(_value(plan, n, plan.columns[0]) is None for n in plan.rows)
    without = f" ({bare} without a value)" if bare else ""
    header = _header(plan, plan.columns[0])
    return f"{len(plan.rows)} rows{without} by {header} ({_where(plan, plan.rows)})"


def _where(plan: TablePlan, rows: Iterable[int]) -> str:
    return where(plan.relation, rows, plan.columns)


def where(relation: Relation, rows: Iterable[int], columns: Sequence[int]) -> str:
    """Return the table's title with the pages of the rows, possibly later ones."""
    title = relation.title or "table"
    pages = sorted(_pages(relation, rows, columns))
    if not pages:
        return title
    if pages[0] == pages[-1]:
        return f"{title}, p. {pages[0]}"
    return f"{title}, pp. {pages[0]}-{pages[-1]}"


def _pages(relation: Relation, rows: Iterable[int], columns: Sequence[int]) -> set[int]:
    """Return the pages on which the cited cells begin."""
    pages: set[int] = set()
    for n in rows:
        cells = _cells(relation, [n], columns)
        boxed = {cell.boxes[0].page for cell in cells if cell.boxes}
        whole = relation.rows[n - 1].page
        pages |= boxed or ({whole} if whole else set())
    return pages


def has_remark(
    relation: Relation, rows: Iterable[int], columns: Iterable[int], ask: Ask
) -> bool:
    """Return True if words in place of a number may change the result.

    "none" is not the highest of others, but it may be the lowest, and "unlimited" or
    "on request" may be either.
    """
    fields = [relation.field(n, c) for n in rows for c in columns]
    words = [
        f.text
        for f in fields
        if f is not None and f.value is None and not nothing(f.text)
    ]
    if ask is Ask.MOST:
        return not all(map(says_none, words))
    return bool(words)


def _header(plan: TablePlan, column: int) -> str:
    return plan.relation.columns[column].header


def _label(relation: Relation, n: int) -> str:
    return relation.rows[n - 1].label


def _text(plan: TablePlan, n: int, column: int) -> str:
    field = plan.relation.field(n, column)
    return field.text if field else ""


def _value(plan: TablePlan, n: int, column: int) -> Amount | None:
    field = plan.relation.field(n, column)
    return field.value if field else None
