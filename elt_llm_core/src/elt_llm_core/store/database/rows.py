"""Statements that change rows of the truth. The caller holds the transaction."""

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
    """What the word index must learn, told at the end of a transaction.

    Between other statements SQLite would write a piece of index for each.
    """

    went: list[tuple[int, str]] = field(default_factory=list)
    came: list[tuple[int, str]] = field(default_factory=list)

    def tell(self, connection: Connection) -> None:
        """What went first: its row numbers may have been given anew."""
        connection.executemany(
            "insert into words(words, rowid, index_text) values('delete', ?, ?)",
            self.went,
        )
        connection.executemany(
            "insert into words(rowid, index_text) values(?, ?)", self.came
        )
        self.went, self.came = [], []


def next_seq(connection: Connection, collection: str) -> int:
    """The number of the change being made, noted on the collection."""
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
    """Give a change a stamp that no other history of this data root has.

    A truth from a backup goes on with other stamps under the same numbers: an index
    built from what came after the backup can be told by them.
    """
    connection.execute(
        "insert into change values(?, ?, ?)",
        (collection, seq, secrets.token_bytes(STAMP_BYTES)),
    )


def stored_chunks(connection: Connection, document: str) -> list[tuple[int, str, str]]:
    """Row number, id and searchable text of every chunk of a document."""
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
    """Delete chunks (row number, id, searchable text) and remember that they went."""
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
    """The pages and the sidecars, in place of those that were there."""
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
    """Insert chunks; those whose id is `present` keep change number and vector.

    A chunk with a `reason` and without a vector is put into quarantine.
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
    """The digest of a document's source file; nothing where it is not there."""
    rows = connection.execute(
        "select sha256 from document where document_id = ?", (document,)
    )
    return [sha256 for (sha256,) in rows]


def drop_unused_originals(connection: Connection, candidates: Iterable[str]) -> None:
    """Forget those of the source files that no document names any more."""
    connection.executemany(
        "delete from original where sha256 = ?1 "
        "and not exists (select 1 from document where sha256 = ?1)",
        [(sha256,) for sha256 in sorted(candidates)],
    )
