"""A result as a chat completion, complete or in chunks."""

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import time
from typing import Any

from elt_llm_api.openai_api.completion_text import ReplyText
from elt_llm_core.results import DegradationKind, QueryResult

Body = dict[str, Any]


@dataclass(frozen=True)
class Completion:
    """One response: id, time and model are the same in all of its chunks."""

    model: str
    key: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time()))

    def body(self, result: QueryResult, reply: ReplyText) -> Body:
        """Return the reply as one object."""
        message = {
            "role": "assistant",
            "content": reply.text,
            "refusal": reply.refusal,
            "annotations": list(reply.annotations),
        }
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finish_reason(result),
        }
        return {
            **self._head("chat.completion"),
            "choices": [choice],
            "usage": usage_of(result),
            "system_fingerprint": result.trace.config_hash,
            "elt_llm": result.model_dump(mode="json"),
        }

    def opening(self) -> bytes:
        """Return the chunk that begins a stream."""
        return self._event({"role": "assistant", "content": ""})

    def events(
        self, result: QueryResult, reply: ReplyText, *, with_usage: bool
    ) -> Iterator[bytes]:
        """Yield the events after the first: text, citations, the end.

        Args:
            result: The result that was checked.
            reply: Its text.
            with_usage: Whether a chunk of token counts comes last, as OpenAI's API
                sends it on request.
        """
        for piece in reply.pieces:
            yield self._event({"content": piece})
        if reply.annotations:
            yield self._event({"annotations": list(reply.annotations)})
        if reply.refusal is not None:
            yield self._event({"refusal": reply.refusal})
        # Some clients skip the text of a chunk with unknown fields.
        whole = {"elt_llm": result.model_dump(mode="json")}
        yield self._event({}, finish_reason(result), whole)
        if with_usage:
            head = self._head("chat.completion.chunk")
            yield sse({**head, "choices": [], "usage": usage_of(result)})
        yield END

    def _event(
        self, delta: Body, finish: str | None = None, more: Body | None = None
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = self._head("chat.completion.chunk")
        return sse({**head, "choices": [choice], **(more or {})})

    def _head(self, kind: str) -> Body:
        return {
            "id": self.key,
            "object": kind,
            "created": self.created,
            "model": self.model,
        }


def sse(body: Body) -> bytes:
    """Return a server-sent event without a name, as in OpenAI's API."""
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n".encode()


END = b"data: [DONE]\n\n"


def usage_of(result: QueryResult) -> Body:
    """Return the tokens that model servers counted; 0 without model calls."""
    cost = result.trace.models
    return {
        "prompt_tokens": cost.read,
        "completion_tokens": cost.written,
        "total_tokens": cost.tokens,
    }


def finish_reason(result: QueryResult) -> str:
    """Return `length` if a model's answer was cut, else `stop`."""
    cut = any(d.kind is DegradationKind.ANSWER_CUT for d in result.degradations)
    return "length" if cut else "stop"
