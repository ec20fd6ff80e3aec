"""Ollama's HTTP protocol on a port of this machine, with faults on demand.

It answers as the real server does where our client depends on it: a prompt over
`num_ctx` is cut to half the window plus two and still answered with 200, an embedding
input over the model's window is refused with 400, a stream is one JSON object a line.
"""

import json
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from typing_extensions import override

from elt_llm_core.models.embedder import CountingEmbedder
from elt_llm_core.models.minilm import OnnxEmbedding
from elt_llm_core.models.ollama import canonical
from elt_llm_core.models.token_count import likely_tokens

Json = dict[str, Any]

DEFAULT_WINDOW = 4096

# Fault to status and words, as the real server says them.
_REFUSALS = {
    "model_missing": (404, "model {model!r} not found"),
    "nan": (500, "failed to encode response: json: unsupported value: NaN"),
    "busy": (503, "server busy, please try again. maximum pending requests exceeded"),
    "runner_died": (500, "llama runner process has terminated: signal: killed"),
    "too_long": (400, "the input length exceeds the context length"),
}


class Handler(BaseHTTPRequestHandler):
    """One request. What is answered is decided by the owning server's script."""

    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> "OllamaServer":
        """The server this request came to."""
        return self.server.owner  # type: ignore[attr-defined,no-any-return]

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests read `requests`."""

    def do_GET(self) -> None:
        """The three status routes."""
        self._record({})
        routes = {
            "/api/tags": self.owner.tags,
            "/api/ps": self.owner.running,
            "/api/version": self.owner.version,
        }
        route = routes.get(self.path)
        if route is None:
            self._error(404, "404 page not found")
        else:
            self._json(200, route())

    def do_POST(self) -> None:
        """Calls to models."""
        length = int(self.headers.get("Content-Length", 0))
        body: Json = json.loads(self.rfile.read(length) or b"{}")
        self._record(body)
        routes = {
            "/api/chat": self._generate,
            "/api/embed": self._embed,
            "/api/generate": self._generate,
            "/api/show": self._show,
        }
        route = routes.get(self.path)
        if route is None:
            self._error(403 if self.path == "/api/pull" else 404, "not offered here")
        else:
            route(body)

    def _record(self, body: Json) -> None:
        self.owner.record(self.path, body)

    def _show(self, body: Json) -> None:
        if self.owner.has(body["model"]):
            self._json(200, self.owner.show())
        else:
            self._error(404, f"model {body['model']!r} not found")

    def _refused(self, body: Json, fault: str) -> bool:
        if not self.owner.has(body["model"]):
            fault = "model_missing"
        if fault == "malformed":
            self._bytes(200, b'{"message": {"role": "assistant", "con')
            return True
        if fault not in _REFUSALS:
            return False
        status, words = _REFUSALS[fault]
        self._error(status, words.format(model=body["model"]))
        return True

    def _embed(self, body: Json) -> None:
        fault = self.owner.next_fault()
        if self._refused(body, fault):
            return
        if fault in {"slow_first_token", "stall"}:
            self.owner.wait(self.owner.silence)
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        embedder = self.owner.embedder
        counts = [embedder.count_tokens(text) for text in texts]
        if max(counts, default=0) > embedder.max_tokens:
            self._error(*_REFUSALS["too_long"])
            return
        vectors = self.owner.vectors(texts, fault)
        answer = {"model": body["model"], "embeddings": vectors}
        self._json(200, {**answer, "prompt_eval_count": sum(counts)})

    def _generate(self, body: Json) -> None:
        fault = self.owner.next_fault()
        if self._refused(body, fault):
            return
        messages = body.get("messages") or [
            {"role": "user", "content": body.get("prompt", "")}
        ]
        text = self.owner.reply(messages)
        window = int((body.get("options") or {}).get("num_ctx") or DEFAULT_WINDOW)
        texts = [str(m.get("content") or "") for m in messages]
        last = {
            **self._part(body, ""),
            "done": fault != "no_done",
            "done_reason": "length" if fault == "length" else "stop",
            "prompt_eval_count": self.owner.prompt_count(texts, window, fault),
            "eval_count": len(str(text).split()),
        }
        if fault == "slow_first_token":
            self.owner.wait(self.owner.silence)
        if body.get("stream", True):
            self._stream(body, text, last, fault)
        elif fault == "close":
            self._bytes(200, b'{"message"', promised=1000)
        else:
            if fault == "stall":
                self.owner.wait(self.owner.silence)
            self._json(200, {**last, **self._content(text)})

    def _part(self, body: Json, text: str | Json) -> Json:
        part = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
        return {**part, **self._content(text), "done": False}

    def _content(self, text: str | Json) -> Json:
        if isinstance(text, dict):
            return {"message": {"role": "assistant", "content": "", **text}}
        if self.path == "/api/generate":
            return {"response": text}
        return {"message": {"role": "assistant", "content": text}}

    def _stream(self, body: Json, text: str | Json, last: Json, fault: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        parts = [text] if isinstance(text, dict) else _words(text)
        for number, word in enumerate(parts):
            if number and fault == "close":
                self.close_connection = True
                return
            if number and fault == "stall":
                self.owner.wait(self.owner.silence)
            if number and self.owner.pause:
                self.owner.wait(self.owner.pause)
            self._chunk(self._part(body, word))
        if fault != "no_done":
            self._chunk(last)
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, part: Json) -> None:
        line = json.dumps(part).encode() + b"\n"
        self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        self.wfile.flush()

    def _error(self, status: int, words: str) -> None:
        self._json(status, {"error": words})

    def _json(self, status: int, body: Json) -> None:
        self._bytes(status, json.dumps(body).encode())

    def _bytes(self, status: int, data: bytes, promised: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(promised or len(data)))
        self.send_header("Connection", "close")
        if status in {429, 503} and self.owner.retry_after:
            self.send_header("Retry-After", self.owner.retry_after)
        self.end_headers()
        self.wfile.write(data)


def _words(text: str) -> Iterator[str]:
    yield from re.findall(r"\S+\s*|\s+", text) or [""]


# A text, or a message with calls of tools.
Reply = Callable[[list[Json]], str | Json]


class Fault(StrEnum):
    """What goes wrong with one call to chat, generate or embed."""

    OK = "ok"
    SLOW_FIRST_TOKEN = "slow_first_token"  # noqa: S105 - a token of text
    STALL = "stall"  # silence after the first part
    CLOSE = "close"  # the connection ends after the first part
    NO_DONE = "no_done"  # a whole stream without its last part
    MODEL_MISSING = "model_missing"
    NAN = "nan"
    BUSY = "busy"
    TOO_LONG = "too_long"
    LENGTH = "length"  # the answer reached num_predict
    RUNNER_DIED = "runner_died"
    TRUNCATED = "truncated"  # 200, but half the window was read
    MALFORMED = "malformed"
    WRONG_DIMENSION = "wrong_dimension"
    FEWER_VECTORS = "fewer_vectors"


@dataclass(frozen=True)
class Recorded:
    """One request as it arrived; the body of a GET is empty."""

    path: str
    body: Json


def echo(messages: list[Json]) -> str:
    """The default answer: what the last message says."""
    return str(messages[-1].get("content", "")) if messages else ""


class OllamaServer:
    """A context manager; inside it `base_url` answers.

    `script` holds the outcome of each coming call to chat, generate or embed; calls
    after its end are fine. `silence` is how long a slow or stalled call waits, `pause`
    how long a stream rests between words, both in seconds. `requests` lists what came,
    in order; `aborted` counts the streams that a client left. `retry_after` is a
    header of a busy server. `handler` answers each request.
    """

    def __init__(
        self,
        reply: Reply = echo,
        embedder: CountingEmbedder | None = None,
        models: Iterable[str] = ("smollm2:135m", "nomic-embed-text:latest"),
        script: Iterable[Fault] = (),
        silence: float = 5.0,
        handler: type[Handler] = Handler,
    ) -> None:
        self.reply = reply
        self.models = tuple(canonical(name) for name in models)
        self.script = deque(script)
        self.silence = silence
        self.pause = 0.0
        self.requests: list[Recorded] = []
        self.aborted = 0
        self.retry_after = ""
        self.capabilities = ["embedding"]
        self.digests: dict[str, str] = {}
        self._given = embedder
        self._leaving = threading.Event()
        self._http = _Http(("127.0.0.1", 0), handler)
        self._http.owner = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leaving.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def base_url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @cached_property
    def embedder(self) -> CountingEmbedder:
        """What makes the vectors: the given one, else the embedded model."""
        return self._given or OnnxEmbedding(threads=1)

    def bodies(self, path: str) -> list[Json]:
        """The bodies sent to one path, in order."""
        return [request.body for request in self.requests if request.path == path]

    def record(self, path: str, body: Json) -> None:
        """Note a request."""
        self.requests.append(Recorded(path, body))

    def next_fault(self) -> Fault:
        """The outcome of the coming call."""
        return self.script.popleft() if self.script else Fault.OK

    def wait(self, seconds: float) -> None:
        """Be silent, but not longer than the server lives."""
        self._leaving.wait(seconds)

    def has(self, model: str) -> bool:
        """Whether the model is installed, by its exact name and tag."""
        return canonical(model) in self.models

    @staticmethod
    def version() -> Json:
        """The answer of /api/version."""
        return {"version": "0.17.1"}

    def tags(self) -> Json:
        """The answer of /api/tags."""
        return {"models": [self._entry(name) for name in self.models]}

    def running(self) -> Json:
        """The answer of /api/ps: the first model is loaded."""
        loaded = [self._entry(name) for name in self.models[:1]]
        return {"models": [{**entry, "context_length": 8192} for entry in loaded]}

    def show(self) -> Json:
        """The answer of /api/show."""
        return {
            "details": {"family": "bert"},
            "model_info": {"bert.context_length": self.embedder.max_tokens},
            "capabilities": self.capabilities,
        }

    @staticmethod
    def prompt_count(texts: Iterable[str], window: int, fault: Fault) -> int:
        """Tokens read of a prompt, in estimate; cut as the real server cuts."""
        sent = sum(likely_tokens(text) for text in texts)
        cut = fault is Fault.TRUNCATED or sent > window
        return window // 2 + 2 if cut else sent

    def vectors(self, texts: list[str], fault: Fault) -> list[list[float]]:
        """The answer to an embedding, damaged as the fault says."""
        rows = [
            [float(number) for number in row]
            for row in self.embedder.embed_array(texts)
        ]
        if fault is Fault.FEWER_VECTORS:
            return rows[:-1]
        if fault is Fault.WRONG_DIMENSION:
            return [row[:-1] for row in rows]
        return rows

    def _entry(self, name: str) -> Json:
        digest = self.digests.get(name, sha256(name.encode()).hexdigest())
        return {"name": name, "model": name, "digest": digest, "size": 1_000_000}


class _Http(ThreadingHTTPServer):
    """Serves each connection in a thread and keeps quiet about clients that left."""

    daemon_threads = True
    owner: OllamaServer

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        if isinstance(sys.exc_info()[1], ConnectionError):
            self.owner.aborted += 1
        else:
            super().handle_error(request, client_address)
