"""Sheets that list things of one type, such as "Applications", as inventories.

People keep a sheet for each type: its name says the type, or the heading above the
names does ("Application", "Data object"). A title may be above the headings.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from elt_llm_ingest.readers.enterprise.inventory_columns import (
    are_names,
    cells_of,
    find_roles,
    name_columns,
)
from elt_llm_ingest.readers.text_builder import one_line

Sheets = Sequence[tuple[str, Sequence[Sequence[str]]]]

# Types by their names in English and German, in letters only.
_TYPES = {
    "Application": ("application", "applikation", "anwendung"),
    "BusinessCapability": ("businesscapability", "capability", "geschäftsfähigkeit"),
    "DataObject": ("dataobject", "dataentity", "datenobjekt"),
    "Interface": ("interface", "schnittstelle"),
    "ITComponent": ("itcomponent", "itkomponente"),
    "Initiative": ("initiative",),
    "Objective": ("objective",),
    "Organization": ("organisation", "organization", "organisationseinheit"),
    "Platform": ("platform", "plattform"),
    "Process": ("process", "businessprocess", "prozess", "geschäftsprozess"),
    "Project": ("project", "projekt"),
    "Provider": ("provider", "anbieter"),
}
_TYPE_OF = {word: kind for kind, words in _TYPES.items() for word in words}
# Lists of other things are called so as well: the name of the sheet and a heading must
# agree, or another sheet of the file be certain.
_EVERYDAY = frozenset(
    {"Initiative", "Interface", "Objective", "Organization", "Platform", "Process"}
) | {"Project", "Provider"}
# What the name of a sheet may say besides the type.
_LIST_WORDS = frozenset(
    {"catalog", "catalogue", "inventory", "landscape", "list", "of", "overview"}
) | {"portfolio", "register", "the", "der", "die", "inventar", "liste", "übersicht"}
_ENDINGS = (("ies", "y"), ("en", ""), ("es", ""), ("e", ""), ("s", ""), ("n", ""))


class TypeSheet(NamedTuple):
    """A sheet of fact sheets of one type; `top` is the row with the headings."""

    number: int
    type: str
    top: int
    columns: dict[str, int]
    certain: bool


def find_type_sheets(sheets: Sheets) -> list[TypeSheet]:
    """Return the sheets that list things of one type.

    Args:
        sheets: Names and rows of the sheets of a file.

    Returns:
        Those whose names are distinct. Everyday words such as "Projects" count only
        with a heading that agrees, or beside a sheet that is certain.
    """
    read = [_read_sheet(i, name, rows) for i, (name, rows) in enumerate(sheets)]
    sure = [sheet for sheet in read if sheet is not None]
    if any(sheet.certain for sheet in sure):
        return sure
    return [sheet for sheet in sure if sheet.type not in _EVERYDAY]


def find_shared_ids(sheets: Sheets, listed: Sequence[TypeSheet]) -> frozenset[str]:
    """Return the ids of more than one sheet, as where each counts from 1.

    Args:
        sheets: The sheets of the file.
        listed: Those that list things of one type.
    """
    counts: Counter[str] = Counter()
    for sheet in listed:
        rows = sheets[sheet.number][1][sheet.top + 1 :]
        counts.update(set(cells_of(rows, sheet.columns["id"])))
    return frozenset(key for key, count in counts.items() if count > 1)


def type_named(text: str) -> str:
    """Return the type that a heading or the name of a sheet states, or "".

    Args:
        text: Such as "Data objects" or "List of applications".
    """
    words = re.findall(r"[^\W\d_]+", text.casefold())
    for kept in (words, [word for word in words if word not in _LIST_WORDS]):
        plain = "".join(kept)
        forms = [plain, *(_without(plain, *ending) for ending in _ENDINGS)]
        if kind := next((_TYPE_OF[form] for form in forms if form in _TYPE_OF), ""):
            return kind
    return ""


def _without(word: str, ending: str, instead: str) -> str:
    return word.removesuffix(ending) + instead if word.endswith(ending) else ""


def _read_sheet(
    index: int, name: str, rows: Sequence[Sequence[str]]
) -> TypeSheet | None:
    top = next((i for i, row in enumerate(rows) if sum(map(bool, row)) > 1), None)
    if top is None or len(rows) - top < 2:  # noqa: PLR2004 - headings and a row
        return None
    headings = [one_line(cell) for cell in rows[top]]
    body = [row for row in rows[top + 1 :] if sum(map(bool, row)) > 1]
    of_sheet = type_named(name)
    stated = [type_named(heading) for heading in headings]
    for kind in dict.fromkeys([of_sheet] if of_sheet else filter(None, stated)):
        columns = _find_columns(headings, stated, kind, body)
        if columns is None:
            continue
        agrees = of_sheet == kind and stated[columns["name"]] == kind
        return TypeSheet(index, kind, top, columns, agrees or kind not in _EVERYDAY)
    return None


def _find_columns(
    headings: Sequence[str],
    stated: Sequence[str],
    kind: str,
    body: Sequence[Sequence[str]],
) -> dict[str, int] | None:
    """Return the columns of a sheet of one type; None without distinct names."""
    # "Application ID" and "Application name" are the id and the name.
    plain = [_without_type(heading, kind) for heading in headings]
    roles = {role: at for role, at in find_roles(plain).items() if role != "type"}
    label = stated.index(kind) if kind in stated else roles.get("name")
    if label is None or not are_names(cells_of(body, label), len(body)):
        return None
    roles["name"] = label
    key = roles.setdefault("id", label)
    ids = cells_of(body, key)
    if len(set(ids)) < len(ids):
        return None
    return name_columns(headings, roles)


def _without_type(heading: str, kind: str) -> str:
    """Return what a heading says besides the type: "name" of "Application name"."""
    words = heading.split()
    for count in range(len(words) - 1, 0, -1):
        if type_named(" ".join(words[:count])) == kind:
            return " ".join(words[count:])
    return heading
