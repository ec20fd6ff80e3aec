"""The truth, its generations and its delta, on real SQLite, Chroma and bm25s."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core_stores import new_document, put
from elt_llm_core.errors import (
    CollectionMismatchError,
    CollectionNotFoundError,
    EmbedError,
    InvalidNameError,
    StoreLockedError,
)
from elt_llm_core.store import Store
from elt_llm_core.store.index.matrix import nearest
from elt_llm_core.testing.fakes import HashEmbedding


def vector(text: str) -> np.ndarray:
    return HashEmbedding().embed_array([text])[0]


def test_reading_a_root_that_is_not_there_creates_nothing(store: Store) -> None:
    assert store.collections() == []
    with pytest.raises(CollectionNotFoundError, match="no collection 'handbook'"):
        store.open("handbook")
    assert not store.data_dir.exists()


@pytest.mark.parametrize(
    "name", ["../x", "A", "a", "x" * 64, "a b", "-ab", "a\0b", "con:"]
)
def test_unsafe_collection_names_are_refused(store: Store, name: str) -> None:
    with pytest.raises(InvalidNameError), store.writer() as writer:
        writer.ensure_collection(name, HashEmbedding(), "test")


def test_an_embedder_is_asked_while_others_may_write(store: Store) -> None:
    class Counted(HashEmbedding):
        """One whose calls are counted in the database."""

        @property
        def digest(self) -> str:
            store.day_ledger.add("2026-01-31", {"calls": 1})
            return "counted"

    with store.writer() as writer:
        writer.ensure_collection("rules", Counted(), "test")
    assert store.day_ledger.sums("2026-01-31")["calls"] >= 1


@pytest.mark.parametrize("name", ["../x", "A", "a", "a\0b", "x" * 201])
def test_what_leads_to_no_collection_is_refused(store: Store, name: str) -> None:
    with pytest.raises(InvalidNameError):
        store.open(name)


def test_a_published_document_is_found_both_ways(
    published: Store, many_sentences: list[str]
) -> None:
    collection = published.open("rules")
    assert collection.generation == 1
    assert collection.degradations == ()
    (dense, score), *_ = collection.search_dense(vector(many_sentences[7]), 5)
    assert collection.nodes([dense])[dense].text == many_sentences[7]
    assert score == pytest.approx(1.0, abs=1e-3)
    (keyword, _), *_ = collection.search_keyword("rule 41.6", 5)
    assert collection.nodes([keyword])[keyword].text == many_sentences[41]


def test_every_chunk_is_a_slice_of_its_document(
    store: Store, many_sentences: list[str]
) -> None:
    document = put(store, "rules", new_document("a.txt", many_sentences[:9]))
    text = store.document_text(document)
    nodes = list(store.nodes("rules"))
    assert [n.text for n in nodes] == many_sentences[:9]
    for node in nodes:
        assert text[node.start_char_idx : node.end_char_idx] == node.text
    (page,) = store.pages(document)
    assert text[page.words[0][0] : page.words[0][1]] == "Rule"
    assert store.original(document) == b"a.txt"
    assert store.sidecars("rules", "model")[0].content == {"entities": []}


def test_a_small_change_is_visible_at_once_without_a_new_generation(
    published: Store, many_sentences: list[str]
) -> None:
    document = put(
        published, "rules", new_document("b.txt", ["A zeppelin may not moor."])
    )
    collection = published.open("rules")
    assert collection.generation == 1
    (found, _), *_ = collection.search_keyword("zeppelin moor", 3)
    assert "zeppelin" in collection.nodes([found])[found].text
    assert collection.search_dense(vector("A zeppelin may not moor."), 1)[0][0] == found
    with published.writer() as writer:
        writer.remove_document(document)
    after = published.open("rules")
    assert after.search_keyword("zeppelin", 3) == []
    assert found not in dict(
        after.search_dense(vector("A zeppelin may not moor."), 400)
    )


def test_removed_chunks_of_the_index_never_come_back(
    published: Store, many_sentences: list[str]
) -> None:
    put(published, "rules", new_document("a.txt", many_sentences[5:]), publish=False)
    collection = published.open("rules")
    found = collection.search_dense(vector(many_sentences[0]), 300)
    texts = {n.text for n in collection.nodes(dict(found)).values()}
    assert len(found) == 295
    assert texts == set(many_sentences[5:])


def test_a_large_change_builds_the_next_generation(
    store: Store, many_sentences: list[str]
) -> None:
    put(store, "rules", new_document("a.txt", many_sentences[:100]))
    put(store, "rules", new_document("b.txt", many_sentences[100:]))
    assert store.open("rules").generation == 2
    folder = store.data_dir / "indexes" / "rules"
    assert sorted(p.name for p in folder.glob("gen-*")) == ["gen-000001", "gen-000002"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda gen: (gen / "ids.json").write_text("[]"),
        lambda gen: next(gen.glob("vectors/*/index_metadata.pickle")).write_bytes(b"x"),
        lambda gen: (gen / "keywords" / "vocab.index.json").unlink(),
        lambda gen: (gen / "extra").write_text("planted"),
        lambda gen: (gen / "MANIFEST.json").write_text("{"),
        lambda gen: (gen.parent.parent.parent / "KEY").write_bytes(b"0" * 32),
    ],
    ids=["ids", "pickle", "missing", "planted", "manifest", "foreign"],
)
def test_a_damaged_index_is_not_opened_and_the_truth_answers(
    published: Store, many_sentences: list[str], damage: object
) -> None:
    damage(published.data_dir / "indexes" / "rules" / "gen-000001")  # type: ignore[operator]
    collection = Store(published.data_dir).open("rules")
    assert [d.kind.value for d in collection.degradations] == ["exact_engine"]
    (found, _), *_ = collection.search_dense(vector(many_sentences[7]), 5)
    assert collection.nodes([found])[found].text == many_sentences[7]
    (word, _), *_ = collection.search_keyword("number 41", 5)
    assert "41" in collection.nodes([word])[word].text


def test_a_filter_keeps_k_results(published: Store, many_sentences: list[str]) -> None:
    put(
        published,
        "rules",
        new_document("b.txt", [f"buoy {i}" for i in range(12)]),
        False,
    )
    collection = published.open("rules")
    allowed = collection.ids({"document": "b.txt", "page": 1, "section": "1 - ALL"})
    assert len(allowed) == 12
    assert len(collection.search_dense(vector("anchor"), 10, allowed)) == 10
    assert {i for i, _ in collection.search_keyword("buoy", 10, allowed)} <= allowed
    assert len(collection.search_keyword("buoy", 10, allowed)) == 10


def test_delta_scores_stand_in_the_scale_of_the_index(
    published: Store, many_sentences: list[str]
) -> None:
    put(published, "rules", new_document("b.txt", [many_sentences[41]]), False)
    (_, first), (_, second), *_ = published.open("rules").search_keyword("rule 41.6", 5)
    assert second == pytest.approx(first, rel=0.15)


def test_the_index_agrees_with_exact_search(
    published: Store, many_sentences: list[str]
) -> None:
    collection = published.open("rules")
    nodes = [n.node_id for n in published.nodes("rules")]
    found = collection.vectors(nodes)
    matrix = np.array([found[n] for n in nodes])
    query = vector("the harbour needs 30 checks")
    exact = dict(nearest(matrix, query, 10))
    approximate = collection.search_dense(query, 10)
    assert min(exact.values()) - 1e-4 <= min(score for _, score in approximate)


def test_ids_and_bytes_do_not_depend_on_the_run(
    tmp_path: Path, many_sentences: list[str]
) -> None:
    dumps = []
    for run in ("one", "two"):
        store = Store(tmp_path / run)
        put(store, "rules", new_document("a.txt", many_sentences[:20]), publish=False)
        dumps.append([(n.node_id, n.text, n.metadata) for n in store.nodes("rules")])
    assert dumps[0] == dumps[1]


def test_another_embedder_is_refused(store: Store) -> None:
    put(store, "rules", new_document("a.txt", ["one rule", "two rules"]), publish=False)
    other = HashEmbedding(dimension=64)
    with (
        store.writer() as writer,
        pytest.raises(CollectionMismatchError, match="--rebuild"),
    ):
        writer.ensure_collection("rules", other, "test")


def test_a_vector_that_is_no_vector_is_refused(store: Store) -> None:
    with store.writer() as writer:
        writer.ensure_collection("rules", HashEmbedding(), "test")
        for bad in (np.zeros((1, 8)), np.full((1, 8), np.nan), np.zeros((0, 8))):
            with pytest.raises(EmbedError):
                writer.put_vectors("model", ["text"], bad)
        with pytest.raises(EmbedError, match="never embedded"):
            writer.put_document("rules", new_document("a.txt", ["no vector yet"]))
    assert list(store.nodes("rules")) == []


def test_a_dropped_collection_leaves_nothing_that_searches_find(
    store: Store, many_sentences: list[str]
) -> None:
    put(store, "rules", new_document("a.txt", many_sentences[:30]))
    store.open("rules")
    with store.writer() as writer:
        writer.drop_collection("rules")
    with pytest.raises(CollectionNotFoundError):
        store.open("rules")
    put(store, "rules", new_document("b.txt", ["only this", "and that"]))
    assert {n.text for n in store.nodes("rules")} == {"only this", "and that"}
    assert len(store.open("rules").search_dense(vector("rule"), 10)) == 2


HOLD = """
import sys
from pathlib import Path
from elt_llm_core.store import Store
with Store(Path(sys.argv[1])).writer():
    print("holding", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_told_who_holds_the_lock(store: Store) -> None:
    command = [sys.executable, "-c", HOLD, str(store.data_dir)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "holding\n"
        name = f"process {holder.pid}"
        with pytest.raises(StoreLockedError, match=name), store.writer():
            pass
        holder.stdin.close()
        with store.writer(wait=20):
            pass


def test_the_journal_pays_once_and_forgets_failures(store: Store) -> None:
    put(store, "rules", new_document("a.txt", ["one rule", "two rules"]), publish=False)
    store.journal.put("run", "k2", 1, "second", result={"reason": "x"}, state="failed")
    store.journal.put("run", "k1", 0, "first", result={"a": 1})
    assert store.journal.get("k1") == {"a": 1}
    assert store.journal.get("k2") is None
    assert [r["item"] for r in store.journal.rows("run")] == ["first", "second"]
    assert Store(store.data_dir).journal.get("k1") == {"a": 1}


def test_unchanged_chunks_cost_no_embedding(store: Store) -> None:
    embedder = HashEmbedding()
    put(store, "rules", new_document("a.txt", ["one rule", "two rules"]), publish=False)
    with store.writer() as writer:
        assert writer.missing_vectors(embedder.digest, ["two rules", "three"]) == [1]


def test_the_manifest_is_readable_by_people(
    store: Store, many_sentences: list[str]
) -> None:
    put(store, "rules", new_document("a.txt", many_sentences[:20]))
    manifest = json.loads(
        (store.data_dir / "indexes" / "rules" / "MANIFEST.json").read_text()
    )
    assert manifest["generation"] == 1
    assert manifest["nodes"] == 20
