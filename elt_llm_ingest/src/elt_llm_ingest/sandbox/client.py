"""The parent's side of the reading process: start, feed and kill it."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import LoadError
from elt_llm_ingest.limits import Limits, check_size
from elt_llm_ingest.readers.spool import share_large_pdf
from elt_llm_ingest.sandbox.framing import LENGTH, MAX_MESSAGE, send
from elt_llm_ingest.sandbox.guard import (
    CRASH_CURE,
    OVERTIME,
    Guard,
    Reason,
    TooMuchMemoryError,
)
from elt_llm_ingest.sandbox.passwords import Passwords
from elt_llm_ingest.sandbox.protocol import documents_of

# Generous, because a loaded machine takes many times longer than an idle one.
START_SECONDS = 60.0
GONE = (EOFError, BrokenPipeError)
NONSENSE = (ValueError, KeyError, zlib.error)
PASSED_ON = (
    "PATH",
    "PYTHONPATH",
    "PYTHONPYCACHEPREFIX",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
)
WATCH = 0.02  # seconds between two checks of the child's memory


class ReadingProcess:
    """Reads files in a child process with limits, one after the other.

    The child is started at first use, serves many files and is restarted after it was
    killed. Protected PDFs are opened with `passwords`, which are sent through the
    child's pipe. Not thread-safe.
    """

    def __init__(
        self, limits: Limits | None = None, passwords: Passwords | None = None
    ) -> None:
        self.limits = limits or Limits()
        self._passwords = passwords or Passwords()
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "ReadingProcess":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the child now, so that it initialises in parallel."""
        if self._child is not None and self._child.poll() is None:
            return
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-B", "-m", "elt_llm_ingest.sandbox.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
            env=_environment(),
            start_new_session=True,
        )

    def passwords_of(self, path: Path) -> list[str]:
        """Return the passwords to try on a file."""
        return list(self._passwords.of(path))

    def parse(self, path: Path, data: bytes, loader: str = "") -> list[ParsedDocument]:
        """Return the documents of a file. Raises LoadError with the reason and a hint.

        `loader` names a loader; by default it is detected from the bytes.
        """
        return self.read(path, data, loader)[1]

    def read(
        self, path: Path, data: bytes, loader: str = ""
    ) -> tuple[str, list[ParsedDocument]]:
        """Like `parse`, returning also the name of the loader."""
        check_size(str(path), len(data), self.limits)
        request = {
            "name": path.name,
            "loader": loader,
            "passwords": self._passwords.of(path),
            "limits": self.limits.model_dump(mode="json"),
        }
        guard = None
        try:
            child = self._ready()
            guard = Guard(child.pid, data, self.limits)
            answer, documents = self._ask(child, guard, request, data)
        except (TimeoutError, TooMuchMemoryError, *GONE, *NONSENSE) as error:
            raise LoadError(str(path), *self._why(error, guard)) from error
        if "reason" in answer:
            raise LoadError(str(path), answer["reason"], answer["hint"])
        return answer["loader"], documents

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _ask(
        self,
        child: subprocess.Popen[bytes],
        guard: Guard,
        request: dict[str, Any],
        data: bytes,
    ) -> tuple[dict[str, Any], list[ParsedDocument]]:
        """Return the head of the answer and its documents; none on failure."""
        assert child.stdin is not None  # noqa: S101 - Popen was told to pipe
        with share_large_pdf(data) as file:
            held = str(file) if file else ""
            send(child.stdin, json.dumps({**request, "held": held}).encode())
            send(child.stdin, b"" if file else data)
            deadline = time.monotonic() + self.limits.timeout
            answer = self._head(deadline, guard)
            if "reason" in answer:
                return answer, []
            return answer, documents_of(answer, lambda: self._receive(deadline, guard))

    def _head(self, deadline: float, guard: Guard) -> dict[str, Any]:
        """Return the answer's first message, counting progress messages before it."""
        while True:
            message: dict[str, Any] = json.loads(self._receive(deadline, guard))
            if "pages" not in message:
                return message
            guard.allow(message["pages"])

    def _ready(self) -> subprocess.Popen[bytes]:
        fresh = self._child is None or self._child.poll() is not None
        if fresh:
            self.close()
        self.start()
        assert self._child is not None  # noqa: S101 - just started
        if not getattr(self._child, "greeted", False):
            self._receive(time.monotonic() + START_SECONDS)
            self._child.greeted = True  # type: ignore[attr-defined]
        return self._child

    def _receive(self, deadline: float, guard: Guard | None = None) -> bytes:
        (size,) = LENGTH.unpack(b"".join(self._bytes(LENGTH.size, deadline, guard)))
        if size > MAX_MESSAGE:
            raise EOFError("the child process sent malformed data")
        return b"".join(self._bytes(size, deadline, guard))

    def _bytes(
        self, size: int, deadline: float, guard: Guard | None
    ) -> Iterator[bytes]:
        """The next bytes. Raises TimeoutError, EOFError, and what the guard does."""
        assert self._child is not None  # noqa: S101 - callers started it
        assert self._child.stdout is not None  # noqa: S101 - Popen was told to pipe
        number = self._child.stdout.fileno()
        while size:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if not select.select([number], [], [], min(left, WATCH))[0]:
                if guard is not None:
                    guard.check()
                continue
            part = os.read(number, min(size, 1 << 20))
            if not part:
                raise EOFError("the child process has ended")
            size -= len(part)
            yield part

    def _why(self, error: Exception, guard: Guard | None) -> Reason:
        """End the child and return the reason and the hint for an error."""
        reason = "the parser process returned malformed output", CRASH_CURE
        if isinstance(error, GONE):
            reason = "the parser process does not start", CRASH_CURE
            if guard is not None and self._child is not None:
                reason = guard.end(self._child)
        elif isinstance(error, TimeoutError):
            reason = f"reading it took longer than {self.limits.timeout:g} s", OVERTIME
        elif isinstance(error, TooMuchMemoryError):
            reason = error.args[0]
        self.close()
        return reason


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {
        **kept,
        "HOME": tempfile.gettempdir(),
        "LANG": "C.UTF-8",
        "HF_HUB_OFFLINE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
