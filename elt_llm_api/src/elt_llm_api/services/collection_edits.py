"""Changes of collections and documents that need no job."""

from elt_llm_core.store import DocumentRow, Store, editing


def check_writable(store: Store) -> None:
    """Raise StoreLockedError or StoreWriteError if nothing can be written now."""
    with store.writer():
        pass


def remove(store: Store, collection: str, document: DocumentRow | None = None) -> None:
    """Remove a collection, or one of its documents.

    Raises CollectionNotFoundError, StoreLockedError, StoreWriteError.
    """
    if document is None:
        editing.drop_collections(store, [store.card(collection).name])
    else:
        editing.remove_documents(store, collection, [document])


def change(
    store: Store,
    collection: str,
    title: str | None,
    priority: int | None,
    document: DocumentRow | None = None,
) -> None:
    """Change the title or priority of a collection, or of one of its documents.

    Raises CollectionNotFoundError, InvalidNameError, NameTakenError,
    StoreLockedError, StoreWriteError.
    """
    rows = [document] if document else []
    if title is not None:
        editing.rename(store, store.card(collection).name, title, rows)
    if priority is not None:
        editing.set_priority(store, collection, priority, rows)
