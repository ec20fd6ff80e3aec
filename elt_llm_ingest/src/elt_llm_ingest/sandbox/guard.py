"""Monitor the reading process: its memory, and how it ended."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from elt_llm_ingest import quota
from elt_llm_ingest.limits import Limits
from elt_llm_ingest.readers.spool import is_pdf

MB = quota.MB
NEAR = 0.5  # share of the memory limit above which a dead process ran out of memory
KILOBYTES = 1024  # units of the system's maximum process size
Reason = tuple[str, str]  # of a LoadError, and its hint
OVERTIME = (
    "if you trust the file, raise ingest.parse_timeout; else save it again in "
    "the program that created it"
)
OVERLOAD = (
    "far more than a PDF of {size} needs: it is damaged or built to overload readers"
)
OVERLOAD_CURE = "if you trust the file, open it and print it to a new PDF"
CRASH_CURE = "open it in the program that created it and save it again"


class TooMuchMemoryError(Exception):
    """The process uses too much memory; the argument is the reason and the hint."""


class Guard:
    """Monitors the process while it reads one file."""

    def __init__(self, pid: int, data: bytes, limits: Limits) -> None:
        self._pid = pid
        self._limits = limits
        self._size, self._pages = len(data), 0
        self._is_pdf = is_pdf(data)
        self._most = 0
        self.allow(0)
        self._before = _seconds(pid)

    def allow(self, pages: int) -> None:
        """Raise the limit for newly finished pages, which may stay in memory."""
        self._pages += pages
        self._most = quota.memory_mb(self._size, self._pages, self._limits)

    def check(self) -> None:
        """Raise TooMuchMemoryError if the process exceeds its limit."""
        if self._is_pdf and quota.resident_mb(self._pid) > self._most:
            raise TooMuchMemoryError(self.too_much())

    def too_much(self) -> Reason:
        """Return the reason and the hint for a process over its limit."""
        return self._overload(f"takes more than {self._most} MB")

    def end(self, child: subprocess.Popen[bytes]) -> Reason:
        """Wait for the ended child and return why it ended."""
        seconds = largest = 0.0
        with contextlib.suppress(ChildProcessError):
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            seconds = usage.ru_utime + usage.ru_stime - self._before
            largest = usage.ru_maxrss * KILOBYTES / MB
        code = child.wait()
        if code == -signal.SIGXCPU:
            return self._out_of_time(seconds)
        if code >= 0:
            return "the parser process ended while reading it", CRASH_CURE
        if largest > NEAR * self._limits.memory_mb:
            return (
                f"reading it needs more than {self._limits.memory_mb} MB",
                "raise ingest.parse_memory_mb if you trust the file",
            )
        return (
            f"the parser process crashed on it ({signal.Signals(-code).name})",
            CRASH_CURE,
        )

    def _out_of_time(self, seconds: float) -> Reason:
        most = 2 * self._limits.timeout
        if self._is_pdf and seconds < most - 1:
            return self._overload(f"takes more than {seconds:.0f} s of work")
        return f"reading it took more than {most:g} s of work", OVERTIME

    def _overload(self, what: str) -> Reason:
        size = self._size
        amount = f"{size / MB:.1f} MB" if size >= MB else f"{max(size // 1000, 1)} kB"
        return f"reading it {what}, {OVERLOAD.format(size=amount)}", OVERLOAD_CURE


def _seconds(pid: int) -> float:
    """Return the processor time of a process in seconds; 0 if unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
