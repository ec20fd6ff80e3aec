"""Whether the rows of a truth file are those that were stored."""

from collections.abc import Iterator
from sqlite3 import Connection, DatabaseError

from elt_llm_core.names import node_id
from elt_llm_core.store.codec import check_sum

SUMMED = 2  # the first schema whose rows have check sums
_ROWS = """
select n.node_id, n.document_id, d.config_key, n.ordinal, n.text, n.metadata,
  n.index_text, n.vector, n.place_sum, n.index_sum
from node n left join document d using (document_id)
"""


def row_fault(connection: Connection) -> str:
    """What the first chunk that changed has lost; empty where all are as stored.

    Reads every chunk once, one at a time: about a second for 100,000.
    """
    try:
        return next(_faults(connection), "")
    # A text that is none any more, or a value of another kind than was stored.
    except (DatabaseError, ValueError, TypeError, AttributeError):
        return "a chunk cannot be read"


def _faults(connection: Connection) -> Iterator[str]:
    for (
        key,
        document,
        config,
        ordinal,
        text,
        place,
        words,
        vector,
        *sums,
    ) in connection.execute(_ROWS):
        if check_sum(place) != sums[0]:
            yield f"chunk {key} has other metadata"
        if check_sum(words, vector) != sums[1]:
            yield f"chunk {key} is searched by another text or vector"
        if key != node_id(document, config, ordinal, text):
            yield f"chunk {key} has another text"
