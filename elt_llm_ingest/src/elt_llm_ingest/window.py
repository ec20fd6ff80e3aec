"""Files that have been read and wait for vectors: few files, many texts per call."""

import time
from collections import deque
from collections.abc import Callable

from elt_llm_ingest.reading import PreparedFile
from elt_llm_ingest.vectorizer import Vectorizer

SLICE = 256  # maximum texts that are sorted by length and embedded together
FIRST_SLICE = 8  # the speed of the model is still unknown
# A run that is interrupted every few seconds must store something each time, so neither
# a file nor a slice waits much longer than this.
MOST_SECONDS = 1.0
MOST_FILES = 64
MOST_BYTES = 32_000_000  # total size on disk of the waiting files


class EmbeddingWindow:
    """Queues files and passes each on, in order, once its vectors are computed.

    Small files share batches. At most 64 files wait, only the last one may take them
    over 32 MB, and none waits for others for more than a second: a slice is embedded as
    soon as it is full, the first one after a few texts. The composition of a batch
    changes no vector (`Vectorizer` checks that).

    Args:
        vectorizer: Computes and stores the vectors.
        ready: Called with each file, in order, when its vectors are stored.
    """

    def __init__(
        self, vectorizer: Vectorizer, ready: Callable[[PreparedFile], None]
    ) -> None:
        self._vectorizer = vectorizer
        self._ready = ready
        self._since = 0.0  # when the first waiting file was added, or one left
        self._slice = FIRST_SLICE
        self._waiting: deque[PreparedFile] = deque()
        self._texts: dict[str, None] = {}

    @property
    def done_bytes(self) -> float:
        """Return the processed share of the waiting files, for the estimate."""
        return sum(file.done_bytes for file in self._waiting)

    def add(self, file: PreparedFile) -> None:
        """Add a file; embed and pass on what is due."""
        missing = self._vectorizer.find_missing(file.texts)
        file.waiting = set(missing)
        file.missing = len(missing)
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(file)
        self._texts.update(dict.fromkeys(missing))
        while len(self._texts) >= min(self._slice, SLICE):
            self._embed_slice(list(self._texts))
        if self._is_due():
            self.drain()

    def drain(self) -> None:
        """Embed and pass on all waiting files."""
        while self._texts:
            self._embed_slice(list(self._texts))
        self._pass_on()

    def finish_first(self) -> None:
        """Finish the first file and discard the others."""
        if not self._waiting:
            return
        first = self._waiting[0]
        while first.waiting:
            self._embed_slice([t for t in self._texts if t in first.waiting])
        self._pass_on()
        self._waiting.clear()
        self._texts.clear()

    def _is_due(self) -> bool:
        return (
            len(self._waiting) >= MOST_FILES
            or sum(file.scanned.size for file in self._waiting) > MOST_BYTES
            or time.monotonic() - self._since > MOST_SECONDS
        )

    def _embed_slice(self, texts: list[str]) -> None:
        """Embed the first texts: as many as the model processes in about a second."""
        most = min(self._slice, SLICE)
        began = time.monotonic()
        self._embed(texts[:most])
        seconds = time.monotonic() - began
        if seconds > MOST_SECONDS:
            self._slice = max(1, most // 2)
        elif seconds < MOST_SECONDS / 2 and len(texts) >= most:
            self._slice = min(SLICE, most * 2)

    def _embed(self, texts: list[str]) -> None:
        self._vectorizer.embed(texts)
        for text in texts:
            del self._texts[text]
        for file in self._waiting:
            file.waiting.difference_update(texts)
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting and not self._waiting[0].waiting:
            self._ready(self._waiting.popleft())
            self._since = time.monotonic()
