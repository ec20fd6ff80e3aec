"""How the row of a table is shown in an answer: only what the document says.

The row itself is verbatim. Its headers, and the title before them, stand elsewhere in
the document; each is looked up there, and one that is not found is not shown.
"""

from collections.abc import Callable
from functools import lru_cache

from elt_llm_core.store import Store
from elt_llm_query.sources import Offered
from elt_llm_query.verify import stands_whole

TextOf = Callable[[str], str]


def texts(store: Store) -> TextOf:
    """The text of a document by its id, read once for an answer."""

    @lru_cache(maxsize=4)
    def text_of(document_id: str) -> str:
        """The canonical text; empty where the document is not there."""
        return store.document_text(document_id)

    return text_of


def is_row(where: Offered) -> bool:
    """True for a table row that is shown with its headers."""
    return bool(where.cells and where.reading)


def row_said(where: Offered, document: str) -> str:
    """The title, then each cell as "Header: value", as far as `document` says it."""
    shown = []
    for cell in where.cells:
        first = where.source.span.start
        begin, end = max(cell.start - first, 0), max(cell.end - first, 0)
        value = " ".join(where.source.text[begin:end].split())
        if value and stands_whole(value, document):
            header = " ".join(cell.header.split())
            told = header and stands_whole(header, document)
            shown.append(f"{header}: {value}" if told else value)
    title, dash, _ = where.reading.partition(" - ")
    told = dash and stands_whole(title, document)
    said = " | ".join(shown)
    return f"{title} - {said}" if told else said
