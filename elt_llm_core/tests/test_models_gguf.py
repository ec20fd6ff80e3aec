import asyncio
import importlib
import importlib.util
import sys
from types import ModuleType, SimpleNamespace

import pytest
from llama_index.core.prompts import PromptTemplate
from pydantic import BaseModel

from elt_llm_core.config.sections import GatewaySection, RagConfig
from elt_llm_core.errors import (
    AbandonedError,
    BudgetSpentError,
    ConfigError,
    MissingExtraError,
    ModelError,
    PromptTruncatedError,
)
from elt_llm_core.models import LLMS
from elt_llm_core.models.factory import build_models
from elt_llm_core.models.gateway.kept_answers import keep_answers
from elt_llm_core.models.gateway.spending import open_account
from elt_llm_core.patience import Patience

DONE = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
TOO_LONG = {
    "error": {"code": 400, "message": "request exceeds the available context size"}
}


class Part(BaseModel):
    part: str


class Engine:
    """The calls we make of xllamacpp.Server."""

    def __init__(self, settings):
        self.settings = settings
        self.pushed = 0

    def handle_chat_completions(self, body, take=None):
        prompt = body["messages"][-1]["content"]
        if prompt == "too long":
            return TOO_LONG
        if prompt == "broken":
            raise RuntimeError("decode failed")
        if take is None:
            message = {"role": "assistant", "content": "two words"}
            return {"choices": [{"message": message, "finish_reason": "stop"}]}
        words = ["two ", "words"] if prompt != "endless" else ["word "] * 100_000
        for word in words:
            self.pushed += 1
            if take({"choices": [{"delta": {"content": word}}]}):
                return None
        take(DONE)
        return None


@pytest.fixture
def gguf(monkeypatch, tmp_path):
    package = ModuleType("xllamacpp")
    package.Server = Engine
    package.CommonParams = lambda: SimpleNamespace(
        model=SimpleNamespace(),
        cpuparams=SimpleNamespace(),
        cpuparams_batch=SimpleNamespace(),
    )
    monkeypatch.setitem(sys.modules, "xllamacpp", package)
    monkeypatch.delitem(sys.modules, "elt_llm_core.models.gguf", raising=False)
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    yield LLMS.load("gguf", {"model_path": str(tmp_path / "model.gguf"), "threads": 2})
    sys.modules.pop("elt_llm_core.models.gguf", None)


def streamed_async(llm, text):
    async def read():
        return [part.delta async for part in await llm.astream_complete(text)]

    return "".join(asyncio.run(read()))


ways = pytest.mark.parametrize(
    "way",
    [
        lambda llm, text: llm.complete(text).text,
        lambda llm, text: asyncio.run(llm.acomplete(text)).text,
        lambda llm, text: "".join(part.delta for part in llm.stream_complete(text)),
        streamed_async,
    ],
)


@ways
def test_every_way_of_asking_brings_the_answer(gguf, way):
    assert way(gguf.build(), "How many?") == "two words"


@ways
@pytest.mark.parametrize(
    ("prompt", "error"), [("too long", PromptTruncatedError), ("broken", ModelError)]
)
def test_each_failure_is_told_apart(gguf, way, prompt, error):
    with pytest.raises(error) as caught:
        way(gguf.build(), prompt)
    assert type(caught.value) is error


def test_the_engine_is_locked_quiet_and_small(gguf):
    settings = [gguf.build()._engine.server().settings for _ in range(2)]
    assert settings[0].api_keys != settings[1].api_keys
    assert len(settings[0].api_keys[0]) == 64
    assert (settings[0].cache_ram_mib, settings[0].verbosity) == (256, -1)
    assert (settings[0].n_ctx, settings[0].n_parallel) == (4096, 1)
    assert settings[0].cpuparams.n_threads == 2


def test_the_model_is_loaded_once_and_when_it_is_asked(gguf, monkeypatch):
    opened = []

    def broken(settings):
        opened.append(settings)
        raise RuntimeError("Failed to init server")

    llm = gguf.build()
    short = llm.model_copy(update={"num_predict": 20})
    assert short.complete("How many?").text == "two words"
    assert short._engine.server() is llm._engine.server()
    monkeypatch.setattr(sys.modules["xllamacpp"], "Server", broken)
    llm = gguf.build()
    assert opened == []
    with pytest.raises(ModelError, match="cannot load the model"):
        llm.complete("How many?")


def test_leaving_a_stream_stops_the_engine(gguf):
    llm = gguf.build()
    stream = llm.stream_complete("endless")
    next(stream)
    stream.close()
    assert llm._engine.server().pushed < 100_000


def test_a_missing_file_is_a_mistake_in_the_configuration(gguf, tmp_path):
    absent = gguf.model_copy(update={"model_path": tmp_path / "absent.gguf"})
    with pytest.raises(ConfigError, match="model_path"):
        absent.build()


@pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is not None, reason="the extra is installed"
)
def test_without_the_extra_the_door_says_how_to_get_it():
    sys.modules.pop("elt_llm_core.models.gguf", None)
    with pytest.raises(MissingExtraError, match="uv sync --inexact --extra llm"):
        LLMS.load("gguf", {"model_path": "model.gguf"})


def test_a_schema_is_sent_as_the_response_format(gguf, monkeypatch):
    asked = []

    def reply(self, body):
        asked.append(body)
        message = {"role": "assistant", "content": '{"part": "valve"}'}
        return {"choices": [{"message": message, "finish_reason": "stop"}]}

    monkeypatch.setattr(Engine, "handle_chat_completions", reply)
    llm = gguf.build()
    answer = llm.structured_predict(Part, PromptTemplate("Which part?"))
    assert answer == Part(part="valve")
    wanted = {"name": "Part", "schema": Part.model_json_schema()}
    assert asked[0]["response_format"] == {"type": "json_schema", "json_schema": wanted}


class Kept(dict):
    """A journal in memory."""

    def put(self, run, key, ordinal, item, *, result):
        self[key] = result


def through_gateway(gguf, **gateway):
    """The model as a configuration gives it."""
    options = {"model_path": str(gguf.model_path), "threads": 2}
    config = {
        "models": {"llm_strategy": "gguf", "llm_options": options},
        "gateway": gateway,
    }
    return build_models(RagConfig.model_validate(config)).llm


@ways
def test_a_call_is_counted_and_held_to_its_budget(gguf, way):
    llm = through_gateway(gguf, question_calls=1)
    limits = GatewaySection(question_calls=1)
    with open_account("question", limits) as account:
        assert way(llm, "How many?") == "two words"
        with pytest.raises(BudgetSpentError):
            way(llm, "How many more?")
    assert account.used.calls == 1


def test_an_answer_is_kept_until_the_file_is_another_one(gguf):
    llm = through_gateway(gguf)
    with keep_answers(Kept()), open_account("job", GatewaySection()) as account:
        assert llm.complete("How many?").text == "two words"
        assert asyncio.run(llm.acomplete("How many?")).text == "two words"
        assert account.used.calls == 1
        gguf.model_path.write_bytes(b"GGUF of another training")
        assert llm.complete("How many?").text == "two words"
    assert account.used.calls == 2


def test_an_asker_that_left_stops_the_engine(gguf):
    llm, patience = through_gateway(gguf), Patience()
    with patience.apply():
        stream = llm.stream_complete("endless")
        next(stream)
        patience.abandon()
        with pytest.raises(AbandonedError):
            list(stream)
    assert llm._engine.server().pushed < 100_000


def test_a_file_that_cannot_be_read_has_no_digest(gguf):
    llm = gguf.build()
    gguf.model_path.unlink()
    with pytest.raises(ModelError, match="cannot read the model file"):
        _ = llm.model_digest
