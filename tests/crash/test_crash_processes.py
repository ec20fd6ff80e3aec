"""Several processes on one data root: readers see one state, writers take turns."""

import json
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from crash_files import write_file
from crash_root import Root
from crash_server import finished, serving, upload
from crash_steps import QUESTION, WORD
from crash_warm import HERE, Command, Warm

from elt_llm_core.store import Store

STEPS = str(HERE / "crash_steps.py")
EDITIONS = 6
CLAUSES = 12
RACES = 50
TAKE = ("--collection", "rules")


def write_edition(folder: Path, number: int) -> None:
    """A file in which every part says which edition it belongs to."""
    parts = [
        f"## {WORD} edition {number} clause {clause}\n\nThe {WORD} of edition {number} "
        f"obeys clause {clause} of {number * 100 + clause}."
        for clause in range(CLAUSES)
    ]
    (folder / "edition.md").write_text("\n\n".join(parts))


def edition_ids(root: Root) -> frozenset[str]:
    """Ids of the chunks of the edition that is stored."""
    store = Store(root.data)
    found = {n.node_id for n in store.nodes("rules") if WORD in n.text}
    store.close()
    return frozenset(found)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    write_file(folder, "other.md", 0, 40)
    write_edition(folder, 0)
    return folder


@pytest.fixture
def root(empty: Root, tmp_path: Path, files: Path) -> Root:
    """A published root with the first edition."""
    made = empty.copy(tmp_path / "root")
    assert made.run("ingest", str(files), *TAKE).code == 0
    return made


def test_readers_of_other_processes_never_see_two_states(
    root: Root, files: Path, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    arguments = [STEPS, "search", str(root.data), "120", str(done)]
    readers = [root.warm.start(arguments) for _ in range(2)]
    known = [edition_ids(root)]
    for number in range(1, EDITIONS):
        write_edition(files, number)
        assert root.run("ingest", str(files), *TAKE).code == 0
        known.append(edition_ids(root))
    done.touch()
    for reader in readers:
        assert reader.wait() == 0, reader.err.read_text()
        lines = [json.loads(line) for line in reader.out.read_text().splitlines()]
        assert len(lines) >= 120
        assert [worse for *_, worse in lines if worse] == []
        assert len({generation for *_, generation, _ in lines}) > 1
        states = [known.index(frozenset(words)) for words, *_ in lines]
        assert states == sorted(states)
        every = frozenset().union(*known)
        assert [known.index(every & frozenset(near)) for _, near, *_ in lines] == states


def editions_in(url: str) -> set[str]:
    """Which editions one answer of the API speaks of; every clause must be there."""
    body = {"question": QUESTION, "collections": ["rules"], "k": 100}
    answer = httpx.post(f"{url}v1/search", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["degradations"] == []
    texts = [s["text"] for s in found["sources"] if WORD in s["text"]]
    assert len(texts) == CLAUSES, len(texts)
    return {edition for text in texts for edition in re.findall(r"edition (\d+)", text)}


@pytest.mark.network
def test_the_api_and_the_command_line_share_a_root(root: Root, files: Path) -> None:
    with serving(root) as url:
        assert editions_in(url) == {"0"}
        seen: list[set[str]] = []
        stop = threading.Event()

        def ask() -> None:
            while not stop.is_set() or len(seen) < 30:
                seen.append(editions_in(url))

        thread = threading.Thread(target=ask)
        thread.start()
        for number in range(1, 4):
            write_edition(files, number)
            assert root.run("ingest", str(files), *TAKE).code == 0
            assert editions_in(url) == {str(number)}  # the next answer knows it
        stop.set()
        thread.join(timeout=120)
        assert all(len(editions) == 1 for editions in seen)
        assert len(seen) >= 30
        assert httpx.get(f"{url}ui/", timeout=30).status_code == 200
        one_writer_of_two_doors(root, files, url)


def one_writer_of_two_doors(root: Root, files: Path, url: str) -> None:
    """While the command line writes an upload gets 409; only the shell names who."""
    release = root.place / "release"
    holder = root.warm.start([STEPS, "hold", str(root.data), str(release)])
    assert said(holder) == "held\n"
    refused = root.run("ingest", str(files), *TAKE)
    assert refused.code == 75
    assert f"process {holder.pid}" in refused.err
    conflict = upload(url, "late.txt")
    assert conflict.status_code == 409
    # The page may be open to others: it names no process of this machine.
    assert "is being written by another process" in conflict.json()["detail"]
    assert str(holder.pid) not in conflict.text
    release.touch()
    assert holder.wait() == 0
    accepted = upload(url, "late.txt")
    assert accepted.status_code == 202, accepted.text
    assert finished(url, accepted.json()["id"])["state"] == "succeeded"
    listed = root.run("collections", "--json")
    assert '"documents": 3' in listed.out


def said(command: Command, seconds: float = 30.0) -> str:
    """The first line of a command's output, as soon as it is there."""
    return soon(command.out.read_text, seconds)


def soon(what: Callable[[], str], seconds: float) -> str:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (found := what()).endswith("\n"):
            return found
        time.sleep(0.005)
    pytest.fail("nothing was said")


def test_of_two_writers_one_wins_fifty_times(warm: Warm, tmp_path: Path) -> None:
    root = tmp_path / "data"
    for race in range(RACES):
        release = tmp_path / f"release-{race}"
        arguments = [STEPS, "hold", str(root), str(release)]
        both = [warm.start(arguments) for _ in range(2)]
        lines = {command: said(command) for command in both}
        release.touch()
        assert [command.wait() for command in both] == [0, 0]
        (winner,) = (c for c in both if lines[c] == "held\n")
        (loser,) = (c for c in both if c is not winner)
        _, seconds, told = lines[loser].split(" ", 2)
        assert f"process {winner.pid}" in told
        assert float(seconds) < 1.0


def test_a_second_command_is_refused_or_waits(
    root: Root, files: Path, tmp_path: Path
) -> None:
    release = tmp_path / "release"
    holder = root.warm.start([STEPS, "hold", str(root.data), str(release)])
    assert said(holder) == "held\n"
    write_edition(files, 1)
    refused = root.run("ingest", str(files), *TAKE)
    assert refused.code == 75
    assert f"process {holder.pid}" in refused.err
    waiting = root.start("ingest", str(files), *TAKE, "--wait", "60")
    assert waiting.running(1.0)
    release.touch()
    assert waiting.wait() == 0, waiting.err.read_text()
    assert holder.wait() == 0


def test_the_lock_of_a_killed_writer_is_free_at_once(
    root: Root, files: Path, tmp_path: Path
) -> None:
    holder = root.warm.start([STEPS, "hold", str(root.data), str(tmp_path / "never")])
    assert said(holder) == "held\n"
    holder.kill()
    assert holder.wait() == -signal.SIGKILL
    with Store(root.data).writer():
        pass


def test_ctrl_c_at_a_build_ends_when_the_index_is_published(
    root: Root, files: Path, tmp_path: Path
) -> None:
    write_edition(files, 1)
    log = tmp_path / "points"
    log.touch()
    command = root.start("ingest", str(files), *TAKE, ELT_CRASH_LOG=str(log))
    soon(lambda: "\n" if "build.begun" in log.read_text() else "", 30)
    command.signal(signal.SIGINT)
    assert command.wait() == 0, command.err.read_text()  # there was no more to do
    assert "stopping after this item" in command.err.read_text()
    collection = Store(root.data).open("rules")
    assert (collection.generation, collection.degradations) == (2, ())


def test_what_is_open_still_sees_what_other_processes_write(
    root: Root, files: Path
) -> None:
    store = Store(root.data)
    before = {row.sha256 for row in store.documents("rules")}
    with store.writer():
        pass  # opens the truth beside the reader, and closes what it opened
    Store(root.data).collections()
    write_edition(files, 1)
    assert root.run("ingest", str(files), *TAKE).code == 0
    assert {row.sha256 for row in store.documents("rules")} != before
    assert (root.data / "truth.sqlite3-wal").exists()  # a reader is there
    store.close()
