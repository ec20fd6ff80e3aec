"""What a killed, a racing or a hostile process can do to a data root: nothing."""

import gc
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from core_stores import new_document, open_files, put
from elt_llm_core import provenance
from elt_llm_core.identifiers import document_id, node_id
from elt_llm_core.store import Store
from elt_llm_core.testing.fakes import HashEmbedding

pytestmark = pytest.mark.usefixtures("warm_commands")

EMBEDDER = HashEmbedding()
VERSIONS = 7


def vector(text: str) -> np.ndarray:
    return EMBEDDER.embed_array([text])[0]


def version(number: int) -> list[str]:
    """Twenty chunks that say which version of their document they belong to."""
    return [f"zeppelin edition {number} clause {i}" for i in range(20)]


def ids_of(number: int) -> frozenset[str]:
    document = document_id("rules", "test:edition.txt")
    return frozenset(
        node_id(document, "test", i, text) for i, text in enumerate(version(number))
    )


EDITIONS = {ids_of(number) for number in range(VERSIONS)}


def write_editions(store: Store) -> None:
    for number in range(1, VERSIONS):
        new = new_document("edition.txt", version(number))
        put(store, "rules", new, publish=False)
        if number % 3 == 0:
            with store.writer() as writer:
                writer.publish(["rules"], force=True)


def faults_of_one_search(store: Store) -> Iterator[str]:
    """What is wrong in one search by words and by vector: must be one edition."""
    collection = store.open("rules")
    found = frozenset(i for i, _ in collection.search_keyword("zeppelin", 400))
    near = collection.search_dense(vector("zeppelin edition clause"), 400)
    every = frozenset(i for i, _ in near)
    if found not in EDITIONS or not found <= every or len(every) != 320:
        yield f"{len(found)} by word, {len(every)} by vector"
    for degradation in collection.degradations:
        yield degradation.detail


def test_searches_while_another_thread_writes_and_publishes(published: Store) -> None:
    put(published, "rules", new_document("edition.txt", version(0)), publish=False)
    with ThreadPoolExecutor(3) as pool:
        writing = pool.submit(write_editions, published)

        def search() -> list[str]:
            faults: list[str] = []
            searches = 0
            while searches < 100 or not writing.done():
                faults += faults_of_one_search(published)
                searches += 1
                time.sleep(0.01)  # the writer needs a processor too
            return faults

        readers = [pool.submit(search) for _ in range(2)]
    assert writing.result() is None
    assert [reader.result() for reader in readers] == [[], []]
    assert published.open("rules").generation == 3
    assert {n.node_id for n in published.nodes("rules")} >= ids_of(VERSIONS - 1)


KILLED = """
import os, sys, time
from pathlib import Path
from elt_llm_core.store import Store, writer
from elt_llm_core.store.database import rows
from elt_llm_core.store.index import publish
from core_stores import new_document, put

def stop(*arguments, **options):
    print("middle", flush=True)
    time.sleep(60)

if sys.argv[2] == "document":
    rows.put_nodes = stop
else:
    publish._point_at = stop
put(Store(Path(sys.argv[1])), "rules", new_document("b.txt",
    [f"killed {i}" for i in range(60)]))
"""


def kill_in_the_middle(root: Path, where: str) -> None:
    command = [sys.executable, "-c", KILLED, str(root), where]
    tests = Path(__file__).parent
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=tests, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "middle\n"
        process.send_signal(signal.SIGKILL)


def test_a_writer_killed_in_a_document_leaves_no_part_of_it(published: Store) -> None:
    before = [n.node_id for n in published.nodes("rules")]
    kill_in_the_middle(published.data_dir, "document")
    store = Store(published.data_dir)
    assert [d.name for d in store.documents("rules")] == ["a.txt"]
    assert [n.node_id for n in store.nodes("rules")] == before
    assert store.open("rules").degradations == ()
    assert store.open("rules").search_keyword("killed", 5) == []
    put(store, "rules", new_document("b.txt", ["killed but back"]), publish=False)
    assert len(store.open("rules").search_keyword("killed", 5)) == 1


def test_a_writer_killed_in_publish_costs_one_more_publish(published: Store) -> None:
    kill_in_the_middle(published.data_dir, "publish")
    folder = published.data_dir / "indexes" / "rules"
    assert (folder / "gen-000002").is_dir()
    store = Store(published.data_dir)
    collection = store.open("rules")
    assert collection.generation == 1
    assert collection.degradations == ()
    assert len(collection.search_keyword("killed", 100)) == 60
    (folder / "gen-000003-orphan.tmp").mkdir()
    (folder / "gen-x1").mkdir()
    with store.writer() as writer:
        assert writer.publish(["rules"]) == {"rules": 3}
    assert not list(folder.glob("*.tmp"))
    collection = store.open("rules")
    assert collection.generation == 3
    assert len(collection.search_keyword("killed", 100)) == 60


def test_an_index_folder_from_elsewhere_is_refused(
    published: Store, store: Store, many_sentences: list[str]
) -> None:
    put(store, "rules", new_document("a.txt", many_sentences), publish=False)
    shutil.copytree(published.data_dir / "indexes", store.data_dir / "indexes")
    with store.writer():
        (store.data_dir / "KEY").write_bytes(b"1" * 32)
    (degradation,) = store.open("rules").degradations
    assert "built from a different database" in degradation.detail


@pytest.mark.parametrize(
    ("file", "content", "kind"),
    [
        ("MANIFEST.json", b"\xff\xfe", "earlier_index"),
        ("MANIFEST.json", b"[]", "earlier_index"),
        ("gen-000001/CHECKSUMS.json", b'["ids.json"]', "exact_engine"),
        ("gen-000001/CHECKSUMS.json", b"\xff", "exact_engine"),
        (
            "gen-000001/CHECKSUMS.json",
            '{"ids.json": "\u00e9"}'.encode(),
            "exact_engine",
        ),
    ],
)
def test_garbage_beside_an_index_is_told_as_a_degradation(
    published: Store, file: str, content: bytes, kind: str
) -> None:
    (published.data_dir / "indexes" / "rules" / file).write_bytes(content)
    collection = Store(published.data_dir).open("rules")
    assert [d.kind for d in collection.degradations] == [kind]
    assert len(collection.search_keyword("kite", 5)) == 5


def test_an_index_newer_than_a_truth_from_a_backup_is_not_believed(
    published: Store, many_sentences: list[str]
) -> None:
    backup = published.data_dir / "truth.sqlite3"
    put(published, "rules", new_document("a.txt", many_sentences[:290]), publish=False)
    fewer = Store(published.data_dir).open("rules")
    assert fewer.degradations == ()
    published.close()
    older = Store(published.data_dir.parent / "older")
    put(older, "rules", new_document("a.txt", many_sentences[:280]), publish=False)
    older.close()
    for name in ("truth.sqlite3-wal", "truth.sqlite3-shm"):
        (published.data_dir / name).unlink(missing_ok=True)
    with older.writer():
        pass  # the last connection folds the log into the file
    shutil.copyfile(older.data_dir / "truth.sqlite3", backup)
    collection = Store(published.data_dir).open("rules")
    assert "built from a different database" in collection.degradations[0].detail
    assert len(collection.search_dense(vector(many_sentences[0]), 400)) == 280


def test_a_data_root_is_its_owners_alone(published: Store, tmp_path: Path) -> None:
    wide = tmp_path / "wide"
    wide.mkdir(mode=0o755)
    put(Store(wide), "rules", new_document("a.txt", ["one", "two"]), publish=False)
    assert (wide / "truth.sqlite3").stat().st_mode & 0o777 == 0o600
    assert (wide / "LOCK").stat().st_mode & 0o777 == 0o600
    assert (published.data_dir / "KEY").stat().st_mode & 0o777 == 0o600


def test_a_root_whose_writer_died_before_the_first_table_is_empty(
    store: Store,
) -> None:
    store.data_dir.mkdir()
    (store.data_dir / "truth.sqlite3").touch()
    assert store.collections() == []
    put(store, "rules", new_document("a.txt", ["one", "two"]), publish=False)
    assert len(store.collections()) == 1


def test_a_search_between_a_removal_and_its_nodes_gives_no_error(
    published: Store,
) -> None:
    collection = published.open("rules")
    hits = collection.search_dense(vector("kite"), 3)
    with published.writer() as writer:
        writer.remove_document(document_id("rules", "test:a.txt"))
    assert collection.nodes([i for i, _ in hits]) == {}
    assert len(collection.vectors([i for i, _ in hits])) == 3  # as they were


def test_a_pinned_generation_outlives_its_files(published: Store) -> None:
    collection = published.open("rules")
    shutil.rmtree(published.data_dir / "indexes")
    assert len(collection.search_dense(vector("kite"), 5)) == 5
    assert len(collection.search_keyword("kite", 5)) == 5


def test_provenance_survives_the_store(published: Store) -> None:
    for node in published.nodes("rules"):
        place = provenance.read(node)
        assert (place.collection, place.document) == ("rules", "a.txt")


def test_a_second_thread_may_close_what_it_opened(published: Store) -> None:
    counts = []

    def read() -> None:
        counts.append(len(published.documents("rules")))

    before = open_files()
    for _ in range(20):
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    gc.collect()
    assert counts == [1] * 20
    # A leak of one connection a thread would be sixty.
    assert open_files() < before + 20
