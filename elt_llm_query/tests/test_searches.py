"""Transforms and postprocessors as the engine runs them, with and without faults."""

import pytest
from llama_index.core.query_engine import TransformQueryEngine
from llama_index.core.schema import QueryBundle

from elt_llm_core.errors import ModelUnavailableError, UnknownStrategyError, UsageError
from elt_llm_core.results import DegradationKind
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.engine import build_engine
from elt_llm_query.rerankers.stored_vectors import StoredVectorRerank
from elt_llm_query.resilience import GuardedRerank
from elt_llm_query.retrieval.fusion import HitList, list_weights
from elt_llm_query.retrieval.hybrid import (
    DenseRetriever,
    HybridRetriever,
    KeywordRetriever,
)
from elt_llm_query.retrieval.query_transform import Search, SearchTransform
from elt_llm_query.trace import GuardedStep, TraceLog
from query_world import ASK, World, asked, configured


class Instead(SearchTransform):
    """Searches for other words."""

    def __init__(self, words: str, weight: float = 1.0) -> None:
        self.words = words
        self.weight = weight

    def transform(self, searches):
        return [Search(QueryBundle(self.words), self.weight)]


class Beside(Instead):
    """Searches for other words too."""

    def transform(self, searches):
        return [*searches, *super().transform(searches)]


class Down(SearchTransform):
    """Has a model that is gone."""

    def transform(self, searches):
        raise ModelUnavailableError("http://localhost:1", "refused")


def found(world: World, question: str, log: TraceLog | None = None, **transforms):
    collection = world.store.open("lending")
    members = [
        DenseRetriever(collection, world.models.embedder),
        KeywordRetriever(collection),
    ]
    retriever = HybridRetriever(members, transforms=transforms, log=log)
    return [n.node.node_id for n in retriever.retrieve(question)]


OTHER = "loan renewed by another reader"


def test_a_transform_can_replace_the_question(hashed):
    assert found(hashed, ASK) != found(hashed, OTHER)
    assert found(hashed, ASK, other=Instead(OTHER)) == found(hashed, OTHER)


def test_transforms_run_in_their_order_and_stand_in_the_trace(hashed):
    log = TraceLog()
    found(hashed, ASK, log, first=Instead(OTHER), second=Beside("library card"))
    stages = {s.name: s.n_out for s in log.stages if s.name.startswith("transform:")}
    assert stages == {"transform:first": 1, "transform:second": 2}
    assert sum(s.name == "dense:lending" for s in log.stages) == 2


def test_a_transform_that_fails_leaves_the_question(hashed):
    log = TraceLog()
    assert found(hashed, ASK, log, gone=Down()) == found(hashed, ASK)
    kinds = [d.kind for d in log.degradations]
    assert kinds == [DegradationKind.GENERATION_UNAVAILABLE]


def test_a_transform_works_in_plain_llama_index(hashed):
    collections = [hashed.store.open("lending")]
    engine = build_engine(collections, hashed.config, hashed.models)
    turned = TransformQueryEngine(engine, query_transform=Instead(ASK))
    assert str(turned.query("who?")) == str(engine.query(ASK))


def test_lists_of_a_kind_share_by_their_weights():
    lists = [HitList("dense", (), 3.0), HitList("dense", ()), HitList("keyword", ())]
    assert list_weights(lists, 0.4) == pytest.approx([0.3, 0.1, 0.6])


@pytest.mark.parametrize("stage", ["transform", "candidate", "postprocessor"])
def test_a_strategy_that_does_not_exist_is_named(hashed, stage):
    with pytest.raises(UnknownStrategyError, match="'nope'"):
        asked(hashed, ASK, config=configured(**{f"{stage}_strategy": ("nope",)}))
    with pytest.raises(UnknownStrategyError, match="'nope'"):
        asked(hashed, ASK, config=configured(**{f"{stage}_options": {"nope": {}}}))


def test_a_step_keeps_all_nodes_unless_it_is_told_how_many(hashed):
    nodes = KeywordRetriever(hashed.store.open("lending")).retrieve(ASK)
    assert len(nodes) > 2
    inner = StoredVectorRerank(HashEmbedding(), top_n=50)
    log = TraceLog()
    assert len(GuardedStep(inner, log, "a").postprocess_nodes(nodes)) == len(nodes)
    assert len(GuardedRerank(inner, log, 2, 5.0).postprocess_nodes(nodes)) == 2
    assert [s.name for s in log.stages] == ["a", "rerank"]


def test_retrievers_find_only_what_the_filter_allows(hashed):
    collection = hashed.store.open("lending")
    sections = {
        n.metadata["section"] for n in KeywordRetriever(collection).retrieve(ASK)
    }
    for section in sections:
        where = {"section": section}
        parts = [
            DenseRetriever(collection, hashed.models.embedder, where=where),
            KeywordRetriever(collection, where=where),
        ]
        for part in parts:
            nodes = part.retrieve(ASK)
            assert nodes
            assert {n.node.node_id for n in nodes} <= collection.ids(where)
    with pytest.raises(UsageError, match="unknown filter 'colour'"):
        KeywordRetriever(collection, where={"colour": "red"}).retrieve(ASK)
