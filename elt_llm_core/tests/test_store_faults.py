"""Damaged generations and manifests: slower, told, never wrong or embedded again."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import chromadb
import pytest

from core_stores import new_document, put
from elt_llm_core.config.bm25 import DEFAULT
from elt_llm_core.doctor.store import check_database
from elt_llm_core.errors import GenerationError, UnusableDatabaseError
from elt_llm_core.store import Store
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.index import publish
from elt_llm_core.store.index.dense import DenseIndex
from elt_llm_core.store.index.generation import Generation
from elt_llm_core.store.index.manifest import IndexFolder
from elt_llm_core.testing.fakes import HashEmbedding

EMBEDDER = HashEmbedding()
QUESTION = EMBEDDER.embed_array(["the harbour needs 30 checks"])[0]
Answers = tuple[set[str], list[float], set[str]]


def answers(root: Path) -> Answers:
    """What a fresh reader finds by meaning (below three it is a tie), and by words."""
    found = Store(root).open("rules")
    near = found.search_dense(QUESTION, 8)
    words = {node for node, _ in found.search_keyword("kite", 60)}
    return {node for node, _ in near[:3]}, [round(s, 3) for _, s in near], words


def kinds(root: Path) -> list[str]:
    return [d.kind.value for d in Store(root).open("rules").degradations]


def index_folder(root: Path) -> Path:
    return root / "indexes" / "rules"


@pytest.fixture(scope="module")
def _twice_root(
    tmp_path_factory: pytest.TempPathFactory, _published_root: Path
) -> Path:
    root = tmp_path_factory.mktemp("twice") / "data"
    shutil.copytree(_published_root, root)
    store = Store(root)
    put(store, "rules", new_document("b.txt", ["kite two", "buoy two"]), False)
    with store.writer() as writer:
        assert writer.publish(["rules"], force=True) == {"rules": 2}
    put(store, "rules", new_document("c.txt", ["kite three", "buoy three"]), False)
    store.close()
    return root


@pytest.fixture
def twice(tmp_path: Path, _twice_root: Path) -> Store:
    """Two generations, and a document that is in neither."""
    shutil.copytree(_twice_root, tmp_path / "twice")
    return Store(tmp_path / "twice")


def test_the_earlier_generation_and_its_delta_answer_for_a_damaged_one(
    twice: Store,
) -> None:
    wanted = answers(twice.data_dir)
    (index_folder(twice.data_dir) / "gen-000002" / "ids.json").write_text("[]")
    reopened = Store(twice.data_dir).open("rules")
    (told,) = reopened.degradations
    assert told.kind == "earlier_index"
    assert "answered from generation 1" in told.detail
    assert "ids.json was changed after it was built" in told.detail
    assert reopened.generation == 1
    assert answers(twice.data_dir) == wanted
    shutil.rmtree(index_folder(twice.data_dir) / "gen-000001" / "keywords")
    assert kinds(twice.data_dir) == ["exact_engine"]
    assert answers(twice.data_dir) == wanted


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def add(path: Path) -> None:
    (path.parent / f"{path.name}.more").write_text("planted")


@pytest.mark.parametrize("damage", [flip, cut, add, Path.unlink])
def test_damage_of_any_file_of_a_generation_is_noticed(
    published: Store, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = IndexFolder(published.data_dir, "rules")
    sound = folder.path(1)
    names = [p.relative_to(sound) for p in sorted(sound.rglob("*")) if p.is_file()]
    assert len(names) > 10
    for name in names:
        if (sound / name).stat().st_size == 0 and damage in {flip, cut}:
            continue
        copy = tmp_path / "copy"
        shutil.copytree(sound, copy)
        damage(copy / name)
        with pytest.raises(GenerationError):
            folder.check(copy)
        shutil.rmtree(copy)
    folder.check(sound)


def test_the_count_of_chroma_does_not_notice_what_the_reach_test_does(
    published: Store, tmp_path: Path
) -> None:
    sound = index_folder(published.data_dir) / "gen-000001"
    ids = frozenset(Generation(*_first(published)).ids)
    shutil.copytree(sound / "vectors", tmp_path / "vectors")
    for segment in [p for p in (tmp_path / "vectors").iterdir() if p.is_dir()]:
        shutil.rmtree(segment)
    client = chromadb.PersistentClient(str(tmp_path / "vectors"))
    assert client.get_collection("rules", embedding_function=None).count() == 300
    client.close()
    lost = DenseIndex(tmp_path / "vectors", "rules").unreachable(ids, len(QUESTION))
    assert len(lost) > 100


def _first(store: Store) -> tuple[IndexFolder, publish.Manifest]:
    folder = IndexFolder(store.data_dir, "rules")
    manifest = folder.manifest()
    assert manifest is not None
    return folder, manifest


def test_an_evil_pickle_is_never_unpickled(published: Store, tmp_path: Path) -> None:
    proof = tmp_path / "was-here"
    evil = f"cposix\nsystem\n(S'touch {proof}'\ntR.".encode()
    generation = index_folder(published.data_dir) / "gen-000001"
    (metadata,) = generation.glob("vectors/*/index_metadata.pickle")
    metadata.write_bytes(evil)
    assert kinds(published.data_dir) == ["exact_engine"]
    assert not proof.exists()
    control = [
        sys.executable,
        "-c",
        "import pickle, sys; pickle.load(sys.stdin.buffer)",
    ]
    subprocess.run(control, input=evil, check=True, timeout=60)
    assert proof.exists()


def another_collection(folder: Path) -> None:
    text = (folder / "MANIFEST.json").read_text()
    (folder / "MANIFEST.json").write_text(text.replace('"rules"', '"other"'))


def a_missing_generation(folder: Path) -> None:
    text = (folder / "MANIFEST.json").read_text()
    changed = text.replace('"generation": 2', '"generation": 7')
    (folder / "MANIFEST.json").write_text(changed)


def another_change(folder: Path) -> None:
    """Believed, it would hide a change from the delta."""
    manifest = IndexFolder(folder.parent.parent, "rules").manifest()
    assert manifest is not None
    text = (folder / "MANIFEST.json").read_text()
    changed = text.replace(f'"seq": {manifest.seq}', f'"seq": {manifest.seq + 1}')
    (folder / "MANIFEST.json").write_text(changed)


def another_format(folder: Path) -> None:
    text = (folder / "MANIFEST.json").read_text()
    (folder / "MANIFEST.json").write_text(text.replace('"format": 3', '"format": 9'))


def another_recipe(folder: Path) -> None:
    text = (folder / "MANIFEST.json").read_text()
    assert DEFAULT.name in text
    (folder / "MANIFEST.json").write_text(text.replace(DEFAULT.name, "bm25 of old"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "MANIFEST.json").unlink(),
        lambda folder: (folder / "MANIFEST.json").write_bytes(b""),
        lambda folder: cut(folder / "MANIFEST.json"),
        lambda folder: (folder / "MANIFEST.json").write_bytes(bytes(400)),
        lambda folder: shutil.rmtree(folder / "gen-000002"),
        another_collection,
        a_missing_generation,
        another_change,
        another_format,
        another_recipe,
    ],
)
def test_a_bad_manifest_costs_a_notice_and_no_answer(
    twice: Store, damage: Callable[[Path], object]
) -> None:
    wanted = answers(twice.data_dir)
    damage(index_folder(twice.data_dir))
    assert kinds(twice.data_dir) == ["earlier_index"]
    assert answers(twice.data_dir) == wanted


def test_the_last_sound_generation_is_kept_though_a_later_one_is_damaged(
    twice: Store,
) -> None:
    folder = index_folder(twice.data_dir)
    flip(folder / "gen-000002" / "ids.json")
    with twice.writer() as writer:
        assert writer.publish(["rules"], force=True) == {"rules": 3}
    assert IndexFolder(twice.data_dir, "rules").generations() == [1, 3]


def test_rollback_goes_to_the_previous_sound_generation(twice: Store) -> None:
    wanted = answers(twice.data_dir)
    database = Database(twice.data_dir)
    assert publish.rollback(database, twice.data_dir, "rules") == 1
    assert Store(twice.data_dir).open("rules").generation == 1
    assert kinds(twice.data_dir) == []
    assert answers(twice.data_dir) == wanted
    with pytest.raises(GenerationError, match="no earlier intact generation"):
        publish.rollback(database, twice.data_dir, "rules")
    assert Store(twice.data_dir).open("rules").generation == 1


def test_a_damaged_index_is_rebuilt_without_embedding(twice: Store) -> None:
    wanted = answers(twice.data_dir)
    folder = index_folder(twice.data_dir)
    cut(folder / "gen-000002" / "vectors" / "chroma.sqlite3")
    (folder / "MANIFEST.json").unlink()
    with twice.writer() as writer:  # it is given no embedder
        assert sorted(writer.publish(["rules"])) == ["rules"]
    assert kinds(twice.data_dir) == []
    assert answers(twice.data_dir) == wanted


def lose_the_log(root: Path) -> None:
    """Put back the truth as it was before the last index was built."""
    for ending in ("-wal", "-shm"):
        (root / f"truth.sqlite3{ending}").unlink(missing_ok=True)


def test_a_closed_writer_leaves_everything_in_one_file(published: Store) -> None:
    reader = Store(published.data_dir)
    assert len(reader.documents("rules")) == 1  # its connection stays open
    put(published, "rules", new_document("b.txt", ["one more"]), publish=False)
    log = published.data_dir / "truth.sqlite3-wal"
    assert not log.exists() or log.stat().st_size == 0
    reader.close()
    published.close()
    lose_the_log(published.data_dir)
    assert len(Store(published.data_dir).documents("rules")) == 2


def test_lost_changes_fail_the_doctor_and_their_index_is_kept(
    published: Store, tmp_path: Path
) -> None:
    early = tmp_path / "early.sqlite3"
    shutil.copyfile(published.data_dir / "truth.sqlite3", early)
    put(published, "later", new_document("b.txt", [f"later {i}" for i in range(9)]))
    published.close()
    lose_the_log(published.data_dir)
    shutil.copyfile(early, published.data_dir / "truth.sqlite3")
    store = Store(published.data_dir)
    checks = {check.name: check for check in check_database(store, deep=False)}
    assert checks["database history"].level == "FAIL"
    assert "'later'" in checks["database history"].detail
    with store.writer():
        pass
    assert (published.data_dir / "indexes" / "later" / "MANIFEST.json").exists()


def test_a_truth_that_lost_everything_is_not_begun_anew(published: Store) -> None:
    published.close()
    lose_the_log(published.data_dir)
    path = published.data_dir / "truth.sqlite3"
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("vacuum")
    store = Store(published.data_dir)
    for attempt in (store.collections, store.writer().__enter__):
        with pytest.raises(UnusableDatabaseError, match="although indexes"):
            attempt()
    path.unlink()
    (check,) = check_database(Store(published.data_dir), deep=False)
    assert check.level == "FAIL"
    assert "is gone" in check.detail


@pytest.mark.parametrize("key", [b"", b"short"])
def test_a_key_that_is_none_seals_nothing(published: Store, key: bytes) -> None:
    (published.data_dir / "KEY").write_bytes(key)
    (degradation,) = Store(published.data_dir).open("rules").degradations
    assert "not a key" in degradation.detail
    with published.writer() as writer:
        writer.publish(["rules"], force=True)
    assert len((published.data_dir / "KEY").read_bytes()) == 32
    assert Store(published.data_dir).open("rules").degradations == ()
