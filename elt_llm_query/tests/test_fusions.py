import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from elt_llm_core.errors import ConfigError, UnknownStrategyError
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.retrieval.fusion import (
    FUSIONS,
    HitList,
    convex,
    dist_based,
    exact_convex,
    list_weights,
    min_max,
    order_hits,
    relative_score,
    rrf,
    weighted_rrf,
)

NO_MODELS = Models(HashEmbedding())
VECTOR = [("a", 0.82), ("b", 0.80), ("c", 0.60)]
KEYWORD = [("b", 12.0), ("d", 9.0), ("c", 3.0)]

scores = st.floats(0.01, 100, allow_nan=False)
rankings = st.dictionaries(st.sampled_from("abcdefgh"), scores, max_size=8).map(
    order_hits
)


class Fixed(BaseRetriever):
    def __init__(self, hits):
        super().__init__()
        self.hits = hits

    def _retrieve(self, query_bundle):
        return [
            NodeWithScore(node=TextNode(id_=i, text=f"text {i}"), score=s)
            for i, s in self.hits
        ]


def llama_fused(mode, *lists, weights=None):
    fused = QueryFusionRetriever(
        [Fixed(hits) for hits in lists],
        llm=MockLLM(),
        mode=mode,
        similarity_top_k=100,
        num_queries=1,
        retriever_weights=weights,
        use_async=False,
    ).retrieve("q")
    return {n.node.node_id: n.score for n in fused}


def test_the_worked_example_of_convex_fusion():
    fused = convex([VECTOR, KEYWORD], [0.65, 0.35])
    assert [i for i, _ in fused] == ["b", "a", "d", "c"]
    assert [round(s, 4) for _, s in fused] == [0.9409, 0.65, 0.2333, 0.0]


@given(rankings, rankings)
def test_rrf_is_llama_index_rrf(one, two):
    ours, theirs = dict(rrf([one, two])), llama_fused("reciprocal_rerank", one, two)
    assert ours.keys() == theirs.keys()
    # LlamaIndex orders equal scores by arrival, we by id: compare where none are equal.
    if all(len({s for _, s in hits}) == len(hits) for hits in (one, two)):
        assert ours == pytest.approx(theirs)


@given(rankings, rankings)
def test_relative_score_is_llama_index_relative_score(one, two):
    ours = dict(relative_score([one, two], [0.5, 0.5]))
    assert ours == pytest.approx(llama_fused("relative_score", one, two))


@given(rankings, rankings)
def test_relative_score_with_alpha_is_llama_index_with_retriever_weights(one, two):
    fusion = FUSIONS.load("relative_score", {"alpha": 0.65}).build(NO_MODELS)
    ours = dict(fusion([HitList("dense", one), HitList("keyword", two)]))
    theirs = llama_fused("relative_score", one, two, weights=[0.65, 0.35])
    assert ours == pytest.approx(theirs)


def test_relative_score_gives_the_worked_example_of_convex_fusion():
    fusion = FUSIONS.load("relative_score", {"alpha": 0.65}).build(NO_MODELS)
    lists = [HitList("dense", VECTOR), HitList("keyword", KEYWORD)]
    found = [(i, round(s, 4)) for i, s in fusion(lists)]
    assert found == [("b", 0.9409), ("a", 0.65), ("d", 0.2333), ("c", 0.0)]


@given(rankings, rankings)
def test_dist_based_is_llama_index_dist_based(one, two):
    ours = dict(dist_based([one, two], [0.5, 0.5]))
    assert ours == pytest.approx(llama_fused("dist_based_score", one, two))


def test_exact_scores_are_weighed_over_the_best_of_their_list():
    fused = dict(exact_convex([VECTOR, KEYWORD], [0.5, 0.5]))
    assert fused["b"] == pytest.approx(0.5 * 0.80 / 0.82 + 0.5)
    assert fused["c"] == pytest.approx(0.5 * 0.60 / 0.82 + 0.5 * 3 / 12)
    # Found by both, c is above d; min-max takes what is last for absent.
    assert fused["c"] > fused["d"] == pytest.approx(0.5 * 9 / 12)
    assert exact_convex([[("a", -0.5), ("b", -0.7)]], [1.0]) == [("a", 0.0), ("b", 0.0)]


@given(st.lists(rankings, max_size=4))
def test_equal_weights_make_weighted_rrf_plain(lists):
    assert weighted_rrf(lists, [1.0] * len(lists)) == rrf(lists)


@given(st.lists(rankings, max_size=4))
def test_fusing_changes_nothing_it_is_given_and_orders_ties_by_id(lists):
    before = [list(x) for x in lists]
    fused = rrf(lists)
    assert lists == before
    assert fused == sorted(fused, key=lambda hit: (-hit[1], hit[0]))
    assert {i for i, _ in fused} == {i for x in lists for i, _ in x}


def test_equal_scores_count_fully_and_nothing_is_nothing():
    assert min_max([("a", 3.0), ("b", 3.0)]) == [("a", 1.0), ("b", 1.0)]
    assert min_max([("a", 0.0)]) == [("a", 0.0)]
    assert min_max([]) == []
    assert rrf([]) == []


def test_shares_go_to_the_kinds_that_are_there():
    dense, keyword = HitList("dense", ()), HitList("keyword", ())
    assert list_weights([dense, keyword], 0.3) == [0.3, 0.7]
    assert list_weights([keyword], 0.3) == [1.0]
    assert list_weights([dense, dense, keyword], 0.3) == [0.15, 0.15, 0.7]


@pytest.mark.parametrize("name", sorted(FUSIONS.known()))
def test_every_fusion_joins_lists_best_first(name):
    fusion = FUSIONS.load(name, {"depth": 7}).build(Models(HashEmbedding()))
    lists = [HitList("dense", tuple(VECTOR)), HitList("keyword", tuple(KEYWORD))]
    fused = fusion(lists)
    assert {i for i, _ in fused} == {"a", "b", "c", "d"}
    assert [s for _, s in fused] == sorted((s for _, s in fused), reverse=True)
    assert fused[0][0] == "b"
    assert fusion.depth == 7
    assert fusion([]) == []


def test_a_fusion_that_does_not_exist_names_the_known_ones():
    with pytest.raises(UnknownStrategyError, match="did you mean 'convex'"):
        FUSIONS.load("convx")
    with pytest.raises(ConfigError, match="alpha"):
        FUSIONS.load("convex", {"alpha": 2})
