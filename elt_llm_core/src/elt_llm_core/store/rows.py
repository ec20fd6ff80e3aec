"""Statements that change rows of the truth. The caller holds the transaction."""

import json
from collections.abc import Mapping
from sqlite3 import Connection

from elt_llm_core.store import codec
from elt_llm_core.store.records import NewDocument


def remove_nodes(
    connection: Connection, document: str, seq: int, keep: Mapping[object, object]
) -> None:
    """Delete a document's chunks and remember that they are gone.

    Except those of `keep` (id to searchable text) that would be indexed as they are.
    """
    found = connection.execute(
        "select num, node_id, collection, index_text from node where document_id = ?",
        (document,),
    ).fetchall()
    for num, node, collection, text in found:
        if keep.get(node) == text:
            continue
        connection.execute(
            "insert into words(words, rowid, index_text) values('delete', ?, ?)",
            (num, text),
        )
        connection.execute("delete from node where num = ?", (num,))
        connection.execute(
            "insert into removed values(?, ?, ?)", (collection, node, seq)
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
    updates = ", ".join(f"{column} = excluded.{column}" for column in columns[4:])
    connection.execute(
        f"insert into document({', '.join(columns)}) "
        f"values({', '.join('?' * len(values))}) "
        f"on conflict(document_id) do update set {updates}",
        values,
    )
    for table in ("page", "sidecar"):
        connection.execute(
            f"delete from {table} where document_id = ?",
            (document,),
        )
    connection.executemany(
        "insert into page values(?, ?, ?, ?, ?, ?)",
        [
            (document, p.number, p.width, p.height, p.label, codec.pack_words(p))
            for p in parsed.pages
        ],
    )
    connection.executemany(
        "insert into sidecar values(?, ?, ?, ?)",
        [
            (document, s.kind, s.name, codec.pack_json(s.content))
            for s in parsed.sidecars
        ],
    )
    if new.original is not None:
        connection.execute(
            "insert or ignore into original values(?, ?)",
            (new.sha256, new.original),
        )
    drop_unused_originals(connection)


def next_seq(connection: Connection, collection: str) -> int:
    """The number of the change being made, noted on the collection."""
    connection.execute("update counter set value = value + 1 where name = 'seq'")
    (seq,) = connection.execute(
        "select value from counter where name = 'seq'"
    ).fetchone()
    connection.execute(
        "update collection set seq = ? where name = ?", (seq, collection)
    )
    return int(seq)


def put_node(connection: Connection, row: dict[str, object]) -> None:
    """Insert a chunk; one that is there already keeps its change number."""
    columns = ", ".join(row)
    marks = ", ".join(f":{column}" for column in row)
    added = connection.execute(
        f"insert or ignore into node({columns}) values({marks})",
        row,
    )
    if added.rowcount:
        connection.execute(
            "insert into words(rowid, index_text) values(?, ?)",
            (added.lastrowid, row["index_text"]),
        )
    else:
        connection.execute(
            "update node set kind = :kind, section = :section, page = :page, "
            "end_page = :end_page, metadata = :metadata where node_id = :node_id",
            row,
        )


def drop_unused_originals(connection: Connection) -> None:
    """Forget source files that no document names any more."""
    connection.execute(
        "delete from original where sha256 not in (select sha256 from document)"
    )
