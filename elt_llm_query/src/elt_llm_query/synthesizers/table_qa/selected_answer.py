"""Compute and phrase the answer of a selection, with the cells that prove it."""

from collections.abc import Iterable, Sequence

from elt_llm_core.tables import Field, Kind, Relation, best_rows, of_all
from elt_llm_core.tables.numbers import nothing
from elt_llm_query.analysis.table_question import Ask
from elt_llm_query.synthesizers.table_qa.answer import (
    BEST,
    DATED,
    MOST_CITED,
    MOST_LISTED,
    MOST_TIED,
    SUPERLATIVES,
    ComputedAnswer,
    has_remark,
    where,
    write_number,
)
from elt_llm_query.synthesizers.table_qa.selection import RowSelection


def compute_selection(  # noqa: PLR0911 - one for each operation
    plan: RowSelection,
) -> ComputedAnswer | None:
    """Return the answer of a selection, or None if the cells do not determine one."""
    if plan.ask is Ask.CHECK:
        return _cell(plan)
    if plan.values:
        grouped = plan.ask in {Ask.MOST, Ask.LEAST}
        return _largest_group(plan) if grouped else _different_values(plan)
    if plan.column is None:
        return _rows(plan)
    if plan.ask in {Ask.MOST, Ask.LEAST}:
        return _extreme(plan, plan.column)
    if plan.ask in {Ask.SUM, Ask.AVERAGE} and (
        len(plan.rows) > 1 or plan.ask is Ask.AVERAGE
    ):
        return _total(plan, plan.column)
    return _cell(plan)


def _rows(plan: RowSelection) -> ComputedAnswer | None:
    """Return the selected rows, or how many they are."""
    rows = plan.rows
    if not plan.conditions:
        if len(rows) > MOST_CITED:
            return None
        labels = {_label(plan.relation, n).casefold() for n in rows}
        if len(labels) < len(rows) and _labels_are_counted(plan):
            return None  # "departments" in a table with one row a year
        return ComputedAnswer(
            f"{len(rows)} rows ({_place(plan, rows)}).", _cells(plan, rows)
        )
    if len(rows) > MOST_LISTED:
        return None
    named = "; ".join(_label(plan.relation, n) for n in rows)
    text = f"{len(rows)} of {len(plan.looked_at)} rows {_conditions(plan)}"
    return ComputedAnswer(
        f"{text}: {named} ({_place(plan, rows)}).", _cells(plan, rows)
    )


def _labels_are_counted(plan: RowSelection) -> bool:
    return plan.relation.columns[plan.relation.labels].kind is Kind.TEXT


def _different_values(plan: RowSelection) -> ComputedAnswer | None:
    """Return the different values of a column in the selected rows."""
    first = _by_value(plan)
    if not first or len(first) > MOST_LISTED:
        return None
    fields = [(rows[0], plan.relation.field(rows[0], _column(plan))) for rows in first]
    named = "; ".join(f.text for _, f in fields if f is not None)
    rows = plan.rows
    bare = len(rows) - sum(map(len, first))
    without = f" ({bare} without a value)" if bare else ""
    many = "1 value" if len(first) == 1 else f"{len(first)} different values"
    counted = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    text = f"{_header(plan)}: {many} in {counted}{without}"
    text = f"{text} {_conditions(plan)}".strip()
    used = [rows[0] for rows in first]
    return ComputedAnswer(
        f"{text}: {named} ({_place(plan, plan.rows)}).", _cells(plan, used)
    )


def _largest_group(plan: RowSelection) -> ComputedAnswer | None:
    """Return the value that most or fewest rows have."""
    groups = _by_value(plan)
    counted = sum(map(len, groups))
    if len(groups) < 2 or counted < len(plan.rows) or 2 * counted > MOST_CITED:  # noqa: PLR2004 - a comparison
        return None
    best = (max if plan.ask is Ask.MOST else min)(map(len, groups))
    won = [rows for rows in groups if len(rows) == best]
    if len(won) > MOST_TIED:
        return None
    size = f"{best} row{'' if best == 1 else 's'}"
    named = "; ".join(f"{_text(plan, rows[0])}: {size}" for rows in won)
    word = "most" if plan.ask is Ask.MOST else "fewest"
    tied = ", tied" if len(won) > 1 else ""
    text = f"{named} - the {word}{tied} of {len(groups)} values of {_header(plan)}"
    text = f"{text} in {counted} rows ({_place(plan, plan.rows)})."
    return ComputedAnswer(text, _cells(plan, plan.rows))


def _extreme(plan: RowSelection, column: int) -> ComputedAnswer | None:
    if has_remark(plan.relation, plan.rows, [column], plan.ask):
        return None
    won = best_rows(plan.relation, column, BEST[plan.ask], plan.rows)
    if not won or len(won) > MOST_TIED:
        return None
    dated = plan.relation.columns[column].kind is Kind.DATE
    word = (DATED if dated else SUPERLATIVES)[plan.ask]
    named = "; ".join(f"{_label(plan.relation, n)}: {_text(plan, n)}" for n in won)
    text = f"{named} - the {word}{', tied' if len(won) > 1 else ''} of {len(plan.rows)}"
    text = f"{text} rows by {_header(plan)} {_conditions(plan)}"
    return ComputedAnswer(f"{text} ({_place(plan, plan.rows)}).", _cells(plan, won))


def _total(plan: RowSelection, column: int) -> ComputedAnswer | None:
    if has_remark(plan.relation, plan.rows, [column], plan.ask):
        return None
    summed = plan.ask is Ask.SUM
    amount = of_all(plan.relation, column, "sum" if summed else "avg", plan.rows)
    used = [n for n in plan.rows if _value(plan, n, column) is not None]
    if amount is None or len(used) * 2 > MOST_CITED:
        return None
    places = plan.relation.columns[column].places + (not summed)
    bare = len(plan.rows) - len(used)
    without = f" ({bare} without a value)" if bare else ""
    text = (
        f"{_header(plan)}: {write_number(plan.relation, used, column, amount, places)}"
    )
    text = f"{text} - the {'sum' if summed else 'average'} of {len(plan.rows)} rows"
    text = f"{text}{without} {_conditions(plan)}".strip()
    return ComputedAnswer(f"{text} ({_place(plan, used)}).", _cells(plan, used))


def _cell(plan: RowSelection) -> ComputedAnswer | None:
    """Return the one cell that is asked for; none if several rows differ in it."""
    if len(plan.rows) != 1:
        return None
    n, column = plan.rows[0], _column(plan)
    cell = plan.relation.field(n, column)
    if cell is None or nothing(cell.text):
        return None
    text = f"{_label(plan.relation, n)} - {_header(plan)}: {cell.text}"
    return ComputedAnswer(f"{text} ({_place(plan, [n])}).", _cells(plan, [n]))


def _by_value(plan: RowSelection) -> list[list[int]]:
    """Return the selected rows by the value of the column, in their order."""
    groups: dict[str, list[int]] = {}
    for n in plan.rows:
        text = " ".join(_text(plan, n).casefold().split())
        if not nothing(text):
            groups.setdefault(text, []).append(n)
    return list(groups.values())


def _cells(plan: RowSelection, rows: Iterable[int]) -> tuple[Field, ...]:
    """Return the cells that prove the rows: labels, conditions, and the column."""
    columns = [plan.relation.labels, *(c.column for c in plan.conditions)]
    columns += [] if plan.column is None else [plan.column]
    order = list(dict.fromkeys(columns))
    fields = [plan.relation.field(n, c) for n in rows for c in order]
    return tuple(f for f in fields if f is not None and f.text)


def _conditions(plan: RowSelection) -> str:
    """Return the conditions in words, each after the header of its column."""
    parts = [_condition(plan.relation, c.column, c.wording) for c in plan.conditions]
    bare = sum(len(c.unknown & {*plan.looked_at}) for c in plan.conditions)
    without = f" ({bare} without a value)" if bare else ""
    return f"where {' and '.join(parts)}{without}" if parts else ""


def _condition(relation: Relation, column: int, wording: str) -> str:
    return f"{relation.columns[column].header} {wording}".strip()


def _place(plan: RowSelection, rows: Sequence[int]) -> str:
    columns = [c.column for c in plan.conditions] or [plan.relation.labels]
    return where(plan.relation, rows, columns)


def _column(plan: RowSelection) -> int:
    return plan.relation.labels if plan.column is None else plan.column


def _header(plan: RowSelection) -> str:
    return plan.relation.columns[_column(plan)].header


def _label(relation: Relation, n: int) -> str:
    return relation.rows[n - 1].label


def _text(plan: RowSelection, n: int) -> str:
    cell = plan.relation.field(n, _column(plan))
    return cell.text if cell is not None else ""


def _value(plan: RowSelection, n: int, column: int) -> object:
    cell = plan.relation.field(n, column)
    return cell.value if cell is not None else None
