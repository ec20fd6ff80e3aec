"""Settings of the section `query`: each changes what a question gives."""

import pytest

from test_query import ASK, asked, configured

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
        ({}, {"postprocessor_strategy": ("long_context",)}),
        ({}, {"synthesizer_options": {"threshold": 2}}),
        ({}, {"trace_hits": 1}),
        ({}, {"use_tables": False}),
    ],
    ids=lambda told: "-".join(told) or "default",
)
def test_a_setting_changes_what_a_question_gives(hashed, base, changed):
    assert outcome(hashed, **base) == outcome(hashed, **base)
    assert outcome(hashed, **base, **changed) != outcome(hashed, **base)
