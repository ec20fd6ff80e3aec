"""What a web page states about itself in its head: title, authors, date, identifiers.

Names of `<meta>` elements are those of Highwire Press (`citation_…`), which publishers
write, of Dublin Core (`dc.…`, `dcterms.…`), Open Graph, and of HTML itself.
"""

import re
from collections.abc import Mapping

from elt_llm_core.provenance import STATED_TITLE
from elt_llm_ingest.readers.text_builder import one_line

MOST_AUTHORS = 50  # stored with every chunk
MOST_CHARACTERS = 200  # of one value
# Names by what they state, the most specific first.
_NAMES = {
    STATED_TITLE: ("citation_title", "dcterms.title", "dc.title", "og:title"),
    "authors": (
        *("citation_author", "dcterms.creator", "dc.creator", "author"),
        "article:author",
    ),
    "date": (
        *("citation_publication_date", "citation_date", "dcterms.issued"),
        *("dcterms.date", "dc.date.issued", "dc.date", "article:published_time"),
        *("datepublished", "date", "dcterms.created", "dc.date.created"),
    ),
    "journal": ("citation_journal_title",),
    "doi": ("citation_doi",),
}
_KNOWN = {name for names in _NAMES.values() for name in names}
_DAY = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?(?![\d/-])")
_ADDRESS = re.compile(r"\w+://")


class PageMetadata:
    """The `<meta>` elements of a page that state what it is."""

    def __init__(self) -> None:
        self._stated: dict[str, list[str]] = {}

    def add(self, attributes: Mapping[str, str]) -> None:
        """Keep a `<meta>` element if its name is known.

        Args:
            attributes: Its attributes.
        """
        text = one_line(attributes.get("content", ""))[:MOST_CHARACTERS]
        for key in ("name", "property", "itemprop"):
            name = attributes.get(key, "").strip().casefold()
            if text and name in _KNOWN:
                self._stated.setdefault(name, []).append(text)
                break

    def attributes(self, title: str) -> dict[str, str]:
        """Return what the page states, by the names that other readers use.

        Args:
            title: The text of `<title>`, for a page without a more specific title.

        Returns:
            The existing attributes; authors joined by `; `, the date in ISO 8601 as
            far as it is stated. An author that is an address of a page is left out.
        """
        stated = {
            field: next((self._stated[n] for n in names if n in self._stated), [])
            for field, names in _NAMES.items()
        }
        people = [one for one in stated["authors"] if not _ADDRESS.match(one)]
        firsts = {field: (texts or [""])[0] for field, texts in stated.items()}
        attributes = {
            **firsts,
            STATED_TITLE: firsts[STATED_TITLE] or title[:MOST_CHARACTERS],
            "authors": "; ".join(dict.fromkeys(people[:MOST_AUTHORS])),
            "date": _iso_day(firsts["date"]),
        }
        return {field: text for field, text in attributes.items() if text}


def _iso_day(text: str) -> str:
    """Return a date as year, month and day as far as stated; "" if it has no year."""
    match = _DAY.match(text)
    if match is None:
        return ""
    year, month, day = match.groups()
    parts = [year, *(f"{int(part):02}" for part in (month, day) if part)]
    return "-".join(parts)
