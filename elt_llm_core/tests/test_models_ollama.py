import asyncio
import socket
import time

import numpy as np
import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from ollama_server import Fault, OllamaServer
from pydantic import BaseModel

from elt_llm_core.config.sections import RagConfig
from elt_llm_core.errors import (
    BrokenAnswerError,
    ConfigError,
    EmbedError,
    ModelBusyError,
    ModelError,
    ModelMissingError,
    ModelTimeoutError,
    ModelUnavailableError,
    PromptTruncatedError,
)
from elt_llm_core.models import EMBEDDERS, LLMS, as_counting
from elt_llm_core.models.factory import build_models
from elt_llm_core.models.http import client_options, hide_credentials
from elt_llm_core.models.ollama import (
    CheckedOllama,
    OllamaChat,
    OllamaEmbedder,
    canonical,
    check_ollama_connection,
    server_status,
)
from elt_llm_core.testing import HashEmbedding

LONG = "the pump is checked every week and the valve every month " * 200
SILENT = {Fault.SLOW_FIRST_TOKEN, Fault.STALL}
ASK = [ChatMessage(role="user", content="What is checked?")]


@pytest.fixture
def server():
    embedder = HashEmbedding(dimension=32, max_tokens=400)
    with OllamaServer(embedder=embedder, silence=3.0) as running:
        yield running


def chat(server, **options) -> CheckedOllama:
    options = {"llm_model": "smollm2:135m", "request_timeout": 20.0, **options}
    return OllamaChat(base_url=server.base_url, **options).build()


def embedding(server, **options):
    options = {"request_timeout": 20.0, **options}
    return OllamaEmbedder(base_url=server.base_url, **options).build()


def whole(llm, text="What is checked?"):
    return llm.chat([ChatMessage(role="user", content=text)]).message.content


def streamed(llm, text="What is checked?"):
    return list(llm.stream_chat([ChatMessage(role="user", content=text)]))[
        -1
    ].message.content


def whole_async(llm, text="What is checked?"):
    message = ChatMessage(role="user", content=text)
    return asyncio.run(llm.achat([message])).message.content


def streamed_async(llm, text="What is checked?"):
    async def read():
        stream = await llm.astream_chat([ChatMessage(role="user", content=text)])
        return [part async for part in stream][-1].message.content

    return asyncio.run(read())


ways = pytest.mark.parametrize("way", [whole, streamed, whole_async, streamed_async])


@ways
def test_every_way_of_asking_sends_the_same_request_and_brings_the_answer(server, way):
    server.reply = lambda messages: "the pump and the valve"
    assert way(chat(server)) == "the pump and the valve"
    (body,) = server.bodies("/api/chat")
    assert body == {
        "model": "smollm2:135m",
        "messages": [{"role": "user", "content": "What is checked?"}],
        "tools": [],
        "stream": way in {streamed, streamed_async},
        "think": False,
        "keep_alive": "30m",
        "options": {
            "num_ctx": 8192,
            "num_predict": 1024,
            "seed": 0,
            "temperature": 0.0,
        },
    }


@ways
@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (Fault.SLOW_FIRST_TOKEN, ModelTimeoutError, "sent nothing for 0.15 s"),
        (Fault.CLOSE, BrokenAnswerError, "broke: "),
        (Fault.NO_DONE, BrokenAnswerError, "the stream ended early"),
        (
            Fault.MODEL_MISSING,
            ModelMissingError,
            "it has: nomic-embed-text:latest, smo",
        ),
        (Fault.BUSY, ModelBusyError, "busy .*fewer requests"),
        (Fault.NAN, ModelError, "500"),
        (Fault.TOO_LONG, PromptTruncatedError, "context_window"),
        (Fault.MALFORMED, ModelError, "cannot be read"),
        (Fault.STALL, ModelTimeoutError, "sent nothing"),
    ],
)
def test_each_failure_of_a_chat_is_told_apart(server, way, fault, error, words):
    server.script.append(fault)
    patience = 0.15 if fault in SILENT else 20.0
    with pytest.raises(error, match=words) as caught:
        way(chat(server, request_timeout=patience))
    assert type(caught.value) is error


@ways
def test_a_prompt_that_the_server_cut_is_never_an_answer(server, way):
    llm = chat(server, context_window=2048)
    with pytest.raises(PromptTruncatedError, match="read 1026 tokens"):
        way(llm, LONG)


@ways
def test_a_prompt_near_half_the_window_is_an_answer(server, way):
    server.reply = lambda messages: "yes"
    half = LONG[: 4098 * 4]
    assert way(chat(server), half) == "yes"


@ways
def test_nobody_there_says_how_to_start_it(way):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        llm = OllamaChat(base_url=url, llm_model="smollm2").build()
        with pytest.raises(ModelUnavailableError, match="ollama serve"):
            way(llm)


def test_parts_come_before_the_answer_ends(server):
    server.reply = lambda messages: "one two three"
    server.pause = 0.05
    parts = chat(server).stream_complete("Count.")
    assert [part.delta for part in parts] == ["one ", "two ", "three", ""]


def test_leaving_an_async_stream_stops_the_server(server):
    server.reply = lambda messages: "word " * 500
    server.pause = 0.02

    async def leave_early():
        async for part in await chat(server).astream_chat(ASK):
            if len(part.message.content) > 10:
                return

    asyncio.run(leave_early())
    deadline = time.monotonic() + 3
    while not server.aborted and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.aborted == 1


def test_one_component_serves_several_event_loops(server):
    llm = chat(server)
    for _ in range(2):
        assert asyncio.run(llm.acomplete("Hello")).text == "Hello"


def test_a_schema_is_sent_as_the_format(server):
    class Answer(BaseModel):
        part: str

    server.reply = lambda messages: '{"part": "valve"}'
    found = chat(server).structured_predict(Answer, PromptTemplate("Which part?"))
    assert found == Answer(part="valve")
    (body,) = server.bodies("/api/chat")
    assert body["format"]["properties"] == {"part": {"title": "Part", "type": "string"}}


def test_the_answer_length_is_in_the_metadata_and_the_digest_is_asked_once(server):
    llm = chat(server, num_predict=77, context_window=4096)
    assert (llm.metadata.num_output, llm.metadata.context_window) == (77, 4096)
    assert llm.model_digest == llm.model_digest
    assert [request.path for request in server.requests] == ["/api/tags"]
    with pytest.raises(ModelMissingError, match="ollama pull absent"):
        _ = chat(server, llm_model="absent").model_digest


def test_an_embedding_request_states_everything_and_carries_the_prompts(server):
    model = embedding(server)
    model.embed_array(["a pump"])
    model.get_query_embedding("which pump?")
    asyncio.run(model.aget_text_embedding("a valve"))
    bodies = server.bodies("/api/embed")
    common = {
        "model": "nomic-embed-text",
        "truncate": False,
        "options": {"num_ctx": 400},
        "keep_alive": "30m",
    }
    assert bodies == [
        {**common, "input": ["search_document: a pump"]},
        {**common, "input": ["search_query: which pump?"]},
        {**common, "input": ["search_document: a valve"]},
    ]
    assert len(server.bodies("/api/show")) == 1


def test_texts_go_in_batches_and_come_back_in_order(server):
    texts = [f"pump number {number}" for number in range(35)]
    vectors = embedding(server).embed_array(texts)
    sizes = [len(body["input"]) for body in server.bodies("/api/embed")]
    assert sizes == [16, 16, 3]
    prompted = [f"search_document: {text}" for text in texts]
    expected = server.embedder.embed_array(prompted)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (Fault.SLOW_FIRST_TOKEN, ModelTimeoutError, "sent nothing"),
        (Fault.MODEL_MISSING, ModelMissingError, "ollama pull nomic-embed-text"),
        (Fault.NAN, EmbedError, "returned NaN"),
        (Fault.BUSY, ModelBusyError, "busy"),
        (Fault.TOO_LONG, EmbedError, "longer than 'nomic-embed-text' reads"),
        (Fault.MALFORMED, ModelError, "cannot be read"),
        (Fault.WRONG_DIMENSION, EmbedError, r"vectors of \[31\] numbers, not 32"),
        (Fault.FEWER_VECTORS, EmbedError, "1 vectors for 2 texts"),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_each_failure_of_an_embedding_is_told_apart(
    server, fault, error, words, asynchronous
):
    model = embedding(server, request_timeout=0.4 if fault in SILENT else 20.0)
    assert model.dimension == 32
    server.script.append(fault)
    embed = model.get_text_embedding_batch
    if asynchronous:

        def embed(texts):
            return asyncio.run(model.aget_text_embedding_batch(texts))

    with pytest.raises(error, match=words) as caught:
        embed(["a pump", "a valve"])
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("number", "words"), [(float("nan"), "NaN"), (0.0, "length zero")]
)
def test_a_vector_that_is_none_is_refused(server, number, words, monkeypatch):
    monkeypatch.setattr(server, "vectors", lambda texts, fault: [[number] * 8])
    with pytest.raises(EmbedError, match=words):
        embedding(server).embed_array(["a pump"])


def test_a_text_over_the_window_is_refused_by_the_server_and_never_cut(server):
    with pytest.raises(EmbedError, match="split it"):
        embedding(server).embed_array([LONG])


def test_an_embedder_counts_and_knows_its_limit(server):
    model = as_counting(embedding(server))
    assert model.max_tokens == 400 - 64
    assert model.count_tokens("The valve is open.") >= 6
    assert model.prompt_known
    assert len(model.digest) == 64
    assert model.digest == embedding(server).digest
    assert model.digest != embedding(server, embedding_model="smollm2:135m").digest
    assert not embedding(server, embedding_model="smollm2:135m").prompt_known


def test_the_status_names_what_runs_there(server):
    status = check_ollama_connection(server.base_url)
    assert status.version == "0.17.1"
    assert status.models == ("nomic-embed-text:latest", "smollm2:135m")
    assert [(m.name, m.context_length) for m in status.loaded] == [
        ("smollm2:135m", 8192)
    ]


def test_a_server_that_does_not_answer_is_a_status_not_an_error():
    status = server_status("http://127.0.0.1:9")
    assert not status.reachable
    assert status.detail
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1:9"):
        check_ollama_connection("http://127.0.0.1:9")


def test_a_name_without_a_tag_means_the_latest():
    assert canonical("smollm2") == "smollm2:latest"
    assert canonical("host:5000/owner/model") == "host:5000/owner/model:latest"


def test_every_silence_has_a_limit_and_secrets_stay_out_of_messages():
    timeout = client_options("http://localhost:11434", 7.0)["timeout"]
    assert timeout.as_dict() == {"connect": 3.0, "read": 7.0, "write": 7.0, "pool": 7.0}
    assert hide_credentials("https://me:secret@host:1/v1?key=x") == "https://host:1/v1"


def test_the_door_knows_the_options():
    assert isinstance(LLMS.load("ollama", {"llm_model": "x"}), OllamaChat)
    assert isinstance(EMBEDDERS.load("ollama"), OllamaEmbedder)
    assert LLMS.load("none").build() is None
    with pytest.raises(ConfigError, match="its options: base_url, context_window"):
        LLMS.load("ollama", {"llm_model": "x", "num_ctx": 1})
    with pytest.raises(ConfigError, match="llm_model"):
        LLMS.load("ollama")


def configured(server, models, section):
    """The models of a configuration that names this server."""
    section = {"base_url": server.base_url, "llm_model": "smollm2:135m", **section}
    models = {"llm_strategy": "ollama", "embedder_strategy": "ollama", **models}
    return build_models(RagConfig.model_validate({"models": models, "ollama": section}))


@pytest.mark.parametrize(
    ("key", "value", "sent"),
    [
        ("temperature", 0.5, ["options", "temperature"]),
        ("seed", 7, ["options", "seed"]),
        ("num_predict", 9, ["options", "num_predict"]),
        ("context_window", 4096, ["options", "num_ctx"]),
        ("keep_alive", "1m", ["keep_alive"]),
        ("thinking", True, ["think"]),
        ("llm_model", "smollm2:135m", ["model"]),
    ],
)
def test_a_setting_of_the_section_reaches_the_server(server, key, value, sent):
    configured(server, {}, {key: value}).llm.complete("What is checked?")
    (found,) = server.bodies("/api/chat")
    for part in sent:
        found = found[part]
    assert found == value
    assert getattr(RagConfig().ollama, key) != value


def test_the_options_of_the_strategy_win_over_the_section(server):
    models = {"llm_options": {"temperature": 0.7}}
    configured(server, models, {"temperature": 0.5}).llm.complete("What is checked?")
    (body,) = server.bodies("/api/chat")
    assert body["options"]["temperature"] == 0.7


def test_texts_go_in_batches_of_the_configured_size(server):
    models = configured(server, {}, {"embed_batch_size": 2})
    models.embedder.embed_array(["one", "two", "three"])
    sizes = [len(body["input"]) for body in server.bodies("/api/embed")]
    assert sizes == [2, 1]


def test_the_options_of_the_embedder_win_over_the_section(server):
    models = configured(
        server, {"embedder_options": {"embed_batch_size": 1}}, {"embed_batch_size": 2}
    )
    models.embedder.embed_array(["one", "two"])
    sizes = [len(body["input"]) for body in server.bodies("/api/embed")]
    assert sizes == [1, 1]


@pytest.mark.parametrize("model", ["nomic-embed-text", "smollm2:135m"])
def test_the_embedding_model_of_the_section_is_asked(server, model):
    configured(server, {}, {"embedding_model": model}).embedder.embed_array(["one"])
    (body,) = server.bodies("/api/embed")
    assert body["model"] == model
