"""How long a catalogue of 175 entities over a handbook of 6,000 chunks takes.

    uv run python benchmarks/catalog_scale.py [--entities 175] [--chunks 6000]

Handbook and inventory are generated, the same each time: definitions, rules, states,
agreements and sentences that relate two entities, among others that name none. Without
a model. Each command is a process of its own, as a person calls it: printed are its
seconds on the clock and its processor seconds, for the first run and for a second one
that has nothing to do, and whether the second changed a byte.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

FIRST_BAR, SECOND_BAR = 20.0, 2.0  # seconds
ABOUT = (
    *("Harbour", "Cargo", "Crane", "Tide", "Berth", "Customs", "Vessel", "Pilot"),
    *("Container", "Quay", "Rail", "Gate", "Safety", "Fuel", "Waste", "Storage"),
    *("Weather", "Mooring", "Tug", "Dredging", "Lighting", "Security", "Labour"),
    *("Tariff", "Claims"),
)
THINGS = (
    *("Register", "Permit", "Notice", "Report", "Agreement", "Inspection", "Officer"),
    *("Plan", "Record", "Fee", "Certificate", "Order"),
)
TEMPLATES = (
    "The {a} must be kept for {n} years and may be seen by the clerk on request.",
    "Every {a} names the {b} and the day on which it was made.",
    "A {a} is suspended when the {b} has not been paid within {n} days.",
    "The {a} may not be changed without the consent of the board.",
    "A {a} has at least {n} copies.",
    "The {a} is confidential and is shown to nobody outside the office.",
)
FILLERS = (
    "On working days the office opens at eight and closes when the last boat is in.",
    "Whoever comes late waits at the door until somebody has time to let them in.",
    "In winter the lamps along the wall are lit an hour before the sun goes down.",
    "Questions are asked in writing, and an answer is given within a few weeks.",
    "Paper that is wet is dried first, and then it is filed with all the others.",
)


def entity_names(count: int) -> list[str]:
    """Names of two words, each once."""
    names = [f"{about} {thing}" for thing in THINGS for about in ABOUT]
    if count > len(names):
        raise SystemExit(f"there are {len(names)} names, {count} are wanted")
    return names[:count]


def write_handbook(path: Path, names: Sequence[str], clauses: int) -> None:
    """Write a clause for each chunk; the first ones define half of the entities."""
    chance = random.Random(7)  # noqa: S311 - the same text every time
    defined = names[::2]
    parts = ["# Handbook\n"]
    for number in range(clauses):
        sentences = []
        if number < len(defined):
            sentences.append(f'"{defined[number]}" means a paper of kind {number}.')
        for _ in range(2):
            a, b = chance.sample(names, 2)
            text = chance.choice(TEMPLATES)
            sentences.append(text.format(a=a, b=b, n=chance.randint(2, 90)))
        sentences += chance.choices(FILLERS, k=4)
        title = f"## {number // 40 + 1}.{number % 40 + 1} Clause {number}"
        parts.append(f"{title}\n\n{' '.join(sentences)}\n")
    path.write_text("\n".join(parts), encoding="utf-8")


def write_inventory(path: Path, names: Sequence[str]) -> None:
    """Write fact sheets in ten domains."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "type", "name", "displayName", "description", "level"))
        for number in range(10):
            domain = f"DOMAIN {number}"
            writer.writerow((f"d{number}", "DataObject", domain, domain, "", 1))
        for number, name in enumerate(names):
            place = f"DOMAIN {number % 10} / {name}"
            writer.writerow((f"e{number}", "DataObject", name, place, "", 2))


def run_command(*arguments: str) -> tuple[float, float, dict[str, object]]:
    """Seconds on the clock, processor seconds and report of one command."""
    command = [sys.executable, "-m", "elt_llm_core.cli", *arguments, "--json"]
    began, before = time.monotonic(), os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    spent = os.times()
    processor = spent.children_user + spent.children_system
    processor -= before.children_user + before.children_system
    return time.monotonic() - began, processor, json.loads(done.stdout)


def measure(root: Path, entities: int, chunks: int) -> bool:
    """Print the figures; whether both bars are met and no byte changed."""
    names = entity_names(entities)
    write_handbook(root / "handbook.md", names, chunks)
    write_inventory(root / "inventory.csv", names)
    data = ("--data-dir", str(root / "data"), "--quiet")
    for name in ("handbook.md", "inventory.csv"):
        seconds, _, report = run_command(
            "ingest", str(root / name), "--collection", Path(name).stem, *data
        )
        print(f"ingest {name}: {seconds:.1f} s, {json.dumps(report)[:200]}")
    runs = []
    for _ in range(2):
        names_of = ("--collection", "handbook", "--model", "inventory")
        runs.append(run_command("catalog", *names_of, *data))
        written = sorted((root / "data" / "output").iterdir())
        runs[-1][2]["bytes"] = [file.read_bytes() for file in written]
    for label, (seconds, processor, report) in zip(
        ("first", "second"), runs, strict=True
    ):
        counts = json.dumps(report["counts"], sort_keys=True)
        print(f"{label}: {seconds:.1f} s, {processor:.1f} CPU-s, {counts}")
    same = runs[0][2]["bytes"] == runs[1][2]["bytes"]
    print(f"second run changed {'nothing' if same else 'files'}")
    return runs[0][0] <= FIRST_BAR and runs[1][0] <= SECOND_BAR and same


def main() -> int:
    """Measure; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=175)
    parser.add_argument("--chunks", type=int, default=6000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        good = measure(Path(root), options.entities, options.chunks)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
