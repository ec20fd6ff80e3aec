"""A published generation as LlamaIndex's own Chroma vector store."""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
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
    cosines. What is newer than the index is found too. Reading only: every writing
    method raises UsageError, and so does a kind of search that is not offered.
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
        if query.mode is not VectorStoreQueryMode.DEFAULT:
            raise UsageError(f"this vector store has no search mode {query.mode.value}")
        vector = np.array(query.query_embedding, dtype=np.float32)
        allowed = self._allowed(query.node_ids, query.doc_ids, query.filters)
        hits = self._ours.search_dense(vector, query.similarity_top_k, allowed)
        nodes = self._ours.nodes([node for node, _ in hits])
        alive = [hit for hit in hits if hit[0] in nodes]  # one may just have gone
        return VectorStoreQueryResult(
            nodes=[nodes[node] for node, _ in alive],
            similarities=[score for _, score in alive],
            ids=[node for node, _ in alive],
        )

    @override
    def get_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | list[MetadataFilters] | None = None,
    ) -> list[BaseNode]:
        if isinstance(filters, list):
            raise UsageError("give one MetadataFilters, not a list")
        allowed = self._allowed(node_ids, None, filters)
        found = self._ours.nodes(self._ours.ids({}) if allowed is None else allowed)
        return [found[node] for node in sorted(found)]

    @override
    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> NoReturn:
        _refuse()

    @override
    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> NoReturn:
        _refuse()

    @override
    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: Any = None, **kwargs: Any
    ) -> NoReturn:
        _refuse()

    @override
    def clear(self) -> NoReturn:
        _refuse()

    def _allowed(
        self,
        nodes: list[str] | None,
        documents: list[str] | None,
        filters: MetadataFilters | None,
    ) -> frozenset[str] | None:
        """The ids that a query may return; None for all."""
        where: dict[str, Any] = {"document_id": documents} if documents else {}
        chosen = [self._ours.ids(where)] if where else []
        if nodes:
            chosen.append(frozenset(nodes))
        if filters is not None and filters.filters:
            if filters.condition is not FilterCondition.AND:
                raise UsageError("filters are joined by AND in this vector store")
            chosen += [self._ours.ids(_condition(one)) for one in filters.filters]
        return frozenset.intersection(*chosen) if chosen else None


def open_vector_store(store: Store, name: str) -> GenerationVectorStore:
    """The published vectors of a collection.

    Raises CollectionNotFoundError, or GenerationError where nothing is published.
    """
    return GenerationVectorStore(store.open(name))


def _condition(one: MetadataFilter | MetadataFilters) -> dict[str, Any]:
    known = (FilterOperator.EQ, FilterOperator.IN)
    if isinstance(one, MetadataFilters) or one.operator not in known:
        raise UsageError("this vector store filters by == and in")
    return {one.key: one.value}


def _refuse() -> NoReturn:
    raise UsageError("this vector store is for reading", "write through Store.writer()")
