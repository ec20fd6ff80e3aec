"""The vectors of a generation in one memory-mapped file.

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
    """Return the mapped rows, which outlive the file.

    Raises OSError, or ValueError for a file of another size.
    """
    with (folder / FILE).open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(content, dtype="<f4").reshape(-1, dimension)


def group_duplicates(rows: np.ndarray) -> dict[int, list[int]]:
    """Return the first row of each vector, and later equal rows, ascending.

    Rows of zeros, which belong to chunks without a vector, are left out.
    """
    first: dict[bytes, int] = {}
    groups: dict[int, list[int]] = {}
    for row in np.flatnonzero(rows.any(axis=1)).tolist():
        leader = first.setdefault(rows[row].tobytes(), row)
        if leader == row:
            groups[row] = []
        else:
            groups[leader].append(row)
    return groups


BLOCK = 4_096  # rows copied at a time, so that a large filter needs little memory
NO_ROWS = np.zeros(0, dtype=np.intp)


def top_positions(scores: np.ndarray, k: int) -> np.ndarray:
    """Return positions of the `k` highest scores, best first, ties by position."""
    if k <= 0:
        return np.zeros(0, dtype=np.intp)
    candidates = np.arange(len(scores))
    if len(scores) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= least)
    order = np.lexsort((candidates, -scores[candidates]))[:k]
    ordered: np.ndarray = candidates[order]
    return ordered


def nearest(
    matrix: np.ndarray,
    vector: np.ndarray,
    k: int,
    rows: np.ndarray | None = None,
    without: np.ndarray = NO_ROWS,
) -> list[tuple[int, float]]:
    """Return row and cosine of the `k` nearest, best first, ties by row.

    `matrix` has unit rows, shape (n, d); rows of zeros have no vector and are never
    found. `rows` (ascending) limits the search to these; otherwise all except `without`
    are compared.
    """
    wanted = vector.astype(np.float32)
    if rows is None:
        scores = _cosines(matrix, wanted)
        scores[without] = -np.inf
        rows = np.arange(len(scores))
    else:
        scores = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), BLOCK):
            part = rows[start : start + BLOCK]
            scores[start : start + BLOCK] = _cosines(matrix[part], wanted)
    zero = np.flatnonzero(scores == 0)
    scores[zero[~matrix[rows[zero]].any(axis=1)]] = -np.inf
    chosen = [i for i in top_positions(scores, k) if scores[i] > -np.inf]
    return [(int(rows[i]), float(scores[i])) for i in chosen]


def _cosines(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return one cosine per row, each independent of the others, in this thread.

    A matrix product would wake the threads of the linear algebra library; in a busy
    process waiting for them takes a hundred times longer than the product.
    """
    cosines: np.ndarray = np.einsum("ij,j->i", rows, vector)
    return cosines
