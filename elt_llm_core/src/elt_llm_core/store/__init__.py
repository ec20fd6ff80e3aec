"""One database in SQLite, and the search indexes derived from it."""

from typing import TYPE_CHECKING

from elt_llm_core.lazy import lazy_names

if TYPE_CHECKING:
    from elt_llm_core.store.collection import Collection
    from elt_llm_core.store.database.journal import Journal
    from elt_llm_core.store.database.records import (
        CollectionCard,
        DocumentRow,
        NewDocument,
    )
    from elt_llm_core.store.store import Store
    from elt_llm_core.store.writer import Writer

__all__ = [
    "Collection",
    "CollectionCard",
    "DocumentRow",
    "Journal",
    "NewDocument",
    "Store",
    "Writer",
]

__getattr__ = lazy_names(
    __name__,
    {
        "collection": ["Collection"],
        "database.journal": ["Journal"],
        "database.records": ["CollectionCard", "DocumentRow", "NewDocument"],
        "store": ["Store"],
        "writer": ["Writer"],
    },
)
