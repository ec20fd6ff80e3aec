"""A build that fails or is killed: told, cleaned up, and no matter to the others."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core_stores import new_document, put
from elt_llm_core.errors import GenerationError, StoreError
from elt_llm_core.store import Store
from elt_llm_core.store.index import publish
from elt_llm_core.store.index.child import run_child


def test_one_collection_that_fails_does_not_keep_the_others_back(
    published: Store,
) -> None:
    put(published, "worse", new_document("w.txt", ["bad one", "bad two"]), False)
    published.close()
    with sqlite3.connect(published.data_dir / "truth.sqlite3") as connection:
        connection.execute(
            "update node set vector = ? where collection = 'worse'", (b"\x00\x7e" * 32,)
        )
    connection.close()
    with (
        published.writer() as writer,
        pytest.raises(GenerationError, match="'worse' cannot be used: build failed"),
    ):
        writer.publish(["worse", "rules"], force=True)
    assert published.open("rules").generation == 2
    assert list((published.data_dir / "indexes" / "worse").iterdir()) == []


def test_a_child_that_is_killed_is_told_by_its_signal(
    published: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELT_CRASH_AT", "build.dense")
    with published.writer() as writer, pytest.raises(GenerationError) as caught:
        writer.publish(["rules"], force=True)
    assert "build failed: killed by SIGKILL" in caught.value.message
    assert publish.list_left_overs(published.data_dir) == []
    assert Store(published.data_dir).open("rules").degradations == ()


def test_the_index_of_a_dropped_collection_goes_with_the_next_writer(
    published: Store,
) -> None:
    indexes = published.data_dir / "indexes"
    shutil.copytree(indexes / "rules", indexes / "dropped")
    with published.writer():
        pass
    assert [path.name for path in indexes.iterdir()] == ["rules"]
    assert published.open("rules").degradations == ()


def test_a_truth_that_is_not_sound_takes_no_index_away(published: Store) -> None:
    indexes = published.data_dir / "indexes"
    shutil.copytree(indexes / "rules", indexes / "dropped")
    published.close()
    with sqlite3.connect(published.data_dir / "truth.sqlite3") as connection:
        connection.execute("pragma writable_schema = on")
        connection.execute(
            "update sqlite_schema set rootpage = 3 where name = 'document'"
        )
    connection.close()
    with Store(published.data_dir).writer():
        pass
    assert sorted(path.name for path in indexes.iterdir()) == ["dropped", "rules"]


DIES = """
import os, signal, sys
if sys.argv[1] == "words":
    sys.exit("the last words")
os.kill(os.getpid(), getattr(signal, sys.argv[1]))
"""


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("SIGSEGV", "killed by SIGSEGV (a damaged file"),
        ("SIGTERM", "killed by SIGTERM"),
        ("words", "the last words"),
    ],
)
def test_how_a_child_ended_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, told: str
) -> None:
    (tmp_path / "dies.py").write_text(DIES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(StoreError) as caught:
        run_child("dies", [how])
    assert caught.value.message.startswith(told)


LASTS = """
import os, sys, time
from pathlib import Path
from elt_llm_core.store.index.child import end_with_parent
end_with_parent()
Path(sys.argv[1]).write_text(str(os.getpid()))
time.sleep(60)
"""


def test_a_child_ends_with_the_parent_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lasts.py").write_text(LASTS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    note = tmp_path / "pid"
    start = "import sys; from elt_llm_core.store.index.child import run_child\n"
    code = f"{start}run_child('lasts', [sys.argv[1]])"
    with subprocess.Popen([sys.executable, "-c", code, str(note)]) as parent:
        while not (note.exists() and note.read_text()):
            assert parent.poll() is None
            time.sleep(0.02)
        child = int(note.read_text())
        parent.send_signal(signal.SIGKILL)
    for _ in range(500):
        if _is_gone(child):
            break
        time.sleep(0.02)
    assert _is_gone(child)


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().split()[2] == "Z"


def test_a_writer_takes_away_what_a_killed_one_left(published: Store) -> None:
    folder = published.data_dir / "indexes" / "rules"
    (folder / "gen-000002-x.tmp" / "vectors").mkdir(parents=True)
    (folder / ".MANIFEST.json.x.tmp").write_text("{")
    (published.data_dir / ".KEY.x.tmp").write_text("half")
    assert len(publish.list_left_overs(published.data_dir)) == 3
    with published.writer():
        assert publish.list_left_overs(published.data_dir) == []
    assert Store(published.data_dir).open("rules").degradations == ()
