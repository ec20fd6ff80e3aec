"""Transforms, routing and the cache as a profile of the runner sets them."""

import io
import json

import pytest
import yaml

from elt_llm_core.cli.failures import run
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.models.factory import build_models
from elt_llm_core.store import Store
from elt_llm_query import runner
from query_world import CONTENT, fill

ASK = "What is the charge for an overdue book?"
QUERY = {
    "transform_strategy": ["aliases"],
    "transform_options": {"aliases": {"table": {"fee": ["charge"]}}},
    "router_strategy": "rules",
    "router_options": {"rules": {"overdue": ["lending"]}},
    "cache_strategy": "semantic",
    "cache_options": {"full": 0.95},
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("side")
    store = Store(path)
    fill(store, build_models(RagConfig()), CONTENT)
    store.close()
    return path


@pytest.fixture
def ran(root, tmp_path, capsys):
    def ran(query, *arguments):
        """Exit code and the two outputs of the runner."""
        profile = tmp_path / "mine.yaml"
        content = {"collections": [{"name": "*"}], "query": query}
        profile.write_text(yaml.safe_dump(content))
        given = ("--cfg", str(profile), "--data-dir", str(root), "--json", *arguments)
        code = run(runner.command, given)
        return code, *capsys.readouterr()

    return ran


def objects(text):
    decoder, found = json.JSONDecoder(), []
    while text.strip():
        one, end = decoder.raw_decode(text.lstrip())
        found.append(one)
        text = text.lstrip()[end:]
    return found


def test_the_runner_heeds_the_level_of_the_log(ran, monkeypatch):
    given = []
    monkeypatch.setattr("logging.basicConfig", lambda **to: given.append(to["level"]))
    ran({}, "-q", ASK)
    monkeypatch.setenv("ELT_LLM_LOGGING__LEVEL", "ERROR")
    ran({}, "-q", ASK)
    ran({}, "-q", ASK, "--log-level", "INFO")
    ran({}, "-q", ASK, "--verbose")
    assert given == ["WARNING", "ERROR", "INFO", "DEBUG"]


def test_a_talk_uses_what_it_found_before(ran, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{ASK}\n{ASK.lower()}\nquit\n"))
    code, out, _ = ran(QUERY)
    assert code == 0
    first, second = objects(out)
    names = [s["name"] for s in first["trace"]["stages"]]
    assert names[:4] == ["embed", "cache", "route", "transform:aliases"]
    assert list(first["trace"]["generations"]) == ["lending"]
    assert first["citations"][0]["section"] == "Loans > Overdue"
    assert second["trace"]["stages"][1]["top"][0][0] == "hit"
    assert second["sources"] == first["sources"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"transform_strategy": ["hide"]}, "hyde"),
        ({"router_strategy": "rule"}, "rules"),
        ({"router_strategy": "rules", "router_options": {"rules": {"(": []}}}, "'('"),
        ({"cache_strategy": "semantics"}, "semantic"),
        ({"cache_strategy": "semantic", "cache_options": {"full": 2}}, "full"),
        ({"cache_stratgy": "none"}, "cache_strategy"),
    ],
)
def test_what_nobody_knows_is_refused_with_what_is_known(ran, query, said):
    code, out, err = ran(query, "-q", ASK)
    assert code == 78
    assert said in out + err
    assert "Traceback" not in out + err


def test_a_transform_without_its_model_is_left_out_and_told(ran):
    code, out, _ = ran({"transform_strategy": ["hyde"]}, "-q", ASK)
    assert code == 0
    notes = objects(out)[0]["degradations"]
    (told,) = (note for note in notes if note["kind"] == "stage_left_out")
    assert "'hyde' needs a language model" in told["detail"]
    assert "--models" in told["detail"]


@pytest.mark.parametrize(("ttl", "found"), [(3600, "hit"), (1e-9, "miss")])
def test_an_option_of_the_cache_says_what_is_used_again(ran, monkeypatch, ttl, found):
    query = {"cache_strategy": "semantic", "cache_options": {"ttl": ttl}}
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{ASK}\n{ASK}\nquit\n"))
    code, out, _ = ran(query)
    assert code == 0
    _, second = objects(out)
    assert second["trace"]["stages"][1]["top"][0][0] == found
