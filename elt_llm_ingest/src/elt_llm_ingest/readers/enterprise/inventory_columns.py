"""Which columns of a sheet are the id, the type, the name and more of a fact sheet.

A column is recognised by its heading, and by its values if no heading fits. Headings in
other words than an export tool's count only in a sheet that is certainly about fact
sheets, because orders and bookings have an id, a kind and a name, too.
"""

import re
from collections.abc import Callable, Sequence
from statistics import fmean

from elt_llm_core.enterprise.model import UnreadSheet
from elt_llm_ingest.readers.enterprise.inventory_model import OWN_COLUMNS, PATH
from elt_llm_ingest.readers.text_builder import one_line

NEEDED = ("id", "type", "name")
Rows = Sequence[Sequence[str]]

# Common headings by the column of an export that they stand for.
HEADINGS = {
    "id": ("id", "ids", "identifier", "uid", "uuid", "guid", "key", "reference", "ref",
           "code"),
    "type": ("type", "types", "kind", "category", "class"),
    "name": ("name", "title", "label"),
    "displayname": ("path", "full path", "full name", "qualified name", "hierarchy"),
    "description": ("description", "definition", "meaning", "documentation", "summary",
                    "explanation", "what it is", "what is it"),
    "level": ("level", "lvl", "depth", "hierarchy level"),
    "status": ("status", "lifecycle", "life cycle", "lifecycle status"),
}  # fmt: skip
# Words of a heading that say what all rows are, and so nothing about the column.
FILLERS = frozenset(
    {"fact", "sheet", "factsheet", "lean", "ix", "leanix", "element", "object"}
) | {"asset", "entity", "item", "record", "component", "business", "unique", "the"}
ABOUT_FACT_SHEETS = re.compile(r"fact\s*sheet|leanix", re.IGNORECASE)
# Types of fact sheets and elements, in letters only: of LeanIX, and those of ArchiMate
# that are no everyday words.
TYPES = frozenset(
    {
        *("application", "businesscapability", "businesscontext", "dataobject"),
        *("interface", "itcomponent", "objective", "organization", "organisation"),
        *("platform", "project", "provider", "process", "techcategory", "usergroup"),
        *("technicalstack", "techstack", "microservice", "capability", "initiative"),
        *("businessactor", "businessrole", "businessobject", "businessprocess"),
        *("businessfunction", "businessservice", "businessevent", "businessinterface"),
        *("applicationcomponent", "applicationfunction", "applicationinterface"),
        *("applicationservice", "applicationprocess", "technologyservice", "node"),
        *("systemsoftware", "dataentity", "valuestream", "courseofaction"),
    }
)
# Of these, words that lists of other things use as well.
EVERYDAY = frozenset(
    {
        *("interface", "objective", "organization", "organisation", "platform"),
        *("project", "provider", "process", "capability", "initiative", "node"),
    }
)
SAMPLE = 200  # rows whose values are looked at
# Shares of the filled cells. A few types are an organisation's own; a column in which
# most are unknown is about something else.
KNOWN_TYPES = 0.5
MOST = 0.8
NAME_LENGTH = 80  # characters; longer texts describe
MOST_COLUMNS = 40  # of a sheet that is no inventory
FEWEST_ROWS = 2  # below the headings; what has fewer lists nothing
KEPT = 50  # values of a column of such a sheet: enough to see what it lists
SENTENCE = 5  # words, from which the cells of a column describe on average
ID = re.compile(r"\S*\d\S*")


def find_columns(rows: Rows) -> dict[str, int]:
    """Return the columns of a sheet with their positions.

    Args:
        rows: The sheet; its first row has the headings.

    Returns:
        Positions by name: `id`, `type`, `name` and the other columns of an export under
        these names, all others under their heading. The first of a name counts.
    """
    headings = [one_line(cell) for cell in rows[0]] if rows else []
    places = _find_exact(headings)
    if not (places.keys() >= set(NEEDED)):
        loose = _find_loose(headings, rows[1 : SAMPLE + 1], places)
        places = loose if _is_inventory(headings, rows, loose) else places
    else:
        places = _add_headings(headings, places)
    if "displayname" not in _find_exact(headings) and not _shows_paths(rows, places):
        places.pop("displayname", None)
    return name_columns(headings, places)


def find_roles(headings: Sequence[str]) -> dict[str, int]:
    """Return the columns of an export and those with a common heading.

    Args:
        headings: The headings, none of which is certain to be of a fact sheet.

    Returns:
        Positions by role; no display names, which need the values.
    """
    places = _add_headings(headings, _find_exact(headings))
    if "displayname" not in _find_exact(headings):
        places.pop("displayname", None)
    return places


def name_columns(headings: Sequence[str], roles: dict[str, int]) -> dict[str, int]:
    """Return all columns: those with a role by it, all others by their heading.

    Args:
        headings: The headings.
        roles: Positions by role.
    """
    places = dict(roles)
    taken = set(places.values())
    for index, heading in enumerate(headings):
        if index not in taken:
            places.setdefault(heading or f"col_{index + 1}", index)
    return dict(sorted(places.items(), key=lambda item: item[1]))


def _shows_paths(rows: Rows, places: dict[str, int]) -> bool:
    """Return whether a column "Path" or "Full name" shows places in a hierarchy."""
    at = places.get("displayname")
    return at is not None and any(PATH in c for c in cells_of(rows[1 : SAMPLE + 1], at))


def describe_unread(file: str, name: str, rows: Rows, page: int) -> UnreadSheet | None:
    """Return headings and some values of a sheet; None if it is no table of rows.

    Args:
        file: The name of the file.
        name: The name of the sheet.
        rows: Its rows; a title may be above the headings.
        page: The number of the sheet.
    """
    start = next((i for i, row in enumerate(rows) if sum(map(bool, row)) > 1), None)
    if start is None or len(rows) - start <= FEWEST_ROWS:
        return None
    columns = find_columns(rows[start:])
    width = min(len(rows[start]), MOST_COLUMNS)
    distinct = [
        dict.fromkeys(cells_of(rows[start + 1 : start + 1 + SAMPLE], index))
        for index in range(width)
    ]
    return UnreadSheet(
        file=file,
        name=name,
        page=page,
        columns=tuple(one_line(cell) for cell in rows[start] if cell)[:MOST_COLUMNS],
        missing=tuple(c for c in NEEDED if c not in columns) or ("headings in row 1",),
        values=tuple(
            tuple(v for v in values if len(v) <= NAME_LENGTH)[:KEPT]
            for values in distinct
        ),
    )


def _find_exact(headings: Sequence[str]) -> dict[str, int]:
    """Return the columns that are called as in an export."""
    places: dict[str, int] = {}
    for index, heading in enumerate(headings):
        plain = re.sub(r"[\s_-]", "", heading).casefold()
        if plain in OWN_COLUMNS:
            places.setdefault(plain, index)
    return places


def _add_headings(headings: Sequence[str], exact: dict[str, int]) -> dict[str, int]:
    """Return the columns with those whose heading is a common one.

    A heading that is a common one as it stands precedes one with further words.
    """
    places = dict(exact)
    taken = set(exact.values())
    for read in (_heading_words, _telling_words):
        for index, heading in enumerate(headings):
            role = _role_of(read(heading))
            if role and role not in places and index not in taken:
                places[role] = index
                taken.add(index)
    return places


def _heading_words(heading: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", heading)
    return " ".join(re.findall(r"[^\W_]+", spaced)).casefold()


def _telling_words(heading: str) -> str:
    words = _heading_words(heading).split()
    return " ".join(word for word in words if word not in FILLERS)


def _role_of(words: str) -> str:
    return next((role for role, known in HEADINGS.items() if words in known), "")


def _find_loose(
    headings: Sequence[str], rows: Rows, exact: dict[str, int]
) -> dict[str, int]:
    """Return the columns by their headings, and the missing ones by their values."""
    places = _add_headings(headings, exact)
    for role, fits in _BY_VALUES:
        taken = set(places.values())
        if role in places:
            continue
        left = (index for index in range(len(headings)) if index not in taken)
        fitting = [index for index in left if fits(cells_of(rows, index), len(rows))]
        if fitting:
            places[role] = fitting[0]
    return places


def _is_inventory(headings: Sequence[str], rows: Rows, places: dict[str, int]) -> bool:
    """Return whether the rows are certainly fact sheets."""
    if not places.keys() >= set(NEEDED):
        return False
    types = cells_of(rows[1 : SAMPLE + 1], places["type"])
    about = any(ABOUT_FACT_SHEETS.search(heading) for heading in headings)
    telling = {_plain_type(cell) for cell in types} & TYPES - EVERYDAY
    return about or (bool(telling) and _share_of_types(types) >= KNOWN_TYPES)


def cells_of(rows: Rows, index: int) -> list[str]:
    """Return the filled cells of a column.

    Args:
        rows: The rows without the headings.
        index: The position of the column.
    """
    cells = (one_line(row[index]) for row in rows if index < len(row))
    return [cell for cell in cells if cell]


def _share_of_types(cells: Sequence[str]) -> float:
    known = sum(_plain_type(cell) in TYPES for cell in cells)
    return known / len(cells) if cells else 0.0


def _plain_type(cell: str) -> str:
    """Return a type in the spelling of `TYPES`, if it is one of these."""
    plain = re.sub(r"[^a-z]", "", cell.casefold())
    return plain if plain in TYPES else plain.removesuffix("s")


def _are_types(cells: Sequence[str], rows: int) -> bool:
    return len(cells) >= MOST * rows and _share_of_types(cells) >= MOST


def _are_ids(cells: Sequence[str], rows: int) -> bool:
    return (
        0 < rows == len(cells) == len(set(cells))
        and all(ID.fullmatch(cell) for cell in cells)
    )  # fmt: skip


def are_names(cells: Sequence[str], rows: int, share: float = 1.0) -> bool:
    """Return whether nearly all rows have a short name of their own.

    Args:
        cells: The filled cells of a column.
        rows: The number of rows.
        share: The part of the cells that must be names, no paths and no numbers.
    """
    return (
        len(cells) >= MOST * rows > 0
        and len(set(cells)) >= MOST * len(cells)
        and fmean(map(len, cells)) <= NAME_LENGTH
        and sum(map(_is_name, cells)) >= share * len(cells)
    )


def _is_name(cell: str) -> bool:
    return PATH not in cell and bool(re.search(r"[^\W\d]", cell))


def _are_descriptions(cells: Sequence[str], rows: int) -> bool:
    return rows > 0 and bool(cells) and fmean(len(c.split()) for c in cells) >= SENTENCE


Fits = Callable[[Sequence[str], int], bool]
_BY_VALUES: tuple[tuple[str, Fits], ...] = (
    ("type", _are_types),
    ("id", _are_ids),
    ("name", are_names),
    ("description", _are_descriptions),
)
