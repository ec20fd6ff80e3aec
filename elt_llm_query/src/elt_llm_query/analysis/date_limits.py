"""Comparisons with a date in a question: "before 2018", "between 2019 and May 2021"."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

_MONTH = (
    r"(?P<month{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?P<year{0}>(?:1[89]|20)\d\d)"
_MONTHS = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
]


def _date_pattern(number: int) -> str:
    """Return a pattern of a year, a month or a day; its groups end in the number."""
    iso = rf"(?P<iso{number}>(?:1[89]|20)\d\d-\d\d?-\d\d?)"
    day = rf"(?P<day{number}>\d\d?)(?:st|nd|rd|th)?"
    month, year = _MONTH.format(number), _YEAR.format(number)
    american = month.replace("<month", "<name")
    late = rf"{american}\s+(?P<late{number}>\d\d?)(?:st|nd|rd|th)?,?\s+{year}"
    late = late.replace("<year", "<in")
    return rf"(?:{iso}|{late}|(?:(?:{day}\s+)?{month},?\s+)?{year})(?![\w,.-]*\d)"


_FROM = (
    r"since|(?:no|not)\s+(?:earlier|older)\s+than|on\s+or\s+after"
    r"|starting\s+(?:in|on|from)"
)
_BOUNDS = (
    ("upto", r"(?:no|not)\s+(?:later|newer)\s+than|on\s+or\s+before|up\s+to|until|by"),
    ("from", _FROM),
    ("before", r"before|prior\s+to|(?:earlier|older)\s+than"),
    ("after", r"after|(?:later|newer)\s+than"),
    ("in", r"in|during|on"),
)
_BETWEEN = re.compile(
    r"\b(?:between\s+(?:the\s+)?{}\s+and\s+(?:the\s+)?{}"
    r"|from\s+{}\s+(?:to|until|through|till)\s+{})".format(
        *map(_date_pattern, range(4))
    ),
    re.IGNORECASE,
)
_ONE = tuple(
    (
        kind,
        re.compile(
            rf"\b(?:{words})\s+(?:the\s+(?:year|start|end)\s+(?:of\s+)?|the\s+)?"
            rf"{_date_pattern(0)}",
            re.IGNORECASE,
        ),
    )
    for kind, words in _BOUNDS
)


@dataclass(frozen=True)
class DateRange:
    """Days from `first` to `last`, in ISO 8601; an empty one is open.

    `compared` is false for "in 2020", which may also belong to a header.
    """

    first: str
    last: str
    wording: str
    compared: bool = True

    def holds(self, day: str) -> bool:
        """Return True if an ISO 8601 date is within the range."""
        return (self.first or day) <= day <= (self.last or day)


def date_range_of(question: str) -> tuple[DateRange | None, str]:
    """Return the range of dates that a question names, and the question without it."""
    if match := _BETWEEN.search(question):
        pairs = [_period(match, n) for n in range(4)]
        named = [pair for pair in pairs if pair is not None]
        if len(named) == 2:  # noqa: PLR2004 - both ends
            (first, _), (_, last) = named
            return DateRange(first, last, match[0]), _without(question, match)
        return None, question
    for kind, pattern in _ONE:
        match = pattern.search(question)
        period = _period(match, 0) if match else None
        if match is None or period is None:
            continue
        if re.search(r"\bthe\s+(?:start|end)\b", match[0], re.IGNORECASE):
            continue
        first, last = period
        ends = {
            "upto": ("", last),
            "before": ("", _day_from(first, -1)),
            "from": (first, ""),
            "after": (_day_from(last, 1), ""),
            "in": (first, last),
        }[kind]
        limits = DateRange(*ends, match[0], compared=kind != "in")
        return limits, _without(question, match)
    return None, question


def _without(question: str, match: re.Match[str]) -> str:
    return f"{question[: match.start()]} {question[match.end() :]}"


def _period(match: re.Match[str], number: int) -> tuple[str, str] | None:
    """Return first and last day of the date with this number; None if there is none."""
    groups = {k[:-1]: v for k, v in match.groupdict().items() if k[-1] == str(number)}
    try:
        if groups["iso"]:
            year, month, day = map(int, groups["iso"].split("-"))
            return (date(year, month, day).isoformat(),) * 2
        name = groups["month"] or groups["name"] or ""
        year = int(groups["year"] or groups["in"] or 0)
        day = int(groups["day"] or groups["late"] or 0)
        if not year:
            return None
        month = _MONTHS.index(name[:3].lower()) + 1 if name else 0
        if day:
            return (date(year, month, day).isoformat(),) * 2
    except ValueError:
        return None
    last = monthrange(year, month or 12)[1]
    return (
        date(year, month or 1, 1).isoformat(),
        date(year, month or 12, last).isoformat(),
    )


def _day_from(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
