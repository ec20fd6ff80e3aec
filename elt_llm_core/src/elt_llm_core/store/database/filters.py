"""Filters of chunks as SQL conditions.

A filter is a key and a value, a list of alternatives, or a mapping of operators to
values: `{"journal": "Nature", "page": [1, 2], "date": {">=": "2021", "<": "2023"}}`.
The keys are those of every chunk (`FIXED`) and the attributes from documents, ingest
files and enrichers (`provenance.attributes`).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from elt_llm_core.errors import UsageError
from elt_llm_core.language.figure_numbers import caption_number
from elt_llm_core.language.rule_numbers import canonical

# `?` is a JSON list of alternatives; `value` is one of them.
_MATCHED = {
    "document_id": "n.document_id in (select value from json_each(?))",
    "page": "exists(select 1 from json_each(?) "
    "where cast(value as integer) between n.page and n.end_page)",
    "source": "exists(select 1 from json_each(?) where d.uri = value "
    "or json_extract(n.metadata, '$.source') = value)",
    "date": "exists(select 1 from json_each(?) "
    "where json_extract(n.metadata, '$.date') between value ->> 0 and value ->> 1)",
    "figure": "exists(select 1 from json_each(?) where value = "
    "lower(json_extract(n.metadata, '$.figure_number')))",
    "mentioned_figure": "exists(select 1 from json_each(?) wanted, json_each("
    "coalesce(json_extract(n.metadata, '$.figure_references'), '[]')) own "
    "where lower(own.value) = wanted.value)",
    "rule": "exists(select 1 from json_each(?) wanted, "
    "json_each(coalesce(json_extract(n.metadata, '$.rules'), '[]')) own where "
    # A chunk's rule is the wanted one, or below it if requested: the number continues
    # with another kind of character, so that 3.20 is not in 3.2.
    "lower(own.value) = wanted.value ->> 0 or (wanted.value ->> 1 "
    "and substr(lower(own.value), 1, length(wanted.value ->> 0)) = wanted.value ->> 0 "
    "and substr(lower(own.value), length(wanted.value ->> 0), 2) "
    "not glob '[0-9][0-9]' "
    "and substr(lower(own.value), length(wanted.value ->> 0), 2) "
    "not glob '[a-z][a-z]'))",
}
# Keys whose few distinct values are compared one by one, with their columns.
_LISTED = {
    "document": ("document d", "d.name"),
    "title": ("document d", "d.title"),
    "kind": ("node n", "n.kind"),
    "section": ("node n", "n.section"),
}
FIXED = frozenset({*_MATCHED, *_LISTED})

_SAME = {"==": True, "in": True, "!=": False, "nin": False}
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
CONTAINS = "contains"
OPERATORS = (*_SAME, *_ORDER, CONTAINS)
_DAY = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
# The numbering of a heading: 4.1, B., IV).
_NUMBER = re.compile(r"(?:\d+(?:\.\d+)*[.)]?|[a-z][.)]|[ivxlc]+[.)])\s+")

Values = Callable[[str, str], list[Any]]


class Condition(NamedTuple):
    """One parsed filter: a key, one of `OPERATORS`, and alternatives."""

    key: str
    operator: str
    wanted: list[Any]


def conditions_of(where: Mapping[str, Any]) -> Iterator[Condition]:
    """Return the filters one by one, by key and operator.

    Raises UsageError for an invalid operator or value.
    """
    for key, value in sorted(where.items()):
        by_operator = value if isinstance(value, Mapping) else {"==": value}
        for operator, alternatives in sorted(by_operator.items()):
            if operator not in OPERATORS:
                raise UsageError(
                    f"the filter {key!r} has no operator {operator!r}",
                    f"known: {', '.join(OPERATORS)}",
                )
            several = isinstance(alternatives, list | tuple | set | frozenset)
            wanted = sorted(alternatives if several else [alternatives], key=str)
            whole = isinstance(value, float) and key in FIXED
            if whole or not all(isinstance(v, str | int | float) for v in wanted):
                raise UsageError(f"the filter {key!r} cannot have the value {value!r}")
            if operator in _ORDER and len(wanted) != 1:
                raise UsageError(
                    f"the filter {key!r} is compared with {len(wanted)} values",
                    f"give one value to {operator}",
                )
            yield Condition(key, operator, wanted)


def refuse_unknown(keys: Iterable[str], known: Iterable[str]) -> None:
    """Raise UsageError for a key that is not among the known ones."""
    names = sorted(set(known))
    for key in sorted(keys):
        if key not in names:
            raise UsageError(f"unknown filter {key!r}", f"known: {', '.join(names)}")


def keep_known(where: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return the filters for a collection that may lack some of their keys.

    A missing key matches no positive condition and every negative one.
    """
    names = frozenset(known)
    missing = [one for one in conditions_of(where) if one.key not in names]
    if any(_SAME.get(one.operator, True) for one in missing):
        return {"document_id": []}
    return {key: value for key, value in where.items() if key in names}


def where_clause(where: Mapping[str, Any], values: Values) -> tuple[str, list[Any]]:
    """Return conditions that start with ` and`, and their parameters.

    Of `document`, `title`, `kind` and what documents tell, a value is equal letter for
    letter, or, where none is, apart from upper and lower case; `contains` looks into it
    without regard to case. `section` is any level of the path, or some in a row, with
    or without its number. `page`, `date` (a year, month or day, or two with `..`
    between) and numbers have an order. `source` is the address, or what the metadata
    calls so; `figure` the number of the figure whose caption a chunk holds, and
    `mentioned_figure` that of one it mentions; `rule` a number as people write it, with
    `*` at its end those below it too. `!=` is whatever `==` is not, also where nothing
    is told. An empty list of alternatives matches nothing.

    Args:
        where: The filters; all of them must hold.
        values: Returns the distinct values of a column of a table.

    Returns:
        The conditions, and a parameter for each `?` in them.

    Raises:
        UsageError: If a value or an operator is invalid for its key.
    """
    clause, parameters = "", []
    for one in conditions_of(where):
        text, parameter = _statement(one, values)
        negated = not _SAME.get(one.operator, True)
        clause += f" and not coalesce({text}, 0)" if negated else f" and {text}"
        parameters.append(parameter)
    return clause, parameters


def _statement(one: Condition, values: Values) -> tuple[str, Any]:
    """Return the condition before any `not`, and its parameter."""
    if one.key not in _MATCHED:
        table, column = _LISTED.get(one.key) or _attribute(one.key)
        kept = _matching(one, values(table, column))
        return f"{column} in (select value from json_each(?))", json.dumps(kept)
    if one.operator in _ORDER:
        return _comparison_of(one)
    if one.operator == CONTAINS:
        raise UsageError(
            f"the filter {one.key!r} cannot be used here", f"write {one.key}=VALUE"
        )
    read = _READ.get(one.key)
    ready = [read(str(v)) for v in one.wanted] if read else one.wanted
    return _MATCHED[one.key], json.dumps(ready)


def _attribute(key: str) -> tuple[str, str]:
    """Return the column of an attribute."""
    name = key.replace("'", "''").replace('"', "")
    return "node n", f"json_extract(n.metadata, '$.\"{name}\"')"


def _comparison_of(one: Condition) -> tuple[str, Any]:
    """Return a comparison of an ordered key: pages and days."""
    (value,) = one.wanted
    if one.key == "page":
        edge = "n.end_page" if one.operator[0] == ">" else "n.page"
        return f"{edge} {one.operator} ?", _page(str(value))
    if one.key == "date":
        first, last = _period(str(value))
        # A month is after 2021 if it is after the last day of that year.
        edge = last if one.operator in (">", "<=") else first
        return f"json_extract(n.metadata, '$.date') {one.operator} ?", edge
    raise UsageError(
        f"the filter {one.key!r} cannot be compared by order",
        f"write {one.key}= or {one.key}!=",
    )


def _matching(one: Condition, values: Iterable[Any]) -> list[Any]:
    """Return the values that the condition selects; for `!=`, those it excludes."""
    there = [value for value in values if value is not None]
    if one.operator in _ORDER:
        (wanted,) = one.wanted
        return [v for v in there if _stands(v, one.operator, wanted)]
    if one.operator == CONTAINS:
        parts = [_plain(w) for w in one.wanted]
        return [v for v in there if any(part in _plain(v) for part in parts)]
    if one.key == "section":
        return [v for v in there if any(has_level(str(v), str(w)) for w in one.wanted)]
    exact = {_text(w) for w in one.wanted} & {_text(v) for v in there}
    loose = {_plain(w) for w in one.wanted if _text(w) not in exact}
    return [v for v in there if _text(v) in exact or _plain(v) in loose]


def has_level(section: str, wanted: str) -> bool:
    """Return whether levels of a section's path equal, or begin with, these words."""
    levels = [level.casefold() for level in section.split(" > ")]
    names = [name.casefold() for name in wanted.split(" > ")]
    return any(
        all(map(_is_called, levels[at:], names))
        for at in range(len(levels) - len(names) + 1)
    )


def _is_called(level: str, name: str) -> bool:
    plain = level[number.end() :] if (number := _NUMBER.match(level)) else level
    return any(one == name or one.startswith(f"{name} ") for one in (level, plain))


def _stands(value: Any, operator: str, wanted: Any) -> bool:
    """Compare two values in order: as numbers, else as days, else as words."""
    compare = _ORDER[operator]
    try:
        return compare(float(value), float(wanted))
    except ValueError:
        pass
    if _DAY.fullmatch(str(wanted)) and _DAY.match(str(value)):
        edge = f"{wanted}~" if operator in (">", "<=") else str(wanted)
        return compare(str(value), edge)
    return compare(_plain(value), _plain(wanted))


def _text(value: Any) -> str:
    """Return a value as in a filter: true for 1, because SQLite has no booleans."""
    return {"True": "1", "true": "1", "False": "0", "false": "0"}.get(
        str(value), str(value)
    )


def _plain(value: Any) -> str:
    return _text(value).casefold()


def _period(value: str) -> tuple[str, str]:
    """Return first and last day of `2024`, `2024-03`, `2024-01..2024-06`, `2024..`."""
    first, dots, last = value.partition("..")
    last = last if dots else first
    days = [one for one in (first, last) if one]
    if not days or not all(_DAY.fullmatch(one) for one in days):
        raise UsageError(
            f"the filter date={value!r} is not a date",
            "write a year, month or day (2024, 2024-03, 2024-03-31), or a range "
            "of two with ..",
        )
    return first or "0", (last or "9") + "~"


def _rule(value: str) -> tuple[str, int]:
    """Return the canonical number, and 1 to include those below it (`3.2*`)."""
    below = value.endswith("*")
    return canonical(value.removesuffix("*")).lower(), int(below)


def _figure(value: str) -> str:
    """Return the number alone of `3`, `2a`, `Figure 3`, `Abb. 3`."""
    return (caption_number(value) or value).lower()


def _page(value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise UsageError(f"the filter page={value!r} is not a number", "write page=3")
    return int(value)


_READ: dict[str, Callable[[str], Any]] = {
    "date": _period,
    "figure": _figure,
    "mentioned_figure": _figure,
    "page": _page,
    "rule": _rule,
}
