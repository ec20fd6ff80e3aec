"""Vectors of texts: each embedded once, in batches; one without stops no other."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elt_llm_consumer.server_patience import call_patiently
from elt_llm_core.errors import AbandonedError, EmbedError
from elt_llm_core.jobs import JobContext
from elt_llm_core.results import Degradation, DegradationKind

Vector = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vector]  # unit vectors of texts

_BATCH = 64  # texts of a call; if one has no vector, only its batch is sent again


class MissingVector(NamedTuple):
    """What a message calls a text that has no vector, and why it has none."""

    name: str
    reason: str


class TextVectors:
    """Embeds texts in batches, each text once.

    A text that the embedder refuses has no vector, and the others have theirs.

    Args:
        embed: Returns unit vectors of texts.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors: dict[str, Vector | None] = {}
        self._missing: dict[str, MissingVector] = {}

    @property
    def missing(self) -> Mapping[str, MissingVector]:
        """Return the texts without a vector, each with its name and the reason."""
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
                missing = MissingVector(names[texts[0]], error.message)
                self._missing[texts[0]] = missing
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


def embed_patiently(embed: Embed, context: JobContext) -> Embed:
    """Return an embedder that waits for its server, and stops when the job must.

    Args:
        embed: Returns unit vectors of texts.
        context: The job; it may be asked to stop before each call.
    """
    has_answered = False

    def show(detail: str) -> None:
        context.progress("vectors", 0, None, detail)

    def embed_batch(texts: Sequence[str]) -> Vector:
        nonlocal has_answered
        if context.stopped():
            raise AbandonedError
        rows = call_patiently(
            lambda: embed(texts), context, lambda: not has_answered, show
        )
        has_answered = True
        return rows

    return embed_batch


def list_missing(
    *mappings: Mapping[str, MissingVector],
) -> tuple[Degradation, ...]:
    """Return a degradation for each text without a vector.

    Args:
        mappings: The missing texts, with names and reasons. What two of them call the
            same is one description or definition, in two forms. Texts that one of them
            calls the same are numbered.
    """
    reasons: dict[str, list[str]] = {}
    for missing in mappings:
        of_name: dict[str, list[str]] = defaultdict(list)
        for one in missing.values():
            of_name[one.name].append(one.reason)
        for name, those in of_name.items():
            reasons[name] = max(reasons.get(name, []), those, key=len)
    kind = DegradationKind.STAGE_LEFT_OUT
    return tuple(
        Degradation(
            kind=kind,
            detail=f"{name}{_number(number, len(those))} has no vector and was not "
            f"compared: {reason}",
        )
        for name, those in reasons.items()
        for number, reason in enumerate(those, start=1)
    )


def _number(number: int, count: int) -> str:
    return f" ({number} of {count})" if count > 1 else ""
