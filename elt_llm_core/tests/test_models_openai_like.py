import asyncio
import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from llama_index.core.base.llms.types import ImageBlock, TextBlock
from llama_index.core.llms import ChatMessage

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
from elt_llm_core.models.openai_like import OpenAILikeChat, OpenAILikeEmbedder

USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


class Handler(BaseHTTPRequestHandler):
    """Answers what `server.outcome` says, and keeps what it was asked."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.answer(200, {"data": [{"id": "served-model"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, body, self.headers.get("Authorization")))
        outcome = self.server.outcome
        if outcome == "silent":
            self.server.leaving.wait(3)
        elif isinstance(outcome, int):
            self.answer(outcome, {"error": {"message": self.server.words}})
        elif self.path.endswith("/embeddings"):
            self.embeddings(body, outcome)
        elif outcome == "malformed":
            self.send(200, b"<html>")
        elif body["stream"]:
            self.stream(outcome)
        else:
            message = {"role": "assistant", "content": "two words"}
            choices = [{"message": message, "finish_reason": "stop"}]
            choices = [] if outcome == "cut" else choices
            self.answer(200, {"choices": choices, "usage": USAGE})

    def embeddings(self, body, outcome):
        rows = [
            {"index": i, "embedding": [1.0, float(len(text))]}
            for i, text in enumerate(body["input"])
        ]
        self.answer(200, {"data": rows[:-1] if outcome == "fewer" else rows[::-1]})

    def stream(self, outcome):
        events = [
            {"choices": [{"delta": {"role": "assistant", "content": None}}]},
            {"choices": [{"delta": {"content": "two "}}]},
            {"choices": [{"delta": {"content": "words"}}]},
        ]
        if outcome == "error":
            events.append({"error": {"message": "out of memory"}})
        if outcome != "cut":
            events.append({"choices": [{"delta": {}, "finish_reason": "stop"}]})
            events.append({"choices": [], "usage": USAGE})
        lines = [f"data: {json.dumps(event)}\n\n" for event in events]
        text = ": a comment\n\n" + "".join(lines)
        self.send(200, (text + "data: [DONE]\n\n" * (outcome != "cut")).encode())

    def answer(self, status, body):
        self.send(status, json.dumps(body).encode())

    def send(self, status, data):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server():
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.seen, http.outcome, http.words = [], "fine", "it went wrong"
    http.leaving = threading.Event()
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    http.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    yield http
    http.leaving.set()
    http.shutdown()
    thread.join()
    http.server_close()


def chat(server, **options):
    options = {"llm_model": "small", "request_timeout": 20.0, **options}
    return OpenAILikeChat(base_url=server.url, **options).build()


def embedding(server, **options):
    options = {"embedding_model": "nomic-embed-text", **options}
    return OpenAILikeEmbedder(base_url=server.url, **options).build()


def whole(llm, text="How many?"):
    return llm.chat([ChatMessage(role="user", content=text)]).message.content


def streamed(llm, text="How many?"):
    return "".join(part.delta for part in llm.stream_complete(text))


def whole_async(llm, text="How many?"):
    return asyncio.run(llm.acomplete(text)).text


def streamed_async(llm, text="How many?"):
    async def read():
        return [part.delta async for part in await llm.astream_complete(text)]

    return "".join(asyncio.run(read()))


ways = pytest.mark.parametrize("way", [whole, streamed, whole_async, streamed_async])


@ways
def test_every_way_of_asking_sends_the_same_request(server, way):
    assert way(chat(server, api_key="sesame", num_predict=50)) == "two words"
    ((path, body, authorization),) = server.seen
    assert path == "/v1/chat/completions"
    assert authorization == "Bearer sesame"
    body.pop("stream_options", None)
    assert body.pop("stream") == (way in {streamed, streamed_async})
    assert body == {
        "model": "small",
        "messages": [{"role": "user", "content": "How many?"}],
        "max_tokens": 50,
        "temperature": 0.0,
    }


def test_a_picture_is_a_part_of_the_message(server):
    picture = ImageBlock(image=b"\x89PNG 1", image_mimetype="image/png")
    blocks = [TextBlock(text="What is it?"), picture]
    chat(server).chat([ChatMessage(role="user", blocks=blocks)])
    ((_, body, _),) = server.seen
    (message,) = body["messages"]
    text, shown = message["content"]
    assert text == {"type": "text", "text": "What is it?"}
    head, data = shown["image_url"]["url"].split(",")
    assert (shown["type"], head) == ("image_url", "data:image/png;base64")
    assert base64.b64decode(data) == b"\x89PNG 1"


@ways
@pytest.mark.parametrize(
    ("outcome", "words", "error", "said"),
    [
        (404, "no such model", ModelMissingError, "it has: served-model"),
        (503, "queue is full", ModelBusyError, "busy"),
        (401, "who are you", ModelError, "api_key"),
        (500, "it went wrong", ModelError, "it went wrong"),
        (400, "exceeds the context length", PromptTruncatedError, "context_window"),
        ("cut", "", BrokenAnswerError, "the stream ended early"),
        ("malformed", "", ModelError, "ended early|cannot be read"),
    ],
)
def test_each_failure_is_told_apart(server, way, outcome, words, error, said):
    server.outcome, server.words = outcome, words
    with pytest.raises(error, match=said) as caught:
        way(chat(server))
    # A stream without an event that can be read is one that ended early.
    broken = outcome == "malformed" and way in {streamed, streamed_async}
    assert type(caught.value) is (BrokenAnswerError if broken else error)


@ways
def test_silence_has_a_limit(server, way):
    server.outcome = "silent"
    with pytest.raises(ModelTimeoutError, match=r"sent nothing for 0\.3 s"):
        way(chat(server, request_timeout=0.3))


@pytest.mark.parametrize("way", [streamed, streamed_async])
def test_an_error_within_a_stream_is_an_error(server, way):
    server.outcome = "error"
    with pytest.raises(ModelError, match="out of memory"):
        way(chat(server))


@ways
def test_a_prompt_of_which_little_was_read_is_never_an_answer(server, way):
    with pytest.raises(PromptTruncatedError, match="read 9 tokens"):
        way(chat(server), "the pump is checked every week " * 400)


@ways
def test_nobody_there_is_said(way):
    llm = OpenAILikeChat(base_url="http://127.0.0.1:9/v1", llm_model="x").build()
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1:9"):
        way(llm)


def test_the_key_is_in_no_message_and_no_payload(server):
    strategy = OpenAILikeChat(base_url=server.url, llm_model="x", api_key="sesame")
    llm = strategy.build()
    assert "sesame" not in repr(strategy) + repr(llm) + str(llm.to_payload())


def test_vectors_are_put_in_order_and_at_unit_length(server):
    model = embedding(server, embed_batch_size=2)
    vectors = model.embed_array(["a", "bbb", "cc"])
    assert [body["input"] for _, body, _ in server.seen] == [
        ["search_document: a", "search_document: bbb"],
        ["search_document: cc"],
    ]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    lengths = vectors[:, 1] / vectors[:, 0]
    np.testing.assert_allclose(lengths, [18, 20, 19], rtol=1e-5)
    asyncio.run(model.aget_query_embedding("which?"))
    assert server.seen[-1][1]["input"] == ["search_query: which?"]


@pytest.mark.parametrize(
    ("outcome", "words", "error"),
    [
        ("fewer", "", EmbedError),
        (400, "input length exceeds context size", EmbedError),
        (503, "busy", ModelError),
    ],
)
def test_each_failure_of_an_embedding_is_told_apart(server, outcome, words, error):
    server.outcome, server.words = outcome, words
    with pytest.raises(error):
        embedding(server).embed_array(["a", "b"])


def test_an_embedder_counts_and_knows_its_limit(server):
    model = as_counting(embedding(server, context_window=512))
    assert model.max_tokens == 512 - 64
    assert model.dimension == 2
    assert model.count_tokens("twelve letters") == 7
    assert model.digest == embedding(server).digest


def test_the_door_knows_the_options():
    assert isinstance(LLMS.load("openai_like", {"llm_model": "x"}), OpenAILikeChat)
    with pytest.raises(ConfigError, match="embedding_model"):
        EMBEDDERS.load("openai_like")


def configured(server, **section):
    """The models of a configuration that names this server."""
    section = {
        "base_url": server.url, "embedding_model": "e", "llm_model": "m", **section,
    }  # fmt: skip
    strategies = {"llm_strategy": "openai_like", "embedder_strategy": "openai_like"}
    return build_models(
        RagConfig.model_validate({"models": strategies, "openai_like": section})
    )


@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_the_temperature_of_the_section_reaches_the_server(server, temperature):
    configured(server, temperature=temperature).llm.complete("How many?")
    ((_, body, _),) = server.seen
    assert body["temperature"] == temperature


@pytest.mark.parametrize("model", ["nomic-embed-text", "bge-small"])
def test_the_embedding_model_of_the_section_is_asked(server, model):
    configured(server, embedding_model=model).embedder.embed_array(["a pump"])
    assert {body["model"] for _, body, _ in server.seen} == {model}


@pytest.mark.parametrize("window", [512, 1024])
def test_the_context_window_of_the_section_limits_texts_and_prompts(server, window):
    models = configured(server, context_window=window)
    assert as_counting(models.embedder).max_tokens == window - 64
    assert models.llm.metadata.context_window == window
