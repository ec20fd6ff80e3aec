"""Vectors of texts: each embedded once, in batches; one without stops no other."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from elt_llm_core.errors import EmbedError
from elt_llm_core.results import Degradation, DegradationKind

Vector = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vector]  # unit vectors of texts

_BATCH = 64  # texts of a call; if one has no vector, only its batch is sent again


class TextVectors:
    """Embeds texts in batches, each text once.

    A text that the embedder refuses has no vector, and the others have theirs.

    Args:
        embed: Returns unit vectors of texts.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors: dict[str, Vector | None] = {}
        self._missing: dict[str, str] = {}

    @property
    def missing(self) -> Mapping[str, str]:
        """Return why a text has no vector, by the name of the text."""
        return self._missing

    def add(self, names: Mapping[str, str]) -> None:
        """Embed the texts that are new.

        Args:
            names: By text, what a message calls it.

        Raises:
            ModelError: If the embedder cannot be reached.
        """
        new = [text for text in names if text not in self._vectors]
        for start in range(0, len(new), _BATCH):
            self._embed_batch(new[start : start + _BATCH], names)

    def get(self, text: str) -> Vector | None:
        """Return the vector of a text that was added; None if it has none."""
        return self._vectors[text]

    def _embed_batch(self, texts: Sequence[str], names: Mapping[str, str]) -> None:
        """Embed a batch; if a text of it is refused, each half by itself."""
        try:
            rows = _check(self._embed(texts), len(texts))
        except EmbedError as error:
            if len(texts) == 1:
                self._vectors[texts[0]] = None
                self._missing.setdefault(names[texts[0]], error.message)
                return
            middle = len(texts) // 2
            self._embed_batch(texts[:middle], names)
            self._embed_batch(texts[middle:], names)
        else:
            self._vectors.update(zip(texts, rows, strict=True))


def _check(rows: Vector, count: int) -> Vector:
    """Return the rows; an embedder of another package may return too few."""
    if len(rows) != count:
        raise EmbedError(f"the embedder returned {len(rows)} vectors for {count} texts")
    if not (np.isfinite(rows).all() and rows.any(axis=1).all()):
        raise EmbedError("the embedder returned a vector of zeros, NaN or infinity")
    return rows


def list_missing(missing: Mapping[str, str]) -> tuple[Degradation, ...]:
    """Return a degradation for each text without a vector.

    Args:
        missing: By the name of a text, why it has none.
    """
    kind = DegradationKind.STAGE_LEFT_OUT
    return tuple(
        Degradation(
            kind=kind, detail=f"{name} has no vector and was not compared: {reason}"
        )
        for name, reason in missing.items()
    )
