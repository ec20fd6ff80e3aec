"""Documents and their chunks in the database file."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elt_llm_core.document import Block, Page, Sidecar
from elt_llm_core.identifiers import document_id
from elt_llm_core.store.database import codec, schema, vectors
from elt_llm_core.store.database.collection_rows import Cards
from elt_llm_core.store.database.damage import damage_error, reading
from elt_llm_core.store.database.filters import FIXED, where_clause
from elt_llm_core.store.database.nodes import STORED, stored_node
from elt_llm_core.store.database.records import (
    NORMAL_PRIORITY,
    DocumentRow,
    Outlined,
)
from elt_llm_core.store.database.schema import COLLECTION_PRIORITY, DOCUMENT_PRIORITY

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

IN_LIST = 500  # SQLite allows more variables, but short statements stay cached
# The document's priority, or its collection's, or the default.
_PRIORITY = f"""coalesce((select cast(value as integer) from meta
    where key = '{DOCUMENT_PRIORITY}' || d.document_id),
  (select cast(value as integer) from meta
    where key = '{COLLECTION_PRIORITY}' || d.collection), {NORMAL_PRIORITY})"""
_DOCUMENT = f"""
select d.document_id, d.collection, d.uri, d.part, d.name, d.title, d.sha256, d.mime,
  d.parser, d.config_key, d.page_count,
  (select count(*) from node n where n.document_id = d.document_id), d.warnings,
  exists(select 1 from original o where o.sha256 = d.sha256),
  {_PRIORITY}
from document d
"""


class Database(Cards):
    """The records in the database of one data root."""

    def documents(self, collection: str) -> list[DocumentRow]:
        """Return the documents of a collection by uri and part."""
        statement = f"{_DOCUMENT} where d.collection = ? order by d.uri, d.part"
        return [_document(row) for row in self.rows(statement, (collection,))]

    def document(self, document_id: str) -> DocumentRow | None:
        """Return one document's row, or None."""
        rows = self.rows(f"{_DOCUMENT} where d.document_id = ?", (document_id,))
        return _document(rows[0]) if rows else None

    def priorities(self, collection: str) -> dict[str, int]:
        """Return non-default priorities of documents, by id."""
        if not self.rows("select 1 from meta where key glob 'priority:*' limit 1"):
            return {}
        rows = self.rows(
            f"select d.document_id, {_PRIORITY} from document d where d.collection = ?",
            (collection,),
        )
        return {str(row[0]): int(row[1]) for row in rows if row[1] != NORMAL_PRIORITY}

    def ids_beside(self, collection: str, documents: Collection[str]) -> frozenset[str]:
        """Return ids of a collection's chunks outside these documents."""
        rows = self.rows(
            "select node_id from node where collection = ? "
            "and document_id not in (select value from json_each(?))",
            (collection, json.dumps(sorted(documents))),
        )
        return frozenset(row[0] for row in rows)

    def document_text(self, document_id: str) -> str:
        """Return the canonical text; empty for a missing document."""
        rows = self.rows(
            "select text from document where document_id = ?", (document_id,)
        )
        return codec.unpack_text(rows[0][0]) if rows else ""

    def content_digest(self, document_id: str) -> str:
        """Return a digest of text and blocks; empty for a missing document."""
        rows = self.rows(
            "select text, blocks from document where document_id = ?", (document_id,)
        )
        return codec.digest_of(rows) if rows else ""

    def blocks(self, document_id: str) -> list[Block]:
        """Return the blocks in reading order."""
        rows = self.rows(
            "select blocks from document where document_id = ?", (document_id,)
        )
        return codec.unpack_blocks(rows[0][0]) if rows else []

    def pages(
        self, document_id: str, numbers: Sequence[int] | None = None
    ) -> list[Page]:
        """Return pages with their words, ascending, optionally only `numbers`."""
        wanted = None if numbers is None else set(numbers)
        chosen = "" if wanted is None else f" and number in ({_marks(len(wanted))})"
        rows = self.rows(
            "select number, width, height, label, words from page "
            f"where document_id = ?{chosen} order by number",
            (document_id, *sorted(wanted or ())),
        )
        with reading("a page"):
            return [
                Page(
                    number=number,
                    width=width,
                    height=height,
                    label=label,
                    words=codec.unpack_words(words),
                )
                for number, width, height, label, words in rows
            ]

    def original(self, document_id: str) -> bytes | None:
        """Return the source file as read, if it was kept."""
        rows = self.rows(
            "select o.content from original o join document d using (sha256) "
            "where d.document_id = ?",
            (document_id,),
        )
        return bytes(rows[0][0]) if rows else None

    def sidecars(self, collection: str, kind: str | None = None) -> list[Sidecar]:
        """Return a collection's structured content, by uri, kind and name."""
        rows = self.rows(
            "select s.kind, s.name, s.content from sidecar s "
            "join document d using (document_id) where d.collection = ? "
            "and (? is null or s.kind = ?) order by d.uri, d.part, s.kind, s.name",
            (collection, kind, kind),
        )
        with reading("a record"):
            return [
                Sidecar(kind=k, name=name, content=codec.unpack_json(content))
                for k, name, content in rows
            ]

    def nodes(
        self,
        collection: str,
        kinds: Sequence[str] | None = None,
        document_id: str | None = None,
    ) -> Iterator["TextNode"]:
        """Return chunks by document (uri, part) and ordinal."""
        chosen = "" if kinds is None else f" and node.kind in ({_marks(len(kinds))})"
        parameters: list[Any] = [collection, *(kinds or ())]
        if document_id is not None:
            chosen += " and node.document_id = ?"
            parameters.append(document_id)
        for row in self.rows(
            f"select {STORED} from node join document d using (document_id) "
            f"where node.collection = ?{chosen} order by d.uri, d.part, node.ordinal",
            parameters,
        ):
            yield stored_node(row)

    def nodes_by_id(self, collection: str, ids: Iterable[str]) -> dict[str, "TextNode"]:
        """Return chunks by id; unknown ids are absent."""
        return {
            row[0]: stored_node(row) for row in self._by_id(STORED, collection, ids)
        }

    def texts_by_id(
        self, collection: str, ids: Iterable[str]
    ) -> dict[str, tuple[str, str]]:
        """Return kind and text by id, for scanning many; unknown ids are absent."""
        rows = self._by_id("node_id, kind, text", collection, ids)
        return {row[0]: (row[1], row[2]) for row in rows}

    def vectors(
        self, collection: str, ids: Iterable[str], dimension: int
    ) -> dict[str, np.ndarray]:
        """Return stored unit vectors by id, float32; unknown ids are absent."""
        rows = self._by_id("node_id, index_text, vector, index_sum", collection, ids)
        matrix = self.stack([row[2] for row in _sound(rows)], dimension)
        return {row[0]: matrix[i] for i, row in enumerate(rows)}

    def missing_vectors(self, model: str, texts: Sequence[str]) -> list[int]:
        """Return positions in `texts` without a sound vector by this model."""
        connection = self.connection()
        if connection is None:
            return list(range(len(texts)))
        with schema.translate_errors(self.path):
            return vectors.missing(connection, model, texts)

    def outline(self, document_id: str) -> list[Outlined]:
        """Return the position of each chunk of a document, in order."""
        rows = self.rows(
            "select node_id, ordinal, section from node where document_id = ? "
            "order by ordinal, num",
            (document_id,),
        )
        return [Outlined(*row) for row in rows]

    def index_rows(
        self, collection: str, ids: frozenset[str] | None = None, after: int = -1
    ) -> list[tuple[str, str, bytes]]:
        """Yield id, searchable text and packed vector of chunks changed after `after`.

        Optionally only `ids`; always in stored order. Raises UnusableDatabaseError for
        a damaged row.
        """
        if ids is not None:
            rows = self._by_id(
                "num, node_id, index_text, vector, index_sum, seq", collection, ids
            )
            return _sound(row[1:5] for row in sorted(rows) if row[5] > after)
        rows = self.rows(
            "select node_id, index_text, vector, index_sum from node "
            "where collection = ? and seq > ? order by num",
            (collection, after),
        )
        return _sound(rows)

    def languages(self, collection: str, after: int = -1) -> dict[str, str]:
        """Return languages by id of non-English chunks changed after `after`."""
        rows = self.rows(
            "select node_id, json_extract(metadata, '$.text_language') from node "
            "where collection = ? and seq > ? "
            # Parsing chunks without one would take ten times as long.
            "and instr(metadata, '\"text_language\":')",
            (collection, after),
        )
        return {node: language for node, language in rows if language}

    def changes(self, collection: str, after: int) -> int:
        """Return the number of chunks added or removed after the change `after`."""
        ((came, went),) = self.rows(
            "select (select count(*) from node where collection = :c and seq > :s), "
            "(select count(*) from removed where collection = :c and seq > :s)",
            {"c": collection, "s": after},
        )
        return int(came) + int(went)

    def removed_nodes(self, collection: str, after: int) -> frozenset[str]:
        """Return ids that were removed after the change `after`."""
        rows = self.rows(
            "select node_id from removed where collection = ? and seq > ?",
            (collection, after),
        )
        return frozenset(row[0] for row in rows)

    @staticmethod
    def stack(blobs: list[bytes], dimension: int) -> np.ndarray:
        """Return packed vectors as unit rows, shape (n, dimension)."""
        return codec.unpack_vectors(blobs, dimension)

    def filter_ids(self, collection: str, where: Mapping[str, Any]) -> frozenset[str]:
        """Return ids of the chunks that match every condition; see `filters`.

        A key that no document of the collection has matches no chunk.
        """

        def values(table: str, column: str) -> list[Any]:
            alias = table.partition(" ")[2]
            statement = (
                f"select distinct {column} from {table} where {alias}.collection = ?"
            )
            return [row[0] for row in self.rows(statement, (collection,))]

        conditions, parameters = where_clause(where, values)
        rows = self.rows(
            "select n.node_id from node n join document d using (document_id) "
            # The document's column: with the chunk's, SQLite would read all its chunks.
            f"where d.collection = ?{conditions}",
            [collection, *parameters],
        )
        return frozenset(row[0] for row in rows)

    def filter_keys(self, collection: str) -> frozenset[str]:
        """Return the filter keys of this collection."""
        rows = self.rows(
            "select distinct told.value from node n, "
            "json_each(coalesce(json_extract(n.metadata, '$.attributes'), '[]')) told "
            "where n.collection = ?",
            (collection,),
        )
        return FIXED.union(str(row[0]) for row in rows)

    def words_search(
        self, collection: str, tokens: Sequence[str], k: int
    ) -> list[tuple[str, float]]:
        """Return id and BM25 from SQLite's own index, best first, as a fallback."""
        quoted = " OR ".join('"' + t.replace('"', '""') + '"' for t in tokens)
        if not quoted:
            return []
        rows = self.rows(
            "select n.node_id, -bm25(words) from words "
            "join node n on n.num = words.rowid "
            "where words match ? and n.collection = ? order by 2 desc, 1 limit ?",
            (quoted, collection, k),
        )
        return [(node, float(score)) for node, score in rows if score > 0]

    def with_phrase(self, collection: str, phrase: str, kind: str) -> list[str]:
        """Return ids of chunks of a kind that contain these adjacent words exactly."""
        rows = self.rows(
            "select n.node_id from words join node n on n.num = words.rowid "
            "join document d using (document_id) "
            "where words match ? and n.collection = ? and n.kind = ? "
            "order by d.uri, d.part, n.ordinal",
            ('"' + phrase.replace('"', '""') + '"', collection, kind),
        )
        return [row[0] for row in rows]

    def _by_id(self, columns: str, collection: str, ids: Iterable[str]) -> list[Any]:
        wanted = sorted(set(ids))
        rows: list[Any] = []
        for start in range(0, len(wanted), IN_LIST):
            part = wanted[start : start + IN_LIST]
            rows += self.rows(
                f"select {columns} from node "
                # The plus prevents SQLite from scanning the whole collection.
                f"where +collection = ? and node_id in ({_marks(len(part))})",
                (collection, *part),
            )
        return rows


def _sound(rows: Iterable[Sequence[Any]]) -> list[tuple[str, str, bytes]]:
    """Return id, searchable text and vector of rows with the right checksum."""
    whole = []
    for key, text, vector, total in rows:
        with reading(f"chunk {key}"):
            if codec.check_sum(text, vector) != total:
                raise damage_error(f"chunk {key}: the index text or vector was changed")
        whole.append((key, text, vector))
    return whole


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _document(row: Sequence[Any]) -> DocumentRow:
    names = (
        *("document_id", "collection", "uri", "part", "name", "title", "sha256"),
        *("mime", "parser", "config_key", "page_count", "nodes", "warnings"),
        *("has_original", "priority"),
    )
    fields = dict(zip(names, row, strict=True))
    with reading("the row of a document"):
        warnings = tuple(json.loads(fields["warnings"]))
        document = DocumentRow(**{**fields, "warnings": warnings})
        if document.document_id != document_id(
            document.collection, document.uri, document.part
        ):
            raise damage_error("a document has a different address")
        return document
