"""Time an ingest of small files that is killed every few seconds, and one that is not.

    uv run python benchmarks/ingest_kills.py [--files 300] [--every 5]

Prints the seconds of both, the number of runs, and how many documents each run stored.
The killed ingest is started again, with the same command, until it ends by itself.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from elt_llm_core.store import Store

WORDS = [
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
    "safety",
    "equipment",
    "rigger",
]
MOST_RUNS = 200


def write_files(folder: Path, count: int) -> None:
    """Write `count` Markdown files of three short paragraphs each."""
    choice = random.Random(4)  # noqa: S311 - the same files every time
    folder.mkdir()
    for n in range(count):
        lines = [
            f"{' '.join(choice.choices(WORDS, k=12)).capitalize()} {n}."
            for _ in range(12)
        ]
        body = "\n\n".join(" ".join(lines[i : i + 4]) for i in (0, 4, 8))
        (folder / f"note-{n:04}.md").write_text(f"# Note {n}\n\n{body}\n")


def ingest(folder: Path, data: Path, seconds: float | None) -> bool:
    """Run the command; True if it ended by itself within `seconds`."""
    command = [sys.executable, "-m", "elt_llm_core.cli", "ingest", str(folder)]
    process = subprocess.Popen(
        [*command, "--collection", "notes", "--data-dir", str(data), "--quiet"],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        if process.wait(seconds):
            raise SystemExit(f"the ingest failed: exit code {process.returncode}")
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return True


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
        began = time.monotonic()
        ingest(folder, Path(root) / "whole", None)
        whole = time.monotonic() - began
        cut = Path(root) / "cut"
        counts, began = [], time.monotonic()
        while not ingest(folder, cut, options.every):
            counts.append(stored(cut))
            if len(counts) >= MOST_RUNS:
                break
        killed = time.monotonic() - began
        ratio = killed / whole
        told = {"whole": whole, "killed": killed, "ratio": ratio, "stored": counts}
        told["documents"] = stored(cut)
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
