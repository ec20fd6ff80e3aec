"""The best of many scores, and exact search by comparing vectors."""

import numpy as np

BLOCK = 4_096  # rows copied at a time, so that a large filter needs little memory
NO_ROWS = np.zeros(0, dtype=np.intp)


def best(scores: np.ndarray, k: int) -> np.ndarray:
    """Positions of the `k` highest scores, best first, ties by position."""
    if k <= 0:
        return np.zeros(0, dtype=np.intp)
    candidates = np.arange(len(scores))
    if len(scores) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= least)
    order = np.lexsort((candidates, -scores[candidates]))[:k]
    found: np.ndarray = candidates[order]
    return found


def nearest(
    matrix: np.ndarray,
    vector: np.ndarray,
    k: int,
    rows: np.ndarray | None = None,
    without: np.ndarray = NO_ROWS,
) -> list[tuple[int, float]]:
    """Row and cosine of the `k` nearest, best first, ties by row.

    `matrix` holds unit rows, shape (n, d); rows of zeros have no vector and are never
    found. `rows` (ascending) limits the search to these; else all but `without` count.
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
    chosen = [i for i in best(scores, k) if scores[i] > -np.inf]
    return [(int(rows[i]), float(scores[i])) for i in chosen]


def _cosines(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """One a row. In this thread alone, and a row's does not depend on the others.

    A product of matrices would wake the threads of the linear algebra library: in a
    busy process waiting for them costs a hundred times the product.
    """
    found: np.ndarray = np.einsum("ij,j->i", rows, vector)
    return found
