"""Size and time of the install, of the main job and of the first help page.

uv run --group dev python benchmarks/install.py [--json]

Clones the working tree's HEAD into a temporary folder and uses uv's warm cache, so that
the network is not what is measured.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HELP_RUNS = 9


def run(command: list[str], cwd: Path) -> float:
    """Seconds that a command took. Raises CalledProcessError."""
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, timeout=1200)
    return time.perf_counter() - start


def megabytes(folder: Path) -> float:
    """Space on disk, in units of a million bytes."""
    blocks = subprocess.run(
        ["du", "-s", "--block-size=1000", str(folder)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return int(blocks.stdout.split()[0]) / 1000


def measure(clone: Path) -> dict[str, Any]:
    """Every figure, by name."""
    venv = clone / ".venv"
    figures: dict[str, Any] = {}
    figures["query alone: install, s"] = run(
        ["uv", "sync", "--locked", "--package", "elt-llm-query"], clone
    )
    figures["query alone: size, MB"] = megabytes(venv)
    subprocess.run(["rm", "-rf", str(venv)], check=True, timeout=60)
    figures["default install, s"] = run(["uv", "sync", "--locked"], clone)
    figures["default install, MB"] = megabytes(venv)
    program = str(venv / "bin" / "elt-llm")
    run([program, "--help"], clone)  # compile the bytecode
    times = [run([program, "--help"], clone) for _ in range(HELP_RUNS)]
    figures["elt-llm --help, median s"] = statistics.median(times)
    figures["demo, first run, s"] = run([program, "demo", "--data-dir", "one"], clone)
    figures["demo, warm install, s"] = run(
        [program, "demo", "--data-dir", "two"], clone
    )
    figures["demo, same folder again, s"] = run(
        [program, "demo", "--data-dir", "two"], clone
    )
    return figures


def main(arguments: list[str]) -> None:
    """Print a Markdown table, or JSON."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        run(["git", "clone", "--quiet", str(ROOT), str(clone)], ROOT)
        figures = {name: round(value, 2) for name, value in measure(clone).items()}
    if "--json" in arguments:
        print(json.dumps(figures, indent=2))
        return
    print("| what | measured |\n|---|---|")
    for name, value in figures.items():
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main(sys.argv[1:])
