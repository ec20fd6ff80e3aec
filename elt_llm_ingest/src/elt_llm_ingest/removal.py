"""Taking documents out of a collection, and calling things otherwise."""

import os
from collections.abc import Sequence

from elt_llm_core.errors import UsageError, suggest
from elt_llm_core.store import DocumentRow, Store


def matching(store: Store, collection: str, names: Sequence[str]) -> list[DocumentRow]:
    """The documents that file names, addresses or ids name, all parts of each.

    Raises CollectionNotFoundError, and UsageError for a name that matches nothing or
    documents from several addresses.
    """
    rows = store.documents(collection)
    found: dict[str, DocumentRow] = {}
    for name in names:
        # Documents of files whose names are not UTF-8 are listed with U+FFFD.
        shown = os.fsencode(name).decode("utf-8", "replace")
        hits = [r for r in rows if {name, shown} & {r.name, r.uri, r.document_id}]
        if not hits:
            raise UsageError(
                f"{collection!r} holds no document {name!r}",
                suggest(name, {row.name for row in rows}),
            )
        _check_one(shown, hits)
        found.update((row.document_id, row) for row in hits)
    return list(found.values())


def _check_one(name: str, hits: Sequence[DocumentRow]) -> None:
    """Raises UsageError for a file name that documents of several addresses share."""
    addresses = sorted({row.uri for row in hits})
    exact = any(name in (row.uri, row.document_id) for row in hits)
    if len(addresses) > 1 and not exact:
        raise UsageError(
            f"{len(addresses)} documents are called {name!r}: {', '.join(addresses)}",
            "pass the address or the id of the one you mean",
        )


def remove(
    store: Store, collection: str, rows: Sequence[DocumentRow], wait: float = 0.0
) -> None:
    """Take documents out; searches stop finding them at once."""
    with store.writer(wait) as writer:
        for row in rows:
            writer.remove_document(row.document_id)
        writer.publish([collection])


def rename(
    store: Store,
    collection: str,
    title: str,
    rows: Sequence[DocumentRow] = (),
    wait: float = 0.0,
) -> None:
    """Give a collection another name for people, or its documents another title.

    Args:
        store: The data root.
        collection: The id of the collection, which stays.
        title: The name or title.
        rows: Documents that get the title, instead of the collection.
        wait: Seconds to wait for another writer.

    Raises:
        CollectionNotFoundError: If there is no such collection.
        InvalidNameError: If `title` is no name.
        NameTakenError: If another collection is called that.
        StoreLockedError: If another process writes.
    """
    store.card(collection)
    with store.writer(wait) as writer:
        if not rows:
            writer.rename_collection(collection, title)
        for row in rows:
            writer.rename_document(row.document_id, title)


def drop(store: Store, collections: Sequence[str], wait: float = 0.0) -> None:
    """Remove whole collections with their documents and indexes."""
    with store.writer(wait) as writer:
        for name in collections:
            writer.drop_collection(name)
