"""The routes of the Ollama protocol server."""

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from typing_extensions import override

if TYPE_CHECKING:
    from elt_llm_core.testing.ollama_server import OllamaServer

Json = dict[str, Any]

DEFAULT_WINDOW = 4096

# Fault to status and words, as the real server says them.
_REFUSALS = {
    "model_missing": (404, "model {model!r} not found"),
    "nan": (500, "failed to encode response: json: unsupported value: NaN"),
    "busy": (503, "server busy, please try again. maximum pending requests exceeded"),
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
            "done_reason": "stop",
            "prompt_eval_count": self.owner.prompt_count(texts, window, fault),
            "eval_count": len(text.split()),
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

    def _part(self, body: Json, text: str) -> Json:
        part = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
        return {**part, **self._content(text), "done": False}

    def _content(self, text: str) -> Json:
        if self.path == "/api/generate":
            return {"response": text}
        return {"message": {"role": "assistant", "content": text}}

    def _stream(self, body: Json, text: str, last: Json, fault: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for number, word in enumerate(_words(text)):
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
        self.end_headers()
        self.wfile.write(data)


def _words(text: str) -> Iterator[str]:
    yield from re.findall(r"\S+\s*|\s+", text) or [""]
