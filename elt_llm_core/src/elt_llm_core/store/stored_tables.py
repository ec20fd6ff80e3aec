"""The tables of a collection, built from its stored documents."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from elt_llm_core.errors import UsageError, suggest
from elt_llm_core.tables.relation_records import Relation
from elt_llm_core.tables.relations import ID_DIGITS, relations

if TYPE_CHECKING:
    from elt_llm_core.store import Store


def stored_tables(
    store: "Store", collection: str, digits: str = ""
) -> Iterator[Relation]:
    """Return tables by document (uri, part) and position, optionally by id prefix.

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
    """Return one table by its id. Raises UsageError for an unknown one."""
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
