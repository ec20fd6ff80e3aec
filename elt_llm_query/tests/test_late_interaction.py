"""Reranking by the nearest tokens of question and text."""

import numpy as np
import pytest
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from elt_llm_core.errors import ConfigError
from elt_llm_core.models.minilm import OnnxEmbedding
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.rerankers.late_interaction import LateInteraction
from elt_llm_query.resilience import GuardedRerank
from elt_llm_query.stages import RERANKERS
from elt_llm_query.trace import TraceLog

TEXTS = [
    "The reading room closes at eight in the evening.",
    "Cats sleep most of the day.",
    "Books are lent for three weeks.",
]
QUESTION = QueryBundle("until what time can I sit in the reading room?")


@pytest.fixture(scope="module")
def embedder():
    return OnnxEmbedding(threads=1)


def candidates(*scores):
    return [
        NodeWithScore(node=TextNode(id_=text[:4], text=text), score=score)
        for text, score in zip(TEXTS, scores, strict=True)
    ]


def test_vectors_of_tokens_are_what_the_text_vector_is_the_mean_of(embedder):
    rows = embedder.token_vectors("a reading room")
    assert rows.shape == (3, 384)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    long = embedder.token_vectors("reading room " * 400)
    assert long.shape == (254, 384)
    text = np.array(embedder.get_text_embedding("a reading room"))
    assert (rows @ text > 0.3).all()


def test_scores_are_max_sim(embedder):
    rerank = LateInteraction(embedder, fused_weight=0.0, top_n=2)
    found = rerank.postprocess_nodes(candidates(0.1, 0.9, 0.8), QUESTION)
    assert [n.node.node_id for n in found] == ["The ", "Book"]
    asked = embedder.token_vectors(QUESTION.query_str)
    best = (asked @ embedder.token_vectors(TEXTS[0]).T).max(axis=1).mean()
    assert found[0].score == pytest.approx(float(best))
    assert rerank.scores("words", [""]).tolist() == [0.0]


def test_the_order_they_came_in_counts_by_its_weight(embedder):
    given = candidates(0.1, 0.9, 0.8)
    ids = ["The ", "Cats", "Book"]
    for weight, first in ((1.0, "Cats"), (0.0, "The "), (0.3, "The ")):
        options = {"fused_weight": weight, "top_n": 3}
        rerank = RERANKERS.load("late_interaction", options).build(Models(embedder))
        found = rerank.postprocess_nodes(given, QUESTION)
        assert found[0].node.node_id == first
        assert sorted(n.node.node_id for n in found) == sorted(ids)
    assert [n.score for n in given] == [0.1, 0.9, 0.8]
    assert rerank.postprocess_nodes([], QUESTION) == []
    assert rerank.postprocess_nodes(given) == given


def test_it_keeps_to_its_time(embedder):
    log = TraceLog()
    guarded = GuardedRerank(LateInteraction(embedder, batch_size=1), log, 2, 1e-9)
    found = guarded.postprocess_nodes(candidates(0.9, 0.8, 0.1), QUESTION)
    assert [n.score for n in found] == [0.9, 0.8]
    assert len(log.degradations) == 1


def test_an_embedder_without_vectors_of_tokens_is_refused():
    with pytest.raises(ConfigError, match="has no token vectors"):
        RERANKERS.load("late_interaction").build(Models(HashEmbedding()))
