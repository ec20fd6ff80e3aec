"""Stored chunks as LlamaIndex nodes."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from elt_llm_core.identifiers import node_id
from elt_llm_core.store.database.codec import check_sum
from elt_llm_core.store.database.damage import damage_error, reading

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

PLACE = ("document_id", "ordinal", "kind", "section", "page")
STORED = (
    "node.node_id, node.text, node.metadata, node.place_sum, node.document_id, "
    "node.ordinal, "
    "node.kind, node.section, node.page, (select config_key from document o "
    "where o.document_id = node.document_id)"
)


def stored_node(row: Sequence[Any]) -> "TextNode":
    """Return the node of a row with the columns `STORED`.

    Raises UnusableDatabaseError for a damaged one: its id is a hash of its text, and
    its place is in the row and in the metadata.
    """
    key, text, metadata, total, document, ordinal, kind, section, page, config = row
    with reading(f"chunk {key}"):
        if check_sum(metadata) != total:
            raise damage_error(f"chunk {key}: the metadata were changed")
        if key != node_id(document, config, ordinal, text):
            raise damage_error(f"chunk {key}: the text was changed")
        node = node_from_row(key, text, metadata)
    place = [node.metadata.get(name) for name in PLACE]
    if place != [document, ordinal, kind, section, page]:
        raise damage_error(f"chunk {key}: the place was changed")
    return node


def node_from_row(key: str, text: str, metadata: str) -> "TextNode":
    """Return a stored LlamaIndex node with its provenance."""
    # Imported here: LlamaIndex takes two seconds, which the index builder can save.
    from llama_index.core.schema import TextNode  # noqa: PLC0415

    flat = json.loads(metadata)
    keys = sorted(flat)
    return TextNode(
        id_=key,
        text=text,
        metadata=flat,
        start_char_idx=flat.get("span_start"),
        end_char_idx=flat.get("span_end"),
        excluded_embed_metadata_keys=keys,
        excluded_llm_metadata_keys=[*keys],
    )
