"""Vectors cached by content, so that no text is embedded twice."""

from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import Any

import numpy as np

from elt_llm_core.errors import EmbedError
from elt_llm_core.identifiers import digest
from elt_llm_core.store.database import codec

IN_LIST = 500  # SQLite allows more variables, but short statements stay cached
# Embedders return lengths between 1 and a few hundred; larger ones are errors.
LENGTHS = (1e-6, 1e6)


def vector_key(model: str, text: str) -> bytes:
    """Return the key of a text's vector by the model with the digest `model`."""
    return bytes.fromhex(digest(model, text))[:16]


def find(connection: Connection, model: str, texts: Iterable[str]) -> dict[str, bytes]:
    """Return packed vectors by text, without texts that were never embedded.

    Damaged vectors are left out too, and computed again.
    """
    wanted = {vector_key(model, text): text for text in texts}
    return {
        wanted[key]: data
        for key, data, total in _rows(connection, list(wanted))
        if is_sound(key, data, total)
    }


def missing(connection: Connection, model: str, texts: Sequence[str]) -> list[int]:
    """Return positions in `texts` without a sound vector of the model."""
    stored = find(connection, model, texts)
    return [position for position, text in enumerate(texts) if text not in stored]


def list_damaged(connection: Connection, model: str, texts: Iterable[str]) -> list[str]:
    """Return the texts with a damaged vector."""
    wanted = {vector_key(model, text): text for text in texts}
    return [
        wanted[key]
        for key, data, total in _rows(connection, list(wanted))
        if not is_sound(key, data, total)
    ]


def all_damaged(connection: Connection) -> list[int]:
    """Return row numbers of the damaged vectors of every model."""
    rows = connection.execute("select num, key, data, data_sum from vector")
    return [num for num, *row in rows if not is_sound(*row)]


def forget(connection: Connection, rows: Iterable[int]) -> None:
    """Delete vectors by row number. The caller holds the transaction."""
    connection.executemany("delete from vector where num = ?", [(n,) for n in rows])


def is_sound(key: Any, data: Any, total: Any) -> bool:
    """Return whether a row matches its checksum."""
    if not (isinstance(key, bytes) and isinstance(data, bytes)):
        return False  # SQLite keeps values of any kind in any column
    return bool(codec.check_sum(key, data) == total)


def put(
    connection: Connection, model: str, texts: Sequence[str], unit: np.ndarray
) -> None:
    """Store unit vectors, shape (len(texts), d). The caller holds the transaction."""
    keys = [vector_key(model, text) for text in texts]
    connection.executemany(
        "insert into vector(key, data, data_sum) values(?, ?, ?) on conflict(key) "
        "do update set data = excluded.data, data_sum = excluded.data_sum",
        [
            (key, data, codec.check_sum(key, data))
            for key, data in zip(keys, codec.pack_vectors(unit), strict=True)
        ],
    )


def check_vectors(
    connection: Connection, model: str, texts: Sequence[str], vectors: np.ndarray
) -> np.ndarray:
    """Return the vectors as unit rows. Raises EmbedError for an unusable one."""
    if vectors.shape[:-1] != (len(texts),):
        raise _refusal(f"{len(texts)} texts returned vectors of shape {vectors.shape}")
    known = connection.execute(
        "select dimension from collection where embedder_digest = ? limit 1", (model,)
    ).fetchone()
    if known and vectors.shape[1] != known[0]:
        raise _refusal(f"a vector has {vectors.shape[1]} numbers, not {known[0]}")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    low, high = LENGTHS
    good = np.isfinite(lengths) & (lengths > low) & (lengths < high)
    if not good.all():
        bad = int((~good).sum())
        raise _refusal(
            f"{bad} of {len(texts)} vectors are not finite or have length zero"
        )
    unit: np.ndarray = vectors / lengths
    return unit


def in_lists(connection: Connection, statement: str, keys: Sequence[Any]) -> list[Any]:
    """Yield the rows of a statement with `in ({})`, in parts that stay cached."""
    rows: list[Any] = []
    for start in range(0, len(keys), IN_LIST):
        part = keys[start : start + IN_LIST]
        marks = ", ".join("?" * len(part))
        rows += connection.execute(statement.format(marks), part).fetchall()
    return rows


def _rows(connection: Connection, keys: Sequence[bytes]) -> list[Any]:
    """Return key, packed vector and checksum of each existing key."""
    statement = "select key, data, data_sum from vector where key in ({})"
    return in_lists(connection, statement, keys)


def _refusal(reason: str) -> EmbedError:
    return EmbedError(reason, "check the embedding model with: elt-llm doctor")
