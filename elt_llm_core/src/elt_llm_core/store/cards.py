"""The collections of a truth, and which changes made them what they are."""

from collections.abc import Sequence
from typing import Any

from elt_llm_core.errors import CollectionNotFoundError
from elt_llm_core.names import collection_id
from elt_llm_core.store.reader import Reader
from elt_llm_core.store.records import CollectionCard, Quarantined
from elt_llm_core.store.tables import TITLE

_CARD = f"""
select c.name, c.embedder, c.embedder_digest, c.dimension, c.distance, c.chunker,
  (select count(*) from document d where d.collection = c.name),
  (select count(*) from node n where n.collection = c.name),
  (select count(*) from quarantine q where q.collection = c.name),
  coalesce((select value from meta where key = '{TITLE}' || c.name), '')
from collection c
"""


class Cards(Reader):
    """Cards and change numbers."""

    def collections(self) -> list[CollectionCard]:
        """Every collection's card, by name."""
        found = self.rows(f"{_CARD} order by c.name")
        return [_card(row) for row in found]

    def card(self, name: str) -> CollectionCard:
        """Return the card of a collection, given by its id or its title.

        Raises CollectionNotFoundError or InvalidNameError.
        """
        found = self.rows(f"{_CARD} where c.name = ?", (collection_id(name),))
        if not found:
            known = self.rows("select name from collection")
            raise CollectionNotFoundError(name, [row[0] for row in known])
        return _card(found[0])

    def embedding(self, name: str) -> tuple[str, int]:
        """Digest of the model a collection was indexed with, and its dimension.

        Raises as `card` does, and costs no counting.
        """
        found = self.rows(
            "select embedder_digest, dimension from collection where name = ?", (name,)
        )
        if not found:
            card = self.card(name)
            return card.embedder_digest, card.dimension
        return str(found[0][0]), int(found[0][1])

    def quarantined(self, collection: str) -> list[Quarantined]:
        """Chunks without a vector, by document (uri, part) and ordinal."""
        found = self.rows(
            "select q.node_id, q.document_id, d.name, q.reason from quarantine q "
            "join node n using (node_id) join document d on "
            "d.document_id = q.document_id where q.collection = ? "
            "order by d.uri, d.part, n.ordinal",
            (collection,),
        )
        names = ("node_id", "document_id", "document", "reason")
        return [Quarantined(**dict(zip(names, row, strict=True))) for row in found]

    def topics(self, collection: str, most: int = 12) -> list[str]:
        """What a collection is about: titles of documents, then top sections.

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
        """What tells the change `seq` of a collection from every other history's.

        Empty where that change was not made here.
        """
        found = self.rows(
            "select hex(stamp) from change where collection = ? and seq = ?",
            (name, seq),
        )
        return str(found[0][0]) if found else ""

    def made(self, name: str, seq: int, stamp: str) -> bool:
        """Whether the change `seq` with that stamp is one of this truth's history."""
        return bool(stamp) and self.stamp(name, seq) == stamp

    def state(self, name: str) -> str:
        """What changes with every change of a collection; empty where it is not there.

        Other than the number, it never comes twice, also not after a restore.
        """
        found = self.rows(
            "select c.seq || '-' || hex(h.stamp) from collection c join change h "
            "on h.collection = c.name and h.seq = c.seq where c.name = ?",
            (name,),
        )
        return str(found[0][0]) if found else ""

    def sequence(self, name: str) -> int:
        """The number of the collection's last change; 0 where it is not there."""
        found = self.rows("select seq from collection where name = ?", (name,))
        return int(found[0][0]) if found else 0

    def epoch(self, name: str) -> int:
        """The number of the change that made the collection."""
        found = self.rows("select epoch from collection where name = ?", (name,))
        return int(found[0][0]) if found else 0


def _card(row: Sequence[Any]) -> CollectionCard:
    names = (
        *("name", "embedder", "embedder_digest", "dimension", "distance"),
        *("chunker", "documents", "chunks", "quarantined", "title"),
    )
    return CollectionCard(**dict(zip(names, row, strict=True)))
