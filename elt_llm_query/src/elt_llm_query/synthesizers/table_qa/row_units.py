"""The units of columns: rows in different ones are neither compared nor added up."""

import re
from collections.abc import Iterable

from elt_llm_core.tables import NUMBERS, Relation
from elt_llm_core.tables.numbers import nothing
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.table_qa.planner import (
    has_value,
    remove_brackets,
    stems_of_text,
)

# A column that tells in which unit the numbers of its row are.
_UNITS = re.compile(
    r"(?:.*\W)?(?:units?(?:\s+of\s+measures?)?|uom|currency|einheit(?:en)?"
    r"|w\u00e4hrung|unidad(?:es)?|moneda|unit\u00e9s?|devise)",
    re.IGNORECASE,
)
# A header with a unit of its own, as that of a price or of samples per year.
_OWN_UNIT = re.compile(r"\(|%|\bper\b|\bnumbers?\s+of\b|\bcount\b", re.IGNORECASE)
_CURRENCY = re.compile(r"[$\u20ac\u00a3\u00a5]|\b(?:EUR|USD|GBP|CHF|JPY)\b")
_COST = stem("cost")


def different_units(
    relation: Relation, rows: Iterable[int], column: int
) -> tuple[str, ...]:
    """Return the units of a column of numbers, if the rows name several.

    Args:
        relation: The table.
        rows: The numbers of the rows that are compared.
        column: The column that is compared.

    Returns:
        The units as written, in the order of the rows; empty if they are one unit, or
        no column of the table names units.
    """
    one = relation.columns[column]
    own = one.unit or _OWN_UNIT.search(one.header)
    if one.kind not in NUMBERS or own:
        return ()
    compared = [n for n in rows if has_value(relation, n, column)]
    for c, other in enumerate(relation.columns):
        if c == column or not _UNITS.fullmatch(remove_brackets(other.header).strip()):
            continue
        cells = [relation.field(n, c) for n in compared]
        named = {f.text.casefold(): f.text for f in cells if f and not nothing(f.text)}
        if len(named) > 1:
            return tuple(named.values())
    return ()


def money_columns(relation: Relation) -> list[int]:
    """Return the columns of numbers that are amounts of money, by unit or header.

    Args:
        relation: The table.
    """
    return [
        c
        for c, one in enumerate(relation.columns)
        if one.kind in NUMBERS
        and (
            _CURRENCY.search(f"{one.header} {one.unit}")
            or match(_COST, stems_of_text(one.header))
        )
    ]
