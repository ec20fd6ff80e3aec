"""How far collections and documents are trusted: 0 is found by nothing."""

import numpy as np
import pytest

from elt_llm_core.errors import UsageError
from elt_llm_core.testing import HashEmbedding


def texts_of(collection, ids):
    return {node.metadata["document_id"] for node in collection.nodes(ids).values()}


@pytest.fixture
def two(published):
    """A collection of several documents, and the ids of the first and the others."""
    name = published.collections()[0].name
    first, *others = [row.document_id for row in published.documents(name)]
    return published, name, first, frozenset(others)


def found(store, name, question="the of a rule"):
    collection = store.open(name)
    vector = np.array(HashEmbedding().get_query_embedding(question), dtype=np.float32)
    dense = collection.search_dense(vector[: collection.card.dimension], 1000)
    words = collection.search_keyword(question, 1000)
    return collection, {i for i, _ in dense}, {i for i, _ in words}


def test_what_has_priority_0_is_found_by_nothing(two):
    store, name, first, others = two
    before, dense, _ = found(store, name)
    assert first in texts_of(before, dense)
    hidden = [
        i for i, n in before.nodes(dense).items() if n.metadata["document_id"] == first
    ]
    state = store.state(name)
    with store.writer() as writer:
        writer.set_priority(name, 0, first)
    assert store.state(name) != state
    collection, dense, words = found(store, name)
    assert texts_of(collection, dense | words) <= others
    assert not collection.nodes(hidden)
    assert not collection.keyword_scores("the of a rule", hidden)
    assert not collection.ids({}) & {*hidden}
    assert not collection.ids({"document_id": first})
    assert collection.outline(first) == []
    assert collection.tables(first) == ([], [])
    assert store.document(first).priority == 0
    with store.writer() as writer:
        writer.set_priority(name, 50, first)
    assert found(store, name)[1] >= {*hidden}


def test_documents_have_the_priority_of_their_collection_or_their_own(two):
    store, name, first, others = two
    with store.writer() as writer:
        writer.set_priority(name, 10)
        writer.set_priority(name, 50, first)
    assert store.card(name).priority == 10
    rows = {row.document_id: row.priority for row in store.documents(name)}
    assert rows == {first: 50, **dict.fromkeys(others, 10)}
    assert store.open(name).priorities == dict.fromkeys(others, 10)
    with store.writer() as writer:
        writer.set_priority(name, 0)
    assert found(store, name)[1] <= set(store.open(name).ids({"document_id": first}))


def test_a_priority_goes_with_its_document(two):
    store, name, first, _ = two
    with store.writer() as writer:
        writer.set_priority(name, 0, first)
        writer.set_priority(name, 10)
        writer.remove_document(first)
        writer.drop_collection(name)
    assert not store._database.rows("select 1 from meta where key glob 'priority:*'")


@pytest.mark.parametrize("priority", [-1, 101])
def test_a_priority_outside_its_range_is_refused(two, priority):
    store, name, *_ = two
    with pytest.raises(UsageError, match="from 0 to 100"), store.writer() as writer:
        writer.set_priority(name, priority)
