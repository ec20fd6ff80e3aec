"""The semantic cache in the pipeline: what is searched again, and what is not."""

import threading

import pytest

from elt_llm_core.errors import ModelUnavailableError
from elt_llm_core.results import DegradationKind
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import ScriptedLLM
from elt_llm_query.caching.semantic_cache import build_cache
from elt_llm_query.query import query_collections, search_collections
from elt_llm_query.retrieval.hybrid import HybridRetriever
from query_world import (
    ASK,
    BOTH,
    CONTENT,
    LENDING,
    LIKE,
    Down,
    configured,
    fill,
    make_document,
)


class Asking:
    """Asks with one cache; `searches` counts what was really searched."""

    def __init__(self, world, monkeypatch, **query):
        self.world = world
        self.config = configured(cache_strategy="semantic", **query)
        self.cache = build_cache(self.config, world.models)
        self.searches = 0
        searched = HybridRetriever._retrieve

        def counted(retriever, bundle):
            self.searches += 1
            return searched(retriever, bundle)

        monkeypatch.setattr(HybridRetriever, "_retrieve", counted)

    def __call__(self, question, names=BOTH, run=query_collections, **changes):
        options = {"config": self.config, "models": self.world.models}
        options |= {"store": self.world.store, "cache": self.cache, **changes}
        return run(names, question, **options)


@pytest.fixture
def ask(world, monkeypatch):
    return Asking(world, monkeypatch)


def plain(result):
    return result.model_dump(exclude={"trace"})


def seen(result):
    (stage,) = [s for s in result.trace.stages if s.name == "cache"]
    return stage.top[0][0]


def test_the_default_keeps_nothing(world):
    assert build_cache(configured(), world.models) is None


def test_the_second_time_nothing_is_searched_and_the_answer_is_the_same(ask):
    first, second = ask(ASK), ask(ASK)
    assert plain(first) == plain(second)
    assert (seen(first), seen(second), ask.searches) == ("miss", "hit", 1)
    assert first.trace.query_id == second.trace.query_id
    assert first.trace.generations == second.trace.generations


def test_a_like_question_gets_the_sources_and_its_own_answer(ask):
    first, second = ask(ASK), ask(LIKE)
    assert seen(second) == "hit"
    assert second.sources == first.sources
    assert second.question == LIKE
    assert ask.searches == 1


def test_another_identifier_is_searched_for(ask):
    ask("What is the dose of BMS-986158?")
    assert seen(ask("What is the dose of BMS-986159?")) == "miss"


def test_half_is_fetched_beside_what_a_less_like_question_found(ask):
    first = ask(ASK)
    second = ask("How high is the fee for a late book?")
    assert seen(second) == "partial"
    assert ask.searches == 2
    (rerank,) = [s for s in second.trace.stages if s.name == "rerank"]
    assert rerank.n_out == 4
    ids = [s.node_id for s in second.sources]
    assert len(ids) == len(set(ids)) == 8
    assert set(ids) <= {s.node_id for s in first.sources} | {i for i, _ in rerank.top}
    assert ids[:4] == [i for i, _ in rerank.top]
    assert [s.label for s in second.sources] == [f"S{i + 1}" for i in range(8)]
    scores = [s.score for s in second.sources]
    assert scores == sorted(scores, reverse=True)
    assert second.citations[0].page == 3


def test_a_search_for_as_many_sources_uses_what_an_answer_found(ask):
    answer = ask(ASK)
    found = ask(ASK, run=search_collections)
    assert (seen(found), found.sources) == ("hit", answer.sources)
    assert seen(ask(ASK, run=search_collections, k=3)) == "miss"
    again = ask(ASK, run=search_collections, k=3)
    assert (seen(again), len(again.sources)) == ("hit", 3)


def test_other_filters_collections_settings_and_models_miss(ask, world):
    ask(ASK)
    assert seen(ask(ASK, where={"page": 3})) == "miss"
    assert seen(ask(ASK, where={"page": 3})) == "hit"
    assert seen(ask(ASK, where={"page": 2})) == "miss"
    assert seen(ask(ASK, names=["lending"])) == "miss"
    other = configured(cache_strategy="semantic", reranker_top_k=5)
    assert seen(ask(ASK, config=other)) == "miss"
    models = Models(world.models.embedder, ScriptedLLM([]))
    assert seen(ask(ASK, models=models)) == "miss"
    assert seen(ask(ASK)) == "hit"


def test_any_change_of_a_collection_misses(tmp_path, monkeypatch, world):
    store = Store(tmp_path / "data")
    fill(store, world.models, CONTENT)
    ask = Asking(type(world)(store, world.models, world.config), monkeypatch)
    ask(ASK)
    assert seen(ask(ASK)) == "hit"
    newer = [(section, f"{said} As amended.") for section, said in LENDING]
    fill(store, world.models, {"lending": [make_document("Lending rules", newer)]})
    changed = ask(ASK)
    assert seen(changed) == "miss"
    assert any("As amended." in s.text for s in changed.sources)
    assert seen(ask(ASK)) == "hit"
    with store.writer() as writer:
        writer.publish(["lending"], force=True)
    assert seen(ask(ASK)) == "miss"
    store.close()


def test_what_was_found_with_something_missing_is_not_kept(hashed, monkeypatch):
    ask = Asking(hashed, monkeypatch, transform_strategy=("decompose",))
    answers = [ModelUnavailableError("http://localhost:1", "refused"), "", ""]
    models = Models(hashed.models.embedder, ScriptedLLM(answers))
    assert [seen(ask(ASK, models=models)) for _ in range(3)] == ["miss", "miss", "hit"]


def test_a_question_without_a_vector_is_like_no_other(hashed, monkeypatch):
    ask = Asking(hashed, monkeypatch)
    result = ask(ASK, models=Models(Down()))
    assert "cache" not in [s.name for s in result.trace.stages]
    assert len(ask.cache) == 0


def test_what_was_routed_stays_so(hashed, monkeypatch):
    rules = {"rules": {"overdue": ["lending"]}}
    ask = Asking(hashed, monkeypatch, router_strategy="rules", router_options=rules)
    first, second = ask(ASK), ask(ASK)
    assert seen(second) == "hit"
    assert plain(first) == plain(second)
    assert first.trace.generations == second.trace.generations == {"lending": 0}
    assert "route" not in [s.name for s in second.trace.stages]


def test_many_threads_ask_the_same(ask):
    expected = plain(ask(ASK, cache=None))
    told = expected["degradations"]
    unused = [d for d in told if d["kind"] is DegradationKind.SETTING_UNUSED]
    assert len(unused) == 1
    expected["degradations"] = tuple(d for d in told if d not in unused)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(plain(ask(ASK)))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6
    assert len(ask.cache) == 1
