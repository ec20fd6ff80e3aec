"""Profiles that lack a package: told with the cure, and not offered."""

import httpx
import pytest

from elt_llm_api.problems import describe
from elt_llm_core.config import RagConfig
from elt_llm_core.errors import ConfigError

pytestmark = pytest.mark.network


def test_a_profile_that_lacks_a_package_says_which_and_how(client, caplog, bare):
    body = {"question": "Who?", "profile": "literature-chat"}
    problem = client.post("/v1/query", json=body).json()
    assert (problem["status"], problem["code"]) == (500, "CFG003")
    assert "needs the package 'sentence_transformers'" in problem["detail"]
    assert problem["hint"].endswith("uv sync --inexact --extra cross-encoder")
    assert "CFG003" in caplog.text
    assert not any(record.exc_info for record in caplog.records)


def test_the_status_tells_the_profiles_that_can_be_asked(serve, filled_root, bare):
    with serve(RagConfig(), filled_root) as url:
        status = httpx.get(f"{url}/v1/status").json()
    assert set(status["unavailable"]) == {"grounded-docs", "literature-chat"}
    assert "--extra cross-encoder" in status["unavailable"]["grounded-docs"]
    assert "best" in status["profiles"]
    assert not set(status["profiles"]) & set(status["unavailable"])


def test_no_value_and_no_folder_of_the_configuration_is_shown(caplog):
    error = ConfigError(
        "option 'apikey' of the llms strategy 'x': no such option (got 'sk-1 (2)')",
        "say it in /srv/private/rag_config.yaml, see http://localhost:11434/api/tags",
    )
    told = describe(error)
    assert told["detail"] == "option 'apikey' of the llms strategy 'x': no such option"
    assert told["hint"].startswith("say it in rag_config.yaml, see http://localhost:1")
    assert told["hint"].endswith("/api/tags")
