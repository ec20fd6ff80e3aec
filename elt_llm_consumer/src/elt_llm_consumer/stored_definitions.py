"""The definitions of a document, cached in the journal until its text changes.

Extracting them is most of the work of a product without a language model. They depend
only on the text and the blocks of the document, the threshold, the weights and the
program, all of which are in the key.
"""

from contextlib import suppress

from elt_llm_consumer.batch import program_digest
from elt_llm_consumer.definitions.definition_pipeline import find_definitions
from elt_llm_consumer.definitions.definition_records import Definition
from elt_llm_core.errors import StoreError
from elt_llm_core.identifiers import item_key
from elt_llm_core.store import DocumentRow, Store

RUN = "definitions"  # of the journal


def stored_definitions(
    store: Store, document: DocumentRow, threshold: float, *, fresh: bool = False
) -> list[Definition]:
    """Return the definitions of a document, from the journal if possible.

    Args:
        store: The data root with the document.
        document: Its row.
        threshold: The minimum probability of a definition.
        fresh: Ignore the cache.
    """
    document_id = document.document_id
    content = store.content_digest(document_id)
    key = item_key(RUN, program_digest(), content, str(threshold))
    kept = None if fresh else store.journal.get(key)
    if kept is not None:
        return [Definition.model_validate(row) for row in kept["definitions"]]
    definitions = find_definitions(
        store.document_text(document_id), store.blocks(document_id), threshold
    )
    rows = [one.model_dump(mode="json") for one in definitions]
    with suppress(StoreError):  # for a read-only data root
        store.journal.put(RUN, key, 0, document.name, result={"definitions": rows})
    return definitions
