"""Answers in JSON: what is read, what is mended, and what is refused."""

import asyncio

import pytest
from llama_index.core.prompts import PromptTemplate
from ollama_server import Fault, OllamaServer
from pydantic import BaseModel, Field

from elt_llm_core.errors import AnswerShapeError
from elt_llm_core.models import LLMS
from elt_llm_core.models.structured import load_json, read_shape

GOOD = '{"part": "valve", "count": 3}'
ASK = PromptTemplate("Which part of {thing}?")


class Part(BaseModel):
    part: str
    count: int = Field(ge=0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Sure: {"questions": ["a"]} done', {"questions": ["a"]}),
        ("[1, 2]", [1, 2]),
        ("As [S1] says: [1]", [1]),
        ("none", None),
        ("{broken", None),
        ("[" * 100_000 + "]", None),
        ("[1," * 200 + "{", None),
    ],
)
def test_json_is_read_in_text(text, value):
    assert load_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f'<think>Perhaps {{"part": "pump", "count": 1}}?</think>{GOOD}',
        f"By [1] and [S2]: {GOOD} I hope that helps.",
        f'{{"note": "none"}} {GOOD}',
    ],
)
def test_what_stands_around_the_json_is_skipped(text):
    assert read_shape(text, Part) == Part(part="valve", count=3)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"part": "valve", "count": 3', "it holds no JSON"),
        ('{"part": "valve", "count": 3,}', "it holds no JSON"),
        ('{"part": "valve", "count": -1}', "count: Input should be greater"),
        ('{"part": "valve"}', "count: Field required"),
        (f"<think>{GOOD}", "it holds no JSON"),
    ],
)
def test_nothing_is_guessed(text, fault):
    with pytest.raises(AnswerShapeError, match=fault) as caught:
        read_shape(text, Part)
    assert caught.value.text == text


@pytest.fixture
def server():
    with OllamaServer() as running:
        yield running


def model(server):
    options = {"base_url": server.base_url, "llm_model": "smollm2:135m"}
    return LLMS.load("ollama", {**options, "num_predict": 100}).build()


def ask(llm):
    return llm.structured_predict(Part, ASK, thing="the SECRET pump")


def ask_async(llm):
    return asyncio.run(llm.astructured_predict(Part, ASK, thing="the SECRET pump"))


ways = pytest.mark.parametrize("way", [ask, ask_async])


@ways
@pytest.mark.network
def test_an_answer_of_another_shape_is_mended_once_without_its_sources(server, way):
    answers = iter(['{"part": "valve"}', GOOD])
    server.reply = lambda messages: next(answers)
    assert way(model(server)) == Part(part="valve", count=3)
    first, second = server.bodies("/api/chat")
    assert first["format"] == second["format"] == Part.model_json_schema()
    words = second["messages"][0]["content"]
    assert "count: Field required" in words
    assert '{"part": "valve"}' in words
    assert "SECRET" in first["messages"][0]["content"]
    assert "SECRET" not in words


@ways
@pytest.mark.network
def test_a_second_wrong_answer_is_refused_with_its_text(server, way):
    server.reply = lambda messages: "It is the valve."
    with pytest.raises(AnswerShapeError, match="'Part'") as caught:
        way(model(server))
    assert caught.value.text == "It is the valve."
    assert len(server.bodies("/api/chat")) == 2


@ways
@pytest.mark.network
def test_json_that_did_not_fit_is_asked_for_again_with_more_room(server, way):
    answers = iter(['{"part": "val', GOOD])
    server.reply = lambda messages: next(answers)
    server.script.append(Fault.LENGTH)
    assert way(model(server)).part == "valve"
    first, second = server.bodies("/api/chat")
    assert first["messages"] == second["messages"]
    rooms = [body["options"]["num_predict"] for body in (first, second)]
    assert rooms == [100, 200]
