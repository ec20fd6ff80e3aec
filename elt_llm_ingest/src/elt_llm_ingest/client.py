"""The job's side of the reading process: starts it, feeds it, kills it."""

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
from elt_llm_ingest.frames import LENGTH, MAX_MESSAGE, send
from elt_llm_ingest.held import handed_over
from elt_llm_ingest.parcels import documents_of
from elt_llm_ingest.passwords import Passwords
from elt_llm_ingest.safety import Limits, check_size

START_SECONDS = 60.0
PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
OVERTIME = (
    "if you trust the file, raise ingest.parse_timeout; "
    "else save it again in the program that made it"
)


class ReadingProcess:
    """Reads files in a limited child process, one after the other.

    The child is started when first needed, serves many files and is started anew after
    it was killed. Protected PDFs are opened with `passwords`, which go through the
    child's pipe. Not for several threads at once.
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
        """Start the child now, so that it warms up while other work goes on."""
        if self._child is not None and self._child.poll() is None:
            return
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-B", "-m", "elt_llm_ingest.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
            env=_environment(),
            start_new_session=True,
        )

    def parse(self, path: Path, data: bytes, loader: str = "") -> list[ParsedDocument]:
        """The documents of a file. Raises LoadError with the reason and the cure.

        `loader` names a loader; without it the bytes decide.
        """
        return self.read(path, data, loader)[1]

    def read(
        self, path: Path, data: bytes, loader: str = ""
    ) -> tuple[str, list[ParsedDocument]]:
        """As `parse`, with the name of the loader that read them first."""
        check_size(str(path), len(data), self.limits)
        request = {
            "name": path.name,
            "loader": loader,
            "passwords": self._passwords.of(path),
            "limits": self.limits.model_dump(mode="json"),
        }
        try:
            answer, documents = self._ask(request, data)
        except TimeoutError as error:
            self.close()
            seconds = f"{self.limits.timeout:g} s"
            raise LoadError(
                str(path), f"reading it took longer than {seconds}", OVERTIME
            ) from error
        except (EOFError, BrokenPipeError) as error:
            raise LoadError(str(path), self._death(), OVERTIME) from error
        except (ValueError, KeyError, zlib.error) as error:
            self.close()
            raise LoadError(str(path), "the reader talks nonsense", OVERTIME) from error
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
        self, request: dict[str, Any], data: bytes
    ) -> tuple[dict[str, Any], list[ParsedDocument]]:
        """The head of the answer and its documents, none where there is a reason."""
        child = self._ready()
        assert child.stdin is not None  # noqa: S101 - Popen was told to pipe
        with handed_over(data) as file:
            held = str(file) if file else ""
            send(child.stdin, json.dumps({**request, "held": held}).encode())
            send(child.stdin, b"" if file else data)
            deadline = time.monotonic() + self.limits.timeout
            answer: dict[str, Any] = json.loads(self._receive(deadline))
            if "reason" in answer:
                return answer, []
            return answer, documents_of(answer, lambda: self._receive(deadline))

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

    def _receive(self, deadline: float) -> bytes:
        (size,) = LENGTH.unpack(b"".join(self._bytes(LENGTH.size, deadline)))
        if size > MAX_MESSAGE:
            raise EOFError("the child talks nonsense")
        return b"".join(self._bytes(size, deadline))

    def _bytes(self, size: int, deadline: float) -> Iterator[bytes]:
        assert self._child is not None  # noqa: S101 - callers started it
        assert self._child.stdout is not None  # noqa: S101 - Popen was told to pipe
        number = self._child.stdout.fileno()
        while size:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([number], [], [], left)[0]:
                raise TimeoutError
            part = os.read(number, min(size, 1 << 20))
            if not part:
                raise EOFError("the child has gone")
            size -= len(part)
            yield part

    def _death(self) -> str:
        """Why the child is gone, as part of a sentence."""
        child = self._child
        code = child.wait() if child is not None else 0
        self.close()
        if code == -signal.SIGXCPU:
            return f"reading it took more than {2 * self.limits.timeout:g} s of work"
        if code < 0:
            name = signal.Signals(-code).name
            return f"the reader crashed on it ({name}), or ran out of memory"
        return "the reader ended while reading it"


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {
        **kept,
        "HOME": tempfile.gettempdir(),
        "LANG": "C.UTF-8",
        "HF_HUB_OFFLINE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
