"""Replies of another shape than a model server's end in an error of our own tree."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from elt_llm_core.errors import CollectionMismatchError, EmbedError, ModelError
from elt_llm_core.models import EMBEDDERS, LLMS, as_counting
from elt_llm_core.models.ollama import server_status

MODEL = "served-model"
LISTED = {"models": [{"model": MODEL, "name": MODEL, "digest": "ab12"}]}
SHAPES: list[Any] = [
    *(None, True, 0, 7.5, "", "words", [], [1, 2], [[]], [None], {}, {"error": "x"}),
    {"models": 5},
    {"models": [5]},
    {"models": [{"model": 5}]},
    {"data": 5},
    {"data": "words"},
    {"data": [5]},
    {"data": [[1, 2]]},
    {"data": [{"embedding": 5, "index": 0}]},
    {"data": [{"embedding": "0.5 0.5", "index": 0}]},
    {"data": [{"embedding": ["a", "b"], "index": 0}]},
    {"data": [{"embedding": ["0.5", "0.5"], "index": 0}]},
    {"data": [{"embedding": [[0.5, 0.5]], "index": 0}]},
    {"data": [{"embedding": [None, 0.5], "index": 0}]},
    {"data": [{"embedding": [True, False], "index": 0}]},
    {"data": [{"embedding": [0.5, 0.5], "index": "x"}]},
    {"data": [{"embedding": [0.5, 0.5], "index": 3}]},
    {"data": [{"embedding": [0.5, 0.5], "index": 0}] * 2},
    {"data": [{"embedding": [1e999, 1.0], "index": 0}]},
    {"data": [{"index": 0}]},
    {"embeddings": 5},
    {"embeddings": "words"},
    {"embeddings": [1, 2]},
    {"embeddings": ["a", "b"]},
    {"embeddings": [["a", "b"]]},
    {"embeddings": [[[0.5]]]},
    {"embeddings": [[None, 1.0]]},
    {"embeddings": [[]]},
    {"choices": 5},
    {"choices": "words"},
    {"choices": [5]},
    {"choices": [{"message": None}]},
    {"choices": [{"message": "words"}]},
    {"choices": [{"message": {"content": 5}}]},
    {"choices": [{"message": {"content": ["a"]}}]},
    {"choices": [{"delta": 5}]},
    {"choices": [{"delta": {"content": {"a": 1}}}]},
    {"choices": [{"message": {"content": "a"}}], "usage": [1]},
    {"message": 5, "done": True},
    {"message": {"role": "assistant", "content": 5}, "done": True},
    {"message": {"role": "assistant", "content": "a"}, "done": "perhaps"},
    {"message": {"role": "assistant"}, "done": True, "prompt_eval_count": "x"},
]
RAW = [b"", b"<html>", b"\xff\xfe", b"[" * 100_000, b"nan", b'{"data": [']


@dataclass
class Server:
    """Answers every request with `body`, but lists its model where `listed`."""

    url: str
    body: bytes = b""
    listed: bool = True


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    told = Server("")

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self.reply(json.dumps(LISTED).encode() if told.listed else told.body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.reply(told.body)

        def reply(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{http.server_address[1]}"
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield told
    http.shutdown()
    http.server_close()


def embedder(server: Server, name: str) -> Any:
    options = {"base_url": server.url, "embedding_model": MODEL}
    return as_counting(EMBEDDERS.load(name, options).build())


def writer(server: Server, name: str) -> Any:
    options = {"base_url": server.url, "llm_model": MODEL}
    return LLMS.load(name, options).build()


def _astreamed(model: Any) -> str:
    async def parts() -> str:
        return "".join([part.delta async for part in await model.astream_complete("?")])

    return asyncio.run(parts())


CALLS: dict[str, Callable[[Any], object]] = {
    "embed": lambda model: model.embed_array(["text"]),
    "question": lambda model: model.get_query_embedding("text"),
    "later": lambda model: asyncio.run(model.aget_text_embedding("text")),
    "limits": lambda model: (model.dimension, model.max_tokens),
}
WRITES: dict[str, Callable[[Any], object]] = {
    "whole": lambda model: model.complete("?").text,
    "parts": lambda model: "".join(p.delta for p in model.stream_complete("?")),
    "later": lambda model: asyncio.run(model.acomplete("?")).text,
    "later parts": _astreamed,
}
BODIES = [json.dumps(shape).encode() for shape in SHAPES] + RAW


def refused(call: Callable[[Any], object], model: Any, body: bytes) -> None:
    """The call ends in an error of the tree that says what to do."""
    with pytest.raises((ModelError, EmbedError)) as caught:
        pytest.fail(f"{body[:80]!r} gave {call(model)!r}")
    assert caught.value.hint, body


@pytest.mark.network
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["ollama", "openai_like"])
def test_malformed_vectors_are_refused(name: str, call: str, server: Server) -> None:
    model = embedder(server, name)
    for body in BODIES:
        server.body = body
        refused(CALLS[call], model, body)


@pytest.mark.network
@pytest.mark.parametrize("call", WRITES)
@pytest.mark.parametrize("name", ["ollama", "openai_like"])
@pytest.mark.parametrize("event", [b"", b"data: "])
def test_malformed_answers_are_refused(
    name: str, call: str, event: bytes, server: Server
) -> None:
    model = writer(server, name)
    for body in BODIES:
        server.body = event + body + b"\n\n"
        if _is_answer(body):
            continue
        refused(WRITES[call], model, body)


def _is_answer(body: bytes) -> bool:
    """One that lacks only what may be lacking."""
    return b'"done": true' in body and b'"role"' in body and b"5" not in body


@pytest.mark.network
def test_a_malformed_list_of_models_is_refused_or_read(server: Server) -> None:
    server.listed = False
    model = embedder(server, "ollama")
    for body in BODIES:
        server.body = body
        refused(lambda model: model.digest, model, body)
        assert server_status(server.url).models == () or b"models" in body
    server.listed = True


@pytest.mark.network
def test_a_model_that_is_listed_without_a_digest_is_no_model_to_trust(
    server: Server,
) -> None:
    server.listed = False
    server.body = json.dumps({"models": [{"model": MODEL, "size": 1}]}).encode()
    with pytest.raises(ModelError, match="without a digest"):
        _ = embedder(server, "ollama").digest
    server.listed = True


@pytest.mark.network
def test_a_model_that_is_replaced_behind_its_tag_is_noticed(server: Server) -> None:
    server.listed = False
    server.body = json.dumps(LISTED).encode()
    model = embedder(server, "ollama")
    first = model.digest
    server.body = server.body.replace(b"ab12", b"cd34")
    assert model.digest != first
    server.listed = True
    error = CollectionMismatchError.of_embedder("c", ("m", first), ("m", model.digest))
    assert f"m ({first[:8]})" in error.message
    other = CollectionMismatchError.of_embedder("c", ("m", first), ("n", ""))
    assert other.message.endswith("with the embedder m, the configuration asks for n")
