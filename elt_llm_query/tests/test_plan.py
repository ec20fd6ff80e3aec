"""What one question sets of how many sources are found."""

import pytest

from elt_llm_core.config.sections import QuerySection, RagConfig
from elt_llm_core.errors import UsageError
from elt_llm_query.plan import NO_LIMITS, SearchPlan, SourceLimits

CONFIG = RagConfig(
    query=QuerySection(reranker_retrieve_k=20, reranker_top_k=8, similarity_top_k=6)
)


def numbers(config: RagConfig) -> tuple[int, int]:
    """Candidates and sources over three collections."""
    plan = SearchPlan.of(config, collections=(None, None, None))
    return plan.breadth.total, plan.source_limit


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (SourceLimits(), (20, 8)),
        (SourceLimits(top_n=3), (20, 3)),
        (SourceLimits(top_n=30), (30, 30)),  # raises the candidates
        (SourceLimits(top_k=5), (5, 5)),  # lowers the sources
        (SourceLimits(top_k=50), (50, 8)),
        (SourceLimits(top_k=50, top_n=40), (50, 40)),
        (SourceLimits(use_reranker=False), (6, 6)),
        (SourceLimits(use_reranker=False, top_k=50, top_n=4), (4, 4)),
        (SourceLimits(use_reranker=False, top_k=9), (9, 9)),
    ],
)
def test_a_limit_moves_those_that_are_only_configured(limits, expected):
    assert numbers(limits.apply(CONFIG)) == expected


def test_without_a_reranker_all_collections_compete_for_what_was_asked():
    query = CONFIG.query.model_copy(
        update={"use_reranker": False, "collection_top_k": 2}
    )
    config = CONFIG.model_copy(update={"query": query})
    assert numbers(config) == (6, 6)
    assert numbers(SourceLimits(top_n=2).apply(config)) == (2, 2)


def test_settings_that_nothing_limits_are_the_same():
    assert NO_LIMITS.apply(CONFIG) is CONFIG


@pytest.mark.parametrize(
    "limits",
    [
        SourceLimits(top_k=0),
        SourceLimits(top_n=1001),
        SourceLimits(top_k=2, top_n=3),
    ],
)
def test_limits_that_cannot_be_are_refused(limits):
    with pytest.raises(UsageError, match=r"top_[nk]"):
        limits.apply(CONFIG)
