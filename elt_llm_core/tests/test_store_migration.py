"""A data root of the last release opens, migrates once, and loses nothing."""

import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core_stores import new_document, put
from elt_llm_core.crash import VARIABLE, CrashPoint
from elt_llm_core.errors import UnusableDatabaseError
from elt_llm_core.store import Store
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.database.records import NORMAL_PRIORITY, SCHEMA_VERSION
from elt_llm_core.store.maintenance.backup import backup_files
from elt_llm_core.testing.fakes import HashEmbedding

sys.path.insert(0, str(Path(__file__).parent / "golden"))
from make_schema_1 import content

pytestmark = pytest.mark.usefixtures("warm_commands")

GOLDEN = Path(__file__).parent / "golden"
TRUTH = "truth.sqlite3"


def extract(name: str, folder: Path) -> Path:
    with tarfile.open(GOLDEN / name) as archive:
        archive.extractall(folder, filter="data")
    return folder / "data"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the data root of schema 1."""
    return extract("schema-1.tar.xz", tmp_path)


@pytest.fixture
def expected(old: Path) -> dict[str, Any]:
    """What it held when it was made."""
    loaded: dict[str, Any] = json.loads((old.parent / "EXPECTED.json").read_text())
    return loaded


def migrate(root: Path) -> None:
    with Store(root).writer():
        pass


def held(root: Path) -> dict[str, Any]:
    """The content as it comes back from JSON; newer fields have their default."""
    loaded: dict[str, Any] = json.loads(json.dumps(content(root)))
    for document in loaded["documents"]:
        assert document.pop("priority") == NORMAL_PRIORITY
    return loaded


def files(root: Path) -> dict[str, str]:
    """Every file of a data root but the lock, with its digest."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != "LOCK"
    }


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "select type || ' ' || coalesce(sql, name) from sqlite_master"
        )
        return {" ".join(row[0].split()) for row in rows}


def schema_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("pragma user_version").fetchone()[0])


def test_all_content_and_every_id_is_the_same_after_a_migration(
    old: Path, expected: dict[str, Any]
) -> None:
    migrate(old)
    assert schema_of(old / TRUTH) == SCHEMA_VERSION
    assert held(old) == expected
    assert len(expected["nodes"]) == 65


@pytest.mark.parametrize("version", [1, 3])
def test_a_migrated_root_has_the_tables_of_a_new_one(
    version: int, tmp_path: Path, store: Store
) -> None:
    old = extract(f"schema-{version}.tar.xz", tmp_path / "old")
    assert schema_of(old / TRUTH) == version
    migrate(old)
    migrate(store.data_dir)
    assert tables(old / TRUTH) == tables(store.data_dir / TRUTH)


def test_a_root_of_schema_3_keeps_all_and_takes_conversations(tmp_path: Path) -> None:
    old = extract("schema-3.tar.xz", tmp_path)
    before = json.loads((tmp_path / "EXPECTED.json").read_text())
    migrate(old)
    assert json.loads(json.dumps(content(old))) == before
    assert Store(old).conversations.create("ann", "c1").messages == ()


def test_a_migrated_root_is_searched_indexed_and_written_to(old: Path) -> None:
    store = Store(old)
    migrate(old)
    query = HashEmbedding().embed_array(["A zeppelin may not moor."])[0]
    for _ in range(2):
        collection = store.open("rules")
        (found, score), *_ = collection.search_dense(query, 3)
        assert collection.nodes([found])[found].text == "A zeppelin may not moor."
        assert score > 0.99
        assert collection.search_keyword("zeppelin", 3)[0][0] == found
        assert collection.search_keyword("taken out again", 3) == []
        put(store, "rules", new_document("new.txt", ["A new rule."]))
    assert store.open("rules").degradations == ()
    assert store.open("rules").generation == 2
    with store.writer() as writer:
        model = HashEmbedding().digest
        assert writer.missing_vectors(model, ["A kite may fly.", "never"]) == [1]


def test_a_backup_is_made_before_and_only_once(
    old: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    migrate(old)
    migrate(old)
    (backup,) = backup_files(old)
    assert backup.name.endswith("-schema_1.sqlite3")
    assert schema_of(backup) == 1
    again = tmp_path / "again"
    again.mkdir()
    shutil.copyfile(backup, again / TRUTH)
    migrate(again)
    assert held(again) == expected


def test_a_reader_of_an_older_schema_names_the_command_that_migrates(
    old: Path,
) -> None:
    before = files(old)
    with pytest.raises(
        UnusableDatabaseError, match=r"older schema 1.*elt-llm store migrate"
    ):
        Store(old).collections()
    changed = {name for name, told in files(old).items() if before.get(name) != told}
    assert changed <= {f"{TRUTH}-shm", f"{TRUTH}-wal"}
    assert schema_of(old / TRUTH) == 1


def test_the_journal_does_not_write_to_an_older_schema(old: Path) -> None:
    with pytest.raises(UnusableDatabaseError, match="elt-llm store migrate"):
        Store(old).journal.put("run", "key", 0, "item", result={})


def test_a_newer_schema_is_refused_and_nothing_is_touched(published: Store) -> None:
    path = published.data_dir / TRUTH
    published.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
        connection.commit()
    before, stat = files(published.data_dir), path.stat()
    later = f"has schema {SCHEMA_VERSION + 1}, this program supports {SCHEMA_VERSION}"
    with pytest.raises(UnusableDatabaseError, match=later):
        migrate(published.data_dir)
    with pytest.raises(UnusableDatabaseError, match=later):
        Store(published.data_dir).collections()
    assert files(published.data_dir) == before
    assert path.stat().st_mtime_ns == stat.st_mtime_ns


WRITE = "import sys; from pathlib import Path; from elt_llm_core.store import Store\n"
WRITE += "with Store(Path(sys.argv[1])).writer(): pass"


@pytest.mark.parametrize(
    ("point", "schema"),
    [
        (CrashPoint.BACKUP_WRITTEN, 1),
        (CrashPoint.BACKED_UP, 1),
        (CrashPoint.MIGRATION_BACKED_UP, 1),
        (CrashPoint.MIGRATION_HALF, 1),
        (CrashPoint.MIGRATED, SCHEMA_VERSION),
    ],
)
def test_a_crash_leaves_the_old_schema_or_the_new_and_the_next_run_finishes(
    old: Path, expected: dict[str, Any], point: CrashPoint, schema: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(old)],
        env={"PATH": "/usr/bin:/bin", VARIABLE: str(point)},
        timeout=60,
        check=False,
    )
    assert done.returncode == -9
    assert schema_of(old / TRUTH) == schema
    migrate(old)
    assert held(old) == expected
    assert list(old.rglob("*.tmp")) == []
    assert 1 <= len(backup_files(old)) <= 2
    with closing(Database(old)) as database:
        assert database.rows("pragma integrity_check") == [("ok",)]
