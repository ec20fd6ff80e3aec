"""Encode records as bytes: small, deterministic, safe to decode if untrusted."""

import json
import zlib
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from elt_llm_core.document import Block, Page
from elt_llm_core.store.database.damage import damage_error, reading

MAX_UNPACKED = 1_000_000_000  # bytes; a damaged length must not exhaust the memory
VECTOR_BYTES = 2  # a number
ROUNDED = 0.01  # above the change of length by half precision


def check_sum(*parts: str | bytes) -> int:
    """Return the CRC-32 of the parts together, to detect changes of a row."""
    total = 0
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        total = zlib.crc32(data, total)
    return total


def digest_of(rows: Iterable[Sequence[bytes | str | int]]) -> str:
    """Return 64 hex digits over all values of all rows."""
    whole = sha256()
    for row in rows:
        for value in row:
            data = value if isinstance(value, bytes) else str(value).encode()
            whole.update(b"%d:" % len(data) + data)
    return whole.hexdigest()


def pack_text(text: str) -> bytes:
    """Return compressed UTF-8."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)


def unpack_text(data: bytes) -> str:
    """Return the text of `pack_text`, at most a gigabyte.

    Raises UnusableDatabaseError.
    """
    unpacker = zlib.decompressobj()
    with reading("a text"):
        content = unpacker.decompress(data, MAX_UNPACKED)
        if not unpacker.eof:
            msg = "it is cut off"
            raise ValueError(msg)
        return content.decode("utf-8", "surrogatepass")


def pack_json(value: Any) -> bytes:
    """Return compressed JSON in the given order."""
    return pack_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def unpack_json(data: bytes) -> Any:
    """Return the value of `pack_json`. Raises UnusableDatabaseError."""
    with reading("a record"):
        return json.loads(unpack_text(data))


def pack_blocks(blocks: Iterable[Block]) -> bytes:
    """Return blocks without default values."""
    return pack_json([b.model_dump(mode="json", exclude_defaults=True) for b in blocks])


def unpack_blocks(data: bytes) -> list[Block]:
    """Return the blocks of `pack_blocks`. Raises UnusableDatabaseError."""
    with reading("the blocks of a document"):
        return [Block.model_validate(b) for b in unpack_json(data)]


def pack_words(page: Page) -> bytes:
    """Return the words of a page as one flat list."""
    return pack_json([value for word in page.words for value in word])


def unpack_words(data: bytes) -> list[tuple[int, int, float, float, float, float]]:
    """Return the words of `pack_words`."""
    flat = unpack_json(data)
    with reading("the words of a page"):
        return [
            (flat[i], flat[i + 1], flat[i + 2], flat[i + 3], flat[i + 4], flat[i + 5])
            for i in range(0, len(flat), 6)
        ]


def pack_vectors(matrix: np.ndarray) -> list[bytes]:
    """Pack each row: half precision, little endian."""
    return [row.tobytes() for row in matrix.astype("<f2")]


def unpack_vectors(blobs: Sequence[bytes], dimension: int) -> np.ndarray:
    """Return float32 unit rows, shape (n, dimension); zeros for an empty blob.

    Raises UnusableDatabaseError for a row that is not a unit vector.
    """
    if not all(blobs):
        empty = bytes(VECTOR_BYTES * dimension)
        blobs = [blob or empty for blob in blobs]
    with reading("a vector"):
        content = np.frombuffer(b"".join(blobs), dtype="<f2")
        full = content.reshape(len(blobs), dimension).astype(np.float32)
    norms = np.linalg.norm(full, axis=1, keepdims=True)
    # Written so that NaN fails too.
    if not ((np.abs(norms - 1) < ROUNDED) | ~full.any(axis=1, keepdims=True)).all():
        raise damage_error("a vector is not of length one")
    unit: np.ndarray = full / np.maximum(norms, np.float32(1e-12))
    return unit
