"""Chunks that no vector can be made of: found by words, never by vector."""

import pytest

from core_stores import new_document, put
from elt_llm_core import provenance
from elt_llm_core.errors import EmbedError
from elt_llm_core.store import NewDocument, Store
from elt_llm_core.store.database.document_rows import Database
from elt_llm_core.testing.fakes import HashEmbedding

EMBEDDER = HashEmbedding()
BAD = "the zeppelin cannot be embedded"


def put_with_bad(store: Store, sentences: list[str]) -> str:
    """A document whose chunk BAD has no vector."""
    new = new_document("q.txt", sentences)
    new = NewDocument(**{**new.__dict__, "unembedded": {BAD: "the model gave NaN"}})
    texts = [t for t in map(provenance.index_text, new.nodes) if t != BAD]
    with store.writer() as writer:
        writer.ensure_collection("rules", EMBEDDER, "test")
        writer.put_vectors(EMBEDDER.digest, texts, EMBEDDER.embed_array(texts))
        return writer.put_document("rules", new)


def test_a_chunk_in_quarantine_is_stored_without_a_vector(store: Store) -> None:
    document = put_with_bad(store, ["a kite", BAD, "a sail"])
    assert store.card("rules").chunks == 3
    assert store.card("rules").quarantined == 1
    (held,) = Database(store.data_dir).quarantined_chunks("rules")
    assert (held.document, held.reason) == ("q.txt", "the model gave NaN")
    assert held.document_id == document
    rows = Database(store.data_dir).index_rows("rules")
    assert [bool(vector) for _, _, vector in rows] == [True, False, True]
    matrix = Database(store.data_dir).stack([row[2] for row in rows], 256)
    assert matrix[1].any() == 0
    assert matrix[0].any() == matrix[2].any() == 1


def test_words_find_a_chunk_in_quarantine(store: Store) -> None:
    put_with_bad(store, ["a kite", BAD, "a sail"])
    ((found, _),) = store.open("rules").search_keyword("zeppelin", 5)
    assert store.nodes_by_id("rules", [found])[found].text == BAD


def test_a_vector_that_comes_later_ends_the_quarantine(store: Store) -> None:
    put_with_bad(store, ["a kite", BAD, "a sail"])
    before = {n.node_id for n in store.nodes("rules")}
    put(store, "rules", new_document("q.txt", ["a kite", BAD, "a sail"]), False)
    assert store.card("rules").quarantined == 0
    assert {n.node_id for n in store.nodes("rules")} == before
    (found, score), *_ = store.open("rules").search_dense(
        EMBEDDER.embed_array([BAD])[0], 3
    )
    assert store.nodes_by_id("rules", [found])[found].text == BAD
    assert score > 0.99


def test_only_what_changed_gets_a_new_change_number(store: Store) -> None:
    put_with_bad(store, ["a kite", BAD, "a sail"])
    seq = Database(store.data_dir).sequence("rules")
    put_with_bad(store, ["a kite", BAD, "a sail"])
    assert Database(store.data_dir).changes("rules", seq) == 0
    put(store, "rules", new_document("q.txt", ["a kite", BAD, "a sail"]), False)
    assert Database(store.data_dir).changes("rules", seq) == 2  # it went and came


def test_a_removed_document_takes_its_quarantine_along(store: Store) -> None:
    document = put_with_bad(store, ["a kite", BAD])
    with store.writer() as writer:
        writer.remove_document(document)
    assert store.card("rules").quarantined == 0
    put_with_bad(store, ["a kite", BAD])
    with store.writer() as writer:
        writer.drop_collection("rules")
    assert Database(store.data_dir).rows("select * from quarantine") == []


def test_a_text_without_vector_or_excuse_is_refused_as_a_whole(store: Store) -> None:
    put(store, "other", new_document("a.txt", ["a kite"]), publish=False)
    with store.writer() as writer:
        writer.ensure_collection("rules", EMBEDDER, "test")
        with pytest.raises(EmbedError, match=r"chunk 1 of q.txt was never embedded"):
            writer.put_document("rules", new_document("q.txt", ["a kite", BAD]))
    assert list(store.nodes("rules")) == []


def test_several_documents_are_stored_together_or_not_at_all(store: Store) -> None:
    new = [new_document(f"{i}.txt", [f"kite {i}", f"sail {i}"]) for i in range(3)]
    texts = [provenance.index_text(n) for d in new for n in d.nodes]
    with store.writer() as writer:
        writer.ensure_collection("rules", EMBEDDER, "test")
        writer.put_vectors(EMBEDDER.digest, texts, EMBEDDER.embed_array(texts))
        ids = writer.put_documents("rules", new)
        with pytest.raises(EmbedError):
            writer.put_documents("rules", [*new, new_document("4.txt", ["no vector"])])
    assert [row.document_id for row in store.documents("rules")] == sorted(
        ids, key=lambda i: [d.uri for d in new][ids.index(i)]
    )
    assert store.card("rules").documents == 3


def test_a_document_that_comes_twice_at_once_is_stored_as_it_came_last(
    store: Store,
) -> None:
    first = new_document("a.txt", ["a kite", "a zeppelin"])
    second = new_document("a.txt", ["a sail", "a buoy", "an anchor"])
    texts = [provenance.index_text(n) for d in (first, second) for n in d.nodes]
    with store.writer() as writer:
        writer.ensure_collection("rules", EMBEDDER, "test")
        writer.put_vectors(EMBEDDER.digest, texts, EMBEDDER.embed_array(texts))
        ids = writer.put_documents("rules", [first, second])
        assert ids[0] == ids[1]
        writer._connection.execute("insert into words(words) values('integrity-check')")
    assert [n.text for n in store.nodes("rules")] == ["a sail", "a buoy", "an anchor"]
    assert store.open("rules").search_keyword("zeppelin", 3) == []
    assert len(store.open("rules").search_keyword("anchor", 3)) == 1
