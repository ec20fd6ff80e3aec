"""How often a language model was asked, and what it read and wrote."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from typing_extensions import override

from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.asked import AskedEmbedding
from elt_llm_query.evaluation.report import ModelUse

_READ = ("prompt_eval_count", "prompt_tokens", "input_tokens")
_WRITTEN = ("eval_count", "completion_tokens", "output_tokens")


class CallCounter(BaseCallbackHandler):
    """Calls, and tokens where the server tells them."""

    def __init__(self) -> None:
        super().__init__(event_starts_to_ignore=[], event_ends_to_ignore=[])
        self.calls = 0
        self.read = 0
        self.written = 0

    @override
    def on_event_start(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        parent_id: str = "",
        **kwargs: Any,
    ) -> str:
        return event_id

    @override
    def on_event_end(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        **kwargs: Any,
    ) -> None:
        if event_type != CBEventType.LLM:
            return
        told = payload or {}
        said = told.get(EventPayload.RESPONSE) or told.get(EventPayload.COMPLETION)
        usage = _usage(getattr(said, "raw", None))
        self.calls += 1
        self.read += _first(usage, _READ)
        self.written += _first(usage, _WRITTEN)

    @override
    def start_trace(self, trace_id: str | None = None) -> None:
        """Traces are not kept."""

    @override
    def end_trace(
        self,
        trace_id: str | None = None,
        trace_map: dict[str, list[str]] | None = None,
    ) -> None:
        """Traces are not kept."""


@contextmanager
def counted(models: Models) -> Iterator[Callable[[], ModelUse]]:
    """What the models are asked in the body; the function given tells it then."""
    counter, llm, embedder = CallCounter(), models.llm, models.embedder
    before = embedder.counts if isinstance(embedder, AskedEmbedding) else (0, 0)

    def told() -> ModelUse:
        """What was counted."""
        now = embedder.counts if isinstance(embedder, AskedEmbedding) else (0, 0)
        return ModelUse(
            llm_calls=counter.calls,
            llm_tokens_read=counter.read,
            llm_tokens_written=counter.written,
            embedded_texts=now[0] - before[0],
            embedded_tokens=now[1] - before[1],
        )

    if llm is None:
        yield told
        return
    heard = llm.callback_manager
    llm.callback_manager = CallbackManager([*heard.handlers, counter])
    try:
        yield told
    finally:
        llm.callback_manager = heard


def _usage(raw: Any) -> dict[str, Any]:
    """The counters of a server's answer: its own fields, or those below `usage`."""
    told = raw if isinstance(raw, dict) else getattr(raw, "__dict__", {})
    below = told.get("usage")
    if below is None:
        return dict(told)
    return (
        dict(below) if isinstance(below, dict) else dict(getattr(below, "__dict__", {}))
    )


def _first(usage: dict[str, Any], names: tuple[str, ...]) -> int:
    return next((int(usage[n]) for n in names if isinstance(usage.get(n), int)), 0)
