"""Cards of collections, and the numbers of their changes."""

from collections.abc import Sequence
from typing import Any

from elt_llm_core.errors import CollectionNotFoundError
from elt_llm_core.identifiers import collection_id
from elt_llm_core.store.database.reader import Reader
from elt_llm_core.store.database.records import (
    NORMAL_PRIORITY,
    CollectionCard,
    Quarantined,
)
from elt_llm_core.store.database.schema import COLLECTION_PRIORITY, TITLE

_CARD = f"""
select c.name, c.embedder, c.embedder_digest, c.dimension, c.distance, c.chunker,
  (select count(*) from document d where d.collection = c.name),
  (select count(*) from node n where n.collection = c.name),
  (select count(*) from quarantine q where q.collection = c.name),
  coalesce((select value from meta where key = '{TITLE}' || c.name), ''),
  coalesce((select cast(value as integer) from meta
    where key = '{COLLECTION_PRIORITY}' || c.name), {NORMAL_PRIORITY})
from collection c
"""


class Cards(Reader):
    """Collection cards and change numbers."""

    def collections(self) -> list[CollectionCard]:
        """Every collection's card, by name."""
        rows = self.rows(f"{_CARD} order by c.name")
        return [_card(row) for row in rows]

    def card(self, name: str) -> CollectionCard:
        """Return the card of a collection by id or title.

        Raises CollectionNotFoundError or InvalidNameError.
        """
        rows = self.rows(f"{_CARD} where c.name = ?", (collection_id(name),))
        if not rows:
            known = self.rows("select name from collection")
            raise CollectionNotFoundError(name, [row[0] for row in known])
        return _card(rows[0])

    def embedding(self, name: str) -> tuple[str, int]:
        """Return the digest of a collection's embedding model, and its dimension.

        Raises the errors of `card`, and counts nothing.
        """
        rows = self.rows(
            "select embedder_digest, dimension from collection where name = ?", (name,)
        )
        if not rows:
            card = self.card(name)
            return card.embedder_digest, card.dimension
        return str(rows[0][0]), int(rows[0][1])

    def quarantined_chunks(self, collection: str) -> list[Quarantined]:
        """Return chunks without a vector, by document (uri, part) and ordinal."""
        rows = self.rows(
            "select q.node_id, q.document_id, d.name, q.reason from quarantine q "
            "join node n using (node_id) join document d on "
            "d.document_id = q.document_id where q.collection = ? "
            "order by d.uri, d.part, n.ordinal",
            (collection,),
        )
        names = ("node_id", "document_id", "document", "reason")
        return [Quarantined(**dict(zip(names, row, strict=True))) for row in rows]

    def topics(self, collection: str, most: int = 12) -> list[str]:
        """Return a collection's topics: titles of documents, then top sections.

        At most `most` of each, those with the most chunks first.
        """
        titles = self.rows(
            "select coalesce(nullif(d.title, ''), d.name) from node n join document d "
            "using (document_id) where n.collection = ? "
            "group by n.document_id order by count(*) desc, 1 limit ?",
            (collection, most),
        )
        sections = self.rows(
            "select substr(section, 1, instr(section || ' > ', ' > ') - 1) from node "
            "where collection = ? and section != '' "
            "group by 1 order by count(*) desc, 1 limit ?",
            (collection, most),
        )
        return list(dict.fromkeys(str(row[0]) for row in [*titles, *sections]))

    def stamp(self, name: str, seq: int) -> str:
        """Return a stamp that distinguishes the change `seq` from other histories.

        Empty if that change was not made here.
        """
        rows = self.rows(
            "select hex(stamp) from change where collection = ? and seq = ?",
            (name, seq),
        )
        return str(rows[0][0]) if rows else ""

    def has_change(self, name: str, seq: int, stamp: str) -> bool:
        """Return whether the change `seq` with that stamp is in this history."""
        return bool(stamp) and self.stamp(name, seq) == stamp

    def state(self, name: str) -> str:
        """Return a value that changes with every change of a collection.

        Unlike the change number, it never repeats, even after a restore. Empty for a
        missing collection.
        """
        rows = self.rows(
            "select c.seq || '-' || hex(h.stamp) from collection c join change h "
            "on h.collection = c.name and h.seq = c.seq where c.name = ?",
            (name,),
        )
        return str(rows[0][0]) if rows else ""

    def sequence(self, name: str) -> int:
        """Return the number of the collection's last change; 0 if it is missing."""
        rows = self.rows("select seq from collection where name = ?", (name,))
        return int(rows[0][0]) if rows else 0

    def epoch(self, name: str) -> int:
        """Return the number of the change that created the collection."""
        rows = self.rows("select epoch from collection where name = ?", (name,))
        return int(rows[0][0]) if rows else 0


def _card(row: Sequence[Any]) -> CollectionCard:
    names = (
        *("name", "embedder", "embedder_digest", "dimension", "distance"),
        *("chunker", "documents", "chunks", "quarantined", "title", "priority"),
    )
    return CollectionCard(**dict(zip(names, row, strict=True)))
