"""Vectors for texts: checked, cached by content, and computed only once."""

import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from elt_llm_core.crash import CrashPoint, crash_point
from elt_llm_core.errors import EmbedError, ModelError
from elt_llm_core.models.embedder import CountingEmbedder
from elt_llm_core.store.writer import Writer

BATCH = 32  # texts a call
# Characters per call, so that a batch of long texts stays within the time limit.
BATCH_CHARACTERS = 40_000
SAME = 0.999  # minimum cosine of a text's vectors alone and in a batch
PROBES = (
    "The fee is due in June.",
    "A second text of another length, so that the shorter one is padded in a batch.",
    "3.2(a)",
)


class Vectorizer:
    """Computes the vectors of texts and stores them in the database.

    Not thread-safe. `on_batch` is called with the number of texts of each call, and
    with 0 when texts were added that need no call yet.
    """

    def __init__(
        self,
        writer: Writer,
        embedder: CountingEmbedder,
        on_batch: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._writer = writer
        self._embedder = embedder
        self._on_batch = on_batch
        self._batch = 0  # texts per call, once known
        self.requested = 0  # requested texts, and how many are finished
        self.done = 0
        self.embedded = 0
        self.characters = 0  # characters embedded, and the time taken
        self.seconds = 0.0
        self.failed: dict[str, str] = {}
        self.damaged: set[str] = set()  # texts whose kept vector must be made again

    @property
    def is_one_by_one(self) -> bool:
        """Return whether the model gives a text another vector in a batch."""
        return self._batch == 1

    def find_missing(self, texts: Sequence[str]) -> list[str]:
        """Return the texts without a vector, each once, in order.

        A text that failed in this run is not tried again.
        """
        wanted = [t for t in dict.fromkeys(texts) if t not in self.failed]
        places = self._writer.missing_vectors(self._embedder.digest, wanted)
        missing = [wanted[i] for i in places]
        digest = self._embedder.digest
        self.damaged.update(self._writer.damaged_vectors(digest, missing))
        return missing

    def embed(self, texts: Sequence[str]) -> None:
        """Compute and store the vectors, short texts first.

        Each batch is stored immediately, so that an interrupted run loses at most one.
        A text without a valid vector is added to `bad` with the reason. Raises
        ModelError if the cause is the model and not a text.
        """
        self.requested += len(texts)
        if texts:
            self._on_batch(0)
        self._check_model()
        for batch in self._batches(sorted(self._fitting(texts), key=_by_length)):
            began = time.monotonic()
            self._keep(batch)
            self.seconds += time.monotonic() - began
            self.characters += sum(map(len, batch))
            self.done += len(batch)
            crash_point(CrashPoint.EMBED_BATCH)
            self._on_batch(len(batch))

    def _fitting(self, texts: Sequence[str]) -> Iterator[str]:
        """Return the texts within the model's limit."""
        most = self._embedder.max_tokens
        for text in texts:
            count = self._embedder.count_tokens(text)
            if count <= most:
                yield text
            else:
                self.done += 1
                self.failed[text] = f"it has {count} tokens and the model reads {most}"

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        characters = 0
        for text in texts:
            characters += len(text)
            full = len(batch) == self._batch or characters > BATCH_CHARACTERS
            if batch and full:
                yield batch
                batch, characters = [], len(text)
            batch.append(text)
        if batch:
            yield batch

    def _keep(self, texts: list[str]) -> None:
        """Store the vectors of a batch, or of its halves if it contains a bad text."""
        try:
            self._put(texts, self._vectors(texts))
        except EmbedError as error:
            if len(texts) == 1:
                self._retry(texts[0], error)
                return
            middle = len(texts) // 2
            self._keep(texts[:middle])
            self._keep(texts[middle:])

    def _retry(self, text: str, error: EmbedError) -> None:
        """Retry a text alone, then with plain characters; otherwise give up."""
        plain = unicodedata.normalize("NFKC", " ".join(text.split()))
        for variant in (text, plain):
            try:
                self._put([text], self._vectors([variant]))
            except EmbedError as again:
                error = again
            else:
                return
        self._probe(PROBES[0])
        self.failed[text] = error.message

    def _probe(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text that any model can embed, in two attempts."""
        try:
            return self._vectors([text])
        except EmbedError:
            pass
        try:
            return self._vectors([text])
        except EmbedError as error:
            raise ModelError(
                f"{self._embedder.model_name!r} returns no vector for any text: "
                f"{error.message}",
                "check it with: elt-llm doctor",
            ) from error

    def _put(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        self._writer.put_vectors(self._embedder.digest, texts, rows)
        self.embedded += len(texts)

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return valid vectors. Raises EmbedError."""
        rows = np.asarray(self._embedder.embed_array(texts), dtype=np.float32)
        name, wanted = self._embedder.model_name, (len(texts), self._embedder.dimension)
        if rows.shape != wanted:
            raise EmbedError(
                f"{name!r} returned vectors of shape {rows.shape}, not {wanted}"
            )
        if not np.isfinite(rows).all():
            raise EmbedError(f"{name!r} returned a vector with NaN or infinity")
        if not np.linalg.norm(rows, axis=1).all():
            raise EmbedError(f"{name!r} returned a vector of length zero")
        return rows

    def _check_model(self) -> None:
        """Check once per model that batches give the same vectors as single texts.

        The result is stored as the probes' vectors; a model that fails gets one text at
        a time, and is checked again in the next run.
        """
        if self._batch:
            return
        self._batch = BATCH
        if not self._writer.missing_vectors(self._embedder.digest, PROBES):
            return
        alone = np.concatenate([self._probe(text) for text in PROBES])
        try:
            together = self._vectors(PROBES)
        except EmbedError:
            self._batch = 1
            return
        if (_cosines(alone, together) > SAME).all():
            self._writer.put_vectors(self._embedder.digest, PROBES, alone)
        else:
            self._batch = 1


def _cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> np.ndarray:
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosines: np.ndarray = (left * right).sum(axis=1) / lengths
    return cosines


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text
