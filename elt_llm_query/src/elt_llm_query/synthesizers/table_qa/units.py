"""Rows whose numbers are in different units: they are neither compared nor added up."""

import re
from collections.abc import Iterable

from elt_llm_core.tables import NUMBERS, Relation
from elt_llm_core.tables.numbers import nothing
from elt_llm_query.synthesizers.table_qa.planner import has_value, remove_brackets

# A column that tells in which unit the numbers of its row are.
_UNITS = re.compile(
    r"(?:.*\W)?(?:units?(?:\s+of\s+measure(?:ment)?)?|uom|currency|einheit(?:en)?"
    r"|w\u00e4hrung|unidad(?:es)?|moneda|unit\u00e9s?|devise)",
    re.IGNORECASE,
)


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
    if relation.columns[column].kind not in NUMBERS:
        return ()
    compared = [n for n in rows if has_value(relation, n, column)]
    for c, one in enumerate(relation.columns):
        if c == column or not _UNITS.fullmatch(remove_brackets(one.header).strip()):
            continue
        cells = [relation.field(n, c) for n in compared]
        named = {f.text.casefold(): f.text for f in cells if f and not nothing(f.text)}
        if len(named) > 1:
            return tuple(named.values())
    return ()
