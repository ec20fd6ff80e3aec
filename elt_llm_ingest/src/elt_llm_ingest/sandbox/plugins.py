"""Loaders of third-party packages, as the reading process uses them."""

from typing import Any, cast

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings import MockEmbedding

from elt_llm_core.strategy import Models, Stage
from elt_llm_ingest.readers.registry import Parse

# The readers inside the sandbox must not import `loaders`, which starts the sandbox.
_LOADERS: Stage[Any] = Stage("loaders")


def foreign_parser(name: str) -> Parse:
    """Return the `parse` of a third-party loader, for the reading process."""
    point = _LOADERS.known()[name]
    package = point.dist.name if point.dist else ""
    embedder: BaseEmbedding = MockEmbedding(embed_dim=1)
    strategy = _LOADERS.load(name, allow=frozenset({package}))
    return cast("Parse", strategy.build(Models(embedder=embedder)).parse)
