"""The cell of another document's table that gives another value than an answer."""

from collections.abc import Sequence

from elt_llm_core.tables import Field, Kind, Relation
from elt_llm_core.tables.numbers import lacks_value
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.term_match import match, vocabulary
from elt_llm_query.synthesizers.table_qa.planner import (
    TablePlan,
    TableWords,
    header_stems,
)
from elt_llm_query.synthesizers.table_qa.selection import RowSelection


def find_cell_rival(
    question: str, plan: TablePlan | RowSelection, other: Relation
) -> tuple[Field, Field] | tuple[()]:
    """Return the answered cell and another one of the same thing and attribute.

    The thing has the same label in both tables, in one row each. The header of the
    attribute is the same, but for words of the header above the labels: "steward" and,
    beside "information class", "information steward"; a "deputy steward" is another.
    Only texts are compared: numbers of two tables are often of two days.

    Args:
        question: The question; all its words are in the other table or its place.
        plan: How the answer was made.
        other: A table of another document.

    Returns:
        Both cells; empty if the answer is no single cell or nothing differs.
    """
    columns = plan.columns if isinstance(plan, TablePlan) else (plan.column,)
    if len(plan.rows) != 1 or len(columns) != 1 or columns[0] is None:
        return ()
    here, there = TableWords(plan.relation), TableWords(other)
    row, column = plan.rows[0], columns[0]
    label, header = here.labels[row - 1], _attribute(here, column)
    rows = [n for n, one in enumerate(there.labels, start=1) if one == label]
    if not header or column == plan.relation.labels or len(rows) != 1:
        return ()
    same = [
        c
        for c, one in enumerate(other.columns)
        if c != other.labels and one.kind is Kind.TEXT
        if _attribute(there, c) == header
    ]
    if len(same) != 1:
        return ()
    ours, theirs = plan.relation.field(row, column), other.field(rows[0], same[0])
    if (
        ours is None
        or theirs is None
        or lacks_value(ours.text)
        or lacks_value(theirs.text)
    ):
        return ()
    # "Ann Berg" is "Berg, Ann".
    differ = vocabulary(ours.text) != vocabulary(theirs.text)
    return (ours, theirs) if differ and _is_meant(question, here, there, label) else ()


def _is_meant(
    question: str, here: TableWords, there: TableWords, label: Sequence[str]
) -> bool:
    """Return whether a table may be of the place or year that a question names."""
    known = there.title.union(label, *there.headers)
    known |= header_stems(here, here.relation.labels)
    return all(match(word, known) for word in analyse(question).weights)


def _attribute(table: TableWords, column: int) -> set[str]:
    """Return the stems of a header without those of the header above the labels."""
    return header_stems(table, column) - header_stems(table, table.relation.labels)
