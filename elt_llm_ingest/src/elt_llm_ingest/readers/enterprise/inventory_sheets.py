"""Sheets that list things of one type, such as "Applications", as inventories.

People keep a sheet for each type: its name says the type, or the heading of its first
column of texts does ("Application", "Data object"). A title may be above the headings.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from elt_llm_ingest.readers.enterprise.inventory_columns import (
    MOST,
    are_names,
    cells_of,
    find_roles,
    name_columns,
)
from elt_llm_ingest.readers.enterprise.inventory_types import type_named
from elt_llm_ingest.readers.text_builder import one_line

Sheets = Sequence[tuple[str, Sequence[Sequence[str]]]]

# Lists of other things are called so as well: the name of the sheet and a heading must
# agree, or another sheet of the file be certain.
_EVERYDAY = frozenset(
    {"Initiative", "Interface", "Objective", "Organization", "Platform", "Process"}
) | {"Project", "Provider"}


class TypeSheet(NamedTuple):
    """A sheet of fact sheets of one type; `top` is the row with the headings."""

    number: int
    type: str
    top: int
    columns: dict[str, int]
    by_name: bool
    certain: bool


class TypeSheets(NamedTuple):
    """The sheets of a file that list things of one type, in their order.

    `reasons` has why others do not by their number, if their names state a type.
    """

    listed: list[TypeSheet]
    reasons: dict[int, str]


class _NotListed(NamedTuple):
    type: str
    reason: str


def find_type_sheets(sheets: Sheets) -> TypeSheets:
    """Return the sheets that list things of one type.

    Args:
        sheets: Names and rows of the sheets of a file.

    Returns:
        Those with names of their own in most rows. Everyday words such as "Projects"
        count only with a heading that agrees, or beside a sheet that is certain.
    """
    read = [_read_sheet(i, name, rows) for i, (name, rows) in enumerate(sheets)]
    listed = [one for one in read if isinstance(one, TypeSheet)]
    refused = {i: one for i, one in enumerate(read) if isinstance(one, _NotListed)}
    if not any(one.certain for one in listed):
        listed = [one for one in listed if one.type not in _EVERYDAY]
        refused = {i: one for i, one in refused.items() if one.type not in _EVERYDAY}
    reasons = {number: one.reason for number, one in refused.items()}
    named = {one.type: sheets[one.number][0] for one in listed if one.by_name}
    for one in listed:
        if not one.by_name and one.type in named:
            # Such as the application of each server: a relation, and no second list.
            reasons[one.number] = (
                f"its first names are of the type {one.type}, which the sheet "
                f"{named[one.type]!r} lists"
            )
    return TypeSheets([one for one in listed if one.number not in reasons], reasons)


def find_numbered(sheets: Sheets, listed: Sequence[TypeSheet]) -> frozenset[int]:
    """Return the sheets with an id that another type has, as where each counts from 1.

    Args:
        sheets: The sheets of the file.
        listed: Those that list things of one type.
    """
    ids = {
        one.number: set(cells_of(sheets[one.number][1][one.top + 1 :], at))
        for one in listed
        for at in [one.columns["id"]]
    }
    types: dict[str, set[str]] = defaultdict(set)
    for one in listed:
        for key in ids[one.number]:
            types[key].add(one.type)
    return frozenset(
        number
        for number, keys in ids.items()
        if any(len(types[key]) > 1 for key in keys)
    )


def _read_sheet(
    index: int, name: str, rows: Sequence[Sequence[str]]
) -> TypeSheet | _NotListed | None:
    top = next((i for i, row in enumerate(rows) if sum(map(bool, row)) > 1), None)
    if top is None or len(rows) - top < 2:  # noqa: PLR2004 - headings and a row
        return None
    headings = [one_line(cell) for cell in rows[top]]
    body = [row for row in rows[top + 1 :] if sum(map(bool, row)) > 1]
    of_sheet = type_named(name)
    stated = [type_named(heading) for heading in headings]
    for kind in dict.fromkeys([of_sheet] if of_sheet else filter(None, stated)):
        roles = _find_roles(headings, stated, kind)
        if of_sheet:
            if problem := _find_problem(headings, roles, kind, body):
                return _NotListed(kind, problem)
        elif not _is_first(roles, body) or _find_problem(headings, roles, kind, body):
            continue
        agrees = of_sheet == kind and stated[roles["name"]] == kind
        certain = agrees or kind not in _EVERYDAY
        columns = name_columns(headings, roles)
        return TypeSheet(index, kind, top, columns, bool(of_sheet), certain)
    return None


def _find_roles(
    headings: Sequence[str], stated: Sequence[str], kind: str
) -> dict[str, int]:
    """Return the columns with a role; without a column of ids the name is the id."""
    # "Application ID" and "Application name" are the id and the name.
    plain = [_without_type(heading, kind) for heading in headings]
    roles = {role: at for role, at in find_roles(plain).items() if role != "type"}
    if kind in stated:
        roles["name"] = stated.index(kind)
    if "name" in roles:
        roles.setdefault("id", roles["name"])
    return roles


def _find_problem(
    headings: Sequence[str],
    roles: dict[str, int],
    kind: str,
    body: Sequence[Sequence[str]],
) -> str:
    """Return why the rows are no fact sheets, or "".

    Some rows may be wrong: they are reported when they are read.
    """
    if "name" not in roles:
        return f"none of its headings is Name or {kind}"
    names = cells_of(body, roles["name"])
    if not are_names(names, len(body), MOST):
        return (
            f"too few rows have a short name of their own below "
            f"{headings[roles['name']]!r}"
        )
    ids = cells_of(body, roles["id"])
    if len(set(ids)) < MOST * len(ids):
        return f"too many rows repeat an id below {headings[roles['id']]!r}"
    return ""


def _is_first(roles: dict[str, int], body: Sequence[Sequence[str]]) -> bool:
    """Return whether the names are the first texts of a sheet, or follow the ids.

    In a later column a type is what the rows are about, such as the application that
    runs on a server.
    """
    if "name" not in roles:
        return False
    at, key = roles["name"], roles["id"]
    return at == key + 1 or not any(
        re.search(r"[^\W\d_]", cell)
        for before in range(at)
        if before != key
        for cell in cells_of(body, before)
    )


def _without_type(heading: str, kind: str) -> str:
    """Return what a heading says besides the type: "name" of "Application name"."""
    words = heading.split()
    for count in range(len(words) - 1, 0, -1):
        if type_named(" ".join(words[:count])) == kind:
            return " ".join(words[count:])
    return heading
