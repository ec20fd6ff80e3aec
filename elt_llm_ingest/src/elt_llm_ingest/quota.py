"""Quotas of time and memory for reading a PDF, by its content.

A PDF of a few hundred bytes can cause endless work: a drawing that calls itself, or
data compressed twice. No parser can be trusted to detect this, so the reading process
has quotas of processor time and memory that start small and grow with the size of the
file and with every finished page; its parent monitors the memory. Ordinary files stay
far below both: of 50 public PDFs of 562 pages none took more than 120 MB or .06 s a
page, ten thousand pages take 152 s and 557 MB.
"""

import math
import resource
from collections.abc import Callable
from pathlib import Path

from elt_llm_ingest.limits import Limits

MB = 1_000_000
SECONDS = 3.0  # processor seconds for any file, after loading libraries
SECONDS_A_MB = 40.0
SECONDS_AHEAD = 0.03  # per page that the file declares, for the first ones
SECONDS_DONE = 0.1  # for a page that is laid out
SECONDS_OCR = 10.0  # for a page that is a picture
MEMORY_MB = 400  # for any file, including the reader itself
MEMORY_A_MB = 64
MEMORY_A_PAGE = 0.5  # per finished page; ten thousand of 770 words take .35 each
PAGE = resource.getpagesize()


class _Time:
    """Limit of this process's processor time in seconds; None for no limit."""

    ceiling: float | None = None
    allowed = 0.0
    tell: Callable[[int], None] | None = None


def memory_mb(size: int, pages: int, limits: Limits) -> int:
    """Return the memory limit in MB for a PDF of this size after these pages."""
    grown = MEMORY_A_MB * size / MB + MEMORY_A_PAGE * pages
    return min(MEMORY_MB + math.ceil(grown), limits.memory_mb)


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process in MB; 0 if unknown."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / MB
    except (OSError, IndexError, ValueError):
        return 0.0


def limit_time(seconds: float, tell: Callable[[int], None] | None = None) -> None:
    """Limit the further processor time of this process, whatever it reads.

    With several threads, processor time may advance faster than the clock. `tell` is
    called with the number of newly finished pages.
    """
    _Time.tell = tell
    _Time.ceiling = _cpu_seconds() + seconds
    _allow(_Time.ceiling)


def begin(size: int) -> None:
    """Start reading a PDF of this size. Does nothing without `limit_time`."""
    _allow(_cpu_seconds() + SECONDS + SECONDS_A_MB * size / MB)


def allow_more_time(seconds: float) -> None:
    """Allow more seconds, because of finished or known remaining work."""
    _allow(_Time.allowed + seconds)


def add_pages_done(pages: int) -> None:
    """Allow more for the remaining pages, and report the finished ones."""
    allow_more_time(SECONDS_DONE * pages)
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
