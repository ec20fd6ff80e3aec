"""Settings of the section `query`: each changes what a question gives."""

import pytest

from elt_llm_core.results import DegradationKind
from query_world import ASK, asked, configured

FUSED = {"use_reranker": False}


def outcome(world, **query):
    """Whatever a setting may change: the answer, the sources, and every stage."""
    result = asked(world, ASK, config=configured(**query))
    stages = [(s.name, s.n_in, s.n_out, s.top) for s in result.trace.stages]
    sources = [(s.node_id, s.score, s.text) for s in result.sources]
    return result.status, result.answer, sources, stages


@pytest.mark.parametrize(
    ("base", "changed"),
    [
        (FUSED, {"similarity_top_k": 2}),
        (FUSED, {"collection_top_k": 1}),
        (FUSED, {"fusion_strategy": "rrf"}),
        (FUSED, {"fusion_options": {"alpha": 0.9}}),
        ({}, {"use_hybrid_search": False}),
        ({}, {"use_reranker": False}),
        ({"reranker_top_k": 2}, {"reranker_retrieve_k": 2}),
        ({}, {"reranker_top_k": 2}),
        ({}, {"candidate_strategy": ("long_context",)}),
        (
            {"candidate_strategy": ("document_cap",)},
            {"candidate_options": {"document_cap": {"per_document": 1}}},
        ),
        ({}, {"postprocessor_strategy": ("long_context",)}),
        ({}, {"synthesizer_options": {"sure": 1}}),
        ({}, {"trace_hits": 1}),
        ({}, {"use_tables": False}),
    ],
    ids=lambda told: "-".join(told) or "default",
)
def test_a_setting_changes_what_a_question_gives(hashed, base, changed):
    assert outcome(hashed, **base) == outcome(hashed, **base)
    assert outcome(hashed, **base, **changed) != outcome(hashed, **base)


def unused(world, **query):
    """What the answer says about settings without effect."""
    told = asked(world, ASK, config=configured(**query)).degradations
    return [d.detail for d in told if d.kind is DegradationKind.SETTING_UNUSED]


def test_a_depth_below_what_is_kept_says_that_it_has_no_effect(hashed):
    shallow = {"fusion_options": {"depth": 1}}
    (said,) = unused(hashed, **shallow)
    assert "query.fusion_options.depth 1 has no effect" in said
    assert unused(hashed) == []
    assert unused(hashed, fusion_options={"depth": 0}) == []
    assert unused(hashed, reranker_retrieve_k=100) == []
    # Each of the two collections gives one candidate, and is asked for no more.
    assert unused(hashed, reranker_retrieve_k=2, reranker_top_k=2, **shallow) == []


@pytest.mark.parametrize(("depth", "n_out"), [(1, 1), (3, 3)])
def test_the_depth_of_a_fusion_is_what_each_list_gives(hashed, depth, n_out):
    narrow = {"reranker_retrieve_k": 2, "reranker_top_k": 2}
    result = asked(
        hashed, ASK, config=configured(fusion_options={"depth": depth}, **narrow)
    )
    (dense,) = (s for s in result.trace.stages if s.name == "dense:lending")
    assert dense.n_out == n_out
