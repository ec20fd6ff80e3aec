"""One truth in SQLite, and the search indexes derived from it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elt_llm_core.identifiers import item_key
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
    "item_key",
]

_HOMES = {
    "Collection": "elt_llm_core.store.collection",
    "CollectionCard": "elt_llm_core.store.database.records",
    "DocumentRow": "elt_llm_core.store.database.records",
    "Journal": "elt_llm_core.store.database.journal",
    "NewDocument": "elt_llm_core.store.database.records",
    "Store": "elt_llm_core.store.store",
    "Writer": "elt_llm_core.store.writer",
    "item_key": "elt_llm_core.identifiers",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is asked for: the index builder needs none of them."""
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(_HOMES[name]), name)
