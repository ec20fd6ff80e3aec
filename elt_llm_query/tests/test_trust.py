"""Trust in documents weighs their sources, and 0 keeps them out of answers."""

import pytest

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.results import Status
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from query_world import ASK, CONTENT, SAID, World, asked, fill, stage


@pytest.fixture
def own_world(tmp_path):
    store = Store(tmp_path)
    models = Models(embedder=HashEmbedding())
    fill(store, models, CONTENT)
    yield World(store, models, RagConfig())
    store.close()


def test_priorities_weigh_and_exclude(own_world):
    usual = asked(own_world, ASK)
    assert usual.citations[0].quote == SAID
    assert "trust" not in {s.name for s in usual.trace.stages}
    best = usual.citations[0].document_id
    collection = usual.citations[0].collection
    with own_world.store.writer() as writer:
        writer.set_priority(collection, 10, best)
    lowered = asked(own_world, ASK)
    assert stage(lowered, "trust")
    before = {s.node_id: s.score for s in usual.sources}
    for source in lowered.sources:
        if source.node_id in before and source.document_id == best:
            assert source.score < before[source.node_id]
    with own_world.store.writer() as writer:
        writer.set_priority(collection, 0, best)
    without = asked(own_world, ASK)
    assert best not in {s.document_id for s in without.sources}
    assert without.status is not Status.ANSWERED or SAID not in without.answer
