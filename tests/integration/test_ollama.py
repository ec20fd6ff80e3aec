"""The ollama profile over HTTP: the whole way in and out, and with the server down."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ollama_server import Fault, OllamaServer

pytestmark = [pytest.mark.network, pytest.mark.usefixtures("warm_commands")]

RULES = """# Harbour rules

## 1 Berths

1.1 A visiting boat may stay at a berth for seven nights.

1.2 The Harbour Warden decides who leaves first.

## 2 Fees

2.1 The fee for one night is 12 crowns.
"""
QUESTION = "How long may a visiting boat stay at a berth?"


def quoting(messages: list[dict[str, Any]]) -> str:
    """A model that quotes the source which speaks of the stay, and invents a second."""
    prompt = messages[-1]["content"]
    found = re.search(r"\[(S\d+)\][^\[]*?(A visiting boat may stay[^.]*\.)", prompt)
    if found is None:
        return "The documents do not answer this."
    label, sentence = found.groups()
    if prompt.endswith("JSON:"):
        return in_statements(label, sentence)
    return f'"{sentence}" [{label}] "A boat may stay for ninety nights." [{label}]'


def in_statements(label: str, sentence: str) -> str:
    """The same two statements, as a server gives them that keeps to a schema."""
    true = {"source": label, "quote": sentence}
    false = {"source": label, "quote": "A boat may stay for ninety nights."}
    statements = [
        {"text": "A visiting boat may stay for seven nights.", "citations": [true]},
        {"text": "A boat may stay for ninety nights.", "citations": [false]},
    ]
    return json.dumps({"statements": statements})


def run(url: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("ELT_LLM_")},
        "ELT_LLM_OLLAMA__BASE_URL": url,
        "ELT_LLM_OLLAMA__LLM_MODEL": "smollm2:135m",
        "ELT_LLM_OLLAMA__REQUEST_TIMEOUT": "20",
        "ELT_LLM_QUERY__SYNTHESIZER_STRATEGY": os.environ.get("SYNTHESIZER", "compact"),
        # The tests share a data root, and would be given each other's answers.
        "ELT_LLM_GATEWAY__KEEP_ANSWERS": "none",
    }
    shared = ("--profile", "ollama", "--data-dir", str(folder / "data"), "--json")
    return subprocess.run(
        [sys.executable, "-m", "elt_llm_core.cli", *arguments, *shared],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("ollama")
    (folder / "rules.md").write_text(RULES, encoding="utf-8")
    with OllamaServer(reply=quoting) as server:
        rules = str(folder / "rules.md")
        done = run(server.base_url, folder, "ingest", rules, "--collection", "harbour")
        assert done.returncode == 0, done.stderr
        embeds = server.bodies("/api/embed")
        yield server.base_url, folder
    assert embeds
    for body in embeds:
        assert body["model"] == "nomic-embed-text"
        assert body["truncate"] is False
        assert all(text.startswith("search_document: ") for text in body["input"])


def test_a_written_answer_keeps_what_is_found_and_drops_what_is_not(
    harbour: tuple[str, Path],
) -> None:
    _, folder = harbour
    with OllamaServer(reply=quoting) as server:
        done = run(server.base_url, folder, "query", QUESTION)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] in {"answered", "partial"}
    assert "seven nights" in result["answer"]
    assert "ninety" not in result["answer"]
    assert any("ninety" in removed["text"] for removed in result["removed"])
    (chat,) = server.bodies("/api/chat")
    assert chat["options"]["num_ctx"] == 8192
    assert chat["keep_alive"] == "30m"
    (embed,) = server.bodies("/api/embed")
    assert embed["input"] in (
        f"search_query: {QUESTION}",
        [f"search_query: {QUESTION}"],
    )


def test_statements_are_held_to_a_schema_and_each_to_its_quotation(
    harbour: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = harbour
    monkeypatch.setenv("SYNTHESIZER", "statements")
    with OllamaServer(reply=quoting) as server:
        done = run(server.base_url, folder, "query", QUESTION)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["status"] == "partial"
    (statement,) = result["statements"]
    assert statement["verdict"] == "supported"
    assert "A visiting boat may stay" in statement["citations"][0]["quote"]
    assert [one["verdict"] for one in result["removed"]] == ["fabricated"]
    (chat,) = server.bodies("/api/chat")
    shape = json.dumps(chat["format"])
    labels = re.findall(r"^\[(S\d+)\]", chat["messages"][-1]["content"], re.MULTILINE)
    assert f'"enum": {json.dumps(labels)}' in shape


@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.MALFORMED, Fault.CLOSE])
def test_a_failing_writer_is_replaced_by_quotes_and_said(
    harbour: tuple[str, Path], fault: Fault
) -> None:
    _, folder = harbour
    with OllamaServer(reply=quoting, script=[Fault.OK, *[fault] * 8]) as server:
        done = run(server.base_url, folder, "query", QUESTION)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    kinds = {d["kind"] for d in result["degradations"]}
    assert kinds == {"generation_unavailable"}
    assert "seven nights" in result["answer"]
    assert result["citations"][0]["support"] == "verified"


def test_with_the_server_down_retrieval_still_answers_and_says_so(
    harbour: tuple[str, Path],
) -> None:
    _, folder = harbour
    with OllamaServer() as gone:
        url = gone.base_url
    done = run(url, folder, "query", QUESTION)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert any("seven nights" in source["text"] for source in result["sources"])
    kinds = {d["kind"] for d in result["degradations"]}
    assert {"embedder_unavailable", "generation_unavailable"} <= kinds
    search = json.loads(run(url, folder, "search", QUESTION).stdout)
    assert search["sources"]


def test_doctor_names_what_is_missing(harbour: tuple[str, Path]) -> None:
    _, folder = harbour
    with OllamaServer(models=["nomic-embed-text:latest"]) as server:
        done = run(server.base_url, folder, "doctor")
    checks = {c["name"]: c for c in json.loads(done.stdout)["checks"]}
    assert checks["ollama embedder"]["level"] == "OK"
    assert checks["ollama writer"]["fix"] == "ollama pull smollm2:135m"
    assert done.returncode == 65


def test_another_embedder_than_the_collection_has_is_refused(
    harbour: tuple[str, Path],
) -> None:
    _, folder = harbour
    done = subprocess.run(
        [
            *(sys.executable, "-m", "elt_llm_core.cli", "query", QUESTION),
            *("--data-dir", str(folder / "data")),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 78
    assert "nomic-embed-text" in done.stderr
    assert "--rebuild" in done.stderr
