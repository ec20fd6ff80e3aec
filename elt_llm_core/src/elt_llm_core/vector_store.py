"""A published generation as LlamaIndex's own Chroma vector store."""

from typing import Any

import numpy as np
from llama_index.core.vector_stores.types import (
    VectorStoreQuery,
    VectorStoreQueryResult,
)
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import GenerationError, UsageError
from elt_llm_core.store import Collection, Store


class GenerationVectorStore(ChromaVectorStore):
    """ChromaVectorStore over a collection of ours, for a plain LlamaIndex user.

    Chroma holds vectors and ids; the chunks come from the truth. Similarities are
    cosines. What is newer than the index is found too. Reading only.
    """

    _ours: Collection = PrivateAttr()

    def __init__(self, collection: Collection) -> None:
        if collection.chroma is None:
            raise GenerationError(collection.name, "nothing is published")
        super().__init__(chroma_collection=collection.chroma)
        self._ours = collection

    @override
    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        if query.query_embedding is None:
            raise UsageError("a vector search needs an embedded question")
        vector = np.array(query.query_embedding, dtype=np.float32)
        allowed = frozenset(query.node_ids) if query.node_ids else None
        hits = self._ours.search_dense(vector, query.similarity_top_k, allowed)
        nodes = self._ours.nodes([node for node, _ in hits])
        return VectorStoreQueryResult(
            nodes=[nodes[node] for node, _ in hits],
            similarities=[score for _, score in hits],
            ids=[node for node, _ in hits],
        )


def open_vector_store(store: Store, name: str) -> GenerationVectorStore:
    """The published vectors of a collection. Raises CollectionNotFoundError."""
    return GenerationVectorStore(store.open(name))
