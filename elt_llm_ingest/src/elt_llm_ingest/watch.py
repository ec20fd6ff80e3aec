"""Wait for files to change."""

import time
from collections.abc import Callable, Iterator, Sequence

from elt_llm_ingest.discovery import make_plan

FOREVER = 365 * 86_400.0  # seconds a watch waits for another writer
NAP = 0.1  # seconds between two checks whether to end
RESTLESS = 10  # checks after which a change is ingested although further changes follow
MOST_WAIT = 60.0  # seconds between two attempts after errors

State = dict[str, tuple[int, int, int]]


class Watch:
    """Checks files every `interval` seconds until `stopped` returns True."""

    def __init__(
        self, paths: Sequence[str], interval: float, stopped: Callable[[], bool]
    ) -> None:
        self._paths = paths
        self._interval = interval
        self._stopped = stopped
        self._delay = interval

    def changes(self) -> Iterator[Callable[[Exception], None]]:
        """Yield once for each change to ingest, and at the start.

        The caller calls the yielded function with the error if the ingest failed: the
        change is then due again after increasing intervals.
        """
        taken: State | None = None
        before: State | None = None
        restless = 0
        while not self._stopped():
            now = self.look()
            quiet = now == before or taken is None
            restless = 0 if quiet else restless + 1
            if now != taken and (quiet or restless >= RESTLESS):
                taken, restless = now, 0
                failures: list[Exception] = []
                yield failures.append
                if failures:
                    taken = {}
                    self._delay = min(MOST_WAIT, 2 * self._delay)
                else:
                    self._delay = self._interval
            before = now
            self._sleep()

    def look(self) -> State:
        """Return size, modification time and inode of every file, by address."""
        state: State = {}
        for item in make_plan(self._paths).items:
            try:
                status = item.path.stat()
            except OSError:  # it has just gone
                continue
            state[item.uri] = (status.st_size, status.st_mtime_ns, status.st_ino)
        return state

    def _sleep(self) -> None:
        end = time.monotonic() + self._delay
        while time.monotonic() < end and not self._stopped():
            time.sleep(min(NAP, self._delay))
