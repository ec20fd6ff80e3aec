"""Check the free disk space before writing."""

import shutil
from pathlib import Path

from elt_llm_core.errors import DISK_FULL, StoreWriteError

HEADROOM = 3  # the old index, the new one, and other writes in the meantime


MEGABYTE = 1_000_000


GRAPH_BYTES = 400  # links, id and row of a chunk in the graph and its database


WORD_BYTES = 5  # of keyword index, for each byte of text


LEAST = 300_000  # an index of nothing


def index_bytes(chunks: int, text_bytes: int, dimension: int) -> int:
    """Return the approximate size of a generation. Vectors are stored twice."""
    return chunks * (2 * 4 * dimension + GRAPH_BYTES) + WORD_BYTES * text_bytes + LEAST


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the disk of `folder`, which need not exist."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def require_space(folder: Path, estimate: int) -> None:
    """Raise StoreWriteError if less than three times `estimate` bytes are free."""
    if free_bytes(folder) < HEADROOM * estimate:
        raise disk_full(folder, estimate)


def disk_full(folder: Path, estimate: int) -> StoreWriteError:
    """Return the error with the required and the available space."""
    needed = f"need ~{-(-HEADROOM * estimate // MEGABYTE)} MB"
    there = f"{free_bytes(folder) // MEGABYTE} MB free"
    return StoreWriteError(str(folder), f"disk full, {needed}, {there}")


def means_disk_full(reason: str) -> bool:
    """Return whether an error message of a process or library means a full disk."""
    return any(sign in reason for sign in DISK_FULL)
