import asyncio
import socket

import httpx
import numpy as np
import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import ChatMessage
from ollama import Client, ResponseError
from ollama_server import OllamaServer

from elt_llm_core.errors import ConfigError, EmbedError
from elt_llm_core.models import as_counting
from elt_llm_core.testing import (
    HashEmbedding,
    NetworkBlockedError,
    ScriptedLLM,
    no_network,
)

AXES = [23, 30, 105, 123]  # of the four words, on any machine


def test_a_script_answers_in_order_and_keeps_the_prompts():
    llm = ScriptedLLM(["one", ValueError("no"), "three four"])
    assert llm.complete("first").text == "one"
    with pytest.raises(ValueError, match="no"):
        llm.complete("second")
    assert [part.delta for part in llm.stream_complete("third")] == ["three ", "four"]
    assert llm.prompts == ("first", "second", "third")
    with pytest.raises(IndexError):
        llm.complete("fourth")


def test_a_script_can_be_a_function_and_chat():
    llm = ScriptedLLM(lambda prompt: prompt.upper(), context_window=100)
    message = ChatMessage(role="user", content="hello")
    assert "HELLO" in (llm.chat([message]).message.content or "")
    assert "HELLO" in (asyncio.run(llm.achat([message])).message.content or "")
    assert llm.metadata.context_window == 100


def test_hashed_words_are_near_when_shared_and_the_same_in_any_process():
    embedder = HashEmbedding()
    near, same, far = embedder.embed_array(
        ["the pump is open", "is the pump open", "a purple elephant sings"]
    )
    assert near @ same == pytest.approx(1.0)
    assert near @ far < 0.3
    assert near.nonzero()[0].tolist() == AXES


def test_hashed_vectors_have_unit_length_and_a_limit():
    embedder = HashEmbedding(dimension=16, max_tokens=3)
    vectors = embedder.embed_array(["", "a b c"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert as_counting(embedder).dimension == 16
    with pytest.raises(EmbedError, match="4 words"):
        embedder.embed_array(["a b c d"])


def test_an_embedder_that_cannot_count_is_refused_by_name():
    class Plain(BaseEmbedding):
        def _get_query_embedding(self, query):
            return [1.0]

        async def _aget_query_embedding(self, query):
            return [1.0]

        def _get_text_embedding(self, text):
            return [1.0]

    with pytest.raises(ConfigError, match="Plain lacks count_tokens, digest"):
        as_counting(Plain())


def test_the_guard_blocks_what_leaves_this_machine():
    with no_network():
        with pytest.raises(NetworkBlockedError, match=r"looking up 'example\.com'"):
            socket.getaddrinfo("example.com", 80)
        with socket.socket() as outgoing:
            with pytest.raises(NetworkBlockedError):
                outgoing.connect(("192.0.2.1", 80))
            with pytest.raises(NetworkBlockedError):
                outgoing.connect_ex(("192.0.2.1", 80))


def test_the_guard_lets_this_machine_speak_to_itself():
    with OllamaServer(embedder=HashEmbedding()) as server, no_network():
        assert httpx.get(f"{server.base_url}/api/version", timeout=5).is_success


def test_the_protocol_server_serves_the_official_client():
    with OllamaServer(embedder=HashEmbedding(max_tokens=5)) as server:
        client = Client(server.base_url, timeout=10)
        assert client.generate("smollm2:135m", "hello").response == "hello"
        parts = client.generate("smollm2:135m", "a b", stream=True)
        assert "".join(part.response for part in parts) == "a b"
        assert client.list().models[0].model == "smollm2:135m"
        assert client.ps().models[0].context_length == 8192
        with pytest.raises(ResponseError, match="not offered"):
            client.pull("anything")
        with pytest.raises(ResponseError, match="not found"):
            client.show("absent")
        client.close()


def test_the_protocol_server_embeds_with_the_embedded_model(monkeypatch):
    made = []

    def lazily(threads):
        made.append(threads)
        return HashEmbedding()

    monkeypatch.setattr("ollama_server.OnnxEmbedding", lazily)
    with OllamaServer() as server:
        assert made == []
        assert server.embedder is server.embedder
    assert made == [1]
