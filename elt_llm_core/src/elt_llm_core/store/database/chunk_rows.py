"""The chunks of a new document as database rows."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from elt_llm_core import provenance
from elt_llm_core.errors import EmbedError
from elt_llm_core.identifiers import node_id
from elt_llm_core.store.database import codec, vectors
from elt_llm_core.store.database.records import NewDocument

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

SLICE = 500  # chunks per batch, to limit memory


_to_json = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True)
class ChunkTarget:
    """The target of the chunks, and the model of their vectors."""

    collection: str
    document_id: str
    model: str
    dimension: int


class Chunks:
    """The chunks of one new document compared with its stored ones."""

    def __init__(
        self, connection: Connection, target: ChunkTarget, document: NewDocument
    ) -> None:
        self._connection = connection
        self._target = target
        self._document = document
        self._home = {
            "collection": target.collection,
            "document_id": target.document_id,
            "document": document.name,
        }
        self._nodes = {self._id(node): node for node in document.nodes}
        self._stored = self._connection.execute(
            "select num, node_id, index_text, vector = x'' from node "
            "where document_id = ?",
            (target.document_id,),
        ).fetchall()

    def present(self) -> frozenset[str]:
        """Return ids of stored chunks that are unchanged."""
        gone = {node for _, node, _ in self.stale()}
        return frozenset(row[1] for row in self._stored if row[1] not in gone)

    def stale(self) -> list[tuple[int, str, str]]:
        """Return row number, id and searchable text of stored chunks to remove."""
        embedded = self._find_embedded([row[1] for row in self._stored if row[3]])
        return [
            (num, node, text)
            for num, node, text, bare in self._stored
            if node not in self._nodes
            or text != provenance.index_text(self._nodes[node])
            or (bare and node in embedded)
        ]

    def rows(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the chunks as rows in order, in batches.

        Raises EmbedError for a chunk with neither a vector nor a reason.
        """
        nodes = list(self._nodes.items())
        for start in range(0, len(nodes), SLICE):
            part = dict(nodes[start : start + SLICE])
            texts = [provenance.index_text(node) for node in part.values()]
            packed = vectors.find(self._connection, self._target.model, texts)
            yield [
                self._row(key, node, text, packed.get(text))
                for (key, node), text in zip(part.items(), texts, strict=True)
            ]

    def _find_embedded(self, ids: list[str]) -> set[str]:
        """Return those of `ids` whose text has a vector."""
        nodes = {i: self._nodes[i] for i in ids if i in self._nodes}
        texts = {i: provenance.index_text(node) for i, node in nodes.items()}
        vectors_by_text = vectors.find(
            self._connection, self._target.model, texts.values()
        )
        return {node for node, text in texts.items() if text in vectors_by_text}

    def _id(self, node: "TextNode") -> str:
        ordinal = int(node.metadata.get("ordinal", 0))
        key = self._document.config_key
        return node_id(self._target.document_id, key, ordinal, node.text)

    def _row(
        self, key: str, node: "TextNode", text: str, vector: bytes | None
    ) -> dict[str, Any]:
        described = self._metadata(node)
        metadata = _to_json(described)
        data = self._vector(described["ordinal"], vector, text)
        return {
            "node_id": key,
            "collection": described["collection"],
            "document_id": described["document_id"],
            "ordinal": described["ordinal"],
            "kind": described["kind"],
            "section": described["section"],
            "page": described["page"],
            "end_page": described["end_page"] or described["page"],
            "text": node.text,
            "index_text": text,
            "metadata": metadata,
            "vector": data,
            "place_sum": codec.check_sum(metadata),
            "index_sum": codec.check_sum(text, data),
            "reason": self._document.unembedded.get(text, ""),
        }

    def _metadata(self, node: "TextNode") -> dict[str, Any]:
        """Return the node's metadata, completed for this collection."""
        metadata = node.metadata
        if not metadata.keys() >= provenance.ALWAYS:
            metadata = provenance.write(node, provenance.read(node)).metadata
        own = provenance.attribute_names(metadata)
        names = {"attributes": _to_json(own)} if own else {}
        return {**metadata, **self._home, **names}

    def _vector(self, ordinal: int, vector: bytes | None, text: str) -> bytes:
        chunk = f"chunk {ordinal} of {self._document.name}"
        if vector is None:
            if text not in self._document.unembedded:
                raise EmbedError(f"{chunk} was never embedded")
            return b""
        if len(vector) != codec.VECTOR_BYTES * self._target.dimension:
            raise EmbedError(
                f"{chunk} has a vector of {len(vector) // codec.VECTOR_BYTES} "
                f"numbers, not {self._target.dimension}"
            )
        return vector
