"""Time an ingest of small files that is killed every few seconds, and one that is not.

    uv run python benchmarks/ingest_kills.py [--files 300] [--every 5]

Prints the seconds of both, when the first document was stored, the processor seconds of
the one that is not killed, and how many documents were there after each kill. The
killed ingest is started again, with the same command, until it ends by itself. Bytecode
is cached, as after any first run: one file is taken in before anything is measured.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from elt_llm_core.store import Store

NOUNS = [
    "fee",
    "permit",
    "boat",
    "crew",
    "radio",
    "channel",
    "inspection",
    "record",
    "officer",
    "launch",
    "harbour",
    "rule",
    "section",
    "member",
    "notice",
    "period",
    "grade",
    "leave",
    "report",
    "equipment",
    "rigger",
]
SENTENCES = (
    "The {0} of the {1} is kept by the {2} until the {3} has been paid for.",
    "Each {0} has to be shown to the {1} before the {2} leaves the {3}.",
    "A {0} that was lost is reported to the {1}, and the {2} is told of the {3}.",
)
MOST_RUNS = 200


def write_files(folder: Path, count: int) -> None:
    """Write `count` Markdown files of three short paragraphs of English each."""
    choice = random.Random(4)  # noqa: S311 - the same files every time
    folder.mkdir()
    for n in range(count):
        lines = [
            f"{choice.choice(SENTENCES).format(*choice.choices(NOUNS, k=4))}"
            for _ in range(12)
        ]
        body = "\n\n".join(" ".join(lines[i : i + 4]) for i in (0, 4, 8))
        (folder / f"note-{n:04}.md").write_text(f"# Note {n}\n\n{body}\n")


def start(path: Path, data: Path, *options: str) -> subprocess.Popen[str]:
    """Start the command on a file or folder."""
    environ = os.environ | {"PYTHONPYCACHEPREFIX": str(data.parent / "bytecode")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "elt_llm_core.cli", "ingest", str(path)]
    fixed = ["--collection", "notes", "--data-dir", str(data), "--quiet"]
    return subprocess.Popen(
        [*command, *fixed, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if options else None,
        text=True,
        start_new_session=True,
        env=environ,
    )


def seconds_to_first(folder: Path, data: Path) -> float:
    """Run the command to its end; the seconds after which a document was stored."""
    began, first = time.monotonic(), 0.0
    process = start(folder, data, "--log-level", "INFO")
    for line in process.stderr or ():
        if not first and "stored file:" in line:
            first = time.monotonic() - began
    if process.wait():
        raise SystemExit(f"the ingest failed: exit code {process.returncode}")
    return first


def ends_within(seconds: float, folder: Path, data: Path) -> bool:
    """Run the command, and kill it if it does not end by itself within `seconds`."""
    process = start(folder, data)
    try:
        if process.wait(seconds):
            raise SystemExit(f"the ingest failed: exit code {process.returncode}")
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return True


def processor_seconds() -> float:
    """What the processes took that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def stored(data: Path) -> int:
    """Return how many documents the data root holds."""
    store = Store(data)
    try:
        cards = store.collections() if data.exists() else []
        return sum(card.documents for card in cards)
    finally:
        store.close()


def main() -> int:
    """Measure; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--every", type=float, default=5.0, help="seconds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "files"
        write_files(folder, options.files)
        seconds_to_first(folder / "note-0000.md", Path(root) / "warm")
        began, before = time.monotonic(), processor_seconds()
        first = seconds_to_first(folder, Path(root) / "whole")
        whole, spent = time.monotonic() - began, processor_seconds() - before
        cut = Path(root) / "cut"
        counts, began = [], time.monotonic()
        while not ends_within(options.every, folder, cut):
            counts.append(stored(cut))
            if len(counts) >= MOST_RUNS:
                break
        killed = time.monotonic() - began
        ratio = killed / whole
        told = {"whole": whole, "processor": spent, "first": first, "killed": killed}
        print(json.dumps({**told, "ratio": ratio, "load": os.getloadavg()[0]}))
        print(json.dumps({"stored": counts, "documents": stored(cut)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
