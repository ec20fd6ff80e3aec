"""Transforms and routing through real servers: their protocols, over loopback."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ollama_server import Fault, OllamaServer

from elt_llm_core.config.sections import (
    GatewaySection,
    ModelsSection,
    OllamaSection,
    OpenAILikeSection,
)
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import DegradationKind
from elt_llm_core.strategy import Models
from elt_llm_query.query import query_collections, search_collections
from query_world import ASK, BOTH, configured, kinds

EVERYTHING = {
    "transform_strategy": ("decompose", "terminology", "hyde"),
    "router_strategy": "llm",
    "num_queries": 2,
}
TOLD = {
    "Which of them": "[1]",
    "other ways to search": "late book fee",
    "ask for one thing": "What is the fee?\nWhat is an overdue book?",
    "precise terms": "Charges for overdue items",
    "Write a passage": "An overdue book costs money each day.",
}
SHAPED = {
    "Which of them": json.dumps({"numbers": [1]}),
    "ask for one thing": json.dumps({"questions": ["What is the fee?", ASK]}),
}


# The tests share a data root, and would be given each other's answers.
FORGETFUL = GatewaySection(keep_answers="none")


def answer(prompt, told):
    if "is not JSON of the schema below" in prompt:  # asked to mend it: no other answer
        return prompt.split("<answer>\n")[1].split("\n</answer>")[0]
    return next(said for words, said in told.items() if words in prompt)


def searched(world, config):
    llm = build_models(config).llm
    return search_collections(
        BOTH,
        ASK,
        store=world.store,
        config=config,
        models=Models(world.models.embedder, llm),
    )


def stages(result):
    return {s.name: s for s in result.trace.stages}


def through_ollama(world, server, **query):
    config = configured(**{**EVERYTHING, **query}).model_copy(
        update={
            "models": ModelsSection(llm_strategy="ollama"),
            "ollama": OllamaSection(base_url=server.base_url, llm_model="smollm2:135m"),
            "gateway": FORGETFUL,
        }
    )
    return searched(world, config)


@pytest.fixture
def ollama():
    def reply(messages):
        return answer(messages[-1]["content"], {**TOLD, **SHAPED})

    with OllamaServer(reply=reply, silence=0.1) as server:
        yield server


@pytest.mark.network
def test_ollama_is_held_to_a_schema_and_kept_short(world, ollama):
    result = through_ollama(world, ollama)
    found = stages(result)
    assert DegradationKind.GENERATION_UNAVAILABLE not in kinds(result)
    assert found["route"].top == (("lending", 1.0),)
    assert found["transform:decompose"].n_out == 3
    assert found["transform:hyde"].n_out == 5
    assert result.sources[0].section == "Loans > Overdue"
    asked = [r.body for r in ollama.requests if r.path == "/api/chat"]
    assert len(asked) == 5
    limits = {body["options"]["num_predict"]: body.get("format") for body in asked}
    assert sorted(limits) == [60, 120, 160, 200]
    assert set(limits[60]["properties"]) == {"numbers"}
    assert set(limits[200]["properties"]) == {"questions"}
    assert all(body["options"]["temperature"] == 0 for body in asked)
    assert all(body["options"]["num_ctx"] == 8192 for body in asked)


@pytest.mark.network
@pytest.mark.parametrize("fault", [Fault.MALFORMED, Fault.BUSY, Fault.MODEL_MISSING])
def test_a_server_that_fails_costs_only_what_it_would_have_added(world, ollama, fault):
    ollama.script.extend([fault] * 40)
    result = through_ollama(world, ollama)
    assert DegradationKind.ROUTER_UNAVAILABLE in kinds(result)
    assert DegradationKind.GENERATION_UNAVAILABLE in kinds(result)
    assert {s.collection for s in result.sources} == set(BOTH)
    assert result.sources[0].section == "Loans > Overdue"


@pytest.mark.network
def test_a_spent_budget_leaves_a_degradation(world, ollama):
    config = configured(**EVERYTHING).model_copy(
        update={
            "models": ModelsSection(llm_strategy="ollama"),
            "ollama": OllamaSection(base_url=ollama.base_url, llm_model="smollm2:135m"),
            "gateway": GatewaySection(question_calls=2, keep_answers="none"),
        }
    )
    result = searched(world, config)
    assert len(ollama.bodies("/api/chat")) == result.trace.models.calls == 2
    assert result.trace.models.written > 0
    details = [d.detail for d in result.degradations]
    assert any("model budget (2 of 2 calls)" in detail for detail in details)
    assert {s.collection for s in result.sources} <= set(BOTH)


@pytest.mark.network
def test_an_answer_that_reached_its_longest_says_so(world, ollama):
    ollama.reply = lambda messages: "A first sentence. Then they"
    ollama.script.append(Fault.LENGTH)
    config = configured(synthesizer_strategy="compact").model_copy(
        update={
            "models": ModelsSection(llm_strategy="ollama"),
            "ollama": OllamaSection(base_url=ollama.base_url, llm_model="smollm2:135m"),
            "gateway": FORGETFUL,
        }
    )
    result = query_collections(
        BOTH,
        ASK,
        store=world.store,
        config=config,
        models=Models(world.models.embedder, build_models(config).llm),
    )
    assert DegradationKind.ANSWER_CUT in kinds(result)
    assert "Then they" not in f"{result.answer} {result.removed}"


@pytest.mark.network
def test_an_answer_of_another_shape_is_mended_once_then_read_as_text(world):
    def reply(messages):
        return answer(messages[-1]["content"], TOLD)

    with OllamaServer(reply=reply) as server:
        result = through_ollama(world, server)
        calls = server.bodies("/api/chat")
    assert stages(result)["route"].top == (("lending", 1.0),)
    assert stages(result)["transform:decompose"].n_out == 4
    assert DegradationKind.GENERATION_UNAVAILABLE not in kinds(result)
    mending = [c for c in calls if "is not JSON" in c["messages"][-1]["content"]]
    assert len(mending) == 2
    assert len(calls) == 7


class Handler(BaseHTTPRequestHandler):
    """Chat completions without schemas."""

    def log_message(self, *args):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append(body)
        said = answer(body["messages"][-1]["content"], TOLD)
        message = {"role": "assistant", "content": said}
        choices = [{"message": message, "finish_reason": "stop"}]
        data = json.dumps({"choices": choices}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def openai_like():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen = []
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.network
def test_a_server_without_schemas_is_read_as_text(world):
    with openai_like() as server:
        base = f"http://127.0.0.1:{server.server_port}/v1"
        config = configured(**EVERYTHING).model_copy(
            update={
                "models": ModelsSection(llm_strategy="openai_like"),
                "openai_like": OpenAILikeSection(base_url=base, llm_model="m"),
                "gateway": FORGETFUL,
            }
        )
        result = searched(world, config)
    found = stages(result)
    assert DegradationKind.GENERATION_UNAVAILABLE not in kinds(result)
    assert found["route"].top == (("lending", 1.0),)
    assert found["transform:decompose"].n_out == 4
    assert found["transform:hyde"].n_out == 6
    limits = sorted(body["max_tokens"] for body in server.seen)
    assert limits == [60, 60, 120, 120, 160, 200, 200]
