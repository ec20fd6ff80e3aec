"""Controls that must fail: what looks after a crash sees stores that are broken."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from crash_checks import unreachable
from crash_scenes import Scenes, after_all, after_crash
from crash_warm import HERE, Warm

from elt_llm_core.crash import CrashPoint

SEED = str(HERE / "crash_seed.py")


def test_a_docstore_that_is_persisted_whole_breaks(warm: Warm, tmp_path: Path) -> None:
    rng = random.Random(7)  # noqa: S311 - no secret
    outcomes = []
    for attempt in range(20):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        command = warm.start([SEED, "docstore", str(folder)])
        assert command.running(0.2 + rng.random())
        command.kill()
        assert command.wait() == -9
        outcomes += lost(folder / "docstore.json", command.out.read_text().split())
        if outcomes:
            return
    pytest.fail("twenty kills broke nothing: this harness would see nothing")


def lost(path: Path, acknowledged: list[str]) -> Iterator[str]:
    """What a docstore lost, among what it acknowledged."""
    try:
        known = json.loads(path.read_text())["docstore/data"]
    except (OSError, ValueError, KeyError) as error:
        yield f"unreadable: {error}"
        return
    yield from (f"lost: {node}" for node in acknowledged if node not in known)


@contextmanager
def adding(folder: Path, first: int, *counts: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, SEED, "chroma", str(folder), str(first)]
    with subprocess.Popen(
        [*command, *map(str, counts)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.communicate(timeout=60)


def test_two_clients_of_one_chroma_folder_lose_records(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    with adding(folder, 0, 300, 250) as one:
        assert one.stdout.readline() == "300\n"
        with adding(folder, 1000, 200) as two:
            assert two.stdout.readline() == "1200\n"
        print(file=one.stdin, flush=True)
        assert one.stdout.readline() == "550\n"
    every = {f"id-{n}" for n in (*range(550), *range(1000, 1200))}
    assert unreachable(folder, "rules", every)


def test_one_client_of_a_chroma_folder_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    with adding(folder, 0, 300, 250) as one:
        assert one.stdout.readline() == "300\n"
        print(file=one.stdin, flush=True)
        assert one.stdout.readline() == "550\n"
    assert unreachable(folder, "rules", {f"id-{n}" for n in range(550)}) == set()


@pytest.mark.parametrize(
    ("patch", "scene", "crash", "fault"),
    [
        ("ledger_first", "first", CrashPoint.DOCUMENT_HALF, "documents without chunks"),
        ("ledger_first", "second", "document.half:3", "never sent: "),
        ("told_too_early", "first", "document.half:2", "which was acknowledged"),
        ("manifest_first", "second", CrashPoint.SEALED, "unreadable: published: "),
        (
            "half_an_index",
            "second",
            CrashPoint.PUBLISHED,
            "cannot be reached|the manif",
        ),
    ],
)
def test_a_store_that_is_broken_on_purpose_is_caught(
    scenes: Scenes, place: Path, patch: str, scene: str, crash: str, fault: str
) -> None:
    chosen = scenes.every[scene]
    scenes.use(chosen.files)
    root = chosen.root.copy(place)
    cut = root.run(*chosen.command, crash=crash, patch=patch)
    assert cut.code == -9, cut.err
    found = "\n".join(after_crash(chosen, root, cut))
    assert any(part in found for part in fault.split("|")), found


def test_a_text_that_is_paid_twice_is_caught(scenes: Scenes, place: Path) -> None:
    chosen = scenes.every["first"]
    scenes.use(chosen.files)
    root = chosen.root.copy(place)
    ended = root.run(*chosen.command)
    once = root.calls.read_text()
    root.calls.write_text(once * 2)
    (fault,) = after_all(chosen, root, ended, 1)
    assert fault.startswith("paid twice: ")


def test_a_lost_document_and_another_order_are_caught(
    scenes: Scenes, place: Path
) -> None:
    chosen = scenes.every["second"]
    scenes.use(chosen.files)
    root = chosen.root.copy(place)
    assert root.run(*chosen.command).code == 0
    ended = root.run("remove", "md-rules.md", "--collection", "rules")
    assert any("lost: " in fault for fault in after_crash(chosen, root, ended))
    faults = list(after_all(chosen, root, ended, 0))
    assert any(fault.startswith("other end: ") for fault in faults)
    assert any(fault.startswith("other hits: keyword ") for fault in faults)


def test_what_is_killed_is_the_whole_group(warm: Warm, scenes: Scenes) -> None:
    chosen = scenes.every["third"]
    command = chosen.root.start("collections")
    command.kill()
    assert command.wait() == -9
    assert command.out.read_text() == ""
