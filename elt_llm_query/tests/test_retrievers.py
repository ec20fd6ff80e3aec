import asyncio
from typing import ClassVar

import numpy as np
import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from elt_llm_core.errors import ConfigError, ModelUnavailableError
from elt_llm_core.results import DegradationKind
from elt_llm_core.testing import HashEmbedding, ScriptedLLM
from elt_llm_query.grounding.labels import LabelSources
from elt_llm_query.rerankers.stored_vectors import (
    StoredVectorRerank,
    StoredVectorRerankOptions,
)
from elt_llm_query.retrieval.fusion import ExactConvex, HitList, Rrf
from elt_llm_query.retrieval.hybrid import (
    Breadth,
    DenseRetriever,
    HybridRetriever,
    KeywordRetriever,
)
from elt_llm_query.synthesizers.extractive.synthesizer import ExtractiveSynthesizer
from elt_llm_query.trace import TraceLog
from query_world import Down

QUESTIONS = [
    "fee for an overdue book",
    "reading room books",
    "who may borrow a book with a library card",
    "loan renewed by another reader",
]


class Counting(HashEmbedding):
    """Counts what it is asked to embed."""

    asked: list[str]

    def _get_query_embedding(self, query):
        self.asked.append(query)
        return super()._get_query_embedding(query)


class Noting(ExactConvex):
    """A fusion that keeps what it was given."""

    given: ClassVar[list[list[HitList]]] = []

    def __call__(self, lists):
        self.given.append(list(lists))
        return super().__call__(lists)


def members(world, *names, k=10, embedder=None):
    found = []
    for name in names:
        collection = world.store.open(name)
        found.append(DenseRetriever(collection, embedder or world.models.embedder, k))
        found.append(KeywordRetriever(collection, k))
    return found


def ids(nodes):
    return [n.node.node_id for n in nodes]


@pytest.mark.parametrize("question", QUESTIONS)
def test_our_fusion_has_the_ids_of_llama_index(hashed, question):
    parts = members(hashed, "lending")
    plain = QueryFusionRetriever(
        parts,
        llm=MockLLM(),
        mode="reciprocal_rerank",
        similarity_top_k=5,
        num_queries=1,
        use_async=False,
    ).retrieve(question)
    ours = HybridRetriever(parts, Rrf(depth=0), Breadth(10, 5)).retrieve(question)
    assert sorted(ids(ours)) == sorted(ids(plain))
    scores = {n.node.node_id: n.score for n in plain}
    assert {n.node.node_id: n.score for n in ours} == pytest.approx(scores)


def test_one_index_alone(hashed):
    dense, keyword = members(hashed, "lending", k=2)
    found = keyword.retrieve("overdue fee")
    assert found[0].node.metadata["section"] == "Loans > Overdue"
    assert all(n.score > 0 for n in found)
    assert keyword.retrieve("zebra") == []
    near = dense.retrieve("overdue fee")
    assert len(near) == 2
    assert near[0].score >= near[1].score
    given = dense.retrieve(
        QueryBundle("x", embedding=near_vector(hashed, "overdue fee"))
    )
    assert ids(given) == ids(near)


def near_vector(world, text):
    return world.models.embedder.get_query_embedding(text)


def test_the_question_is_embedded_once_for_all_collections(hashed):
    embedder = Counting(asked=[])
    bundle = QueryBundle("fee", embedding=near_vector(hashed, "fee"))
    HybridRetriever(members(hashed, "lending", "rooms", embedder=embedder)).retrieve(
        bundle
    )
    assert embedder.asked == []


def test_every_collection_gives_its_share_and_scores_compare(hashed):
    parts = members(hashed, "lending", "rooms")
    found = HybridRetriever(parts, Rrf(), Breadth(each=2, total=4)).retrieve(
        "books in the reading room"
    )
    names = [n.node.metadata["collection"] for n in found]
    assert sorted(names) == ["lending", "lending", "rooms", "rooms"]
    scores = [n.score for n in found]
    assert scores == sorted(scores, reverse=True)


def test_equal_hits_come_in_order_of_id():
    fused = Rrf()([HitList("dense", (("b", 1.0),)), HitList("keyword", (("a", 1.0),))])
    assert [item for item, _ in fused] == ["a", "b"]


def test_asynchronously_it_is_the_same(hashed):
    retriever = HybridRetriever(members(hashed, "lending"))
    assert ids(asyncio.run(retriever.aretrieve("overdue fee"))) == ids(
        retriever.retrieve("overdue fee")
    )


def test_rewrites_are_fused_in(hashed):
    llm = ScriptedLLM(["group room desk\nfood"])
    retriever = HybridRetriever(
        members(hashed, "rooms"), Rrf(), Breadth(4, 4), llm=llm, num_queries=3
    )
    found = retriever.retrieve("zebra")
    assert {"Group rooms", "Reading room"} <= {
        n.node.metadata["section"] for n in found
    }
    assert "zebra" in llm.prompts[0]


def test_rewrites_need_a_model_and_survive_its_failure(hashed):
    with pytest.raises(ConfigError, match="num_queries"):
        HybridRetriever(members(hashed, "rooms"), num_queries=2)
    log = TraceLog()
    failing = ScriptedLLM([ModelUnavailableError("http://x", "refused")])
    retriever = HybridRetriever(
        members(hashed, "rooms"), llm=failing, num_queries=2, log=log
    )
    assert retriever.retrieve("food in the reading room")
    kinds = [d.kind for d in log.degradations]
    assert kinds == [DegradationKind.GENERATION_UNAVAILABLE]


def test_without_an_embedder_the_words_are_left(hashed):
    log = TraceLog()
    found = HybridRetriever(
        members(hashed, "lending", embedder=Down()), log=log
    ).retrieve("overdue fee")
    assert found[0].node.metadata["section"] == "Loans > Overdue"
    assert [d.kind for d in log.degradations] == [DegradationKind.EMBEDDER_UNAVAILABLE]


def test_parts_stand_in_a_plain_llama_index_engine(hashed):
    engine = RetrieverQueryEngine(
        retriever=members(hashed, "lending")[0],
        node_postprocessors=[
            StoredVectorRerank(hashed.models.embedder, top_n=3),
            LabelSources(),
        ],
        response_synthesizer=ExtractiveSynthesizer(),
    )
    response = engine.query("What is the fee for an overdue book?")
    assert response.response == "The fee for an overdue book is 20 cents per day. [S1]"
    assert len(response.source_nodes) == 3


# Stored vectors; the contract of every reranker is in test_rerankers.

TEXTS = ["overdue fee", "loan period", "reading room", "library card", "group room"]


def candidates(scores=(0.9, 0.5, 0.4, 0.2, 0.1)):
    return [
        NodeWithScore(
            node=TextNode(id_=f"n{i}", text=t, metadata={"collection": "c"}), score=s
        )
        for i, (t, s) in enumerate(zip(TEXTS, scores, strict=True))
    ]


def test_stored_vectors_are_used_and_nothing_is_embedded_again():
    embedder = Counting(asked=[])
    rows = {f"n{i}": np.eye(256, dtype=np.float32)[i] for i in range(5)}
    looked_up = []

    def vectors(collection, wanted):
        looked_up.append(collection)
        return {i: rows[i] for i in wanted}

    rerank = StoredVectorRerank(embedder, vectors, top_n=2, fused_weight=0.0)
    query = QueryBundle("x", embedding=list(map(float, np.eye(256)[3])))
    found = rerank.postprocess_nodes(candidates(), query_bundle=query)
    assert ids(found) == ["n3", "n0"]
    assert found[0].score == pytest.approx(1.0)
    assert looked_up == ["c"]
    assert embedder.asked == []


def test_the_blend_goes_from_the_fused_order_to_the_vectors(hashed):
    def order(weight):
        rerank = StoredVectorRerank(hashed.models.embedder, fused_weight=weight)
        return ids(rerank.postprocess_nodes(candidates(), query_str="group room"))

    assert order(1.0) == ["n0", "n1", "n2", "n3", "n4"]
    assert order(0.0)[0] == "n4"


def test_mmr_prefers_what_is_unlike(hashed):
    twins = [
        NodeWithScore(node=TextNode(id_=str(i), text=t), score=1.0)
        for i, t in enumerate(["red room", "red room", "red house"])
    ]
    options = {"top_n": 2, "fused_weight": 0.0, "use_mmr": True, "mmr_threshold": 0.4}
    rerank = StoredVectorRerankOptions(**options).build(hashed.models)
    assert ids(rerank.postprocess_nodes(twins, query_str="red room")) == ["0", "2"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_fusion_may_ask_for_both_scores_of_every_candidate(world, question):
    Noting.given.clear()
    found = members(world, "lending", "rooms")
    breadth = Breadth(each=3, total=6)
    log = TraceLog()
    hybrid = HybridRetriever(found, fusion=Noting(depth=2), breadth=breadth, log=log)
    vector = world.models.embedder.get_query_embedding(question)
    bundle = QueryBundle(question, embedding=vector)
    hybrid.retrieve(bundle)
    for index, name in enumerate(("lending", "rooms")):
        dense, keyword = Noting.given[index]
        assert {i for i, _ in keyword.hits} <= {i for i, _ in dense.hits}
        everything = world.store.open(name)
        cosines = dict(everything.search_dense(np.array(vector, np.float32), 99))
        assert dict(dense.hits) == pytest.approx(
            {item: cosines[item] for item, _ in dense.hits}, abs=2e-3
        )
        words = dict(everything.search_keyword(question, 99))
        assert dict(keyword.hits) == pytest.approx(
            {item: words[item] for item, _ in dense.hits if item in words}
        )
        for hits in (dense.hits, keyword.hits):
            assert list(hits) == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
    told = [s.name for s in log.stages if s.name.startswith("complete")]
    assert told == ["complete:lending", "complete:rooms"]
