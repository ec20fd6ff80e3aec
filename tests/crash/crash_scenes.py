"""The situations in which commands are cut off, and the judgement afterwards."""

import re
import shutil
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crash_files import first_files, second_files, third_files
from crash_root import Ended, Root

from elt_llm_core.crash import CrashPoint

GOLDEN = Path(__file__).parents[2] / "elt_llm_core/tests/golden/schema-1.tar.xz"
COLLECTION = "rules"
BATCH = 32  # texts an embedding call is given; a crash may cost one call
KILLED = -9
Command = tuple[str, ...]
# Two halves, since the tests of a file stay in one process.
OF_DOCUMENTS = tuple(
    point
    for point in CrashPoint
    if point.startswith(("ingest.", "embed.", "document.", "backup.", "migration."))
)
# A product's files, conversations, reviews, jobs and versions of reports have tests of
# their own: no command of these scenes writes any.
OF_THE_REST = tuple(
    point
    for point in CrashPoint
    if point not in OF_DOCUMENTS
    and not point.startswith(("files.", "turn.", "reviews.", "job.", "version."))
)

OF_A_CHILD = (
    CrashPoint.BUILD_BEGUN,
    CrashPoint.BUILD_DENSE,
    CrashPoint.BUILD_KEYWORDS,
)


@dataclass(frozen=True)
class Scene:
    """A command on a root, and how both look where nothing goes wrong."""

    name: str
    root: Root  # as it is before the command; never changed
    files: int  # which state of the files
    command: Command
    finish: tuple[Command, ...]  # commands that finish what was cut off
    may: str  # faults that the same command mends, as a pattern
    ends: tuple[int, ...]  # exit codes of the same command once it is done
    before: dict[str, Any]
    after: dict[str, Any]
    found: dict[str, Any]
    passed: Counter[str]
    done: Root  # as it is after the command


class Scenes:
    """Every scene, made once; all use one folder of files, so that addresses agree."""

    def __init__(self, empty: Root, folder: Path) -> None:
        self._folder = folder
        self._states = [folder / f"state-{n}" for n in range(3)]
        self._files = folder / "files"
        self.every: dict[str, Scene] = {}
        for state, (path, change) in enumerate(
            zip(self._states, (first_files, second_files, third_files), strict=True)
        ):
            if state:
                shutil.copytree(self._states[state - 1], path)
            change(path)
        self._make(empty)

    def _make(self, empty: Root) -> None:
        take = ("ingest", str(self._files), "--collection", COLLECTION)
        first = self._add("first", empty, (0, take))
        second = self._add("second", first, (1, take))
        third = self._add("third", second, (2, take))
        gone = ("remove", "md-rules.md", "pdf-rules.pdf", "--collection", COLLECTION)
        # What is gone cannot be named again: the next command brings the index along.
        also = ("remove", "late.html", "--collection", COLLECTION)
        removed = self._add("remove", third, (2, gone), ends=(0, 64), finish=(also,))
        everything = ("remove", "--all", "--collection", COLLECTION)
        later = ("store", "migrate")  # the next writer
        self._add(
            "drop",
            second,
            (1, everything),
            ends=(0, 65),
            finish=(later,),
            may="publ|gener",
        )
        self._add("purge", removed, (2, ("store", "purge")))
        self._make_of_backups(second, take)
        old = self._golden(empty)
        anew = (("store", "compact"),)
        migrate = ("store", "migrate")
        self._add("migrate", old, (0, migrate), finish=anew, may="publ|store|degr")

    def _make_of_backups(self, second: Root, take: Command) -> None:
        backup = ("store", "backup")
        saved = second.copy(self._folder / "saved")
        assert saved.run(*backup).code == 0
        (made,) = (saved.data / "backups").iterdir()
        made.rename(made.with_name("truth-20200101T000000Z.sqlite3"))
        self._add("backup", saved, (1, backup))
        self.use(2)
        later = saved.copy(self._folder / "later")
        ended = later.run(*take)
        assert ended.code == 0, ended.err
        self._add(
            "restore",
            later,
            (2, ("store", "restore", "latest")),
            finish=(("store", "compact", COLLECTION),),
            may="generation|degraded",
        )

    def _golden(self, empty: Root) -> Root:
        """The data root that an earlier release left."""
        old = empty.copy(self._folder / "golden")
        with tarfile.open(GOLDEN) as packed:
            packed.extractall(old.place, filter="data")
        return old

    def _add(
        self,
        name: str,
        start: Root,
        work: tuple[int, Command],
        ends: tuple[int, ...] = (0,),
        finish: tuple[Command, ...] = (),
        may: str = "",
    ) -> Root:
        """Run a command where nothing goes wrong; tells the root it leaves."""
        state, command = work
        calm = start.copy(self._folder / f"{name}-done")
        self.use(state)
        log = self._folder / f"{name}.points"
        ended = calm.run(*command, ELT_CRASH_LOG=str(log))
        assert ended.code == 0, ended.err
        for after in finish:
            assert calm.run(*after).code == 0
        seen = calm.look()
        assert seen["faults"] == [], f"{name}: {seen['faults']}"
        found = calm.probe()
        self.every[name] = Scene(
            name, start, state, command, finish, may, ends, start.look(), seen, found,
            passed_in(log), calm,
        )  # fmt: skip
        return calm

    def use(self, state: int) -> None:
        """Put one state of the files into the folder."""
        shutil.rmtree(self._files, ignore_errors=True)
        shutil.copytree(self._states[state], self._files)

    def plan(self, point: CrashPoint) -> list[tuple[Scene, int]]:
        """Three times to be cut off at a point: first, middle and last of the chances.

        A chance is the first, second or last time that a process of a scene gets there.
        """
        chances = [
            (scene, nth)
            for scene in self.every.values()
            for nth in sorted({1, 2, scene.passed[point]})
            if 1 <= nth <= scene.passed[point]
        ]
        return [chances[i * (len(chances) - 1) // 2] for i in range(3) if chances]


def passed_in(log: Path) -> Counter[str]:
    """The most times that one process passed each point."""
    lines = Counter(log.read_text().splitlines() if log.exists() else [])
    most: Counter[str] = Counter()
    for line, count in lines.items():
        point = line.partition(" ")[2]
        most[point] = max(most[point], count)
    return most


def after_crash(scene: Scene, root: Root, cut: Ended) -> Iterator[str]:
    """What is wrong with a root whose command was cut off: nothing, we hope."""
    seen = root.look()
    for fault in seen["faults"]:
        if not scene.may or not re.search(scene.may, fault):
            yield f"unreadable: {fault}"
    before, after = scene.before["documents"], scene.after["documents"]
    for document, content in seen["documents"].items():
        if content not in (before.get(document), after.get(document)):
            yield f"never sent: {content['row']}, or a part of it"
    for document in before.keys() & after.keys() - seen["documents"].keys():
        yield f"lost: {before[document]['row']}"
    for document, content in after.items():
        told = content["row"][1] in cut.acknowledged
        if told and seen["documents"].get(document) != content:
            yield f"lost: {content['row']}, which was acknowledged"


def after_all(scene: Scene, root: Root, ended: Ended, crashes: int) -> Iterator[str]:
    """What is wrong with a root whose command was run again to its end."""
    if ended.code not in scene.ends:
        yield f"exit: {ended.code}, {ended.err}"
    seen = root.look()
    yield from (f"unreadable: {fault}" for fault in seen["faults"])
    if seen["documents"] != scene.after["documents"]:
        yield "other end: the truth is not that of a run that was never cut off"
    yield from differences(scene.found, root.probe())
    yield from (f"left behind: {name}" for name in root.left_over())
    indexes = root.indexes() - scene.done.indexes()
    yield from (f"left behind: the index of {name}" for name in sorted(indexes))
    allowed = BATCH * crashes + scene.done.texts_paid_twice()
    if (paid := root.texts_paid_twice()) > allowed:
        yield f"paid twice: {paid} texts, {allowed} may be"


def differences(expected: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    """Probes whose ten best are not those of the run that was never cut off."""
    if expected.keys() != found.keys():
        yield f"other hits: {len(found)} probes, not {len(expected)}"
    for text in expected.keys() & found.keys():
        for engine, hits in expected[text].items():
            if found[text][engine] != hits:
                yield f"other hits: {engine} {text!r}: {found[text][engine]}"


def faults_of_a_crash(
    scenes: Scenes, point: CrashPoint, scene: Scene, nth: int, place: Path
) -> list[str]:
    """Cut a scene's command off at a point, look, run it again, and look."""
    scenes.use(scene.files)
    root = scene.root.copy(place)
    log = place / "points"
    cut = root.run(*scene.command, crash=f"{point}:{nth}", ELT_CRASH_LOG=str(log))
    if not log.exists() or passed_in(log)[point] < nth:
        return [f"{point} was not reached the {nth}. time in {scene.name}"]
    # A child that is cut off while it builds an index costs no more than the index: the
    # command tells it and ends by itself.
    ends = {0, 1} if point in OF_A_CHILD else {KILLED}
    faults = [] if cut.code in ends else [f"exit {cut.code}: {cut.err}"]
    faults += after_crash(scene, root, cut)
    ended = root.run(*scene.command)
    for after in scene.finish:
        assert root.run(*after).code == 0
    return [*faults, *after_all(scene, root, ended, 1)]


def faults_at(scenes: Scenes, point: CrashPoint, place: Path) -> Iterator[str]:
    """What is wrong after a command was cut off at a point, three times."""
    plan = scenes.plan(point)
    if len(plan) != 3:
        yield f"no scene gets to {point}: give it one"
    for number, (scene, nth) in enumerate(plan):
        where = place / str(number)
        for fault in faults_of_a_crash(scenes, point, scene, nth, where):
            yield f"{scene.name}, {point}:{nth}: {fault}"
