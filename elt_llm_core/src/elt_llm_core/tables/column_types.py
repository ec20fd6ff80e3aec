"""The type of a column of a table, and the values of its cells."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

from elt_llm_core.tables.numbers import (
    COMMA,
    ENGLISH,
    Figure,
    column_notation,
    figures,
    nothing,
    one_unit,
)

Amount = int | float | str


class Kind(StrEnum):
    """The type of all values of a column."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    TEXT = "text"


NUMBERS = frozenset([Kind.INTEGER, Kind.NUMBER])


@dataclass(frozen=True)
class Typed:
    """The values of a column in the order of its cells, None for those without one.

    Dates are ISO 8601. `places` is the maximum number of decimals. `open` is a cell
    that may be either of two numbers; empty if there is none.
    """

    kind: Kind
    values: tuple[Amount | None, ...]
    unit: str = ""
    places: int = 0
    open: str = ""


_MONTHS = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_DATES = (
    r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})",
    r"(?P<d>\d{1,2})\.?\s+(?P<m>[A-Za-z]{3,9})\.?,?\s+(?P<y>\d{4})",
    r"(?P<m>[A-Za-z]{3,9})\.?\s+(?P<d>\d{1,2}),?\s+(?P<y>\d{4})",
    r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})",
)
_DIGIT = re.compile(r"\d")
_EXACT = 2**53
_LONGEST_REMARK = 30  # characters in place of a number; longer text is no remark
# In place of a number these say that there is none; "unlimited" does not.
_NONE = re.compile(
    r"no|none|nil|nothing|not\s+(?:available|applicable|covered|included|insured"
    r"|offered|permitted|allowed|required|charged)|n/?a|excluded|unavailable",
    re.IGNORECASE,
)


def says_none(text: str) -> bool:
    """Return True for words that stand for no number, such as "none"."""
    return bool(_NONE.fullmatch(text.strip()))


def infer_types(texts: Sequence[str], style: str, *, signs: bool = False) -> Typed:
    """Return the type of a column and its values.

    `style` is how it writes numbers, empty if that is unknown: cells that are two
    different numbers are then text. `signs` is true if the table writes plus signs.
    """
    filled = [t for t in texts if not nothing(t)]
    text = Typed(Kind.TEXT, tuple(t.strip() or None for t in texts))
    filled = _without_remarks(filled)
    if not filled:
        return text
    numbers = _numbers(filled, style)
    if numbers and not style and (first := column_notation(filled).open):
        return replace(text, open=first)
    if numbers and not (signs and any(f.bracketed for f in numbers)):
        return _number_column(texts, numbers)
    dates = [_date(t) for t in texts if not nothing(t)]
    if all(dates):
        left = iter(dates)
        return Typed(
            Kind.DATE, tuple(None if nothing(t) else next(left) for t in texts)
        )
    return text


def _without_remarks(filled: Sequence[str]) -> list[str]:
    """Return the cells of a column of numbers without its words, such as "none".

    All cells, if it is no such column: it has fewer than two numbers, or longer text or
    figures among its words, or more words than numbers that do not say "none".
    """
    rest = [t for t in filled if not figures(t)]
    numbers = len(filled) - len(rest)
    others = sum(not says_none(t) for t in rest)
    short = all(len(t) <= _LONGEST_REMARK and not _DIGIT.search(t) for t in rest)
    if numbers < 2 or others > numbers / 2 or not short:  # noqa: PLR2004 - one may be a remark
        return [*filled]
    return [t for t in filled if figures(t)]


def _numbers(filled: Sequence[str], style: str) -> list[Figure]:
    """Return all cells in the same reading; empty if that is impossible."""
    read = [figures(t) for t in filled]
    for way in filter(None, (style, ENGLISH, COMMA)):
        if all(way in one for one in read):
            numbers = [one[way] for one in read]
            return numbers if one_unit(f.unit for f in numbers) else []
    return []


def _number_column(texts: Sequence[str], numbers: Sequence[Figure]) -> Typed:
    whole = all(f.places == 0 and abs(f.amount) < _EXACT for f in numbers)
    left = iter(int(f.amount) if whole else f.amount for f in numbers)
    values = tuple(next(left) if figures(t) and not nothing(t) else None for t in texts)
    unit = max(f.unit for f in numbers)
    kind = Kind.INTEGER if whole else Kind.NUMBER
    return Typed(kind, values, unit, max(f.places for f in numbers))


def _date(text: str) -> str:
    """Return an ISO 8601 date, or an empty string."""
    for pattern in _DATES:
        match = re.fullmatch(pattern, text.strip())
        if match is None:
            continue
        month = match["m"]
        if not month.isdigit():
            short = month[:3].lower()
            month = str(_MONTHS.index(short) + 1) if short in _MONTHS else "0"
        try:
            return date(int(match["y"]), int(month), int(match["d"])).isoformat()
        except ValueError:
            continue
    return ""
