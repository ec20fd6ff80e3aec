"""Models by role, and the next model where one fails."""

import asyncio
import base64
import io

import pytest
from llama_index.core.base.llms.types import ImageBlock, TextBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from ollama_server import Fault, OllamaServer
from PIL import Image
from pydantic import BaseModel

from elt_llm_core.config.loader import with_models
from elt_llm_core.config.sections import GatewaySection, ModelsSection, RagConfig
from elt_llm_core.doctor.machine import check_models
from elt_llm_core.doctor.report import Level
from elt_llm_core.errors import BudgetSpentError, ModelError, ModelUnavailableError
from elt_llm_core.models.bounds import SILENCES
from elt_llm_core.models.factory import LateModels, build_models
from elt_llm_core.models.gateway import spending
from elt_llm_core.testing import HashEmbedding, ScriptedLLM

pytestmark = pytest.mark.network
ASK = [ChatMessage(role="user", content="What is checked?")]
_BUFFER = io.BytesIO()
Image.new("RGB", (8, 8), "red").save(_BUFFER, "PNG")
PNG = _BUFFER.getvalue()


@pytest.fixture(autouse=True)
def _no_silences():
    yield
    SILENCES._until.clear()
    SILENCES._failures.clear()


@pytest.fixture
def server():
    with OllamaServer(embedder=HashEmbedding(), models=("first", "next")) as running:
        yield running


def choice(name, **options):
    return {"strategy": "ollama", "options": {"llm_model": name, **options}}


def config(server, roles, model="first", **gateway):
    return RagConfig.model_validate(
        {
            "models": {"llm_strategy": "ollama"},
            "ollama": {"base_url": server.base_url, "llm_model": model},
            "roles": roles,
            "gateway": {"retries": 0, **gateway},
        }
    )


def names(server):
    return [body["model"] for body in server.bodies("/api/chat")]


async def _astreamed(llm):
    return [part async for part in await llm.astream_chat(ASK)][-1].message.content


async def _acompleted(llm):
    return [part async for part in await llm.astream_complete("Why?")][-1].text


WAYS = {
    "chat": lambda llm: llm.chat(ASK).message.content,
    "achat": lambda llm: asyncio.run(llm.achat(ASK)).message.content,
    "stream": lambda llm: list(llm.stream_chat(ASK))[-1].message.content,
    "astream": lambda llm: asyncio.run(_astreamed(llm)),
    "complete": lambda llm: llm.complete("Why?").text,
    "acomplete": lambda llm: asyncio.run(llm.acomplete("Why?")).text,
    "stream_complete": lambda llm: list(llm.stream_complete("Why?"))[-1].text,
    "astream_complete": lambda llm: asyncio.run(_acompleted(llm)),
    "predict": lambda llm: llm.predict(PromptTemplate("Why?")),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_next_model_answers_where_the_first_fails(server, way):
    server.reply = lambda messages: "because"
    server.script.append(Fault.BUSY)
    llm = build_models(config(server, {"answer": [choice("next")]})).llm
    with spending.open_account("question", GatewaySection()) as account:
        assert way(llm) == "because"
    assert names(server) == ["first", "next"]
    assert "'first' failed (the model server" in account.fallbacks[0]
    assert "503" in account.fallbacks[0]
    assert way(llm) == "because"
    assert names(server)[2:] == ["first"]


def test_a_model_of_another_server_takes_over(server):
    with OllamaServer() as gone:
        pass
    roles = {"answer": [choice("next", base_url=server.base_url)]}
    llm = build_models(config(gone, roles)).llm
    assert WAYS["chat"](llm) == "What is checked?"
    assert names(server) == ["next"]


def test_the_failure_of_the_last_model_is_raised(server):
    with OllamaServer() as gone:
        pass
    server.script.append(Fault.MALFORMED)
    roles = {"answer": [choice("absent"), choice("next", base_url=gone.base_url)]}
    with pytest.raises(ModelUnavailableError):
        WAYS["chat"](build_models(config(server, roles)).llm)


def test_a_spent_budget_asks_no_further_model(server):
    made = build_models(config(server, {"answer": [choice("next")]}, question_calls=1))
    with spending.open_account("question", GatewaySection(question_calls=1)):
        WAYS["chat"](made.llm)
        with pytest.raises(BudgetSpentError):
            WAYS["chat"](made.llm)
    assert names(server) == ["first"]


def test_settings_reach_every_model_that_knows_them(server):
    llm = build_models(config(server, {"answer": [choice("next")]})).llm
    server.script.append(Fault.BUSY)
    WAYS["chat"](llm.model_copy(update={"num_predict": 7, "temperature": 0.0}))
    limits = [body["options"]["num_predict"] for body in server.bodies("/api/chat")]
    assert limits == [7, 7]
    assert llm.metadata.model_name == "first"
    assert len(llm.model_digest) == 64


class Shape(BaseModel):
    n: int


def test_a_shape_is_asked_of_the_next_model_too(server):
    server.reply = lambda messages: '{"n": 3}'
    server.script.append(Fault.BUSY)
    llm = build_models(config(server, {"answer": [choice("next")]})).llm
    assert llm.structured_predict(Shape, PromptTemplate("How many?")) == Shape(n=3)
    assert all(body["format"] for body in server.bodies("/api/chat"))
    assert names(server) == ["first", "next"]


@pytest.mark.parametrize("role", ["rewrite", "judge"])
@pytest.mark.parametrize("build", [build_models, LateModels])
def test_a_role_has_models_of_its_own(server, role, build):
    made = build(config(server, {role: [choice("absent"), choice("next")]}))
    other = {"rewrite": "judge", "judge": "rewrite"}[role]
    WAYS["chat"](made.llm_for(role))
    assert names(server) == ["absent", "next"]
    assert made.llm_for(other) is made.llm
    assert made.llm.metadata.model_name == "first"


@pytest.mark.parametrize("build", [build_models, LateModels])
def test_the_answering_model_is_no_model_of_vision(server, build):
    assert build(config(server, {})).vision is None
    made = build(config(server, {"vision": [choice("absent"), choice("next")]}))
    picture = ImageBlock(image=PNG, image_mimetype="image/png")
    blocks = [TextBlock(text="What is it?"), picture]
    server.capabilities = ["vision"]
    answer = made.vision.chat([ChatMessage(role="user", blocks=blocks)])
    assert answer.message.content == "What is it?"
    (body,) = server.bodies("/api/chat")
    assert base64.b64decode(body["messages"][0]["images"][0]) == PNG
    assert body["model"] == "next"


def test_a_model_without_vision_gets_no_picture(server):
    picture = ImageBlock(image=PNG, image_mimetype="image/png")
    asked = [ChatMessage(role="user", blocks=[picture])]
    with pytest.raises(ModelError, match="'first' reads no pictures"):
        build_models(config(server, {})).llm.chat(asked)
    assert server.bodies("/api/chat") == []
    server.capabilities = []  # an old server does not say
    assert build_models(config(server, {})).llm.chat(asked)


def test_doctor_names_a_model_of_vision_that_the_server_lacks(server):
    roles = {"vision": [choice("absent"), choice("next"), choice("far", base_url="x")]}
    for strategy in ("ollama", "none"):
        made = config(server, roles).model_copy(
            update={"models": ModelsSection(llm_strategy=strategy)}
        )
        checks = [c for c in check_models(made) if c.name == "ollama vision"]
        assert [(c.level, c.fix) for c in checks] == [
            (Level.FAIL, "ollama pull absent"),
            (Level.OK, ""),
        ]


def test_a_choice_of_models_leaves_no_model_of_a_role(server):
    chosen = with_models(config(server, {"rewrite": [choice("next")]}), "embedded")
    made = build_models(chosen)
    assert made.llm is None
    assert made.llm_for("rewrite") is None


def test_an_error_that_is_not_the_models_is_not_taken_over():
    from elt_llm_core.models.gateway.fallback import FallbackLLM

    llm = FallbackLLM([ScriptedLLM([ValueError("ours")]), ScriptedLLM(["x"])])
    with pytest.raises(ValueError, match="ours"):
        llm.complete("a")
    llm = FallbackLLM([ScriptedLLM([ModelError("theirs")]), ScriptedLLM(["x"])])
    assert llm.complete("a").text == "x"
