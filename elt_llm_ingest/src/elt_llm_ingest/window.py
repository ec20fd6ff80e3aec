"""Files that are read and wait for vectors: few at a time, many texts to a call."""

from collections import deque
from collections.abc import Callable

from elt_llm_ingest.embedding import Vectors
from elt_llm_ingest.reading import Work

SLICE = 256  # texts that are sorted by length and embedded together
MOST_FILES = 64
MOST_BYTES = 32_000_000  # of the files that wait, as they lie on the disk


class Window:
    """Takes files in order and passes each on, in order, once its vectors are there.

    Small files share batches. However many files there are, no more than 64 wait, and
    no more than the last one takes them over 32 MB.
    """

    def __init__(self, vectors: Vectors, ready: Callable[[Work], None]) -> None:
        self._vectors = vectors
        self._ready = ready
        self._waiting: deque[Work] = deque()
        self._texts: dict[str, None] = {}

    @property
    def done_bytes(self) -> float:
        """How much of the waiting files is dealt with, for a forecast."""
        return sum(work.done_bytes for work in self._waiting)

    def add(self, work: Work) -> None:
        """Take a file; embeds and passes on what has come together."""
        missing = self._vectors.missing(work.texts)
        work.waiting = set(missing)
        work.missing = len(missing)
        self._waiting.append(work)
        self._texts.update(dict.fromkeys(missing))
        while len(self._texts) >= SLICE:
            self._embed(list(self._texts)[:SLICE])
        if len(self._waiting) >= MOST_FILES or self._bytes() > MOST_BYTES:
            self.drain()

    def drain(self) -> None:
        """Embed and pass on everything that waits."""
        while self._texts:
            self._embed(list(self._texts)[:SLICE])
        self._pass_on()

    def finish_first(self) -> None:
        """Bring the file that came first to its end and forget the others."""
        if not self._waiting:
            return
        first = self._waiting[0]
        while first.waiting:
            self._embed([t for t in self._texts if t in first.waiting][:SLICE])
        self._pass_on()
        self._waiting.clear()
        self._texts.clear()

    def _embed(self, texts: list[str]) -> None:
        self._vectors.make(texts)
        for text in texts:
            del self._texts[text]
        for work in self._waiting:
            work.waiting.difference_update(texts)
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting and not self._waiting[0].waiting:
            self._ready(self._waiting.popleft())

    def _bytes(self) -> int:
        return sum(work.seen.size for work in self._waiting)
