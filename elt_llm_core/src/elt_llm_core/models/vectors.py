"""Checks on what an embedding model returned."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elt_llm_core.errors import EmbedError

_RETRY = "try again; if it stays, the text or the model is at fault: embed it alone"


def checked_vectors(
    vectors: Sequence[Sequence[float]], count: int, dimension: int | None, model: str
) -> NDArray[np.float32]:
    """The vectors at unit length, shape (count, d).

    `dimension` None takes the first vector's. Raises EmbedError for a wrong count or
    length, for a number that is not finite, and for a vector of length zero.
    """
    if len(vectors) != count:
        raise EmbedError(
            f"{model!r} returned {len(vectors)} vectors for {count} texts", _RETRY
        )
    wanted = dimension or (len(vectors[0]) if count else 0)
    lengths = {len(vector) for vector in vectors} - {wanted}
    if lengths or (count and not wanted):
        raise EmbedError(
            f"{model!r} returned vectors of {sorted(lengths)} numbers, not {wanted}",
            "the model was changed: index the documents again with --rebuild",
        )
    array = np.asarray(vectors, dtype=np.float32).reshape(count, wanted)
    if not np.isfinite(array).all():
        raise EmbedError(f"{model!r} returned a vector with NaN or infinity", _RETRY)
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    if not norms.all():
        raise EmbedError(f"{model!r} returned a vector of length zero", _RETRY)
    unit: NDArray[np.float32] = array / norms
    return unit
