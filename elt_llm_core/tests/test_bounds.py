"""An answer that never ends is cut off; a question that is left stops its model."""

import asyncio
import socket
import threading

import httpx
import pytest
from endless_server import EndlessServer, Way
from llama_index.core.llms import ChatMessage
from ollama_server import OllamaServer

from elt_llm_core.errors import (
    AbandonedError,
    EndlessAnswerError,
    ModelError,
    ModelTimeoutError,
    OutOfTimeError,
    SilentServerError,
)
from elt_llm_core.models import bounds
from elt_llm_core.models.bounds import SILENCES, Allowance, Meter, Silences, allowance
from elt_llm_core.models.ollama import (
    CheckedOllama,
    CheckedOllamaEmbedding,
    server_status,
)
from elt_llm_core.models.openai_like import (
    HttpModel,
    OpenAILikeEmbedding,
    OpenAILikeLLM,
)
from elt_llm_core.patience import Patience, at_most, current

pytestmark = pytest.mark.network
ASKED = [ChatMessage(role="user", content="Say a word.")]
LONG = 60.0  # seconds that nobody should have to wait


@pytest.fixture(autouse=True)
def _no_silences():
    yield
    SILENCES._until.clear()


def writer(kind, url, seconds=LONG, tokens=16):
    if kind == "ollama":
        return CheckedOllama(
            model="m",
            base_url=url,
            request_timeout=seconds,
            num_predict=tokens,
            context_window=8192,
        )
    return OpenAILikeLLM(HttpModel(f"{url}/v1", "m", seconds), num_predict=tokens)


def embedder(kind, url, seconds=LONG):
    if kind == "ollama":
        return CheckedOllamaEmbedding("m", base_url=url, request_timeout=seconds)
    return OpenAILikeEmbedding(HttpModel(f"{url}/v1", "m", seconds))


def whole(model):
    return model.chat(ASKED)


def parts(model):
    return list(model.stream_chat(ASKED))


@pytest.mark.parametrize("kind", ["ollama", "openai_like"])
@pytest.mark.parametrize("way", [Way.PARTS, Way.LINE])
@pytest.mark.parametrize("call", [whole, parts])
def test_an_endless_answer_is_cut_off(kind, way, call):
    with EndlessServer(way, events=kind != "ollama" and call is parts) as server:
        with pytest.raises(EndlessAnswerError, match="does not stop generating"):
            call(writer(kind, server.base_url))
        assert server.left.wait(LONG)
        # What the sockets of both sides hold comes on top of what was read.
        assert server.sent < 20_000_000


@pytest.mark.parametrize("kind", ["ollama", "openai_like"])
@pytest.mark.parametrize("way", [Way.PARTS, Way.LINE])
def test_an_endless_answer_is_cut_off_asynchronously(kind, way):
    async def ask(model):
        with pytest.raises(EndlessAnswerError):
            await model.achat(ASKED)
        with pytest.raises(EndlessAnswerError):
            async for _ in await model.astream_chat(ASKED):
                pass

    with EndlessServer(way, events=kind != "ollama") as server:
        asyncio.run(ask(writer(kind, server.base_url)))
        assert server.left.wait(LONG)


@pytest.mark.parametrize("kind", ["ollama", "openai_like"])
def test_endless_vectors_are_cut_off(kind):
    with EndlessServer(Way.LINE) as server:
        model = embedder(kind, server.base_url)
        with pytest.raises(EndlessAnswerError):
            model.get_query_embedding("word")


def test_an_endless_status_is_no_server():
    with EndlessServer(Way.LINE) as server:
        status = server_status(server.base_url)
    assert not status.reachable
    assert "does not stop generating" in status.detail


@pytest.mark.parametrize("kind", ["ollama", "openai_like"])
@pytest.mark.parametrize("way", list(Way))
def test_a_question_that_is_left_closes_the_connection(kind, way):
    failures = []
    patience = Patience()

    def ask():
        with patience.apply():
            try:
                # Allowed to be long, so that nothing but leaving can end it.
                whole(writer(kind, server.base_url, tokens=10_000_000))
            except Exception as error:  # noqa: BLE001 - looked at below
                failures.append(error)

    with EndlessServer(way, events=False) as server:
        thread = threading.Thread(target=ask)
        thread.start()
        assert server.asked.wait(LONG)
        patience.abandon()
        assert server.left.wait(LONG)
        thread.join(LONG)
    assert [type(one) for one in failures] == [AbandonedError]
    with pytest.raises(AbandonedError):
        patience.seconds_left()


def send_endlessly(one):
    while True:
        one.send(bytes(1_000_000))


def test_a_server_that_waits_for_room_hears_that_the_question_was_left():
    patience = Patience()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
        with client, server:
            patience.watch(client)
            server.settimeout(1)
            with pytest.raises(TimeoutError):  # nobody reads: the window is full
                send_endlessly(server)
            patience.abandon()
            while client.recv(1_000_000):  # the reader takes what came, then leaves
                pass
            client.close()
            server.settimeout(20)
            with pytest.raises(ConnectionError):
                send_endlessly(server)


def test_a_question_that_was_left_asks_nobody():
    patience = Patience()
    patience.abandon()
    with (
        OllamaServer(models=["m"]) as server,
        patience.apply(),
        pytest.raises(AbandonedError),
    ):
        whole(writer("ollama", server.base_url))
    assert server.requests == []


@pytest.mark.parametrize("way", [Way.SILENCE, Way.HEADERS, Way.TRICKLE])
def test_a_question_has_one_deadline(way):
    with EndlessServer(way) as server, Patience(1.0).apply():
        with pytest.raises(OutOfTimeError, match="question_timeout"):
            whole(writer("ollama", server.base_url))
        with pytest.raises(OutOfTimeError):
            embedder("ollama", server.base_url).get_query_embedding("word")
        assert server.opened <= 1
    assert current() is None


def test_the_outer_patience_is_kept():
    with Patience(5).apply() as outer, at_most(1) as inner:
        assert inner is outer
    with at_most(1) as made:
        assert made.seconds == 1
        assert current() is made


def test_a_silent_server_is_not_waited_for_again(monkeypatch):
    monkeypatch.setattr(bounds, "TELLING_SILENCE", 0.1)
    with EndlessServer(Way.SILENCE) as server:
        with pytest.raises(ModelTimeoutError):
            embedder("ollama", server.base_url, 0.2).get_query_embedding("word")
        for ask in (whole, parts):
            with pytest.raises(SilentServerError, match="did not answer in time"):
                ask(writer("ollama", server.base_url))
        assert server.opened == 1


def test_a_silent_server_is_tried_again_by_one(monkeypatch):
    silences = Silences(0.0)
    silences.note("a")
    silences.check("a")  # its time is over
    silences.seconds = LONG
    silences.note("a")
    with pytest.raises(SilentServerError):
        silences.check("a")
    silences.check("b")
    silences.forget("a")
    silences.check("a")


def test_a_server_that_answers_is_no_longer_silent():
    with OllamaServer(models=["m"]) as server:
        address = bounds.server_of(httpx.URL(server.base_url))
        SILENCES._until[address] = 0.0
        whole(writer("ollama", server.base_url))
        assert address not in SILENCES._until


def test_an_answer_may_be_as_long_as_was_asked_for():
    chat = {"messages": [], "options": {"num_predict": 100}}
    request = httpx.Request("POST", "http://x/api/chat", json=chat)
    assert allowance(request, 10.0) == Allowance(1_200_000, 1_400, 110.0)
    openai = httpx.Request("POST", "http://x/v1", json={"max_tokens": 100})
    assert allowance(openai, 10.0) == allowance(request, 10.0)
    batch = httpx.Request("POST", "http://x/api/embed", json={"input": ["a"] * 3})
    one = httpx.Request("POST", "http://x/api/embed", json={"input": "aaa"})
    assert allowance(batch, 1.0).size - allowance(one, 1.0).size == 400_000


def test_a_trickle_ends_with_its_seconds():
    meter = Meter("http://x", Allowance(10, 10, 0.0), None, started=0.0)
    with pytest.raises(EndlessAnswerError):
        meter.add(b"x")


def test_a_compressed_answer_is_refused():
    def handle(request):
        assert request.headers["accept-encoding"] == "identity"
        return httpx.Response(200, headers={"content-encoding": "gzip"}, content=b"")

    model = HttpModel("http://127.0.0.1:1/v1", "m", 1.0)
    model._client._transport = httpx.MockTransport(handle)
    with pytest.raises(ModelError, match="compressed"):
        model.post("/x", {}, ModelError("too long"))
