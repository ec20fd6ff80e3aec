"""Profiles that lack a package: asked without that stage, and told with the cure."""

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from elt_llm_api.problems import describe, install_handlers
from elt_llm_api.routes.status_routes import model_metrics
from elt_llm_core.config.loader import RagConfig
from elt_llm_core.errors import ConfigError, ModelBusyError
from elt_llm_core.results import ModelCost

pytestmark = pytest.mark.network


def test_a_profile_that_lacks_a_package_answers_and_says_which_and_how(client, bare):
    body = {
        "question": "What is the registration fee?",
        "profile": "literature-chat",
        "models": "embedded",
    }
    found = client.post("/v1/query", json=body).json()
    assert found["status"] == "answered"
    told = {d["detail"] for d in found["degradations"] if d["kind"] == "stage_left_out"}
    assert any("needs the package 'sentence_transformers'" in one for one in told)
    assert any("uv sync --inexact --extra cross-encoder" in one for one in told)


def test_models_that_nobody_knows_are_refused_with_those_that_are(client):
    body = {"question": "Who?", "models": "embeded"}
    problem = client.post("/v1/query", json=body).json()
    assert (problem["status"], problem["code"]) == (422, "CFG008")
    assert "embedded" in problem["hint"]


def test_the_status_tells_the_profiles_that_leave_a_stage_out(serve, filled_root, bare):
    with serve(RagConfig(), filled_root) as url:
        status = httpx.get(f"{url}/v1/status").json()
    assert set(status["incomplete"]) == {"grounded-docs", "literature-chat"}
    assert "--extra cross-encoder" in status["incomplete"]["grounded-docs"]
    assert set(status["incomplete"]) < set(status["profiles"])


def test_no_value_and_no_folder_of_the_configuration_is_shown(caplog):
    error = ConfigError(
        "option 'apikey' of the llms strategy 'x': no such option (got 'sk-1 (2)')",
        "say it in /srv/private/rag_config.yaml, see http://localhost:11434/api/tags",
    )
    told = describe(error)
    assert told["detail"] == "option 'apikey' of the llms strategy 'x': no such option"
    assert told["hint"].startswith("say it in rag_config.yaml, see http://localhost:1")
    assert told["hint"].endswith("/api/tags")


def test_calls_to_models_are_counted_for_prometheus(client):
    rows = [('a"b', "ok", ModelCost(calls=2, read=7, written=3, seconds=0.5, cut=1))]
    lines = model_metrics(rows).splitlines()
    assert 'elt_model_calls_total{model="a\\"b",outcome="ok"} 2' in lines
    assert 'elt_model_tokens_total{model="a\\"b",outcome="ok",kind="read"} 7' in lines
    assert "# TYPE elt_model_seconds_total counter" in lines
    reply = client.get("/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE elt_model_calls_total counter" in reply.text


def test_a_busy_model_server_is_429_with_a_time():
    app = FastAPI()
    install_handlers(app)

    @app.get("/")
    def ask() -> None:
        raise ModelBusyError("http://10.1.2.3:11434", 7, "503: queue of gpu-7")

    reply = TestClient(app).get("/")
    assert reply.status_code == 429
    assert reply.headers["retry-after"] == "7"
    assert reply.json()["code"] == "MOD009"
    assert "10.1.2.3" not in reply.text
    assert "gpu-7" not in reply.text
