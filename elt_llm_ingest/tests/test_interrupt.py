"""Ctrl-C and SIGTERM at real processes; two writers; a watch."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from elt_llm_core.store import Store

pytestmark = pytest.mark.usefixtures("warm_commands")

# A model that takes its time and writes down every text it is given.
SLOW = """
import sys, time
from pathlib import Path
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.models import factory as build
from elt_llm_core.store.writer import Writer
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_ingest import window

class Slow(HashEmbedding):
    def embed_array(self, texts):
        with Path("calls.log").open("a") as log:
            log.writelines(text.replace("\\n", " ") + "\\n" for text in texts)
        time.sleep(SECONDS)
        return super().embed_array(texts)

class Late(build.LateModels):
    def __init__(self, config):
        self.__dict__.update(_config=config, _models=Models(Slow()))

    @property
    def identity(self):
        return build.EmbedderIdentity("hash", Slow().digest)

build.LateModels = Late
Writer.publish = lambda *_, **__: {}
window.SLICE = 4
sys.exit(run(elt_llm))
"""


class Place:
    """A folder of files and a process that takes them in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = root / "files"
        self.files.mkdir()
        self.processes: list[subprocess.Popen[str]] = []

    def start(
        self, *arguments: str, seconds: float = 0.0, command: str = "ingest"
    ) -> subprocess.Popen[str]:
        code = SLOW.replace("SECONDS", str(seconds))
        fixed = ["files", "--collection", "harbour", "--data-dir", "data"]
        self.processes.append(
            subprocess.Popen(
                [sys.executable, "-c", code, command, *fixed, *arguments],
                cwd=self.root,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
                env={k: v for k, v in os.environ.items() if k[:7] != "ELT_LLM"},
            )
        )
        return self.processes[-1]

    def calls(self) -> list[str]:
        log = self.root / "calls.log"
        return log.read_text().splitlines() if log.exists() else []

    def names(self) -> list[str]:
        store = Store(self.root / "data")
        try:
            known = [card.name for card in store.collections()]
            return [d.name for d in store.documents("harbour")] if known else []
        finally:
            store.close()


def until(happened: Callable[[], object]) -> None:
    """Wait for something that another process does; fails after a minute."""
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    for n in range(12):
        text = f"# Berth {n}\n\nA fee of {n} is due.\n\n## Fines\n\nA fine of {n}.\n"
        (made.files / f"{n:02}.md").write_text(text)
    yield made
    for process in made.processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_signal_ends_after_the_file_at_hand(place, number, code):
    process = place.start("--json", seconds=0.3)
    until(place.names)
    # As a terminal does it: to the whole group, the reading process with it.
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "once more stops at once" in err
    assert json.loads(out)["stopped"] is True
    done = place.names()
    assert 1 <= len(done) < 12
    assert done == [f"{n:02}.md" for n in range(len(done))]
    again = place.start("--quiet")
    again.communicate(timeout=60)
    assert (again.returncode, len(place.names())) == (0, 12)
    texts = [text for text in place.calls() if "Berth" in text or "fine of" in text]
    assert len(texts) == len(set(texts)) == 24


def test_a_second_ctrl_c_ends_at_once(place):
    process = place.start("--json", seconds=30.0)
    until(place.calls)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    until(lambda: "once more" in process.stderr.readline())
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(out)["error"]["code"] == "INTERRUPTED"
    assert place.names() == []


def test_a_second_writer_names_the_first_or_waits(place):
    first = place.start(seconds=120.0)
    until(place.calls)
    refused = place.start("--quiet")
    _, err = refused.communicate(timeout=60)
    assert refused.returncode == 75
    assert f"process {first.pid}" in err
    waits = place.start("--wait", "60", "--quiet")
    with pytest.raises(subprocess.TimeoutExpired):
        waits.wait(timeout=3)
    os.killpg(first.pid, signal.SIGKILL)
    out, _ = waits.communicate(timeout=60)
    assert waits.returncode == 0
    assert "12 added" in out


def test_a_watch_takes_changes_in_and_goes_on_after_errors(place):
    options = ("--interval", "0.2", "--json", "--prune")
    process = place.start(*options, command="watch")
    until(lambda: len(place.names()) == 12)
    (place.files / "12.md").write_text("# More\n\nA new rule.\n")
    until(lambda: "12.md" in place.names())
    (place.files / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    (place.files / "00.md").unlink()
    until(lambda: "00.md" not in place.names())
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    reports = [json.loads(line) for line in out.splitlines()]
    assert reports[0]["counts"]["added"] == 12
    assert any("bad.pdf" in json.dumps(r) for r in reports)
