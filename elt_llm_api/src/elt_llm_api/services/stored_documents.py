"""Documents, their pages and their tables by id; what is missing is an error."""

from collections.abc import Sequence

from elt_llm_core.errors import NothingThereError, UsageError
from elt_llm_core.results import Box
from elt_llm_core.store import Collection, DocumentRow, Store
from elt_llm_core.store.stored_tables import stored_table, stored_tables
from elt_llm_core.tables import Relation
from elt_llm_query.page_images import render_page

PDF = "application/pdf"


def open_collections(store: Store) -> list[Collection]:
    """Return all collections with their indexes, by name."""
    return [store.open(card.name) for card in store.collections()]


def find_document(store: Store, document_id: str) -> DocumentRow:
    """Return the row of a document. Raises NothingThereError."""
    row = store.document(document_id)
    if row is None:
        raise NothingThereError("no such document")
    return row


def has_page_images(store: Store, document_id: str) -> bool:
    """Return whether pages of the document can be drawn."""
    row = store.document(document_id)
    return row is not None and row.mime == PDF and row.has_original


def draw_page(
    store: Store,
    document_id: str,
    number: int,
    boxes: Sequence[Box] = (),
    *,
    scale: float = 1.5,
    crop: bool = False,
) -> bytes | None:
    """Return a page of a stored PDF as a JPEG with marked `boxes`; else None."""
    row = store.document(document_id)
    if row is None or row.mime != PDF:
        return None
    original = store.original(document_id)
    if original is None:
        return None
    return render_page(original, number, boxes, scale=scale, crop=crop)


def list_tables(store: Store, collection: str) -> list[Relation]:
    """Return the tables of a collection in the order of its documents.

    Raises CollectionNotFoundError or InvalidNameError.
    """
    return list(stored_tables(store, store.card(collection).name))


def find_table(store: Store, collection: str, table: str) -> Relation:
    """Return one table. Raises CollectionNotFoundError, NothingThereError."""
    try:
        return stored_table(store, store.card(collection).name, table)
    except UsageError as error:
        raise NothingThereError(str(error)) from error
