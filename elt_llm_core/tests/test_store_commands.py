"""`elt-llm store`: what each command prints, and how it ends."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from core_stores import new_document, put
from elt_llm_core.cli import elt_llm
from elt_llm_core.cli.failures import run
from elt_llm_core.store import Store
from elt_llm_core.store.database.records import SCHEMA_VERSION
from elt_llm_core.store.maintenance.backup import backup_files

GOLDEN = Path(__file__).parent / "golden" / "schema-1.tar.xz"


class Screen:
    """Runs commands on one data root."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._root = root
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str]:
        """Exit code and everything printed."""
        code = run(elt_llm, ["store", *words, "--data-dir", str(self._root)])
        told = self._capsys.readouterr()
        return code, told.out + told.err

    def json(self, *words: str) -> dict[str, Any]:
        code, told = self(*words, "--json")
        assert code == 0, told
        loaded: dict[str, Any] = json.loads(told)
        return loaded


@pytest.fixture
def small(store: Store) -> Store:
    """One chunk: too small for an index, so commands are quick."""
    put(store, "rules", new_document("a.txt", ["a kite"]), publish=False)
    store.close()
    return store


@pytest.fixture
def screen(small: Store, capsys: pytest.CaptureFixture[str]) -> Screen:
    return Screen(small.data_dir, capsys)


def test_backup_list_damage_restore(small: Store, screen: Screen) -> None:
    assert "No backups yet" in screen("backups")[1]
    made = screen.json("backup")
    (listed,) = screen.json("backups")["backups"]
    assert listed["file"] == made["file"] == str(backup_files(small.data_dir)[0])
    assert listed["bytes"] == made["bytes"] > 0
    assert listed["schema_version"] == SCHEMA_VERSION
    assert listed["made"][10] == "T"
    (small.data_dir / "truth.sqlite3").write_bytes(b"broken " * 900)
    code, told = screen("compact")
    assert code == 78
    assert f"elt-llm store restore latest --data-dir {small.data_dir}" in told
    done = screen.json("restore", "latest")
    assert done["file"] == made["file"]
    assert Path(done["aside"]).read_bytes().startswith(b"broken")
    assert done["published"] == {}
    assert [n.text for n in Store(small.data_dir).nodes("rules")] == ["a kite"]


def test_a_backup_goes_where_it_is_told(screen: Screen, tmp_path: Path) -> None:
    code, told = screen("backup", "--to", str(tmp_path / "mine" / "b.sqlite3"))
    assert (code, "checked" in told) == (0, True)
    assert screen.json("backups") == {"backups": []}
    assert screen("restore", str(tmp_path / "mine" / "b.sqlite3"))[0] == 0


def test_the_configuration_says_how_many_are_kept(
    small: Store, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELT_LLM_STORES__BACKUPS_KEPT", "1")
    screen("backup")
    (first,) = backup_files(small.data_dir)
    first.rename(first.with_name("truth-20200101T000000Z.sqlite3"))
    screen("backup")
    assert [b.name for b in backup_files(small.data_dir)] == [first.name] or (
        len(backup_files(small.data_dir)) == 1
    )


def test_what_cannot_be_restored_ends_with_a_sentence(screen: Screen) -> None:
    code, told = screen("restore", "latest")
    assert code == 64
    assert "there is no backup" in told
    assert screen("restore", "nowhere.sqlite3")[0] == 64


def test_compact_and_rollback(small: Store, screen: Screen) -> None:
    assert screen("compact") == (
        0,
        "rules: too small for an index; searched without one\n",
    )
    assert screen("compact", "absent")[0] == 65
    code, told = screen("rollback", "rules")
    assert code == 1
    assert "no earlier intact generation" in told
    assert "repair" not in told
    put(small, "rules", new_document("b.txt", ["a sail", "a buoy"]))
    assert screen.json("compact", "rules") == {"published": {"rules": 2}}
    assert screen.json("rollback", "rules") == {
        "collection": "rules",
        "generation": 1,
    }
    assert Store(small.data_dir).open("rules").generation == 1


def test_purge_says_what_remains(small: Store, screen: Screen) -> None:
    screen("backup")
    small.journal.put("run", "k", 0, "item", result={})
    small.close()
    code, told = screen("purge")
    assert code == 0
    rooted = f"--data-dir {small.data_dir}"
    assert "1 earlier copy may still hold" in told
    assert f"elt-llm store purge --backups {rooted}" in told
    assert "1 batch result remain" in told
    assert f"elt-llm store purge --journal {rooted}" in told
    done = screen.json("purge", "--backups", "--journal")
    assert (done["journal"], done["remaining"], done["notes"]) == (1, [], [])
    assert backup_files(small.data_dir) == []


def test_migrate_tells_the_backup_and_then_that_nothing_is_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(tmp_path, filter="data")
    screen = Screen(tmp_path / "data", capsys)
    assert screen("backups")[0] == 0
    assert Path(screen.json("migrate")["backup"]).is_file()
    assert "nothing to do" in screen("migrate")[1]
    (listed,) = screen.json("backups")["backups"]
    assert listed["schema_version"] == 1


@pytest.mark.parametrize(
    "words",
    [
        ("backup",),
        ("backups",),
        ("compact",),
        ("compact", "rules"),
        ("migrate",),
        ("purge",),
        ("rollback", "rules"),
    ],
    ids=" ".join,
)
def test_a_data_root_that_is_not_there_is_told_and_not_made(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = Screen(tmp_path / "typo", capsys)(*words)
    assert code == 65
    assert f"there is no data at {tmp_path / 'typo'}" in told
    assert list(tmp_path.iterdir()) == []


def test_a_backup_hides_nowhere_in_the_data_root(small: Store, screen: Screen) -> None:
    code, told = screen("backup", "--to", str(small.data_dir / "other" / "b.sqlite3"))
    assert (code, "is within the data root" in told) == (64, True)
    inside = small.data_dir / "backups" / "mine.sqlite3"
    assert screen("backup", "--to", str(inside))[0] == 0
    assert screen.json("purge")["remaining"] == ["backups/mine.sqlite3"]
    assert screen.json("purge", "--backups")["remaining"] == []
    assert not inside.exists()


def test_a_restore_tells_of_the_copies_it_passed_over(
    small: Store, screen: Screen
) -> None:
    made = screen.json("backup")["file"]
    bad = Path(made).with_name("truth-20990101T000000Z.sqlite3")
    bad.write_bytes(b"broken " * 900)
    code, told = screen("restore", "latest")
    assert code == 0
    assert told.startswith(f"skipped: the database {bad} ")
    assert f"restored {made}" in told
