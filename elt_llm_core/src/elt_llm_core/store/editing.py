"""Remove and rename collections and documents; each call takes the writer lock."""

import os
from collections.abc import Sequence
from pathlib import Path

from elt_llm_core.errors import UsageError, suggest
from elt_llm_core.files.file_addresses import (
    FILE_SCHEME,
    FileAddresses,
    path_of_address,
)
from elt_llm_core.store.database.records import DocumentRow
from elt_llm_core.store.store import Store


def select_documents(
    store: Store, collection: str, names: Sequence[str]
) -> list[DocumentRow]:
    """Select documents by file name, URI, path or id, with all parts of each.

    Args:
        store: The data root.
        collection: The id of the collection.
        names: File names, URIs, paths of the files or document ids.

    Returns:
        The documents in the order of `names`, each once.

    Raises:
        CollectionNotFoundError: If there is no such collection.
        UsageError: If a name matches no document, or documents of several URIs.
    """
    rows = store.documents(collection)
    selected: dict[str, DocumentRow] = {}
    for name in names:
        # Documents of files whose names are not UTF-8 are listed with U+FFFD.
        shown = os.fsencode(name).decode("utf-8", "replace")
        hits = [
            r for r in rows if {name, shown} & {r.name, r.uri, r.document_id}
        ] or _rows_of_file(rows, name)
        if not hits:
            raise UsageError(
                f"{collection!r} has no document {name!r}",
                suggest(name, {row.name for row in rows}),
            )
        _check_one_uri(shown, hits)
        selected.update((row.document_id, row) for row in hits)
    return list(selected.values())


def _rows_of_file(rows: Sequence[DocumentRow], name: str) -> list[DocumentRow]:
    """Return the documents of a file, by its path or by another spelled address."""
    addresses = FileAddresses()
    is_address = name.startswith(FILE_SCHEME)
    try:
        path = path_of_address(name) if is_address else Path(name).expanduser()
        address = addresses.of_path(path)
    except (RuntimeError, ValueError):  # "~nobody", a NUL, or no address after all
        return []
    return [row for row in rows if addresses.of_address(row.uri) == address]


def _check_one_uri(name: str, hits: Sequence[DocumentRow]) -> None:
    """Raise UsageError if documents of several URIs share the file name."""
    uris = sorted({row.uri for row in hits})
    exact = any(name != row.name for row in hits)
    if len(uris) > 1 and not exact:
        raise UsageError(
            f"{len(uris)} documents are called {name!r}: {', '.join(uris)}",
            "pass the address or the id of the document",
        )


def remove_documents(
    store: Store, collection: str, rows: Sequence[DocumentRow], wait: float = 0.0
) -> None:
    """Remove documents from a collection; searches stop finding them at once.

    Args:
        store: The data root.
        collection: The id of the collection.
        rows: The documents; see `select_documents`.
        wait: Seconds to wait for another writer.

    Raises:
        StoreLockedError: If another process writes.
        StoreWriteError: If the disk is full or read-only.
    """
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
    """Give a collection or some of its documents another title.

    Args:
        store: The data root.
        collection: The id of the collection; it does not change.
        title: The new title.
        rows: Documents that get the title, instead of the collection.
        wait: Seconds to wait for another writer.

    Raises:
        CollectionNotFoundError: If there is no such collection.
        InvalidNameError: If no collection id can be derived from `title`.
        NameTakenError: If another collection has that title.
        StoreLockedError: If another process writes.
    """
    store.card(collection)
    with store.writer(wait) as writer:
        if not rows:
            writer.rename_collection(collection, title)
        for row in rows:
            writer.rename_document(row.document_id, title)


def set_priority(
    store: Store,
    collection: str,
    priority: int,
    rows: Sequence[DocumentRow] = (),
    wait: float = 0.0,
) -> None:
    """Set how far a collection, or some of its documents, are trusted.

    Args:
        store: The data root.
        collection: The id of the collection.
        priority: 0 to 100; 0 excludes from searches, 50 is the default.
        rows: Documents that get the priority, instead of the collection.
        wait: Seconds to wait for another writer.

    Raises:
        CollectionNotFoundError: If there is no such collection.
        UsageError: If `priority` is outside its range.
        StoreLockedError: If another process writes.
    """
    name = store.card(collection).name
    with store.writer(wait) as writer:
        for document in [row.document_id for row in rows] or [""]:
            writer.set_priority(name, priority, document)


def drop_collections(
    store: Store, collections: Sequence[str], wait: float = 0.0
) -> None:
    """Remove collections with their documents and indexes.

    Args:
        store: The data root.
        collections: The ids of the collections.
        wait: Seconds to wait for another writer.

    Raises:
        CollectionNotFoundError: If there is no such collection.
        StoreLockedError: If another process writes.
    """
    with store.writer(wait) as writer:
        for name in collections:
            writer.drop_collection(name)
