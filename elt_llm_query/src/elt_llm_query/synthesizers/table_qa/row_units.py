"""The units of columns: rows in different ones are neither compared nor added up."""

import re
from collections.abc import Iterable
from itertools import chain

from elt_llm_core.tables import NUMBERS, Relation
from elt_llm_core.tables.numbers import nothing
from elt_llm_query.analysis.lexicon import ATTRIBUTES, TIME_UNITS
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.table_qa.planner import (
    has_value,
    remove_brackets,
    stems_of_text,
)

# A column that tells in which unit the numbers of its row are; a "Business unit" or an
# "Organisational unit" is none.
_UNITS = re.compile(
    r"(?:(?:stock|measuring|measurement|price|pricing|sales|order|packing|base)\s+"
    r"|(?:measured|counted|sold|priced|given|stated)\s+in\s+)*"
    r"(?:units?(?:\s+of\s+(?:measures?|measurement|quantity))?|uom|currency(?:\s+code)?"
    r"|(?:ma\u00df|mengen|preis|mess)?einheit(?:en)?|w\u00e4hrung"
    r"|unidad(?:es)?(?:\s+de\s+medida)?|moneda|unit\u00e9s?(?:\s+de\s+\w+)?|devise)",
    re.IGNORECASE,
)
# Characters: "pounds sterling" has 15, "metres per second" 17; longer text is a name.
_LONGEST_UNIT = 20
# A header with a unit of its own, as that of samples per year.
_OWN_UNIT = re.compile(r"%|\bper\b|\bnumbers?\s+of\b|\bcount\b", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\(([^()]*)\)")
_UNIT_WORD = re.compile(r"[^\W\d_]+|[\u00b0\u2103]")
_CURRENCY = re.compile(
    r"[$\u20ac\u00a3\u00a5]|\b(?:EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|CAD|AUD|PLN|CZK)\b"
)
_COST = stem("cost")
# "Cost centre" and "Cost type" are no amounts.
_NO_AMOUNT = re.compile(
    r"\bcosts?[\s-]+(?:cent(?:re|er)|code|categor(?:y|ie)|type|element|object|group|class"
    r"|no|nr|number|id|key|account|driver|owner|bearer)s?\b",
    re.IGNORECASE,
)
# Units besides those of the attributes that questions name. "(old)" is none.
_MORE_UNITS = """
    l t h s min sec hr hrs hl cl dl oz ha ton piece pcs pc percent thousand million
    w kw mw gw kwh mwh gwh wh v kv bar mbar pa kpa hz khz mhz ghz kb mb gb tb ppm dpi
    km\u00b2 m\u00b2 m\u00b3 st\u00fcck stunde
    tag jahr hora d\u00eda a\u00f1o heure jour ann\u00e9e
"""
_NO_UNITS = frozenset(["old", "aged"])
_KNOWN = frozenset(
    map(
        str.casefold,
        {*TIME_UNITS, *_MORE_UNITS.split(), *chain(*ATTRIBUTES.values())} - _NO_UNITS,
    )
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
    one = relation.columns[column]
    if one.kind not in NUMBERS or one.unit or _has_unit(one.header):
        return ()
    compared = [n for n in rows if has_value(relation, n, column)]
    for c, other in enumerate(relation.columns):
        # Rows that are named by it are units, such as "Unit": "Laundry".
        if c in (column, relation.labels) or not _UNITS.fullmatch(
            remove_brackets(other.header).strip()
        ):
            continue
        cells = [relation.field(n, c) for n in compared]
        named = {f.text.casefold(): f.text for f in cells if f and not nothing(f.text)}
        if len(named) > 1 and all(len(text) <= _LONGEST_UNIT for text in named):
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
            or match(_COST, stems_of_text(_NO_AMOUNT.sub(" ", one.header)))
        )
    ]


def _has_unit(header: str) -> bool:
    """Return True for "Price (EUR)" or "Weight (kg)", but not for "Stock (old)"."""
    if _OWN_UNIT.search(header) or _CURRENCY.search(header):
        return True
    inside = " ".join(_IN_BRACKETS.findall(header)).casefold()
    words = [*_UNIT_WORD.findall(inside), *inside.split()]
    return any(w in _KNOWN or w.removesuffix("s") in _KNOWN for w in words)
