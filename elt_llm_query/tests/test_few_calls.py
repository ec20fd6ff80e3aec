"""Every way to write an answer asks its model four times at most, and never again."""

import json
import re

import pytest
from ollama_server import Fault, OllamaServer

from elt_llm_core.config.sections import (
    ModelsSection,
    OllamaSection,
    QuerySection,
    RagConfig,
)
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import DegradationKind, Status
from elt_llm_core.store import Store
from elt_llm_core.strategy import Models
from elt_llm_core.testing import HashEmbedding
from elt_llm_query.prompts import REFUSAL
from elt_llm_query.query import query_collections
from elt_llm_query.stages import SYNTHESIZERS
from query_world import fill, make_document

pytestmark = pytest.mark.network

# Two ask no model.
MODES = sorted(SYNTHESIZERS.known().keys() - {"extractive", "excerpts"})
QUESTION = "Which harbours charge a fee for a berth?"
HARBOURS = "Alder Birch Cedar Dogwood Elder Fir Gorse Hazel Ivy".split()  # noqa: SIM905
FILLER = "The berth of a visiting boat is kept clean by those who use it. "


def said(number):
    return f"{HARBOURS[number]} Harbour charges a fee of {number + 11} crowns a berth."


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Three collections, each of three sources of some 250 tokens."""
    store = Store(tmp_path_factory.mktemp("harbours") / "data")
    texts = [f"{said(n)} {FILLER * 15}".strip() for n in range(len(HARBOURS))]
    content = {
        name: [make_document(name, [("Fees", text) for text in texts[at : at + 3]])]
        for at, name in enumerate(("east", "north", "south"))
        for at in (at * 3,)
    }
    fill(store, Models(HashEmbedding(), None), content)
    yield store
    store.close()


@pytest.fixture
def harbours(filled):
    """The store without the answers of other tests."""
    with filled.writer() as writer:
        writer.purge(journal=True)
    return filled


def quoting(messages):
    """What each source in the prompt says, with its label; JSON where it is wanted."""
    prompt = messages[-1]["content"]
    shown = prompt.partition("<sources ")[2]
    found = re.findall(r"\[(S\d+)\][^\[]*?(\w+ Harbour charges [^.]*\.)", shown)
    if "partial answers" in prompt:
        before = re.findall(r"(\w+ Harbour charges [^.\[]*?) \[(S\d+)\]", shown)
        found = [(label, f"{text}.") for text, label in before]
    if prompt.endswith("JSON:"):
        cited = [
            {"text": text, "citations": [{"source": label, "quote": text}]}
            for label, text in found
        ]
        return json.dumps({"statements": cited})
    earlier = re.findall(r"earlier sources: (.*)", prompt)
    said_here = [f"{text[:-1]} [{label}]." for label, text in found]
    return " ".join([*earlier, *said_here]) or REFUSAL


def ask(store, server, mode, window, reply=quoting, **query):
    server.reply = reply
    config = RagConfig(
        models=ModelsSection(llm_strategy="ollama"),
        ollama=OllamaSection(
            base_url=server.base_url, llm_model="smollm2:135m", context_window=window
        ),
        query=QuerySection(
            synthesizer_strategy=mode,
            use_tables=False,
            reranker_retrieve_k=9,
            reranker_top_k=9,
            **query,
        ),
    )
    models = Models(HashEmbedding(), build_models(config).llm)
    before = len(server.bodies("/api/chat"))
    result = query_collections(
        ["east", "north", "south"], QUESTION, store=store, config=config, models=models
    )
    return result, server.bodies("/api/chat")[before:]


@pytest.fixture
def server():
    with OllamaServer() as running:
        yield running


@pytest.mark.parametrize("window", [1024, 8192])
@pytest.mark.parametrize("mode", MODES)
def test_a_question_costs_four_calls_at_most_and_none_again(
    harbours, server, mode, window
):
    result, calls = ask(harbours, server, mode, window)
    assert 1 <= len(calls) <= 4
    assert result.trace.models.calls == len(calls)
    assert result.status is Status.ANSWERED
    assert len(result.citations) >= min(len(calls), 3)
    for call in calls:
        assert call["options"]["num_predict"] <= window // 4
    notes = [d for d in result.degradations if d.kind == "prompt_shortened"]
    assert bool(notes) == (window == 1024)
    assert mode == "simple_summarize" or not notes or "of 9 sources" in notes[0].detail
    again, calls = ask(harbours, server, mode, window)
    assert calls == []
    assert (again.answer, again.degradations) == (result.answer, result.degradations)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "reply",
    [
        lambda messages: "word " * 3000,
        lambda messages: "{",
        lambda messages: '{"statements": []}',
    ],
    ids=["endless", "broken", "empty"],
)
def test_whatever_a_model_says_it_is_asked_four_times_at_most(
    harbours, server, mode, reply
):
    _, calls = ask(harbours, server, mode, 1024, reply)
    assert 1 <= len(calls) <= 4


@pytest.mark.parametrize("mode", MODES)
def test_rewrites_count_and_leave_one_call(harbours, server, mode):
    _, calls = ask(
        harbours,
        server,
        mode,
        1024,
        transform_strategy=("terminology", "hyde"),
    )
    assert 3 <= len(calls) <= 4


def test_an_answer_that_was_cut_says_so_each_time(harbours, server):
    for calls in (1, 0):
        server.script.append(Fault.LENGTH)
        result, made = ask(harbours, server, "compact", 8192)
        server.script.clear()
        assert len(made) == calls
        assert DegradationKind.ANSWER_CUT in {d.kind for d in result.degradations}


def test_collections_are_answered_one_by_one_and_then_together(harbours, server):
    result, calls = ask(harbours, server, "map_reduce", 8192)
    asked = [call["messages"][-1]["content"] for call in calls]
    shown = [set(re.findall(r"(\w+) Harbour charges", prompt)) for prompt in asked]
    assert sorted(map(sorted, shown[:3])) == [
        HARBOURS[0:3],
        HARBOURS[3:6],
        HARBOURS[6:9],
    ]
    assert shown[3] == set(HARBOURS)
    assert [said(n)[:-1] in result.answer for n in range(9)] == [True] * 9
