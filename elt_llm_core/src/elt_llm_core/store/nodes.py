"""Stored chunks as LlamaIndex nodes."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode


def node_from_row(node_id: str, text: str, metadata: str) -> "TextNode":
    """A LlamaIndex node as it was stored, with its provenance."""
    # LlamaIndex takes two seconds to import, which the index builder need not wait for.
    from llama_index.core.schema import TextNode  # noqa: PLC0415

    flat = json.loads(metadata)
    return TextNode(
        id_=node_id,
        text=text,
        metadata=flat,
        start_char_idx=flat.get("span_start"),
        end_char_idx=flat.get("span_end"),
        excluded_embed_metadata_keys=sorted(flat),
        excluded_llm_metadata_keys=sorted(flat),
    )
