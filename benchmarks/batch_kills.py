"""Kill a batch again and again, and count what was lost and what was done twice.

    uv run python benchmarks/batch_kills.py [--items 400] [--kills 50] [--at-once 1]

Each item is a call of ten milliseconds that is noted in a file before it begins. The
batch is killed at random moments and started again until it ends by itself. Prints the
kills, the calls, and the items that are missing; a call that was in flight when its
process was killed has to be made again, any other one must not be.
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
from pathlib import Path

from elt_llm_consumer.batch import WorkItem, run_items
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.jobs import JobContext
from elt_llm_core.store import Store

CALL_SECONDS = 0.01


def run_batch(root: Path, count: int, at_once: int) -> None:
    """Run the batch to its end in this process."""
    store = Store(root / "data")
    calls = os.open(root / "calls", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def call(number: int) -> dict[str, str]:
        os.write(calls, f"{number}\n".encode())
        time.sleep(CALL_SECONDS)
        return {"text": f"{number} " * 1000}  # some four kilobytes

    items = [WorkItem(name=f"item {n}", parts=(str(n),)) for n in range(count)]
    context = JobContext(RagConfig(), store)
    batch = run_items(context, "kills", items, call, at_once=at_once)
    texts = [result["text"].split()[0] for result in batch.successes]
    (root / "done").write_text(json.dumps(texts))


def measure(root: Path, count: int, kills: int, at_once: int) -> dict[str, float]:
    """Kill the batch `kills` times, let it end, and count."""
    with Store(root / "data").writer():
        pass
    chance = random.Random(5)  # noqa: S311 - the same moments every time
    options = ["--items", str(count), "--at-once", str(at_once)]
    command = [sys.executable, __file__, "--run", str(root), *options]
    killed, began = 0, time.monotonic()
    while not (root / "done").exists():
        seen = _count_calls(root)
        process = subprocess.Popen(command, start_new_session=True)
        # Some calls are waited for: the imports take longer than a call.
        wanted = seen + chance.randint(1, 2 * count // max(kills, 1))
        while process.poll() is None:
            if killed < kills and _count_calls(root) >= wanted:
                time.sleep(chance.uniform(0, 2 * CALL_SECONDS))
                os.killpg(process.pid, signal.SIGKILL)
                killed += 1
                break
            time.sleep(0.002)
        process.wait()
    done = json.loads((root / "done").read_text())
    return {
        "items": count,
        "kills": killed,
        "calls": _count_calls(root),
        "repeated": _count_calls(root) - count,
        "lost": count - len(set(done)),
        "seconds": round(time.monotonic() - began, 1),
    }


def _count_calls(root: Path) -> int:
    path = root / "calls"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def main() -> int:
    """Measure; 1 where an item was lost, or more calls repeated than were in flight."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run_batch(options.run, options.items, options.at_once)
        return 0
    with tempfile.TemporaryDirectory() as root:
        result = measure(Path(root), options.items, options.kills, options.at_once)
    print(json.dumps(result))
    in_flight = result["kills"] * options.at_once
    return int(result["lost"] > 0 or result["repeated"] > in_flight)


if __name__ == "__main__":
    sys.exit(main())
