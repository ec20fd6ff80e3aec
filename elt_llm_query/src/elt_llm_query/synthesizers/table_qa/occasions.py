"""Cells that say that something was done: the day of the last time, or by whom."""

import re

from elt_llm_core.tables import NUMBERS, Column, Kind
from elt_llm_core.tables.column_types import says_none
from elt_llm_core.tables.numbers import nothing
from elt_llm_query.analysis.stems import stem, words

# A cell that begins so may say that there is nothing: "No - expired".
DENIES = re.compile(
    r"(?:no|not|none|nil|nein|kein\w*|nicht|sin|ning[u\u00fa]n\w*)\b", re.IGNORECASE
)
# The stems of the words of a header before or after what was done.
OCCASIONS = frozenset(map(stem, words("last latest previous recent date day on")))
_OPEN_WORDS = r"pending|open|planned|scheduled|tb[acd]|unknown|geplant"
# What stands in place of a name: nobody has done it yet, or it is unknown.
_OPEN = re.compile(rf"0+(?:[.,]0+)?|\?+|{_OPEN_WORDS}", re.IGNORECASE)
# Beside a figure one such word is enough: "planned for 2027", "2019?".
_STILL_OPEN = re.compile(
    rf"\?|\b(?:{_OPEN_WORDS}|due|expected|overdue|not|never|nicht|f\u00e4llig)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[1-9]")  # "00/00/0000" is no day
# "2024" and "11.2024" are numbers to a table; a count of days or a cost is none.
_YEAR = re.compile(r"(?:(?:0?[1-9]|1[0-2])\.)?(?:1[89]|20)\d\d")


def tells_when_or_who(column: Column) -> bool:
    """Return True if a filled cell says that something was done.

    The column has dates, or its header an occasion or "by": "Last inspection", "Tested
    by". A percentage, a cost or a state such as "pending" does not say it.

    Args:
        column: The column of the table.
    """
    if column.kind is Kind.DATE or _has_occasion(column):
        return True
    return _tells_who(column) and column.kind is Kind.TEXT


def is_empty(column: Column, text: str) -> bool:
    """Return True for a cell without a value, or with "none".

    Args:
        column: The column of the table.
        text: Its cell.
    """
    if column.kind is Kind.DATE:  # with "none" in a cell it would be a text
        return nothing(text)
    return nothing(text) or says_none(text)


def leaves_open(column: Column, text: str) -> bool:
    """Return True if a cell with a text does not say that it was done.

    Below an occasion it says so with a figure, however the day is written
    ("31/12/2024", "12. M\u00e4rz 2024, 10:00"), and as a number with a year; below "by"
    with any name.

    Args:
        column: The column of the table.
        text: Its cell.
    """
    if column.kind is Kind.DATE:  # all its cells are days
        return False
    plain = text.strip()
    if DENIES.match(plain) or _OPEN.fullmatch(plain):
        return True
    if _tells_who(column):
        return False
    if column.kind in NUMBERS:
        return not _YEAR.fullmatch(plain)
    return not _FIGURE.search(plain) or bool(_STILL_OPEN.search(plain))


def _has_occasion(column: Column) -> bool:
    return any(stem(w) in OCCASIONS for w in words(column.header))


def _tells_who(column: Column) -> bool:
    return "by" in words(column.header.lower())
