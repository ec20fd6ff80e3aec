"""The store for plain LlamaIndex: a read-only document store and vector store."""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from llama_index.core.schema import BaseNode
from llama_index.core.storage.docstore.types import BaseDocumentStore, RefDocInfo
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
from elt_llm_core.store.database.filters import CONTAINS

# Text matches are the same here and ignore case.
_OPERATORS = {
    FilterOperator.TEXT_MATCH: CONTAINS,
    FilterOperator.TEXT_MATCH_INSENSITIVE: CONTAINS,
}


class DatabaseDocumentStore(BaseDocumentStore):
    """The chunks of one collection as a LlamaIndex document store.

    Only `Store.writer` writes, with chunks, vectors and the ledger in one transaction;
    every writing method here raises UsageError.
    """

    def __init__(self, store: Store, collection: str) -> None:
        store.card(collection)
        self._store = store
        self._collection = collection

    @property
    @override
    def docs(self) -> dict[str, BaseNode]:
        return {n.node_id: n for n in self._store.nodes(self._collection)}

    @override
    def get_document(self, doc_id: str, raise_error: bool = True) -> BaseNode | None:
        node = self._store.nodes_by_id(self._collection, [doc_id]).get(doc_id)
        if node is None and raise_error:
            message = f"doc_id {doc_id} not found."
            raise ValueError(message)  # what LlamaIndex's own stores raise
        return node

    @override
    async def aget_document(
        self, doc_id: str, raise_error: bool = True
    ) -> BaseNode | None:
        return self.get_document(doc_id, raise_error)

    @override
    def document_exists(self, doc_id: str) -> bool:
        return self.get_document(doc_id, raise_error=False) is not None

    @override
    async def adocument_exists(self, doc_id: str) -> bool:
        return self.document_exists(doc_id)

    @override
    def get_document_hash(self, doc_id: str) -> str | None:
        node = self.get_document(doc_id, raise_error=False)
        return None if node is None else node.hash

    @override
    async def aget_document_hash(self, doc_id: str) -> str | None:
        return self.get_document_hash(doc_id)

    @override
    def get_all_document_hashes(self) -> dict[str, str]:
        return {node.hash: node_id for node_id, node in self.docs.items()}

    @override
    async def aget_all_document_hashes(self) -> dict[str, str]:
        return self.get_all_document_hashes()

    @override
    def get_ref_doc_info(self, ref_doc_id: str) -> RefDocInfo | None:
        nodes = list(self._store.nodes(self._collection, document_id=ref_doc_id))
        return RefDocInfo(node_ids=[n.node_id for n in nodes]) if nodes else None

    @override
    async def aget_ref_doc_info(self, ref_doc_id: str) -> RefDocInfo | None:
        return self.get_ref_doc_info(ref_doc_id)

    @override
    def get_all_ref_doc_info(self) -> dict[str, RefDocInfo]:
        infos: dict[str, RefDocInfo] = {}
        for node in self._store.nodes(self._collection):
            info = infos.setdefault(node.metadata["document_id"], RefDocInfo())
            info.node_ids.append(node.node_id)
        return infos

    @override
    async def aget_all_ref_doc_info(self) -> dict[str, RefDocInfo]:
        return self.get_all_ref_doc_info()

    @override
    def add_documents(
        self,
        docs: Sequence[BaseNode],
        allow_update: bool = True,
        batch_size: int = 1,
        store_text: bool = True,
    ) -> NoReturn:
        _refuse()

    @override
    async def async_add_documents(
        self,
        docs: Sequence[BaseNode],
        allow_update: bool = True,
        batch_size: int = 1,
        store_text: bool = True,
    ) -> NoReturn:
        _refuse()

    @override
    def delete_document(self, doc_id: str, raise_error: bool = True) -> NoReturn:
        _refuse()

    @override
    async def adelete_document(self, doc_id: str, raise_error: bool = True) -> NoReturn:
        _refuse()

    @override
    def delete_ref_doc(self, ref_doc_id: str, raise_error: bool = True) -> NoReturn:
        _refuse()

    @override
    async def adelete_ref_doc(
        self, ref_doc_id: str, raise_error: bool = True
    ) -> NoReturn:
        _refuse()

    @override
    def set_document_hash(self, doc_id: str, doc_hash: str) -> NoReturn:
        _refuse()

    @override
    async def aset_document_hash(self, doc_id: str, doc_hash: str) -> NoReturn:
        _refuse()

    @override
    def set_document_hashes(self, doc_hashes: dict[str, str]) -> NoReturn:
        _refuse()

    @override
    async def aset_document_hashes(self, doc_hashes: dict[str, str]) -> NoReturn:
        _refuse()


def _refuse() -> NoReturn:
    raise UsageError("this document store is read-only", "write through Store.writer()")


class GenerationVectorStore(ChromaVectorStore):
    """ChromaVectorStore over a collection, for plain LlamaIndex users.

    Chroma contains vectors and ids; the chunks come from the database. Similarities are
    cosines. Newer changes are found too. Read-only: every writing method raises
    UsageError, and so does an unsupported kind of search.
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
        allowed = self._allowed_ids(query.node_ids, query.doc_ids, query.filters)
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
            raise UsageError("pass one MetadataFilters, not a list")
        allowed = self._allowed_ids(node_ids, None, filters)
        nodes = self._ours.nodes(self._ours.ids({}) if allowed is None else allowed)
        return [nodes[node] for node in sorted(nodes)]

    @override
    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> NoReturn:
        _refuse_change()

    @override
    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> NoReturn:
        _refuse_change()

    @override
    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: Any = None, **kwargs: Any
    ) -> NoReturn:
        _refuse_change()

    @override
    def clear(self) -> NoReturn:
        _refuse_change()

    def _allowed_ids(
        self,
        nodes: list[str] | None,
        documents: list[str] | None,
        filters: MetadataFilters | None,
    ) -> frozenset[str] | None:
        """Return the ids that a query may return; None for all."""
        where: dict[str, Any] = {"document_id": documents} if documents else {}
        chosen = [self._ours.ids(where)] if where else []
        if nodes:
            chosen.append(frozenset(nodes))
        if filters is not None and filters.filters:
            chosen.append(self._ids_of(filters))
        return frozenset.intersection(*chosen) if chosen else None

    def _ids_of(self, filters: MetadataFilters) -> frozenset[str]:
        """Return the ids that filters select, combined as they specify."""
        each = [
            self._ids_of(one)
            if isinstance(one, MetadataFilters)
            else self._ids_matching(one)
            for one in filters.filters
        ]
        if not each or filters.condition is FilterCondition.AND:
            return frozenset.intersection(self._ours.ids({}), *each)
        either = frozenset.union(*each)
        if filters.condition is FilterCondition.NOT:
            return self._ours.ids({}) - either
        return either

    def _ids_matching(self, one: MetadataFilter) -> frozenset[str]:
        operator = _OPERATORS.get(one.operator, one.operator.value)
        where = {one.key: {operator: one.value}}
        self._ours.check_filters(where)
        return self._ours.ids(where)


def open_vector_store(store: Store, name: str) -> GenerationVectorStore:
    """Return the published vectors of a collection.

    Raises CollectionNotFoundError, or GenerationError if nothing is published.
    """
    return GenerationVectorStore(store.open(name))


def _refuse_change() -> NoReturn:
    raise UsageError("this vector store is read-only", "write through Store.writer()")
