"""What reading a PDF may cost, by what the file holds.

A PDF of a few hundred bytes can ask for endless work: a drawing that calls itself, data
that were packed twice. No parser can be trusted to see this coming, so the reading
process has quotas of processor time and of memory that start small and grow with the
size of the file and with every page that is done; its parent watches the memory. Honest
files stay far below both: of 50 public PDFs of 562 pages none took more than 120 MB or
.06 s a page, ten thousand pages take 152 s and 557 MB.
"""

import math
import resource
from collections.abc import Callable
from pathlib import Path

from elt_llm_ingest.limits import Limits

MB = 1_000_000
SECONDS = 3.0  # of processor time for any file; libraries are loaded before
SECONDS_A_MB = 40.0
SECONDS_AHEAD = 0.03  # for a page that the file says it has, of the first ones
SECONDS_DONE = 0.1  # for a page that is laid out
SECONDS_OCR = 10.0  # for a page that is a picture
MEMORY_MB = 400  # for any file, the reader itself included
MEMORY_A_MB = 64
MEMORY_A_PAGE = 0.5  # that is done; ten thousand of 770 words take .35 each
PAGE = resource.getpagesize()


class _Time:
    """Seconds of processor time that this process may reach; None for no ceiling."""

    ceiling: float | None = None
    allowed = 0.0
    tell: Callable[[int], None] | None = None


def memory_mb(size: int, pages: int, limits: Limits) -> int:
    """Megabytes that reading a PDF of so many bytes may take after so many pages."""
    grown = MEMORY_A_MB * size / MB + MEMORY_A_PAGE * pages
    return min(MEMORY_MB + math.ceil(grown), limits.memory_mb)


def resident_mb(pid: int) -> float:
    """Megabytes of memory a process holds; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / MB
    except (OSError, IndexError, ValueError):
        return 0.0


def confine(seconds: float, tell: Callable[[int], None] | None = None) -> None:
    """Let this process work so many seconds more at most, whatever it reads.

    Several threads may work, so processor time may run ahead of the clock. `tell` is
    called with the number of pages when some are done.
    """
    _Time.tell = tell
    _Time.ceiling = _cpu_seconds() + seconds
    _allow(_Time.ceiling)


def begin(size: int) -> None:
    """A PDF of so many bytes is read from now on. Nothing without `confine`."""
    _allow(_cpu_seconds() + SECONDS + SECONDS_A_MB * size / MB)


def more(seconds: float) -> None:
    """Allow more: something was done, or is known to lie ahead."""
    _allow(_Time.allowed + seconds)


def add_pages_done(pages: int) -> None:
    """So many pages are laid out: allow more for the others, and say so."""
    more(SECONDS_DONE * pages)
    if _Time.tell is not None:
        _Time.tell(pages)


def _allow(seconds: float) -> None:
    if _Time.ceiling is None:
        return
    _Time.allowed = min(seconds, _Time.ceiling)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(_Time.allowed), hard))


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
