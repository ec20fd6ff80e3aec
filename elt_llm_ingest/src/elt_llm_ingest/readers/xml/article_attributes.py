"""The metadata in the front of an article: journal, date, authors, identifiers."""

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

from elt_llm_core.provenance import STATED_TITLE
from elt_llm_ingest.readers.text_builder import one_line
from elt_llm_ingest.readers.xml import safe

TextOf = Callable[[Any], str]
MOST_AUTHORS = 50  # stored with every chunk; some papers have thousands
MOST_CHARACTERS = 200  # of one value
_TITLES = (
    ("journal-title-group", "journal-title"),
    ("journal-title",),
    ("journal-id",),
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun",
           "jul", "aug", "sep", "oct", "nov", "dec")  # fmt: skip


def attributes_of(article: Any, text_of: TextOf) -> dict[str, str]:
    """Return title, `journal`, `date`, `authors` and identifiers by their own kinds.

    Args:
        article: The root element of the article.
        text_of: Returns the text below an element.

    Returns:
        The existing attributes; authors joined by `; `, the date in ISO 8601 as far as
        it is known.
    """
    meta = safe.first(article, "front", "article-meta")
    if meta is None:
        return {}

    def plain(element: Any) -> str:
        return one_line(text_of(element))[:MOST_CHARACTERS]

    journal = safe.first(article, "front", "journal-meta")
    titles = (safe.first(journal, *path) for path in _TITLES if journal is not None)
    names = [name for name in _authors(meta, plain) if name]
    attributes = {
        element.get("pub-id-type", "id"): plain(element)
        for element in safe.child_elements(meta, "article-id")
    }
    heading = safe.first(meta, "title-group", "article-title")
    attributes |= {
        STATED_TITLE: plain(heading) if heading is not None else "",
        "journal": next((plain(title) for title in titles if title is not None), ""),
        "authors": "; ".join(names[:MOST_AUTHORS]),
        "date": _publication_day(meta, plain),
    }
    return {key: value for key, value in attributes.items() if value}


def _authors(meta: Any, plain: TextOf) -> Iterator[str]:
    for group in safe.child_elements(meta, "contrib-group"):
        for person in safe.child_elements(group, "contrib"):
            if person.get("contrib-type", "author") == "author":
                yield _name(person, plain)


def _name(person: Any, plain: TextOf) -> str:
    """Return the given names before the surname, or the name as written."""
    for path in (("name",), ("name-alternatives", "name")):
        if (name := safe.first(person, *path)) is not None:
            parts = (safe.first(name, part) for part in ("given-names", "surname"))
            return " ".join(plain(part) for part in parts if part is not None)
    for kind in ("string-name", "collab"):
        if (whole := safe.first(person, kind)) is not None:
            return plain(whole)
    return ""


def _publication_day(meta: Any, plain: TextOf) -> str:
    """Return the earliest of the most precise publication dates."""
    days = [_day(one, plain) for one in safe.child_elements(meta, "pub-date")]
    return min(
        (day for day in days if day), key=lambda day: (-len(day), day), default=""
    )


def _day(element: Any, plain: TextOf) -> str:
    """Return year, month and day as far as given and valid."""
    parts = {safe.tag(part): plain(part) for part in safe.child_elements(element)}
    year = parts.get("year", "")
    if not re.fullmatch(r"[0-9]{4}", year):
        return ""
    month = _month(parts.get("month", ""))
    if not month:
        return year
    try:
        return date(int(year), month, int(parts.get("day", ""))).isoformat()
    except ValueError:
        return f"{year}-{month:02}"


def _month(text: str) -> int:
    """Return the number of a month in figures or English; 0 for none."""
    if re.fullmatch(r"[0-9]{1,2}", text):
        return int(text) if 1 <= int(text) <= len(_MONTHS) else 0
    name = text[:3].lower()
    return 1 + _MONTHS.index(name) if name in _MONTHS else 0
