"""Which chunks a search may return, as conditions of a statement."""

import json
import re
from collections.abc import Mapping
from typing import Any

from elt_llm_core.errors import UsageError
from elt_llm_core.language.rule_numbers import canonical

# `?` is a JSON list of alternatives; `value` is one of them.
_FILTERS = {
    "document": "d.name in (select value from json_each(?))",
    "document_id": "n.document_id in (select value from json_each(?))",
    "kind": "n.kind in (select value from json_each(?))",
    "page": "exists(select 1 from json_each(?) "
    "where cast(value as integer) between n.page and n.end_page)",
    "section": "exists(select 1 from json_each(?) where n.section = value "
    "or substr(n.section, 1, length(value) + 1) = value || ' ')",
    "source": "exists(select 1 from json_each(?) where d.uri = value "
    "or json_extract(n.metadata, '$.source') = value)",
    "date": "exists(select 1 from json_each(?) "
    "where json_extract(n.metadata, '$.date') between value ->> 0 and value ->> 1)",
    "rule": "exists(select 1 from json_each(?) wanted, "
    "json_each(coalesce(json_extract(n.metadata, '$.rules'), '[]')) own where "
    # A chunk's rule is the wanted one, or stands below it where that is asked for:
    # the number goes on with another kind of character, so that 3.20 is not in 3.2.
    "lower(own.value) = wanted.value ->> 0 or (wanted.value ->> 1 "
    "and substr(lower(own.value), 1, length(wanted.value ->> 0)) = wanted.value ->> 0 "
    "and substr(lower(own.value), length(wanted.value ->> 0), 2) "
    "not glob '[0-9][0-9]' "
    "and substr(lower(own.value), length(wanted.value ->> 0), 2) "
    "not glob '[a-z][a-z]'))",
}


_DAY = re.compile(r"(?:\d{4}(?:-\d{2}(?:-\d{2})?)?)?")


def _period(value: str) -> tuple[str, str]:
    """First and last day of `2024`, `2024-03`, `2024-01..2024-06`, `2024..`."""
    first, dots, last = value.partition("..")
    last = last if dots else first
    if not (first or last) or not all(_DAY.fullmatch(one) for one in (first, last)):
        raise UsageError(
            f"the filter date={value!r} is no date",
            "write a year, month or day (2024, 2024-03, 2024-03-31), or two with ..",
        )
    return first or "0", (last or "9") + "~"


def _rule(value: str) -> tuple[str, int]:
    """The canonical number, and 1 where those below it are meant too (`3.2*`)."""
    below = value.endswith("*")
    return canonical(value.removesuffix("*")).lower(), int(below)


def _page(value: str) -> int:
    if not value.isascii() or not value.isdigit():
        raise UsageError(f"the filter page={value!r} is no number", "write page=3")
    return int(value)


_READ = {"date": _period, "page": _page, "rule": _rule}


def where_clause(where: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Conditions that begin with ` and`, and their parameters.

    Keys: `document` (name), `document_id`, `kind`, `page`, `section` (the path or its
    beginning), `source` (the address, or what `metadata` calls source), `date` (a
    year, month or day, or two of them with `..` between), `rule` (a number as people
    write it; with `*` at its end those below it too). A value may be a list of
    alternatives; an empty one matches nothing.
    Raises UsageError for another key, or a value that cannot be one of it.
    """
    conditions, parameters = "", []
    for key, value in sorted(where.items()):
        if key not in _FILTERS:
            known = ", ".join(sorted(_FILTERS))
            raise UsageError(f"unknown filter {key!r}", f"known: {known}")
        several = isinstance(value, list | tuple | set | frozenset)
        alternatives = list(value) if several else [value]
        if not all(isinstance(one, str | int) for one in alternatives):
            raise UsageError(f"the filter {key!r} cannot be {value!r}")
        conditions += f" and {_FILTERS[key]}"
        ordered = sorted(alternatives, key=str)
        read = _READ.get(key)
        parameters.append(
            json.dumps([read(str(v)) for v in ordered] if read else ordered)
        )
    return conditions, parameters
