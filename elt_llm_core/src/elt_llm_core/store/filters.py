"""Which chunks a search may return, as conditions of a statement."""

import json
from collections.abc import Mapping
from typing import Any

from elt_llm_core.errors import UsageError

# `?` is a JSON list of alternatives; `value` is one of them.
_FILTERS = {
    "document": "d.name in (select value from json_each(?))",
    "document_id": "n.document_id in (select value from json_each(?))",
    "kind": "n.kind in (select value from json_each(?))",
    "page": "exists(select 1 from json_each(?) "
    "where cast(value as integer) between n.page and n.end_page)",
    "section": "exists(select 1 from json_each(?) where n.section = value "
    "or substr(n.section, 1, length(value) + 1) = value || ' ')",
}


def where_clause(where: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Conditions that begin with ` and`, and their parameters.

    Keys: `document` (name), `document_id`, `kind`, `page`, `section` (the path or its
    beginning). A value may be a list of alternatives; an empty one matches nothing.
    Raises UsageError for another key, or a value that is no text or whole number.
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
        parameters.append(json.dumps(sorted(alternatives, key=str)))
    return conditions, parameters
