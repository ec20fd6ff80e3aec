"""Every kind of search against a brute-force reference over what the truth holds."""

import json
import random
import sys
from pathlib import Path
from subprocess import run

import numpy as np
import pytest

from core_stores import SUBJECTS, new_document
from elt_llm_core import provenance
from elt_llm_core.language.tokens import tokenize
from elt_llm_core.store import Collection, NewDocument, Store
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.store.index.delta import Delta
from elt_llm_core.store.index.dense import DenseIndex
from elt_llm_core.store.index.generation import Generation
from elt_llm_core.store.index.manifest import IndexFolder
from elt_llm_core.testing.fakes import HashEmbedding

EMBEDDER = HashEmbedding()
QUARANTINED = "An unembeddable quarantine clause about the lantern."


def vector(text: str) -> np.ndarray:
    return EMBEDDER.embed_array([text])[0]


def sentences(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)  # noqa: S311
    return [
        f"Clause {seed}.{i}: "
        + " ".join(chance.choice(SUBJECTS) for _ in range(chance.randint(2, 9)))
        for i in range(count)
    ]


def write(store: Store, name: str, texts: list[str], publish: bool = False) -> str:
    """Store a document; texts with the word `unembeddable` get no vector."""
    new = new_document(name, texts)
    good = [t for t in texts if "unembeddable" not in t]
    bare = {t: "it is too long" for t in texts if t not in good}
    new = NewDocument(**{**new.__dict__, "unembedded": bare})
    with store.writer() as writer:
        writer.ensure_collection("rules", EMBEDDER, "test")
        writer.put_vectors(EMBEDDER.digest, good, EMBEDDER.embed_array(good))
        document = writer.put_document("rules", new)
        if publish:
            writer.publish(["rules"], force=True)
    return document


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """200 chunks published, 30 of them removed, 12 newer; one quarantined in each."""
    store = Store(tmp_path_factory.mktemp("grown") / "data")
    write(store, "a.txt", [*sentences(1, 99), QUARANTINED])
    gone = write(store, "gone.txt", sentences(2, 20))
    write(store, "c.txt", sentences(3, 80), publish=True)
    write(store, "c.txt", sentences(3, 70))
    with store.writer() as writer:
        writer.remove_document(gone)
    write(store, "b.txt", [*sentences(4, 11), f"Newer. {QUARANTINED}"])
    return store


def reference(
    store: Store, question: np.ndarray, k: int, allowed: object
) -> list[float]:
    """The `k` best cosines, by comparing with every stored vector."""
    nodes = [n for n in store.nodes("rules") if "unembeddable" not in n.text]
    if allowed is not None:
        nodes = [n for n in nodes if n.node_id in allowed]  # type: ignore[operator]
    rows = EMBEDDER.embed_array([provenance.index_text(n) for n in nodes])
    scores = rows @ question if nodes else np.zeros(0)
    return sorted((float(s) for s in scores), reverse=True)[:k]


def some(collection: Collection, share: int) -> frozenset[str]:
    return frozenset(sorted(collection.ids({}))[::share])


@pytest.mark.parametrize("k", [1, 7, 40, 500])
@pytest.mark.parametrize("share", [0, 2, 9])
@pytest.mark.parametrize("compared", [0, 10**6], ids=["graph", "compared"])
def test_dense_search_is_that_of_comparing_everything(
    grown: Store, monkeypatch: pytest.MonkeyPatch, k: int, share: int, compared: int
) -> None:
    monkeypatch.setattr("elt_llm_core.store.collection.COMPARED", compared)
    monkeypatch.setattr("elt_llm_core.store.collection.SCANNED", compared)
    collection = grown.open("rules")
    allowed = some(collection, share) if share else None
    for text in ("kite buoy", "Clause 3.7: lantern", "sail", "nothing of it"):
        hits = collection.search_dense(vector(text), k, allowed)
        expected = reference(grown, vector(text), k, allowed)
        assert [score for _, score in hits] == pytest.approx(expected, abs=2e-3)
        assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        assert len({node for node, _ in hits}) == len(hits)
        assert allowed is None or {node for node, _ in hits} <= allowed


@pytest.mark.parametrize("share", [0, 2, 9])
def test_keyword_search_finds_every_chunk_that_shares_a_word(
    grown: Store, share: int
) -> None:
    collection = grown.open("rules")
    assert collection.degradations == ()
    allowed = some(collection, share) if share else None
    nodes = {n.node_id: set(tokenize([n.text])[0]) for n in grown.nodes("rules")}
    for text in ("kite", "lantern compass", "Clause 4", "quarantine"):
        wanted = set(tokenize([text])[0])
        expected = {n for n, tokens in nodes.items() if tokens & wanted}
        expected = expected if allowed is None else expected & allowed
        hits = collection.search_keyword(text, 1000, allowed)
        assert {node for node, _ in hits} == expected
        assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        for k in (1, 5, 30):
            assert collection.search_keyword(text, k, allowed) == hits[:k]
        asked = sorted(nodes)[::2]
        expected_scores = dict(collection.search_keyword(text, 1000))
        told = collection.keyword_scores(text, [*asked, "unknown"])
        assert told == {i: expected_scores[i] for i in asked if i in expected_scores}


def test_a_quarantined_chunk_is_found_by_words_and_never_by_vector(
    grown: Store,
) -> None:
    collection = grown.open("rules")
    hits = collection.search_keyword("unembeddable", 10)
    assert len(hits) == 2
    bare = {node for node, _ in hits}
    nodes = collection.nodes(bare)
    assert {n.metadata["document"] for n in nodes.values()} == {"a.txt", "b.txt"}
    for question in (vector(QUARANTINED), np.eye(256)[0]):
        assert not bare & dict(collection.search_dense(question, 1000)).keys()
        assert collection.search_dense(question, 10, frozenset(bare)) == []
    assert collection.vectors(bare) == {}
    assert grown.card("rules").quarantined == 2


def test_a_quarantined_chunk_is_not_found_by_vector_without_an_index(
    store: Store,
) -> None:
    write(store, "a.txt", ["a kite", "a buoy", QUARANTINED])
    collection = store.open("rules")
    assert collection.generation == 0
    assert len(collection.search_dense(vector(QUARANTINED), 10)) == 2
    assert len(collection.search_keyword("unembeddable", 10)) == 1
    assert (
        collection.vectors(collection.ids({})).keys()
        == dict(collection.search_dense(vector("kite"), 10)).keys()
    )


@pytest.mark.parametrize("embedded", [0, 1])
def test_a_collection_of_quarantined_chunks_can_be_published(
    store: Store, embedded: int
) -> None:
    texts = [f"unembeddable clause {i}" for i in range(3)] + ["a kite"] * embedded
    write(store, "a.txt", texts, publish=True)
    collection = store.open("rules")
    assert (collection.generation, collection.degradations) == (1, ())
    assert len(collection.search_dense(vector("a kite"), 5)) == embedded
    assert len(collection.search_keyword("clause", 5)) == 3


def test_stored_vectors_come_from_index_and_delta_alike(grown: Store) -> None:
    collection = grown.open("rules")
    found = collection.vectors([*collection.ids({}), "unknown"])
    nodes = {n.node_id: n for n in grown.nodes("rules")}
    assert found.keys() == {i for i, n in nodes.items() if "unembed" not in n.text}
    for node, row in found.items():
        assert row @ vector(nodes[node].text) == pytest.approx(1.0, abs=2e-3)


def test_a_reader_that_stayed_sees_what_a_new_one_sees(store: Store) -> None:
    write(store, "a.txt", sentences(1, 150), publish=True)
    chance = random.Random(5)  # noqa: S311
    for turn in range(8):
        name = chance.choice(["a.txt", "b.txt", "c.txt"])
        write(store, name, sentences(chance.randint(1, 3), chance.randint(1, 40)))
        if turn == 5:
            with store.writer() as writer:
                writer.publish(["rules"], force=True)
        stayed, fresh = store.open("rules"), Store(store.data_dir).open("rules")
        for text in ("kite", "clause 1.7", "lantern sail"):
            assert stayed.search_keyword(text, 9) == fresh.search_keyword(text, 9)
            old = stayed.search_dense(vector(text), 500)
            new = fresh.search_dense(vector(text), 500)
            assert [i for i, _ in old] == [i for i, _ in new]


def test_what_changed_is_read_and_cut_into_words_once(store: Store) -> None:
    write(store, "a.txt", sentences(1, 50), publish=True)
    database = Database(store.data_dir)
    manifest = IndexFolder(store.data_dir, "rules").manifest()
    assert manifest is not None
    write(store, "b.txt", sentences(2, 30))
    first = Delta.empty(256, manifest.seq).apply_changes(database, "rules")
    before = dict(zip(first.ids, first.tokens(), strict=True))
    write(store, "c.txt", sentences(3, 5))
    second = first.apply_changes(database, "rules")
    assert (len(first.ids), len(second.ids)) == (30, 35)
    after = dict(zip(second.ids, second.tokens(), strict=True))
    assert all(after[node] is tokens for node, tokens in before.items())


def test_a_graph_that_leads_not_to_every_chunk_loses_none(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = sentences(1, 60)
    write(store, "a.txt", texts, publish=True)
    collection = store.open("rules")
    index = collection._index
    assert index is not None
    wanted = collection.search_dense(vector(texts[7]), 5)
    lost = wanted[0][0]
    search = index.dense.search

    def blind(question: np.ndarray, k: int) -> list[tuple[str, float]]:
        return [hit for hit in search(question, k + 1) if hit[0] != lost][:k]

    monkeypatch.setattr(index.dense, "search", blind)
    index.strays = np.array([index.positions[lost]])
    found = collection.search_dense(vector(texts[7]), 5)
    assert [node for node, _ in found] == [node for node, _ in wanted]


def test_equal_contents_give_equal_ids_matrix_and_keywords(tmp_path: Path) -> None:
    folders = []
    for turn in ("one", "two"):
        store = Store(tmp_path / turn)
        names = ["a.txt", "b.txt"] if turn == "one" else ["b.txt", "a.txt"]
        if turn == "two":
            write(store, "a.txt", sentences(9, 4))
        for name in names:
            write(store, name, sentences(ord(name[0]), 30))
        with store.writer() as writer:
            writer.publish(["rules"], force=True)
        folders.append(IndexFolder(store.data_dir, "rules").path(1))
    for file in ("ids.json", "vectors.f32", "keywords/vocab.index.json"):
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes()


def test_the_compiled_core_answers_as_chromas_client(grown: Store) -> None:
    folder = IndexFolder(grown.data_dir, "rules")
    manifest = folder.manifest()
    assert manifest is not None
    dense = Generation(folder, manifest).dense
    assert isinstance(dense, DenseIndex)
    found = dense.collection.query(
        query_embeddings=vector("kite buoy")[np.newaxis], n_results=20
    )
    ours = dense.search(vector("kite buoy"), 20)
    assert [node for node, _ in ours] == found["ids"][0]
    distances = [1 - score for _, score in ours]
    assert distances == pytest.approx(found["distances"][0])
    assert dense.count() == dense.collection.count() == 199


IMPORTS = """
import json, sys
from pathlib import Path
import numpy as np
from elt_llm_core.store import Store
collection = Store(Path(sys.argv[1])).open("rules")
assert collection.search_dense(np.ones(256, dtype=np.float32), 3)
assert collection.search_keyword("kite", 3)
print(json.dumps(sorted(sys.modules)))
"""


def test_a_search_loads_neither_llamaindex_nor_chromas_client(grown: Store) -> None:
    command = [sys.executable, "-c", IMPORTS, str(grown.data_dir)]
    done = run(command, capture_output=True, text=True, timeout=60, check=True)
    loaded = set(json.loads(done.stdout))
    heavy = {"llama_index", "llama_index.core", "chromadb", "chromadb_rust_bindings"}
    assert not loaded & heavy


BUILD = """
import json, sys
from pathlib import Path
from elt_llm_core.store.index import build as builder
data, folder = map(Path, sys.argv[1:])
assert builder.build(data, "rules", folder)["nodes"] > 2
assert builder.verify(data, "rules", folder)["faults"] == []
print(json.dumps(sorted(sys.modules)))
"""


def test_a_build_loads_neither_llamaindex_nor_chromas_client(
    grown: Store, tmp_path: Path
) -> None:
    """They take longer to import than a small collection takes to build."""
    folder = tmp_path / "built"
    folder.mkdir()
    command = [sys.executable, "-c", BUILD, str(grown.data_dir), str(folder)]
    done = run(command, capture_output=True, text=True, timeout=60, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"llama_index", "llama_index.core", "chromadb"}


def test_a_filter_is_resolved_once_for_a_moment(grown: Store) -> None:
    collection = grown.open("rules")
    first = collection.ids({"document": ["a.txt", "b.txt"]})
    assert collection.ids({"document": ["a.txt", "b.txt"]}) is first
    for number in range(40):
        collection.ids({"page": number})
    assert len(collection._filters) < 20
    assert collection.ids({"document": ["a.txt", "b.txt"]}) == first


@pytest.mark.parametrize("repeated", [400, 599])
def test_equal_vectors_are_all_found(store: Store, repeated: int) -> None:
    """A graph alone loses most of them: each has more equals than it has neighbours."""
    texts = sentences(3, 600 - repeated)
    write(store, "a.txt", [*texts, *["Not applicable."] * repeated], publish=True)
    collection = store.open("rules")
    assert collection.degradations == ()
    assert collection.generation == 1
    found = collection.search_dense(vector("Not applicable."), repeated)
    assert len(found) == repeated
    assert all(score > 0.999 for _, score in found)
    assert [node for node, _ in found] == sorted(node for node, _ in found)
    others = collection.search_dense(vector(texts[0]), 600)
    assert len(others) == 600


def test_vectors_that_hardly_differ_are_all_found(store: Store) -> None:
    texts = [f"The same clause again and again, number {i}." for i in range(600)]
    chance = np.random.default_rng(7)
    rows = vector(texts[0]) + 1e-3 * chance.standard_normal((600, EMBEDDER.dimension))
    with store.writer() as writer:
        writer.ensure_collection("rules", EMBEDDER, "test")
        writer.put_vectors(EMBEDDER.digest, texts, rows.astype(np.float32))
        writer.put_document("rules", new_document("a.txt", texts))
        writer.publish(["rules"], force=True)
    collection = store.open("rules")
    assert collection.degradations == ()
    assert len(collection.search_dense(vector(texts[0]), 600)) == 600
