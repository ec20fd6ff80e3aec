"""Read numbers as written, and decide the notation of the numbers of a table."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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
_TO_COME = re.compile(r"t\.?b\.?[acd]\.?", re.IGNORECASE)
_SIGNS = "\\-\u2013\u2014\u2212"  # escaped for a character class
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
# A group of thousands follows no leading zero: "0.125" is a decimal.
_WHOLE = r"(?:[1-9]\d{{0,2}}(?P<gap>[{0}{1}])\d{{3}}(?:(?P=gap)\d{{3}})*|\d+)"
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


def lacks_value(text: str) -> bool:
    """Return True for a cell without a value, or with one to come: "n/a", "tbc"."""
    return nothing(text) or _TO_COME.fullmatch(text.strip()) is not None


def nothing(text: str) -> bool:
    """Return True for a cell without a value."""
    return bool(_NOTHING.fullmatch(text.strip()))


def figures(text: str) -> dict[str, Figure]:
    """Return the number of a cell in each reading of its digits; possibly none."""
    match = _SHAPE.fullmatch(text.strip())
    if not match or bool(match["open"] or match["inner"]) != bool(
        match["close"] or match["last"]
    ):
        return {}
    if match["sign"] and match["minus"]:
        return {}
    bracketed = bool(match["open"] or match["inner"])
    signed = (match["sign"] or "+") != "+" or bool(match["minus"])
    figures_by_style = {}
    for style, pattern in _STYLES.items():
        digits = re.fullmatch(pattern, match["digits"])
        if digits is None:
            continue
        whole = match["digits"][: digits.start("rest") - 1] if digits["rest"] else ""
        whole = re.sub(r"\D", "", whole or match["digits"])
        amount = float(f"{whole}.{digits['rest'] or 0}")
        amount *= _SCALES.get(match["scale"] or "", 1)
        amount = -amount if bracketed or signed else amount
        unit = _unit(match["currency"] or match["unit"] or "")
        places = 0 if match["scale"] else len(digits["rest"] or "")
        figures_by_style[style] = Figure(amount, unit, places, style, bracketed)
    return figures_by_style


@dataclass(frozen=True)
class Notation:
    """How the cells of a column write numbers.

    Attributes:
        style: ENGLISH, COMMA, or empty if the cells do not decide.
        decisive: Whether a cell has only this reading, as "0.5" or "12,5".
        open: The first cell that is another number in the other style, as "1.234".
        dotted: Whether `open` has a dot.
    """

    style: str = ""
    decisive: bool = False
    open: str = ""
    dotted: bool = False


_GROUPED = 1000  # whole numbers from here would have a separator as well


def column_notation(texts: Iterable[str]) -> Notation:
    """Return the notation of a column, by its cells alone.

    A cell with one reading decides. Otherwise three digits after each dot are thousands
    if other cells are whole numbers below 1000; decimals would have a dot there too.
    """
    read = {text: figures(text) for text in texts}
    only = {next(iter(readings)) for readings in read.values() if len(readings) == 1}
    both = {text: readings for text, readings in read.items() if len(readings) > 1}
    english_of = {t: abs(f[ENGLISH].amount) for t, f in both.items()}
    grouped = {t: abs(f[COMMA].amount) - english_of[t] for t, f in both.items()}
    first = next((t for t, more in grouped.items() if more), "")
    dotted = grouped.get(first, 0) > 0
    if only:
        style = only.pop() if len(only) == 1 else ""
        return Notation(style, decisive=True, open=first, dotted=dotted)
    whole = [english_of[t] for t, more in grouped.items() if not more]
    signs = {more > 0 for more in grouped.values() if more}
    if len(signs) == 1 and any(whole) and max(whole) < _GROUPED:
        return Notation(COMMA if dotted else ENGLISH, open=first, dotted=dotted)
    return Notation(open=first, dotted=dotted)


def common_style(notations: Iterable[Notation]) -> str:
    """Return the style of all columns that decide one; empty if they differ."""
    styles = {n.style for n in notations if n.style or n.decisive}
    return styles.pop() if len(styles) == 1 else ""


def style_among(notation: Notation, others: Sequence[Notation]) -> str:
    """Return the style of a column among the columns of its table; possibly empty.

    Cells with one reading decide before numbers that only look like thousands. If the
    two disagree, the style is unknown.
    """
    if notation.decisive:
        return notation.style
    decisive = [n for n in others if n.decisive]
    known = common_style(decisive)
    if notation.style:
        return "" if decisive and known != notation.style else notation.style
    return known if decisive else common_style(others)


def signs_in(texts: Iterable[str]) -> bool:
    """Return True if numbers are written with a plus."""
    return any(t.strip().startswith("+") and figures(t) for t in texts)


def _unit(written: str) -> str:
    plain = {"US$": "$", "USD": "$", "EUR": "\u20ac", "GBP": "\u00a3", "JPY": "\u00a5"}
    written = plain.get(written, written)
    long = len(written) > 3  # noqa: PLR2004 - "kgs" is no plural, "days" is
    return written.lower().removesuffix("s") if long else written


def one_unit(units: Iterable[str]) -> bool:
    """Return True if all units are equal; a currency may be omitted in some."""
    named_units = set(units)
    named = named_units - {""}
    return len(named) <= 1 and (len(named_units) == 1 or named <= _MONEY)
