"""The tables of a collection, made of its documents as they are stored now."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from elt_llm_core.errors import UsageError, suggest
from elt_llm_core.tables.relations import ID_DIGITS, Relation, relations

if TYPE_CHECKING:
    from elt_llm_core.store import Store


def stored_tables(
    store: "Store", collection: str, digits: str = ""
) -> Iterator[Relation]:
    """Tables by document (uri, part) and place, only those whose id begins so.

    Raises CollectionNotFoundError or InvalidNameError.
    """
    for row in store.documents(collection):
        if row.document_id.startswith(digits):
            text, blocks = (
                store.document_text(row.document_id),
                store.blocks(row.document_id),
            )
            yield from relations(row.document_id, row.name, text, blocks)


def stored_table(store: "Store", collection: str, table: str) -> Relation:
    """One table by its id. Raises UsageError for one that is not there."""
    document = table.rpartition("-")[0][:ID_DIGITS]
    known = []
    for relation in stored_tables(store, collection, document):
        if relation.id == table:
            return relation
        known.append(relation.id)
    near = suggest(table, known) if document and known else "list the ids"
    raise UsageError(
        f"collection {collection!r} has no table {table!r}",
        f"{near}: elt-llm tables list {collection}",
    )
