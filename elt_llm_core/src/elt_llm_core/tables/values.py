"""What the cells of a column are: numbers with a unit, dates, or text.

A column is of a kind only if all its filled cells are. The rule, in this order:

1. A cell that is empty, a dash, dots, a colon or "n.a." has no value and fits all.
2. Numbers: an optional sign or parentheses (negative), currency, digits with one kind
   of thousands separator, a scale ("million"), a unit, footnote stars. "1,234" and
   "1.5" are read the English way unless the column, else the table, writes decimals
   with a comma. A column has one unit; only a currency may be left out in some cells.
   Parentheses are no sign in a table that writes signs, so such a column is text.
3. Dates: "2024-05-31", "31 May 2024", "May 31, 2024", "31.05.2024".
4. Else text. Whole numbers are integers.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

Amount = int | float | str


class Kind(StrEnum):
    """What all values of a column are."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    TEXT = "text"


@dataclass(frozen=True)
class Typed:
    """The values of a column in the order of its cells, None for those without one.

    Dates are ISO 8601. `places` is how many decimals the numbers have at most.
    """

    kind: Kind
    values: tuple[Amount | None, ...]
    unit: str = ""
    places: int = 0


@dataclass(frozen=True)
class Figure:
    """One number as written."""

    amount: float
    unit: str
    places: int
    style: str
    bracketed: bool


ENGLISH, COMMA = "1,234.5", "1.234,5"
_NOTHING = re.compile(
    r"[-\u2013\u2014\u2212.:\u2026*\s]*|n\s*[./]?\s*a\.?", re.IGNORECASE
)
_SIGNS = "\\-\u2013\u2014\u2212"  # as they stand in a character class
_CURRENCIES = r"US\$|[$\u20ac\u00a3\u00a5]|(?:EUR|USD|GBP|CHF|JPY)(?=[\s\d(])"
_SHAPE = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+{_SIGNS}])?\s*(?P<currency>{_CURRENCIES})?\s*"
    rf"(?P<inner>\()?\s*(?P<minus>[{_SIGNS}])?\s*"
    r"(?P<digits>\d(?:[\d.,'\u2019\u00a0\u202f ]*\d)?)\s*(?P<close>\))?"
    r"\s*(?P<scale>(?:thousand|million|billion|trillion|mn|bn)\b)?"
    r"\s*(?P<unit>%|\u2030|\u20ac|[A-Za-z\u00b5\u00b0][A-Za-z\u00b5\u00b0/\u00b2\u00b3]{0,11})?"
    r"\s*(?P<last>\))?\s*[*\u2020\u2021]*"
)
_GAPS = " '\u2019\u00a0\u202f"
_WHOLE = r"(?:\d{{1,3}}(?P<gap>[{0}{1}])\d{{3}}(?:(?P=gap)\d{{3}})*|\d+)"
_STYLES = {
    ENGLISH: _WHOLE.format(",", _GAPS) + r"(?:\.(?P<rest>\d+))?",
    COMMA: _WHOLE.format(".", _GAPS) + r"(?:,(?P<rest>\d+))?",
}
_MONEY = {"$", "\u20ac", "\u00a3", "\u00a5", "CHF"}
_SCALES = {
    "thousand": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
}
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
_EXACT = 2**53


def nothing(text: str) -> bool:
    """True for a cell that says it has no value."""
    return bool(_NOTHING.fullmatch(text.strip()))


def figures(text: str) -> dict[str, Figure]:
    """The number a cell is, by the way its digits are read; empty where it is none."""
    found = _SHAPE.fullmatch(text.strip())
    if not found or bool(found["open"] or found["inner"]) != bool(
        found["close"] or found["last"]
    ):
        return {}
    if found["sign"] and found["minus"]:
        return {}
    bracketed = bool(found["open"] or found["inner"])
    signed = (found["sign"] or "+") != "+" or bool(found["minus"])
    told = {}
    for style, pattern in _STYLES.items():
        digits = re.fullmatch(pattern, found["digits"])
        if digits is None:
            continue
        whole = found["digits"][: digits.start("rest") - 1] if digits["rest"] else ""
        whole = re.sub(r"\D", "", whole or found["digits"])
        amount = float(f"{whole}.{digits['rest'] or 0}")
        amount *= _SCALES.get(found["scale"] or "", 1)
        amount = -amount if bracketed or signed else amount
        unit = _unit(found["currency"] or found["unit"] or "")
        places = 0 if found["scale"] else len(digits["rest"] or "")
        told[style] = Figure(amount, unit, places, style, bracketed)
    return told


def style_of(texts: Iterable[str]) -> str:
    """How a table writes its numbers, by the cells that can be read one way only."""
    only = {next(iter(found)) for t in texts if len(found := figures(t)) == 1}
    return COMMA if only == {COMMA} else ENGLISH


def signs_in(texts: Iterable[str]) -> bool:
    """True where numbers are written with a plus."""
    return any(t.strip().startswith("+") and figures(t) for t in texts)


def typed(texts: Sequence[str], style: str, *, signs: bool = False) -> Typed:
    """The kind of a column and its values.

    `style` is the table's; `signs` tells that it writes them.
    """
    filled = [t for t in texts if not nothing(t)]
    text = Typed(Kind.TEXT, tuple(t.strip() or None for t in texts))
    if not filled:
        return text
    found = _numbers(filled, style)
    if found and not (signs and any(f.bracketed for f in found)):
        return _number_column(texts, found)
    dates = [_date(t) for t in filled]
    if all(dates):
        left = iter(dates)
        return Typed(
            Kind.DATE, tuple(None if nothing(t) else next(left) for t in texts)
        )
    return text


def _numbers(filled: Sequence[str], style: str) -> list[Figure]:
    """All cells read the same way; empty where that cannot be."""
    read = [figures(t) for t in filled]
    for way in (style, ENGLISH, COMMA):
        if all(way in one for one in read):
            found = [one[way] for one in read]
            return found if one_unit(f.unit for f in found) else []
    return []


def _number_column(texts: Sequence[str], found: Sequence[Figure]) -> Typed:
    whole = all(f.places == 0 and abs(f.amount) < _EXACT for f in found)
    left = iter(int(f.amount) if whole else f.amount for f in found)
    values = tuple(None if nothing(t) else next(left) for t in texts)
    unit = max(f.unit for f in found)
    kind = Kind.INTEGER if whole else Kind.NUMBER
    return Typed(kind, values, unit, max(f.places for f in found))


def _unit(written: str) -> str:
    plain = {"US$": "$", "USD": "$", "EUR": "\u20ac", "GBP": "\u00a3", "JPY": "\u00a5"}
    written = plain.get(written, written)
    long = len(written) > 3  # noqa: PLR2004 - "kgs" is no plural, "days" is
    return written.lower().removesuffix("s") if long else written


def one_unit(units: Iterable[str]) -> bool:
    """True where all are the same; a currency may be left out by some."""
    told = set(units)
    named = told - {""}
    return len(named) <= 1 and (len(told) == 1 or named <= _MONEY)


def _date(text: str) -> str:
    """ISO 8601, or nothing."""
    for pattern in _DATES:
        found = re.fullmatch(pattern, text.strip())
        if found is None:
            continue
        month = found["m"]
        if not month.isdigit():
            short = month[:3].lower()
            month = str(_MONTHS.index(short) + 1) if short in _MONTHS else "0"
        try:
            return date(int(found["y"]), int(month), int(found["d"])).isoformat()
        except ValueError:
            continue
    return ""
