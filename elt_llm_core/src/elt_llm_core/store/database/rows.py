"""Statements that change rows of the database. The caller holds the transaction."""

import json
import secrets
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from sqlite3 import Connection
from typing import Any

from elt_llm_core.store.database import codec
from elt_llm_core.store.database.records import NewDocument

_NODE = (
    "node_id", "collection", "document_id", "ordinal", "kind", "section", "page",
    "end_page", "text", "index_text", "metadata", "vector", "seq", "place_sum",
    "index_sum",
)  # fmt: skip
STAMP_BYTES = 8


@dataclass
class WordChanges:
    """Changes of the word index, applied at the end of a transaction.

    Between other statements SQLite would write an index segment for each.
    """

    went: list[tuple[int, str]] = field(default_factory=list)
    came: list[tuple[int, str]] = field(default_factory=list)

    def tell(self, connection: Connection) -> None:
        """Apply removals first, because row numbers may be reused."""
        connection.executemany(
            "insert into words(words, rowid, index_text) values('delete', ?, ?)",
            self.went,
        )
        connection.executemany(
            "insert into words(rowid, index_text) values(?, ?)", self.came
        )
        self.went, self.came = [], []


def next_seq(connection: Connection, collection: str) -> int:
    """Return the number of the present change, recorded on the collection."""
    connection.execute("update counter set value = value + 1 where name = 'seq'")
    (seq,) = connection.execute(
        "select value from counter where name = 'seq'"
    ).fetchone()
    connection.execute(
        "update collection set seq = ? where name = ?", (seq, collection)
    )
    mark_change(connection, collection, int(seq))
    return int(seq)


def mark_change(connection: Connection, collection: str, seq: int) -> None:
    """Give a change a stamp that is unique among all histories of this data root.

    A restored database continues with other stamps under the same numbers, which
    identify indexes built from changes after the backup.
    """
    connection.execute(
        "insert into change values(?, ?, ?)",
        (collection, seq, secrets.token_bytes(STAMP_BYTES)),
    )


def stored_chunks(connection: Connection, document: str) -> list[tuple[int, str, str]]:
    """Return row number, id and searchable text of every chunk of a document."""
    return connection.execute(
        "select num, node_id, index_text from node where document_id = ?", (document,)
    ).fetchall()


def remove_nodes(
    connection: Connection,
    collection: str,
    seq: int,
    stale: Sequence[tuple[int, str, str]],
    words: WordChanges,
) -> None:
    """Delete chunks (row number, id, searchable text) and record their removal."""
    words.went += [(num, text) for num, _, text in stale]
    connection.executemany(
        "delete from node where num = ?", [(num,) for num, _, _ in stale]
    )
    connection.executemany(
        "insert or ignore into removed values(?, ?, ?)",
        [(collection, seq, node) for _, node, _ in stale],
    )


def put_document_row(
    connection: Connection, document: str, collection: str, new: NewDocument
) -> None:
    """Insert or replace the ledger row, the pages, the sidecars and the source file."""
    parsed = new.parsed
    values = (
        document, collection, new.uri, parsed.part, new.name, parsed.title,
        new.sha256, new.mime, parsed.parser, new.config_key, len(parsed.pages),
        json.dumps(parsed.warnings), codec.pack_text(parsed.text),
        codec.pack_blocks(parsed.blocks),
    )  # fmt: skip
    columns = (
        "document_id", "collection", "uri", "part", "name", "title", "sha256",
        "mime", "parser", "config_key", "page_count", "warnings", "text", "blocks",
    )  # fmt: skip
    before = sha256_of(connection, document)
    updates = ", ".join(f"{column} = excluded.{column}" for column in columns[4:])
    connection.execute(
        f"insert into document({', '.join(columns)}) "
        f"values({', '.join('?' * len(values))}) "
        f"on conflict(document_id) do update set {updates}",
        values,
    )
    _put_parts(connection, document, new)
    if new.original is not None:
        connection.execute(
            "insert or ignore into original values(?, ?)", (new.sha256, new.original)
        )
    drop_unused_originals(connection, {*before, new.sha256})


def _put_parts(connection: Connection, document: str, new: NewDocument) -> None:
    """Replace the pages and the sidecars."""
    for table in ("page", "sidecar"):
        connection.execute(f"delete from {table} where document_id = ?", (document,))
    connection.executemany(
        "insert into page values(?, ?, ?, ?, ?, ?)",
        [
            (document, p.number, p.width, p.height, p.label, codec.pack_words(p))
            for p in new.parsed.pages
        ],
    )
    connection.executemany(
        "insert into sidecar values(?, ?, ?, ?)",
        [
            (document, s.kind, s.name, codec.pack_json(s.content))
            for s in new.parsed.sidecars
        ],
    )


def put_nodes(
    connection: Connection,
    chunks: Iterable[dict[str, Any]],
    present: Container[str],
    words: WordChanges,
) -> None:
    """Insert chunks; those with a `present` id keep change number and vector.

    A chunk with a `reason` and without a vector is quarantined.
    """
    (last,) = connection.execute("select coalesce(max(num), 0) from node").fetchone()
    new, bare, there = [], [], []
    for chunk in chunks:
        if chunk["node_id"] in present:
            there.append(chunk)
        else:
            last += 1
            new.append({**chunk, "num": last})
            words.came.append((last, chunk["index_text"]))
        if not chunk["vector"]:
            bare.append(chunk)
    connection.executemany(
        "update node set kind = :kind, section = :section, page = :page, "
        "end_page = :end_page, metadata = :metadata, place_sum = :place_sum "
        "where node_id = :node_id",
        there,
    )
    marks = ", ".join(f":{column}" for column in _NODE)
    connection.executemany(
        f"insert into node(num, {', '.join(_NODE)}) values(:num, {marks})", new
    )
    connection.executemany(
        "insert or replace into quarantine select node_id, collection, document_id, "
        ":reason from node where node_id = :node_id and vector = x''",
        bare,
    )


def sha256_of(connection: Connection, document: str) -> list[str]:
    """Return the digest of a document's source file, or an empty string."""
    rows = connection.execute(
        "select sha256 from document where document_id = ?", (document,)
    )
    return [sha256 for (sha256,) in rows]


def drop_unused_originals(connection: Connection, candidates: Iterable[str]) -> None:
    """Delete those of the source files that no document references any more."""
    connection.executemany(
        "delete from original where sha256 = ?1 "
        "and not exists (select 1 from document where sha256 = ?1)",
        [(sha256,) for sha256 in sorted(candidates)],
    )
