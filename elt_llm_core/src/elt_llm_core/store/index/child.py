"""Run a step in a child process, which ends when its parent does."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

from elt_llm_core.errors import StoreError

SECONDS = 3600.0  # longer builds are considered stuck; chosen, not measured
_KNOWN = {
    signal.SIGSEGV: "a damaged file or a bug in a library",
    signal.SIGKILL: "probably out of memory",
    signal.SIGBUS: "a file became shorter, or the disk is full",
}


def run_child(
    module: str, arguments: Sequence[str], seconds: float = SECONDS
) -> list[str]:
    """Return the lines that `python -m module` prints.

    Raises StoreError with the way the child ended. The child must call
    `end_with_parent`: its input is a pipe that closes when this process ends, however
    it ends.
    """
    # -P: a file in the user's folder must not be imported as a library.
    command = [sys.executable, "-P", "-m", module, *arguments]
    lifeline, held = os.pipe()
    try:
        done = subprocess.run(
            command,
            stdin=lifeline,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            # Ctrl-C is for this process, which ends what it is at in good order.
            process_group=0,
        )
    except subprocess.TimeoutExpired as error:
        raise StoreError(f"it took more than {seconds:.0f} s") from error
    finally:
        os.close(lifeline)
        os.close(held)
    if done.returncode:
        raise StoreError(_last_words(done))
    return done.stdout.splitlines()


def end_with_parent() -> None:
    """End this process at once when the one that started it has ended."""
    threading.Thread(target=_wait_for_the_end, daemon=True).start()


def _wait_for_the_end() -> NoReturn:
    while os.read(0, 1):
        pass
    os._exit(1)


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        try:
            killer = signal.Signals(-done.returncode)
        except ValueError:  # a real-time signal has no name
            return f"killed by signal {-done.returncode}"
        cause = _KNOWN.get(killer)
        return f"killed by {killer.name}" + (f" ({cause})" if cause else "")
    lines = done.stderr.strip().splitlines()
    last = lines[-1] if lines else f"exit {done.returncode}"
    # Of an error of ours the sentence, not the class that Python names before it.
    return last.partition(": ")[2] if last.startswith("elt_llm_core.") else last
