"""Copies of the truth: made while it is used, put back whatever became of it."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from core_stores import new_document, put
from elt_llm_core.crash import VARIABLE, CrashPoint
from elt_llm_core.errors import (
    StoreError,
    StoreWriteError,
    UnusableDatabaseError,
    UsageError,
)
from elt_llm_core.results import DegradationKind
from elt_llm_core.store import Store
from elt_llm_core.store.database import disk_space
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.maintenance import backup
from elt_llm_core.store.maintenance.restore import restore
from elt_llm_core.testing.fakes import HashEmbedding

pytestmark = pytest.mark.usefixtures("warm_commands")

TRUTH = "truth.sqlite3"
DAY = 86_400.0


def ids(store: Store) -> list[str]:
    return [n.node_id for n in store.nodes("rules")]


def age(root: Path, seconds: float) -> None:
    """Let every backup look older."""
    for path in backup.backup_files(root):
        then = path.stat().st_mtime - seconds
        os.utime(path, (then, then))


def test_a_backup_is_one_whole_file_of_its_owners_alone(published: Store) -> None:
    before = ids(published)
    with published.writer():  # the log is not empty while a writer is there
        made = backup.back_up(published.data_dir)
    assert made.parent == published.data_dir / "backups"
    assert made.stat().st_mode & 0o777 == 0o600
    assert sorted(p.name for p in made.parent.iterdir()) == [made.name]
    alone = published.data_dir.parent / "alone"
    alone.mkdir()
    shutil.copyfile(made, alone / TRUTH)
    assert ids(Store(alone)) == before


def test_only_the_newest_backups_are_kept(published: Store) -> None:
    folder = published.data_dir / "backups"
    folder.mkdir()
    first = backup.back_up(published.data_dir)
    for day in (1, 2, 3):
        first.with_name(f"truth-2020010{day}T000000Z.sqlite3").touch()
    named = folder / "truth-20200101T000000Z-schema_1.sqlite3"
    named.touch()
    (folder / "mine.sqlite3").touch()
    assert len(backup.prune(published.data_dir, 2)) == 2
    left = {p.name for p in folder.iterdir()}
    assert left == {
        *(first.name, "truth-20200103T000000Z.sqlite3"),
        *(named.name, "mine.sqlite3"),
    }


def test_a_clock_that_was_set_back_costs_no_backup(published: Store) -> None:
    folder = published.data_dir / "backups"
    first = backup.back_up(published.data_dir)
    first = first.rename(first.with_name("truth-20990101T000000Z.sqlite3"))
    later = time.time() + 3 * DAY
    os.utime(first, (later, later))
    assert backup.back_up_if_due(published.data_dir, 24, kept=2) is None
    assert backup.backup_files(published.data_dir) == [first]  # nothing changed
    put(published, "rules", new_document("b.txt", ["a new rule"]), publish=False)
    assert backup.back_up_if_due(published.data_dir, 24, kept=2) is None
    second = folder / "truth-20990101T000001Z.sqlite3"
    assert backup.backup_files(published.data_dir) == [second, first]
    third = backup.back_up(published.data_dir, kept=2)
    assert backup.backup_files(published.data_dir) == [third, second]


def test_a_damaged_truth_is_never_made_a_backup(published: Store) -> None:
    damage(published)
    with pytest.raises(UnusableDatabaseError):
        backup.back_up(published.data_dir)
    assert list((published.data_dir / "backups").iterdir()) == []


CHANGES = (
    "update node set text = 'another text' where ordinal = 1",
    "update node set text = cast(x'ff' as text) where ordinal = 1",
    "update node set metadata = metadata || ' ' where ordinal = 1",
    "update node set vector = zeroblob(length(vector)) where ordinal = 1",
)


def change(path: Path, statement: str) -> None:
    """Damage that SQLite does not see."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.mark.parametrize("statement", CHANGES)
def test_a_truth_with_a_changed_row_is_no_backup_and_costs_none(
    published: Store, statement: str
) -> None:
    sound = backup.back_up(published.data_dir)
    published.close()
    change(published.data_dir / TRUTH, statement)
    with pytest.raises(UnusableDatabaseError, match=r"is damaged: .*chunk") as told:
        backup.back_up(published.data_dir, kept=1)
    assert str(published.data_dir / TRUTH) in told.value.message
    assert "elt-llm store restore latest" in told.value.hint
    age(published.data_dir, 2 * DAY)
    skipped = backup.back_up_if_due(published.data_dir, 24, kept=1)
    assert skipped is not None
    assert skipped.kind is DegradationKind.BACKUP_SKIPPED
    assert "chunk" in skipped.detail
    assert list(sound.parent.iterdir()) == [sound]


def test_the_latest_sound_backup_is_put_back(published: Store) -> None:
    before = ids(published)
    sound = backup.back_up(published.data_dir)
    bad = sound.with_name("truth-20990101T000000Z.sqlite3")
    shutil.copyfile(sound, bad)
    change(bad, CHANGES[0])
    done = restore(published.data_dir, "latest")
    assert done.file == str(sound)
    assert [str(bad) in told for told in done.skipped] == [True]
    assert ids(Store(published.data_dir)) == before
    change(sound, CHANGES[0])
    with pytest.raises(UnusableDatabaseError, match="and so are the 1"):
        restore(published.data_dir, "latest")
    assert ids(Store(published.data_dir)) == before
    # A copy of a later program is not given up for what came before it.
    change(bad, "pragma user_version = 99")
    with pytest.raises(UnusableDatabaseError, match="schema 99"):
        restore(published.data_dir, "latest")


def damage(store: Store) -> None:
    """Overwrite pages in the middle of the truth."""
    store.close()
    with (store.data_dir / TRUTH).open("r+b") as file:
        for page in range(4, 30):
            file.seek(page * 4096)
            file.write(b"\xff" * 4096)


def test_a_backup_is_due_once_a_day_and_only_after_a_change(published: Store) -> None:
    root = published.data_dir

    def due(hours: float = 24) -> int:
        assert backup.back_up_if_due(root, hours, kept=3) is None
        return len(backup.backup_files(root))

    assert due(hours=0) == 0
    assert due() == 1
    put(published, "rules", new_document("b.txt", ["a new rule"]), publish=False)
    assert due() == 1
    age(root, 2 * DAY)
    (first,) = backup.backup_files(root)
    first.rename(first.with_name("truth-20200101T000000Z.sqlite3"))
    assert due() == 2
    age(root, 2 * DAY)
    then = time.time() - 3 * DAY
    published.close()
    for path in root.glob("truth.sqlite3*"):
        os.utime(path, (then, then))
    assert due() == 2


def test_no_room_for_a_backup_is_told_and_fails_nothing(
    published: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "free_bytes", lambda folder: 100_000)
    told = backup.back_up_if_due(published.data_dir, 24, 3)
    assert told is not None
    assert told.kind is DegradationKind.BACKUP_SKIPPED
    assert "disk full" in told.detail
    assert backup.backup_files(published.data_dir) == []


def test_a_root_without_data_has_nothing_to_copy(store: Store) -> None:
    with pytest.raises(StoreError, match="no data at"):
        backup.back_up(store.data_dir)
    assert backup.back_up_if_due(store.data_dir, 24, 3) is None
    assert backup.backups(store.data_dir) == []
    assert not store.data_dir.exists()


def gone(store: Store) -> None:
    store.close()
    (store.data_dir / TRUTH).unlink()


def empty(store: Store) -> None:
    store.close()
    (store.data_dir / TRUTH).write_bytes(b"")


def garbage(store: Store) -> None:
    store.close()
    (store.data_dir / TRUTH).write_bytes(b"not a database at all" * 900)


def folder(store: Store) -> None:
    gone(store)
    (store.data_dir / TRUTH).mkdir()
    (store.data_dir / TRUTH / "mine.txt").write_text("keep me")


def newer(store: Store) -> None:
    store.close()
    with closing(sqlite3.connect(store.data_dir / TRUTH)) as connection:
        connection.execute("pragma user_version = 99")


@pytest.mark.parametrize("happened", [damage, gone, empty, garbage, folder, newer])
def test_the_latest_backup_is_put_back_whatever_became_of_the_truth(
    published: Store, happened: object
) -> None:
    before = ids(published)
    backup.back_up(published.data_dir)
    happened(published)  # type: ignore[operator]
    with pytest.raises(StoreError):
        Database(published.data_dir).rows("select * from node")
    with pytest.raises(StoreError):
        put(Store(published.data_dir), "rules", new_document("z.txt", ["x"]), False)
    done = restore(published.data_dir, "latest")
    assert bool(done.aside) == (happened is not gone)
    assert not done.aside or Path(done.aside).exists()
    store = Store(published.data_dir)
    assert ids(store) == before
    assert store.open("rules").degradations == ()
    assert len(store.open("rules").search_keyword("kite", 5)) == 5
    assert Database(published.data_dir).rows("pragma integrity_check") == [("ok",)]
    assert list(published.data_dir.glob(".truth*")) == []


def test_an_index_of_what_came_after_the_backup_is_not_believed(
    published: Store, many_sentences: list[str]
) -> None:
    backup.back_up(published.data_dir)
    old_ids = ids(published)
    put(published, "rules", new_document("a.txt", many_sentences[:240]))
    assert published.open("rules").generation == 2
    restore(published.data_dir, "latest")
    # As many changes as before, and as many chunks: only the history differs.
    swapped = [*many_sentences[60:], *(f"other {i}" for i in range(60))]
    put(published, "rules", new_document("a.txt", swapped[:240]), publish=False)
    for store in (published, Store(published.data_dir)):
        collection = store.open("rules")
        assert collection.generation == 1
        assert [d.kind for d in collection.degradations] == ["earlier_index"]
        found = collection.search_dense(
            HashEmbedding().embed_array(many_sentences[:1])[0], 400
        )
        assert {i for i, _ in found} == set(ids(store)) != set(old_ids)
    with published.writer() as writer:
        assert writer.publish(["rules"]) == {"rules": 2}
    assert published.open("rules").degradations == ()


def test_readers_notice_a_restore_and_serve_what_was_put_back(
    published: Store,
) -> None:
    backup.back_up(published.data_dir)
    before = ids(published)
    put(published, "rules", new_document("b.txt", ["A zeppelin."]), publish=False)
    assert len(published.open("rules").search_keyword("zeppelin", 5)) == 1
    published.journal.put("run", "k", 0, "item", result={"a": 1})
    reading = Store(published.data_dir)
    assert len(reading.documents("rules")) == 2
    restore(published.data_dir, "latest")
    for store in (published, reading):
        assert ids(store) == before
        assert store.open("rules").search_keyword("zeppelin", 5) == []
        assert store.journal.get("k") is None
    published.journal.put("run", "k", 0, "item", result={"a": 2})
    assert reading.journal.get("k") == {"a": 2}
    assert Store(published.data_dir).journal.get("k") == {"a": 2}


def test_a_damaged_or_missing_backup_is_refused_and_nothing_changes(
    published: Store, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.sqlite3"
    with pytest.raises(UsageError, match="no backup in"):
        restore(published.data_dir, "latest")
    with pytest.raises(UsageError, match="no backup"):
        restore(published.data_dir, str(bad))
    shutil.copyfile(backup.back_up(published.data_dir), bad)
    with bad.open("r+b") as file:
        file.seek(6 * 4096)
        file.write(b"\xff" * 9000)
    before = ids(published)
    with pytest.raises(UnusableDatabaseError):
        restore(published.data_dir, str(bad))
    bad.write_bytes(b"")
    with pytest.raises(UnusableDatabaseError):
        restore(published.data_dir, str(bad))
    assert ids(published) == before
    assert list(published.data_dir.glob("truth.damaged*")) == []


RESTORE = """
import sys
from pathlib import Path
from elt_llm_core.store.maintenance.restore import restore
restore(Path(sys.argv[1]), "latest")
"""


@pytest.mark.parametrize("point", [p for p in CrashPoint if p.startswith("restore.")])
def test_a_crash_in_a_restore_leaves_the_old_truth_or_the_new(
    published: Store, point: CrashPoint
) -> None:
    backup.back_up(published.data_dir)
    old = ids(published)
    put(published, "rules", new_document("b.txt", ["A zeppelin."]), publish=False)
    new = ids(published)
    published.close()
    done = subprocess.run(
        [sys.executable, "-c", RESTORE, str(published.data_dir)],
        env={"PATH": "/usr/bin:/bin", VARIABLE: str(point)},
        timeout=60,
        check=False,
    )
    assert done.returncode == -9
    assert ids(Store(published.data_dir)) in (old, new)
    restore(published.data_dir, "latest")
    assert ids(Store(published.data_dir)) == old
    assert list(published.data_dir.rglob("*.tmp")) == []


def test_a_backup_that_cannot_be_written_leaves_nothing(
    published: Store, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreWriteError):
        backup.back_up(published.data_dir, tmp_path / "file" / "x.sqlite3")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "published"]
