"""Kills a storm of commands on one data root and counts what is lost: nothing.

    uv run python benchmarks/store_kills.py --kills 500 --json kills.json

Two roots are given the same commands on the same files. One is left in peace; on the
other every command is killed (SIGKILL to its process group) one to four times, at a
time drawn evenly over how long it takes or at a crash point drawn at random, before it
may end. The state is never reset: what a kill leaves behind, the next one meets. After
every kill, and after every command, the checks of `tests/crash` look at the root.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "crash"))

from crash_files import KINDS, write_file
from crash_root import Root, ended, warm_server
from crash_scenes import Scene, after_all, after_crash

from elt_llm_core.crash import CrashPoint

TAKE = ("ingest", "{files}", "--collection", "rules", "--prune")
OTHERS = (
    ("store", "compact", "rules"),
    ("store", "backup"),
    ("store", "purge"),
)
OTHER = 0.3  # of the commands are no ingest
MOST_FILES = 24


@dataclass
class Files:
    """A folder whose files come, change, move and go, as a seed says."""

    folder: Path
    rng: random.Random
    versions: dict[str, int] = field(default_factory=dict)
    made: int = 0

    def change(self) -> None:
        """One to four changes; ten files at the least."""
        while len(self.versions) < 10:
            self.add()
        for _ in range(self.rng.randint(1, 4)):
            self.rng.choice((self.add, self.edit, self.edit, self.move, self.drop))()

    def add(self) -> None:
        """A new file of any kind."""
        self.made += 1
        name = f"f{self.made}.{self.rng.choice(KINDS)}"
        write_file(self.folder, name, 0, self.rng.choice((6, 12, 40)))
        self.versions[name] = 0
        if len(self.versions) > MOST_FILES:
            self.drop()

    def edit(self) -> None:
        """The next version of a file."""
        name = self.any()
        self.versions[name] += 1
        write_file(self.folder, name, self.versions[name])

    def move(self) -> None:
        """Another name for the same content."""
        name = self.any()
        self.made += 1
        other = f"m{self.made}.{name.rpartition('.')[2]}"
        (self.folder / name).rename(self.folder / other)
        self.versions[other] = self.versions.pop(name)

    def drop(self) -> None:
        """A file is taken away."""
        name = self.any()
        (self.folder / name).unlink()
        del self.versions[name]

    def any(self) -> str:
        """One of the files."""
        return self.rng.choice(sorted(self.versions))


@dataclass
class Storm:
    """The two roots and what was counted so far."""

    calm: Root
    wild: Root
    files: Files
    rng: random.Random
    others: tuple[tuple[str, ...], ...] = OTHERS
    kills: int = 0
    at_points: int = 0
    commands: int = 0
    acknowledged: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)
    where: Counter[str] = field(default_factory=Counter)

    def blow(self, most: int) -> None:
        """One command on both roots; killed on the wild one, then let end."""
        command = self.command()
        before = self.calm.look()
        log = self.calm.place / "points"
        log.unlink(missing_ok=True)
        begun = time.monotonic()
        done = self.calm.run(*command, ELT_CRASH_LOG=str(log))
        takes = time.monotonic() - begun
        if done.code not in {0, 2}:
            raise SystemExit(f"{command} ends with {done.code}: {done.err}")
        name = " ".join(part for part in command[:2] if "/" not in part)
        scene = Scene(
            name, self.calm, 0, command, (), "", (done.code,),
            before, self.calm.look(), self.calm.probe(), Counter(), self.calm,
        )  # fmt: skip
        points = [line.partition(" ")[2] for line in log.read_text().splitlines()]
        for _ in range(min(self.rng.randint(1, 4), most)):
            if not self.cut(scene, points, takes):
                break
        last = self.wild.run(*command)
        self.commands += 1
        self.acknowledged += len(last.acknowledged)
        self.count(scene, after_all(scene, self.wild, last, self.kills))

    def command(self) -> tuple[str, ...]:
        """What is run next; mostly an ingest of files that were changed."""
        if self.commands and self.others and self.rng.random() < OTHER:
            return self.rng.choice(self.others)
        self.files.change()
        return tuple(part.format(files=self.files.folder) for part in TAKE)

    def cut(self, scene: Scene, points: list[str], takes: float) -> bool:
        """Kill the command once and look; False where it ended before."""
        if points and self.rng.random() < 0.3:
            point = CrashPoint(self.rng.choice(points))
            crash = f"{point}:{self.rng.choice((1, 1, 2, 3))}"
            stopped = self.wild.run(*scene.command, crash=crash)
            killed = stopped.code == -9
            self.at_points += killed
        else:
            running = self.wild.start(*scene.command)
            if killed := running.running(self.rng.random() * takes):
                running.kill()
            stopped = ended(running)
            killed = killed and stopped.code == -9
        if killed:
            self.kills += 1
            self.where[scene.name] += 1
            self.acknowledged += len(stopped.acknowledged)
            self.count(scene, after_crash(scene, self.wild, stopped))
        return killed

    def count(self, scene: Scene, faults: Iterable[str]) -> None:
        """Note what was found."""
        for fault in faults:
            self.faults[fault.partition(":")[0]] += 1
            self.told.append(f"kill {self.kills}, {scene.name}: {fault[:500]}")
            print(self.told[-1], file=sys.stderr, flush=True)

    def rows(self) -> list[tuple[str, float]]:
        """The table."""
        wasted = self.wild.texts_paid_twice() - self.calm.texts_paid_twice()
        return [
            ("kills run", self.kills),
            ("of these at a crash point", self.at_points),
            ("commands brought to their end", self.commands),
            ("documents acknowledged", self.acknowledged),
            ("acknowledged and lost", self.faults["lost"]),
            ("unreadable states", self.faults["unreadable"]),
            ("never sent, or half there", self.faults["never sent"]),
            ("ends unlike that of a run in peace", self.faults["other end"]),
            ("probes with other hits", self.faults["other hits"]),
            ("commands that failed after a kill", self.faults["exit"]),
            ("temporary files left behind", self.faults["left behind"]),
            ("texts embedded again a kill", round(wasted / max(self.kills, 1), 2)),
        ]


def options_given() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, help="an empty folder to leave the roots")
    parser.add_argument("--only-ingest", action="store_true")
    return parser.parse_args()


def run(options: argparse.Namespace, place: Path) -> Storm:
    """The storm, when it is over."""
    (place / "files").mkdir(parents=True)
    warm = warm_server(place)
    rng = random.Random(options.seed)  # noqa: S311 - no secret
    config = place / "config.yaml"
    calm, wild = (Root(warm, place / name, config) for name in ("calm", "wild"))
    for root in (calm, wild):
        root.place.mkdir()
    others = () if options.only_ingest else OTHERS
    storm = Storm(calm, wild, Files(place / "files", rng), rng, others)
    try:
        while storm.kills < options.kills:
            storm.blow(options.kills - storm.kills)
            print(f"{storm.kills} kills", file=sys.stderr, flush=True)
    finally:
        warm.close()
    return storm


def main() -> None:
    """Run the storm and print the table."""
    options = options_given()
    place = options.keep or Path(tempfile.mkdtemp(prefix="elt-kills-"))
    begun = time.monotonic()
    storm = run(options, place)
    seconds = round(time.monotonic() - begun)
    for name, number in [*storm.rows(), ("seconds", seconds)]:
        print(f"| {name} | {number} |")
    if options.json:
        found = {
            "seed": options.seed,
            "seconds": seconds,
            "rows": dict(storm.rows()),
            "kills by command": dict(sorted(storm.where.items())),
            "faults": storm.told,
        }
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if not options.keep:
        shutil.rmtree(place)
    raise SystemExit(bool(storm.told))


if __name__ == "__main__":
    main()
