"""The vectors of a generation in one file, read where they are needed.

Rows are float32 as in memory: half precision would halve the file, but a filtered
search would spend twice as long on converting its rows as on reading them.
"""

import mmap
from pathlib import Path

import numpy as np

FILE = "vectors.f32"


def write_matrix(rows: np.ndarray, folder: Path) -> None:
    """Write unit rows, shape (n, d); a chunk without a vector is a row of zeros."""
    content = np.ascontiguousarray(rows, dtype="<f4")
    (folder / FILE).write_bytes(content.data)


def open_matrix(folder: Path, dimension: int) -> np.ndarray:
    """The rows, mapped for reading; they outlive the file.

    Raises OSError, or ValueError for a file of another shape.
    """
    with (folder / FILE).open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(content, dtype="<f4").reshape(-1, dimension)


def twins(rows: np.ndarray) -> dict[int, list[int]]:
    """The first row of each vector, and the later rows that are the same, ascending.

    Rows of zeros are left out: they stand for chunks without a vector.
    """
    first: dict[bytes, int] = {}
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero(rows.any(axis=1)).tolist():
        leader = first.setdefault(rows[row].tobytes(), row)
        if leader == row:
            found[row] = []
        else:
            found[leader].append(row)
    return found
