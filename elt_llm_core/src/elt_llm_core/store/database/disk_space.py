"""Whether a disk has room for what is about to be written."""

import shutil
from pathlib import Path

from elt_llm_core.errors import DISK_FULL, StoreWriteError

HEADROOM = 3  # the old index, the new one, and what else is written meanwhile


MEGABYTE = 1_000_000


GRAPH_BYTES = 400  # links, id and row of a chunk in the graph and its database


WORD_BYTES = 5  # of keyword index, for each byte of text


LEAST = 300_000  # an index of nothing


def index_bytes(chunks: int, text_bytes: int, dimension: int) -> int:
    """About how large a generation of so many chunks is. Vectors are kept twice."""
    return chunks * (2 * 4 * dimension + GRAPH_BYTES) + WORD_BYTES * text_bytes + LEAST


def free_bytes(folder: Path) -> int:
    """Free bytes where `folder` lies, or will lie."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def require_space(folder: Path, estimate: int) -> None:
    """Raise StoreWriteError where less than three times `estimate` bytes are free."""
    if free_bytes(folder) < HEADROOM * estimate:
        raise disk_full(folder, estimate)


def disk_full(folder: Path, estimate: int) -> StoreWriteError:
    """The error that tells how much room is needed and how much there is."""
    needed = f"need ~{-(-HEADROOM * estimate // MEGABYTE)} MB"
    there = f"{free_bytes(folder) // MEGABYTE} MB free"
    return StoreWriteError(str(folder), f"disk full, {needed}, {there}")


def tells_disk_full(reason: str) -> bool:
    """Whether the last words of a process, or of a library, mean a full disk."""
    return any(sign in reason for sign in DISK_FULL)
