"""Files of a job: all or none, and nothing that a person changed is lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from elt_llm_core.crash import VARIABLE, CrashPoint
from elt_llm_core.doctor.machine import check_machine
from elt_llm_core.errors import StoreWriteError
from elt_llm_core.publication import list_unfinished, publish
from elt_llm_core.store import Store
from elt_llm_core.testing import HashEmbedding

pytestmark = pytest.mark.usefixtures("warm_commands")

NAMES = ("terms.csv", "terms.json", "more/undefined.json")
PUBLISH = """
import sys
from pathlib import Path
from elt_llm_core.publication import publish
from elt_llm_core.store import Store
root, edition = Path(sys.argv[1]), sys.argv[2]
names = ("terms.csv", "terms.json", "more/undefined.json")
files = [(root / "out" / name, f"{name} {edition}") for name in names]
publish(Store(root), files)
"""
EACH = (CrashPoint.FILE_ASIDE, CrashPoint.FILE_REPLACED)  # once a file
POINTS = [
    (point, nth)
    for point in CrashPoint
    if point.startswith("files.")
    for nth in ((1, 3) if point in EACH else (1,))
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "root")
    with made.writer() as writer:
        writer.ensure_collection("rules", HashEmbedding(), "blocks")
    return made


def files(store: Store, edition: str) -> list[tuple[Path, str]]:
    return [(store.data_dir / "out" / name, f"{name} {edition}") for name in NAMES]


def there(store: Store) -> dict[str, str]:
    folder = store.data_dir / "out"
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def edition(name: str) -> dict[str, str]:
    return {one: f"{one} {name}" for one in sorted(NAMES)}


def cut_off(store: Store, point: str, name: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", PUBLISH, str(store.data_dir), name],
        env={"PATH": "/usr/bin:/bin", VARIABLE: point},
        timeout=120,
        check=False,
    ).returncode


def test_files_are_written_where_they_were_asked_for(store):
    made = publish(store, files(store, "first"))
    assert made.paths == tuple(path for path, _ in files(store, "first"))
    assert made.kept == ()
    again = publish(store, files(store, "second"))
    assert again.paths == made.paths
    assert there(store) == edition("second")
    store.close()


@pytest.mark.parametrize(("point", "nth"), POINTS)
def test_a_crash_leaves_a_whole_set_once_another_job_publishes(store, point, nth):
    publish(store, files(store, "first"))
    assert cut_off(store, f"{point}:{nth}", "second") == -9
    other = store.data_dir / "elsewhere.json"
    publish(store, [(other, "{}")])
    assert there(store) in (edition("first"), edition("second"))
    if point in (CrashPoint.FILES_ASIDE, CrashPoint.FILE_REPLACED):
        assert there(store) == edition("second")
    store.close()


@pytest.mark.parametrize(
    ("point", "nth"), [(CrashPoint.FILE_ASIDE, 2), (CrashPoint.FILE_REPLACED, 2)]
)
def test_the_same_job_after_a_crash_writes_the_whole_set(store, point, nth):
    publish(store, files(store, "first"))
    assert cut_off(store, f"{point}:{nth}", "second") == -9
    made = publish(store, files(store, "third"))
    assert made.kept == ()
    assert there(store) == edition("third")
    store.close()


@pytest.mark.parametrize("name", NAMES)
def test_an_edited_file_is_kept_and_the_set_goes_beside_it(store, name):
    publish(store, files(store, "first"))
    edited = store.data_dir / "out" / name
    edited.write_text("reviewed")
    made = publish(store, files(store, "second"))
    assert made.kept == (edited,)
    assert [path.name for path in made.paths] == [
        "terms.new.csv",
        "terms.new.json",
        "undefined.new.json",
    ]
    assert edited.read_text() == "reviewed"
    assert publish(store, files(store, "third")).paths == made.paths
    made.paths[0].write_text("reviewed too")
    fourth = publish(store, files(store, "fourth"))
    assert fourth.kept == (edited, made.paths[0])
    assert fourth.paths[0].name == "terms.new-2.csv"
    assert (edited.read_text(), made.paths[0].read_text()) == (
        "reviewed",
        "reviewed too",
    )
    store.close()


def test_a_file_that_this_root_never_wrote_is_kept(store):
    stranger = store.data_dir / "out" / "terms.csv"
    stranger.parent.mkdir()
    stranger.write_text("by hand")
    assert publish(store, files(store, "first")).kept == (stranger,)
    assert stranger.read_text() == "by hand"
    store.close()


def test_a_file_put_back_as_it_was_written_is_written_again(store):
    made = publish(store, files(store, "first"))
    made.paths[0].write_text("reviewed")
    beside = publish(store, files(store, "second")).paths
    for new, old in zip(beside, made.paths, strict=True):
        new.replace(old)
    assert publish(store, files(store, "third")).paths == made.paths
    assert there(store) == edition("third")
    store.close()


def test_an_edit_between_a_crash_and_the_next_run_is_kept(store):
    publish(store, files(store, "first"))
    assert cut_off(store, f"{CrashPoint.FILE_REPLACED}:1", "second") == -9
    last = store.data_dir / "out" / NAMES[-1]
    last.write_text("reviewed")
    publish(store, [(store.data_dir / "elsewhere.json", "{}")])
    assert last.read_text() == "reviewed"
    assert not [name for name in there(store) if name.endswith(".tmp")]
    store.close()


def test_where_the_disk_refuses_one_file_none_is_published(store):
    publish(store, files(store, "first"))
    blocked = store.data_dir / "out" / "blocked"
    blocked.write_text("a file, where a folder is needed")
    with pytest.raises(StoreWriteError):
        publish(store, [*files(store, "second"), (blocked / "x.json", "{}")])
    found = there(store)
    assert found.pop("blocked")
    assert found == edition("first")
    publish(store, files(store, "third"))
    store.close()


def test_files_that_could_not_be_written_block_no_later_ones(store: Store) -> None:
    (store.data_dir / "out").touch()  # a file where the folder should be
    with pytest.raises(StoreWriteError, match="out/terms"):
        publish(store, files(store, "first"))
    assert list_unfinished(store) == []
    (store.data_dir / "out").unlink()
    publish(store, files(store, "second"))
    assert there(store) == edition("second")


def test_a_cut_off_publication_whose_folder_is_gone_waits(store: Store) -> None:
    cut_off(store, CrashPoint.FILES_ASIDE, "first")
    gone = store.data_dir / "out"
    gone.rename(store.data_dir / "away")
    gone.touch()
    elsewhere = store.data_dir / "elsewhere" / "terms.csv"
    publish(store, [(elsewhere, "second")])
    assert elsewhere.read_text() == "second"
    assert sorted(list_unfinished(store)) == sorted(gone / name for name in NAMES)
    (check,) = (c for c in check_machine(store) if c.name == "products")
    assert "incompletely published" in check.detail
    gone.unlink()
    (store.data_dir / "away").rename(gone)
    publish(store, [(elsewhere, "third")])
    assert there(store) == edition("first")
    assert list_unfinished(store) == []
