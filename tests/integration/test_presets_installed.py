"""Every shipped preset answers after a plain install: no model server, no extra."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ollama_server import OllamaServer

from elt_llm_core.config.loader import known_profiles, load_config
from elt_llm_core.errors import CollectionMismatchError
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import DegradationKind, QueryResult
from elt_llm_core.store import Store
from elt_llm_query import query_collections
from elt_llm_query.engine import NEXT_BEST

PACKS = Path(__file__).parents[2] / "elt_llm_consumer/src/elt_llm_consumer/packs"
(HANDBOOK,) = PACKS.glob("*/handbook.pdf")
# What each of them leaves out with embedded models only.
LEFT_OUT = {
    "default": set(),
    "cautious": set(),
    "best": {"terminology", "decompose", "token_budget", "compact"},
    "grounded-docs": {"decompose", "sentence_transformers", "gaps", "compact"},
    "literature-chat": {"sentence_transformers", "compact"},
    "local-enterprise": {"compact"},
    "ollama": {"compact"},
    "textbook-tutor": {"terminology", "compact"},
    "verified-monograph": {"decompose", "gaps", "statements"},
}

WITHOUT_A_MODEL = {"default", "cautious"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    config = load_config(environ={})
    store = Store(tmp_path_factory.mktemp("presets") / "data")
    options = {"paths": [str(HANDBOOK)], "collection": "handbook"}
    JOBS.load("ingest", options).build(build_models(config))(JobContext(config, store))
    yield store
    store.close()


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a plain install: without the package of the cross-encoders."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    home = "elt_llm_query.rerankers.sentence_transformers"
    monkeypatch.delitem(sys.modules, home, raising=False)


def gold() -> dict[str, Any]:
    """The first question of the sample that is answered from the handbook."""
    told = json.loads((HANDBOOK.parent / "gold.json").read_text("utf-8"))
    answered = (q for q in told["questions"] if q["status"] == "answered")
    return next(q for q in answered if "handbook" in json.dumps(q))


def ask(
    store: Store,
    preset: str,
    models: str | None,
    over: dict[str, Any] | None = None,
    question: str = "",
) -> QueryResult:
    config = load_config(profile=preset, environ={}, models=models, overrides=over)
    return query_collections(
        ["handbook"],
        question or gold()["question"],
        store=store,
        config=config,
        models=build_models(config),
    )


def left_out(result: QueryResult) -> list[str]:
    kind = DegradationKind.STAGE_LEFT_OUT
    return [d.detail for d in result.degradations if d.kind is kind]


def test_no_preset_is_forgotten() -> None:
    assert LEFT_OUT.keys() == {"default", *known_profiles()}


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("preset", LEFT_OUT)
def test_a_preset_answers_with_embedded_models_and_says_what_it_leaves_out(
    store: Store, preset: str
) -> None:
    result = ask(store, preset, "embedded")
    assert result.status == "answered"
    for words in gold()["answer_contains"]:
        assert words.lower() in result.answer.lower()
    told = left_out(result)
    assert len(told) == len(LEFT_OUT[preset])
    for name in LEFT_OUT[preset]:
        assert any(name in detail for detail in told)
    if "sentence_transformers" in LEFT_OUT[preset]:
        assert any(detail.startswith(NEXT_BEST) for detail in told)
        assert "rerank" in [stage.name for stage in result.trace.stages]
    # One question alone has no use for a cache; nothing else may be poorer.
    known = {DegradationKind.STAGE_LEFT_OUT, DegradationKind.SETTING_UNUSED}
    assert {d.kind for d in result.degradations} <= known


@pytest.mark.parametrize("preset", sorted(known_profiles()))
def test_a_preset_says_how_it_verifies_and_why(preset: str) -> None:
    text = known_profiles()[preset].read_text("utf-8")
    policy = load_config(profile=preset, environ={}).query.citation_policy
    assert f"citation_policy: {policy}" in text
    assert f"# Verification: {policy}" in text


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("preset", LEFT_OUT)
def test_a_preset_as_it_is_answers_without_its_model_server(
    store: Store, preset: str
) -> None:
    away = {"ollama": {"base_url": "http://127.0.0.1:9"}}
    result = ask(store, preset, None, away)
    assert result.status == "answered"
    assert bool(result.degradations) == (preset not in WITHOUT_A_MODEL)


@pytest.mark.usefixtures("bare")
def test_the_cautious_preset_refuses_what_is_less_than_sure(store: Store) -> None:
    # Three sections have a penalty for it, each another one.
    question = "What happens to a crew that launches late?"
    told = "A crew that launches late receives a penalty of 10 seconds."
    answered = ask(store, "default", "embedded", question=question)
    assert told in answered.answer
    refused = ask(store, "cautious", "embedded", question=question)
    assert refused.status == "insufficient"
    assert any(told in " ".join(one.quote.split()) for one in refused.nearest)


def test_a_collection_of_the_embedded_model_tells_how_ollama_can_answer_from_it(
    store: Store,
) -> None:
    with OllamaServer() as server:
        running = {"ollama": {"base_url": server.base_url}}
        for preset in ("ollama", "local-enterprise"):
            with pytest.raises(CollectionMismatchError) as caught:
                ask(store, preset, None, running)
            assert "--models embedded" in caught.value.hint
            assert "ingest PATH --collection handbook --rebuild" in caught.value.hint
            assert ask(store, preset, "embedded+ollama", running).sources
