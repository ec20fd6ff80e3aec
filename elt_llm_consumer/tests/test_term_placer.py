"""Terms that a language model places among domains, with proof."""

import json
from pathlib import Path

import pytest
from ollama_server import Fault, OllamaServer

from elt_llm_consumer.linking import similarity
from elt_llm_consumer.linking.similarity import (
    Placement,
    UndecidedTerm,
    review_status,
)
from elt_llm_consumer.linking.term_placer import TERMS_AT_ONCE, TermPlacer
from elt_llm_core.config.sections import (
    GatewaySection,
    ModelsSection,
    OllamaSection,
    RagConfig,
)
from elt_llm_core.jobs import JOBS, JobContext
from elt_llm_core.models.factory import build_models
from elt_llm_core.strategy import Models

DEFINITION = "a lamp that is lit on the quay while a boat is at sea"


def option(domain: str) -> Placement:
    return Placement(
        domain=domain,
        subgroup="",
        tier="existing",
        confidence="medium",
        reasoning="its nearest entity is 'Lantern', score 0.33",
        alternative="",
        nearest="Lantern",
    )


def undecided(number: int = 1) -> list[UndecidedTerm]:
    options = (option("SAFETY"), option("EQUIPMENT"))
    return [UndecidedTerm(f"Lamp {n}", DEFINITION, options) for n in range(number)]


def configured(server) -> RagConfig:
    return RagConfig(
        models=ModelsSection(llm_strategy="ollama"),
        ollama=OllamaSection(base_url=server.base_url, llm_model="smollm2:135m"),
        gateway=GatewaySection(retries=0),
    )


def placer(store, server) -> TermPlacer:
    config = configured(server)
    llm = build_models(config).llm
    assert llm is not None
    return TermPlacer(llm, JobContext(config, store))


def reply(*places: tuple[int, int, str]):
    rows = [{"term": t, "domain": d, "quote": q} for t, d, q in places]
    return lambda _: json.dumps({"places": rows})


def test_a_proven_choice_is_a_place_and_is_asked_once(store):
    with OllamaServer(reply=reply((1, 2, "lit on  the quay"))) as server:
        chosen = placer(store, server).place(undecided())
        again = placer(store, server).place(undecided())
        assert len(server.bodies("/api/chat")) == 1
    place = chosen["Lamp 0"]
    assert again == chosen
    assert (place.domain, place.alternative) == ("EQUIPMENT", "SAFETY")
    assert 'chose it by the words "lit on the quay"' in place.reasoning
    assert review_status(place) == "PENDING"
    assert review_status(option("SAFETY")) == "NEEDS_CLARIFICATION"


@pytest.mark.parametrize(
    "places",
    [
        [(1, 2, "lit in the harbour")],  # words that the definition has not
        [(1, 2, "a lamp")],  # too few
        [(1, 3, "lit on the quay")],  # no candidate
        [(1, 0, "lit on the quay")],
        [(2, 1, "lit on the quay")],  # no term
        [(1, 1, "lit on the quay"), (1, 2, "lit on the quay")],  # both
        [],
    ],
)
def test_what_is_not_proven_stays_with_the_reviewer(store, places):
    with OllamaServer(reply=reply(*places)) as server:
        one = placer(store, server)
        assert one.place(undecided()) == {}
        assert not list(one.degradations())


def test_terms_are_asked_about_together(store):
    with OllamaServer(reply=reply((1, 1, "lit on the quay"))) as server:
        chosen = placer(store, server).place(undecided(TERMS_AT_ONCE + 1))
        assert len(server.bodies("/api/chat")) == 2
    assert sorted(chosen) == ["Lamp 0", f"Lamp {TERMS_AT_ONCE}"]


def test_a_failing_model_is_told_and_places_nothing(store):
    with OllamaServer(reply=lambda _: "I like lamps.") as server:
        one = placer(store, server)
        assert one.place(undecided(2)) == {}
        (problem,) = one.degradations()
    assert "did not place 2 terms" in problem.detail


def test_a_server_that_refuses_is_asked_once(store):
    with OllamaServer(script=[Fault.MODEL_MISSING] * 9) as server:
        one = placer(store, server)
        assert one.place(undecided(2 * TERMS_AT_ONCE + 1)) == {}
        assert len(server.bodies("/api/chat")) <= 1
        (problem,) = one.degradations()
    assert f"did not place {2 * TERMS_AT_ONCE + 1} terms" in problem.detail


def test_a_catalogue_asks_about_uncertain_terms_only(store, models, monkeypatch):
    # The vectors of the tests know no meaning: every term is near to some domain.
    monkeypatch.setattr(similarity, "_POSSIBLE", -1.0)

    def rows(server) -> tuple[dict, int]:
        config = configured(server) if server else RagConfig()
        llm = build_models(config).llm if server else None
        options = {"collections": ("handbook",), "model": ("estate",)}
        job = JOBS.load("catalog", options)
        report = job.build(Models(embedder=models.embedder, llm=llm))(
            JobContext(config, store)
        )
        listed = json.loads(Path(report.files["catalog_flat_json"]).read_text())
        calls = len(server.bodies("/api/chat")) if server else 0
        return {row["entity_name"]: row for row in listed["entities"]}, calls

    def answer(messages) -> str:
        if "Term 1:" not in messages[-1]["content"]:
            return json.dumps({"definitions": []})
        shown = messages[-1]["content"]
        words = shown.partition("Definition: ")[2].split()[:4]
        place = {"term": 1, "domain": 2, "quote": " ".join(words)}
        return json.dumps({"places": [place]})

    before, _ = rows(None)
    uncertain = {
        name
        for name, row in before.items()
        if row.get("inference_tier") == "existing"
        and row["inference_confidence"] != "high"
    }
    assert uncertain
    with OllamaServer(reply=answer) as server:
        after, calls = rows(server)
        again, more = rows(server)
    assert again == after
    assert more == calls
    changed = {name for name in before if before[name] != after.get(name)}
    assert len(changed & uncertain) == 1
    (name,) = changed & uncertain
    assert after[name]["review_status"] == "PENDING"
    assert "a language model chose it" in after[name]["inference_reasoning"]
