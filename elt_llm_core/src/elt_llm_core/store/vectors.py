"""Vectors kept by the content they were made of, so that no text is embedded twice."""

from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import Any

import numpy as np

from elt_llm_core.errors import EmbedError
from elt_llm_core.names import digest
from elt_llm_core.store import codec

IN_LIST = 500  # SQLite takes more variables, but short statements stay cached
# Embedders give lengths between 1 and a few hundred; beyond this something is wrong.
LENGTHS = (1e-6, 1e6)


def vector_key(model: str, text: str) -> bytes:
    """The key of a text's vector by the model of the digest `model`."""
    return bytes.fromhex(digest(model, text))[:16]


def find(connection: Connection, model: str, texts: Iterable[str]) -> dict[str, bytes]:
    """Packed vectors by text; texts that were never embedded are absent."""
    wanted = {vector_key(model, text): text for text in texts}
    found = in_lists(
        connection, "select key, data from vector where key in ({})", list(wanted)
    )
    return {wanted[key]: data for key, data in found}


def missing(connection: Connection, model: str, texts: Sequence[str]) -> list[int]:
    """Positions in `texts` whose vector the model never made."""
    keys = [vector_key(model, text) for text in texts]
    statement = "select key from vector where key in ({})"
    found = {key for (key,) in in_lists(connection, statement, keys)}
    return [position for position, key in enumerate(keys) if key not in found]


def put(
    connection: Connection, model: str, texts: Sequence[str], unit: np.ndarray
) -> None:
    """Keep unit vectors, shape (len(texts), d). The caller holds the transaction."""
    connection.executemany(
        "insert into vector(key, data) values(?, ?) "
        "on conflict(key) do update set data = excluded.data",
        [
            (vector_key(model, text), data)
            for text, data in zip(texts, codec.pack_vectors(unit), strict=True)
        ],
    )


def checked(
    connection: Connection, model: str, texts: Sequence[str], vectors: np.ndarray
) -> np.ndarray:
    """The vectors as unit rows. Raises EmbedError where one is not a usable vector."""
    if vectors.shape[:-1] != (len(texts),):
        raise _refused(f"{len(texts)} texts gave vectors of shape {vectors.shape}")
    known = connection.execute(
        "select dimension from collection where embedder_digest = ? limit 1", (model,)
    ).fetchone()
    if known and vectors.shape[1] != known[0]:
        raise _refused(f"a vector has {vectors.shape[1]} numbers, not {known[0]}")
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    low, high = LENGTHS
    good = np.isfinite(lengths) & (lengths > low) & (lengths < high)
    if not good.all():
        bad = int((~good).sum())
        raise _refused(f"{bad} of {len(texts)} vectors are not finite, or of no length")
    unit: np.ndarray = vectors / lengths
    return unit


def in_lists(connection: Connection, statement: str, keys: Sequence[Any]) -> list[Any]:
    """The rows of a statement with `in ({})`, asked in parts that stay cached."""
    found: list[Any] = []
    for start in range(0, len(keys), IN_LIST):
        part = keys[start : start + IN_LIST]
        marks = ", ".join("?" * len(part))
        found += connection.execute(statement.format(marks), part).fetchall()
    return found


def _refused(reason: str) -> EmbedError:
    return EmbedError(reason, "check the embedding model with: elt-llm doctor")
