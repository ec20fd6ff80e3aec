"""Records to bytes and back: small, safe to read from a stranger, deterministic."""

import json
import zlib
from typing import Any

import numpy as np

from elt_llm_core.document import Block, Page

MAX_UNPACKED = 1_000_000_000
VECTOR_BYTES = 2  # a number


def pack_text(text: str) -> bytes:
    """Compressed UTF-8."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)


def unpack_text(data: bytes) -> str:
    """The text of `pack_text`; never more than a gigabyte."""
    unpacker = zlib.decompressobj()
    return unpacker.decompress(data, MAX_UNPACKED).decode("utf-8", "surrogatepass")


def pack_json(value: Any) -> bytes:
    """Compressed JSON in the order given."""
    return pack_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def unpack_json(data: bytes) -> Any:
    """The value of `pack_json`."""
    return json.loads(unpack_text(data))


def pack_blocks(blocks: list[Block]) -> bytes:
    """Blocks without their defaults."""
    return pack_json([b.model_dump(mode="json", exclude_defaults=True) for b in blocks])


def unpack_blocks(data: bytes) -> list[Block]:
    """The blocks of `pack_blocks`."""
    return [Block.model_validate(b) for b in unpack_json(data)]


def pack_words(page: Page) -> bytes:
    """The words of a page, one flat list."""
    return pack_json([value for word in page.words for value in word])


def unpack_words(data: bytes) -> list[tuple[int, int, float, float, float, float]]:
    """The words of `pack_words`."""
    flat = unpack_json(data)
    return [
        (flat[i], flat[i + 1], flat[i + 2], flat[i + 3], flat[i + 4], flat[i + 5])
        for i in range(0, len(flat), 6)
    ]


def pack_vector(vector: np.ndarray) -> bytes:
    """Half precision, little endian."""
    return vector.astype("<f2").tobytes()


def unpack_vectors(blobs: list[bytes], dimension: int) -> np.ndarray:
    """Float32 rows of unit length, shape (n, dimension)."""
    if not blobs:
        return np.zeros((0, dimension), dtype=np.float32)
    rows = np.frombuffer(b"".join(blobs), dtype="<f2").reshape(len(blobs), dimension)
    full = rows.astype(np.float32)
    norms = np.linalg.norm(full, axis=1, keepdims=True)
    unit: np.ndarray = full / np.maximum(norms, np.float32(1e-12))
    return unit
