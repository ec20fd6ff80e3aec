"""Data roots that cannot be written, are not ours, or are no data roots."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core_stores import new_document, put
from elt_llm_core.errors import StoreError, StoreWriteError, UnusableDatabaseError
from elt_llm_core.store import Store
from elt_llm_core.store.database.document_rows import Database

pytestmark = pytest.mark.usefixtures("warm_commands")

TRUTH = "truth.sqlite3"

TRY = """
import os, sys
from pathlib import Path
import elt_llm_core.store.collection
import elt_llm_core.store.writer
from elt_llm_core.errors import StoreError
from elt_llm_core.store import Store
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
store = Store(Path(sys.argv[2]))
try:
    if sys.argv[1] == "read":
        hits = store.open("rules").search_keyword("kite", 5)
        print(len(hits), store.card("rules").chunks)
    else:
        with store.writer() as writer:
            writer.drop_collection("rules")
except StoreError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def attempt(action: str, root: Path) -> tuple[int, str]:
    """How it ends for a user without special rights, and what is told."""
    done = subprocess.run(
        [sys.executable, "-c", TRY, action, str(root)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def open_root(tmp_path: Path) -> Iterator[Path]:
    """A published root that everybody may read, in a folder that all may enter."""
    for folder in (tmp_path, *list(tmp_path.parents)[:3]):
        if folder.stat().st_uid == os.getuid():
            folder.chmod(folder.stat().st_mode | 0o055)
    root = tmp_path / "données à lire #1 %20"
    put(Store(root), "rules", new_document("a.txt", ["a kite", "a sail"]), False)
    root.chmod(0o755)
    for path in root.iterdir():
        path.chmod(0o644)
    yield root
    root.chmod(0o755)


def protect(root: Path) -> None:
    """What a read-only medium looks like: no log, nobody may write."""
    for ending in ("-wal", "-shm"):
        (root / f"{TRUTH}{ending}").unlink(missing_ok=True)
    (root / TRUTH).chmod(0o444)
    root.chmod(0o555)


def test_a_root_on_a_read_only_medium_is_read(open_root: Path) -> None:
    protect(open_root)
    before = sorted(p.name for p in open_root.iterdir())
    assert attempt("read", open_root) == (0, "1 2\n")
    assert sorted(p.name for p in open_root.iterdir()) == before
    assert Database(open_root).rows("select count(*) from node") == [(2,)]


def test_writing_to_a_read_only_root_is_refused_in_a_sentence(open_root: Path) -> None:
    protect(open_root)
    code, told = attempt("write", open_root)
    assert code == 73
    assert told.count("\n") == 1
    assert "cannot write" in told


def test_a_log_that_cannot_be_read_is_not_passed_over(open_root: Path) -> None:
    with closing(sqlite3.connect(open_root / TRUTH)) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("update node set text = 'newer'")
        writer.commit()
        shutil.copyfile(open_root / f"{TRUTH}-wal", open_root / "kept")
    (open_root / "kept").rename(open_root / f"{TRUTH}-wal")
    (open_root / TRUTH).chmod(0o444)
    (open_root / f"{TRUTH}-wal").chmod(0o444)
    open_root.chmod(0o555)
    code, told = attempt("read", open_root)
    assert code in (73, 78)
    assert "copy it to a writable place" in told


def test_a_folder_that_cannot_be_entered_is_told(open_root: Path) -> None:
    above = open_root.parent
    above.chmod(0o600)
    code, told = attempt("read", open_root)
    above.chmod(0o755)
    assert code == 78, told
    assert "cannot be reached" in told


def test_a_root_of_another_user_is_told_apart(open_root: Path) -> None:
    (open_root / TRUTH).chmod(0o600)
    if os.getuid() != 0:
        (open_root / TRUTH).chmod(0o000)
    code, told = attempt("read", open_root)
    assert code == 78, told
    assert "Permission denied" in told
    assert told.count("\n") == 1


def is_empty(root: Path) -> None:
    (root / TRUTH).write_bytes(b"")
    (root / "backups").mkdir()
    (root / "backups" / "truth-20200101T000000Z.sqlite3").touch()


def is_a_folder(root: Path) -> None:
    (root / TRUTH).unlink()
    (root / TRUTH).mkdir()


def is_text(root: Path) -> None:
    (root / TRUTH).write_text("hello\n" * 100)


def is_cut_off(root: Path) -> None:
    (root / TRUTH).write_bytes((root / TRUTH).read_bytes()[:40])


def is_half(root: Path) -> None:
    data = (root / TRUTH).read_bytes()
    (root / TRUTH).write_bytes(data[: len(data) // 8192 * 4096])


@pytest.mark.parametrize(
    "happened", [is_empty, is_a_folder, is_text, is_cut_off, is_half]
)
def test_what_is_no_truth_is_refused_by_readers_and_writers_and_left_alone(
    store: Store, happened: Callable[[Path], None]
) -> None:
    put(store, "rules", new_document("a.txt", ["a kite", "a sail"] * 99), False)
    store.close()
    happened(store.data_dir)
    before = content(store.data_dir)
    other = Store(store.data_dir)
    with pytest.raises(
        UnusableDatabaseError, match=r"elt-llm store restore|--data-dir"
    ):
        list(other.nodes("rules"))
    with pytest.raises(StoreError):
        put(other, "rules", new_document("b.txt", ["a rule"]), False)
    other.close()
    assert content(store.data_dir) == before


def content(root: Path) -> dict[str, bytes]:
    return {
        p.name: p.read_bytes()
        for p in root.rglob("*")
        if p.is_file() and p.name != "LOCK" and not p.name.startswith(f"{TRUTH}-")
    }


def test_a_data_root_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    store = Store(tmp_path / "file")
    with pytest.raises(StoreWriteError), store.writer():
        pass
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["with space", "ünï-код", "a?b#c%20&d", "x" * 255])
def test_any_name_a_folder_can_have_will_do(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path / name)
    put(store, "rules", new_document("a.txt", ["a kite"]), publish=False)
    assert len(Store(tmp_path / name).open("rules").search_keyword("kite", 1)) == 1
    assert [p.name for p in tmp_path.iterdir()] == [name]
