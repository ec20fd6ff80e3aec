"""Ollama's HTTP protocol on a port of this machine, with faults on demand.

It answers as the real server does where our client depends on it: a prompt over
`num_ctx` is cut to half the window plus two and still answered with 200, an embedding
input over the model's window is refused with 400, a stream is one JSON object a line.
"""

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from typing_extensions import override

from elt_llm_core.models.embedded import OnnxEmbedding
from elt_llm_core.models.ollama_status import canonical
from elt_llm_core.models.protocol import CountingEmbedder
from elt_llm_core.models.tokens import likely_tokens
from elt_llm_core.testing.ollama_handler import Handler, Json

Reply = Callable[[list[Json]], str]


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
    in order; `aborted` counts the streams that a client left.
    """

    def __init__(
        self,
        reply: Reply = echo,
        embedder: CountingEmbedder | None = None,
        models: Iterable[str] = ("smollm2:135m", "nomic-embed-text:latest"),
        script: Iterable[Fault] = (),
        silence: float = 5.0,
    ) -> None:
        self.reply = reply
        self.models = tuple(canonical(name) for name in models)
        self.script = deque(script)
        self.silence = silence
        self.pause = 0.0
        self.requests: list[Recorded] = []
        self.aborted = 0
        self._given = embedder
        self._leaving = threading.Event()
        self._http = _Http(("127.0.0.1", 0), Handler)
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
            "capabilities": ["embedding"],
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

    @staticmethod
    def _entry(name: str) -> Json:
        digest = sha256(name.encode()).hexdigest()
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
