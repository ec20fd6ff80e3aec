"""What the reading process spends on PDFs that ask for endless work.

python benchmarks/pdf_bombs.py [KIND...]
"""

import os
import sys
from pathlib import Path
from threading import Event, Thread

sys.path.insert(0, str(Path(__file__).parent.parent / "elt_llm_ingest" / "tests"))

from elt_llm_core.errors import LoadError
from elt_llm_ingest.sandbox.client import ReadingProcess
from pdf_bombs import BOMBS

STEP = 0.01  # seconds between two looks at the process


class Watch(Thread):
    """Looks at a process: its memory in megabytes, its seconds of work."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self.memory, self.seconds = 0.0, 0.0
        self.done = Event()
        self._folder = Path(f"/proc/{pid}")

    def run(self) -> None:
        """Look until `done`."""
        while not self.done.wait(STEP):
            try:
                pages = int((self._folder / "statm").read_text().split()[1])
                fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
            except (OSError, IndexError):
                continue
            self.memory = max(self.memory, pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
            ticks = int(fields[11]) + int(fields[12])
            self.seconds = max(self.seconds, ticks / os.sysconf("SC_CLK_TCK"))


def main() -> None:
    """Print a line for each kind: bytes, seconds of work with the start, megabytes."""
    for name in sys.argv[1:] or BOMBS:
        data = BOMBS[name]()
        with ReadingProcess() as process:
            watch = Watch(process._ready().pid)  # noqa: SLF001 - to look at it
            watch.start()
            try:
                (document,) = process.parse(Path("a.pdf"), data)
                outcome = f"read, {len(document.text)} characters"
            except LoadError as error:
                outcome = f"{error.reason}; {error.hint}"
            watch.done.set()
            watch.join()
        print(
            f"{name:18}{len(data):>10} bytes {watch.seconds:5.1f} s "
            f"{watch.memory:5.0f} MB  {outcome}",
            flush=True,
        )


if __name__ == "__main__":
    main()
