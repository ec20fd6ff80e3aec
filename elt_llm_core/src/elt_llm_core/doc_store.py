"""The truth as a LlamaIndex document store, for reading."""

from collections.abc import Sequence
from typing import NoReturn

from llama_index.core.schema import BaseNode
from llama_index.core.storage.docstore.types import BaseDocumentStore, RefDocInfo
from typing_extensions import override

from elt_llm_core.errors import UsageError
from elt_llm_core.store import Store


class TruthDocumentStore(BaseDocumentStore):
    """The chunks of one collection behind LlamaIndex's interface.

    Writing goes through `Store.writer`, which keeps chunks, vectors and the ledger in
    one transaction; every writing method here raises UsageError.
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
        found: dict[str, RefDocInfo] = {}
        for node in self._store.nodes(self._collection):
            info = found.setdefault(node.metadata["document_id"], RefDocInfo())
            info.node_ids.append(node.node_id)
        return found

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
    raise UsageError(
        "this document store is for reading", "write through Store.writer()"
    )
