"""An embedder with cached vectors of known questions, and counts of model usage."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.files.atomic import write_atomic
from elt_llm_core.identifiers import digest
from elt_llm_core.jobs import Progress
from elt_llm_core.models import as_counting
from elt_llm_core.strategy import Models
from elt_llm_query.evaluation.retrieval_report import ModelUse

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH = 256  # questions between two progress reports
_WORKERS = 2  # two: one tokenises while the other computes; not tuned further
# Servers name their counters differently: first Ollama's names, then OpenAI's.
_TOKENS_READ = ("prompt_eval_count", "prompt_tokens", "input_tokens")
_TOKENS_WRITTEN = ("eval_count", "completion_tokens", "output_tokens")


class CachedQueryEmbedding(BaseEmbedding):
    """Wraps `inner` and returns vectors of known questions from a cache.

    `counts` covers only what `inner` still had to embed.
    """

    _inner: BaseEmbedding = PrivateAttr()
    _known: "dict[str, NDArray[np.float32]]" = PrivateAttr(default_factory=dict)
    _texts: int = PrivateAttr(default=0)
    _tokens: int = PrivateAttr(default=0)

    def __init__(self, inner: BaseEmbedding) -> None:
        super().__init__(model_name=inner.model_name)
        self._inner = inner

    @property
    def inner(self) -> BaseEmbedding:
        """The wrapped embedder."""
        return self._inner

    @property
    def digest(self) -> str:
        """Identity of the vectors."""
        return as_counting(self._inner).digest

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return as_counting(self._inner).dimension

    @property
    def max_tokens(self) -> int:
        """Longest text that is embedded whole."""
        return as_counting(self._inner).max_tokens

    @property
    def prompt_known(self) -> bool:
        """Whether the inner embedder knows its prompt."""
        return as_counting(self._inner).prompt_known

    @property
    def counts(self) -> tuple[int, int]:
        """Texts and tokens that the inner embedder was given."""
        return self._texts, self._tokens

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return as_counting(self._inner).count_tokens(text)

    def embed_array(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Vectors of documents."""
        self._count(texts)
        return as_counting(self._inner).embed_array(texts)

    def load(self, questions: Sequence[str], folder: Path, progress: Progress) -> None:
        """Read the questions' vectors from `folder`; embed and save missing ones."""
        file = folder / f"questions-{self.digest[:16]}.npz"
        stored = _read_vectors(file)
        keys = {q: digest(q) for q in questions}
        missing = sorted(q for q, key in keys.items() if key not in stored)
        with ThreadPoolExecutor(_WORKERS) as pool:
            for start in range(0, len(missing), _BATCH):
                batch = missing[start : start + _BATCH]
                vectors = pool.map(self._inner.get_query_embedding, batch)
                for question, vector in zip(batch, vectors, strict=True):
                    stored[keys[question]] = np.array(vector, dtype=np.float32)
                progress("questions", start + len(batch), len(missing))
        if missing:
            _write_vectors(file, stored)
        self._known = {q: stored[key] for q, key in keys.items()}

    def _count(self, texts: Sequence[str]) -> None:
        self._texts += len(texts)
        self._tokens += sum(self.count_tokens(text) for text in texts)

    @override
    def _get_query_embedding(self, query: str) -> list[float]:
        known = self._known.get(query)
        if known is not None:
            numbers: list[float] = known.tolist()
            return numbers
        self._count([query])
        return self._inner.get_query_embedding(query)

    @override
    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    @override
    def _get_text_embedding(self, text: str) -> list[float]:
        self._count([text])
        return self._inner.get_text_embedding(text)

    @override
    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self._count(texts)
        return self._inner.get_text_embedding_batch(texts)


class CallCounter(BaseCallbackHandler):
    """Counts calls of a language model, and tokens if the server reports them."""

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
        event = payload or {}
        answer = event.get(EventPayload.RESPONSE) or event.get(EventPayload.COMPLETION)
        counters = _counters(getattr(answer, "raw", None))
        self.calls += 1
        self.read += _first_of(counters, _TOKENS_READ)
        self.written += _first_of(counters, _TOKENS_WRITTEN)

    @override
    def start_trace(self, trace_id: str | None = None) -> None:
        """Traces are not recorded."""

    @override
    def end_trace(
        self,
        trace_id: str | None = None,
        trace_map: dict[str, list[str]] | None = None,
    ) -> None:
        """Traces are not recorded."""


@contextmanager
def count_usage(models: Models) -> Iterator[Callable[[], ModelUse]]:
    """Count what the models do in the body; the function yielded returns the counts."""
    counter, llm, embedder = CallCounter(), models.llm, models.embedder
    before = _embedder_counts(embedder)

    def usage() -> ModelUse:
        """Return the counts so far."""
        now = _embedder_counts(embedder)
        return ModelUse(
            llm_calls=counter.calls,
            llm_tokens_read=counter.read,
            llm_tokens_written=counter.written,
            embedded_texts=now[0] - before[0],
            embedded_tokens=now[1] - before[1],
        )

    if llm is None:
        yield usage
        return
    manager = llm.callback_manager
    llm.callback_manager = CallbackManager([*manager.handlers, counter])
    try:
        yield usage
    finally:
        llm.callback_manager = manager


def _embedder_counts(embedder: BaseEmbedding) -> tuple[int, int]:
    return embedder.counts if isinstance(embedder, CachedQueryEmbedding) else (0, 0)


def _counters(raw: Any) -> dict[str, Any]:
    """The counters of a server's answer: its own fields, or those below `usage`."""
    fields = raw if isinstance(raw, dict) else getattr(raw, "__dict__", {})
    usage = fields.get("usage")
    if usage is None:
        return dict(fields)
    return (
        dict(usage) if isinstance(usage, dict) else dict(getattr(usage, "__dict__", {}))
    )


def _first_of(counters: dict[str, Any], names: tuple[str, ...]) -> int:
    return next(
        (int(counters[n]) for n in names if isinstance(counters.get(n), int)), 0
    )


def _read_vectors(file: Path) -> "dict[str, NDArray[np.float32]]":
    """Digest of a question to its vector; empty if the file is missing or damaged."""
    try:
        # Given a path, numpy leaves a damaged file open.
        with np.load(BytesIO(file.read_bytes()), allow_pickle=False) as arrays:
            return dict(zip(arrays["keys"].tolist(), arrays["rows"], strict=True))
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return {}


def _write_vectors(file: Path, vectors: "dict[str, NDArray[np.float32]]") -> None:
    buffer = BytesIO()
    keys = sorted(vectors)
    rows = np.stack([vectors[key] for key in keys])
    np.savez(buffer, keys=np.array(keys), rows=rows)
    write_atomic(file, buffer.getvalue())
