"""The engine as LlamaIndex sees it, over unpublished and published indexes."""

import pytest
from llama_index.core.query_engine import RetrieverQueryEngine

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import ConfigError
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.engine import build_engine
from elt_llm_query.query import query_collections
from query_world import ASK, BOTH, CONTENT, SAID, asked, configured, fill


def test_the_engine_is_plain_llama_index(hashed):
    collections = [hashed.store.open(name) for name in BOTH]
    engine = build_engine(collections, hashed.config, hashed.models)
    assert type(engine) is RetrieverQueryEngine
    assert SAID in str(engine.query(ASK))


def test_strategies_that_do_not_exist_are_named(hashed):
    with pytest.raises(ConfigError, match="no rerankers strategy 'nope'"):
        asked(hashed, ASK, config=configured(reranker_strategy="nope"))


def test_published_indexes_find_the_same(tmp_path):
    store, models = Store(tmp_path), Models(HashEmbedding())
    fill(store, models, CONTENT)
    before = query_collections(
        BOTH, ASK, store=store, config=RagConfig(), models=models
    )
    with store.writer() as writer:
        writer.publish(BOTH, force=True)
    after = query_collections(BOTH, ASK, store=store, config=RagConfig(), models=models)
    assert after.degradations == ()
    assert after.answer == before.answer
    store.close()
