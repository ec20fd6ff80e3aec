"""Time limits, and fallbacks if a reranker or a model fails."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from itertools import accumulate
from time import perf_counter
from typing import Any, ClassVar, TypeVar

from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import ModelError, PromptTruncatedError
from elt_llm_core.models.token_count import most_tokens
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_query.components import KeepsTime, Postprocessor
from elt_llm_query.grounding.claim import NOTES_KEY, UNSERVED_KEY, WRITTEN_BY_KEY
from elt_llm_query.synthesizers.base_synthesizers import WrappingSynthesizer
from elt_llm_query.trace import GuardedStep, TraceLog

T = TypeVar("T")

_NO_FALLBACK: ContextVar[bool] = ContextVar("no_fallback", default=False)


@contextmanager
def without_fallback() -> Iterator[None]:
    """Make failures of a model errors in this block: a batch retries the item later."""
    before = _NO_FALLBACK.set(True)
    try:
        yield
    finally:
        _NO_FALLBACK.reset(before)


def raise_without_fallback() -> None:
    """In an `except` block, raise the error again if no fallback is allowed."""
    if _NO_FALLBACK.get():
        raise  # noqa: PLE0704 - of the block that calls it


def timeout_error(seconds: float) -> ModelError:
    """Return the error for an exceeded time limit."""
    return ModelError(
        f"it took more than {seconds:g} s",
        "raise query.reranker_timeout, lower query.reranker_retrieve_k, or use a "
        "smaller model",
    )


@dataclass(frozen=True)
class Deadline:
    """A point in time, `seconds` after creation; None is never."""

    seconds: float | None
    started: float = field(default_factory=perf_counter)

    def seconds_left(self) -> float | None:
        """Return the remaining seconds. Raises ModelError if none are left."""
        self.check()
        if self.seconds is None:
            return None
        return max(self.seconds - (perf_counter() - self.started), 0.001)

    def check(self) -> None:
        """Raise ModelError if the deadline has passed."""
        if self.seconds is not None and perf_counter() - self.started >= self.seconds:
            raise timeout_error(self.seconds)


def run_in_time(
    seconds: float | None, work: Callable[[], T], allowed: float | None = None
) -> T:
    """Return the result of `work`, or raise ModelError after `seconds`.

    `allowed` is named in the error if `seconds` is only the remainder of it. Late work
    continues in a daemon thread and its result is dropped. With None, `work` runs
    without a thread.
    """
    if seconds is None:
        return work()
    outcome: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            outcome.set_exception(error)

    threading.Thread(target=run, name="in-time", daemon=True).start()
    try:
        return outcome.result(timeout=seconds)
    except FutureTimeoutError as error:
        if outcome.done() and outcome.exception() is error:
            raise  # the error of `work` itself
        raise timeout_error(allowed or seconds) from error


class GuardedRerank(GuardedStep):
    """A reranker with a time limit; at most `top_k` nodes are returned.

    If it fails or takes longer, the order stays.
    """

    top_k: int = Field(gt=0)

    failure: ClassVar[DegradationKind] = DegradationKind.RERANKER_UNAVAILABLE

    def __init__(
        self, inner: BaseNodePostprocessor, log: TraceLog, top_k: int, seconds: float
    ) -> None:
        timed = inner.within(seconds) if isinstance(inner, KeepsTime) else None
        inner = timed or InTime(inner, seconds)
        super().__init__(inner, log, "rerank", top_k=top_k)

    @override
    def _limit(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        return nodes[: self.top_k]


class InTime(Postprocessor):
    """A postprocessor that raises ModelError after `seconds`.

    It continues in a daemon thread, on copies of the nodes.
    """

    seconds: float = Field(gt=0)

    _inner: BaseNodePostprocessor = PrivateAttr()

    def __init__(self, inner: BaseNodePostprocessor, seconds: float) -> None:
        super().__init__(seconds=seconds)
        self._inner = inner

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        copies = [NodeWithScore(node=n.node.model_copy(), score=n.score) for n in nodes]
        return run_in_time(
            self.seconds, lambda: self._inner.postprocess_nodes(copies, query_bundle)
        )


class GuardedSynthesizer(WrappingSynthesizer):
    """A timed synthesizer; if its model fails, `fallback` answers.

    The response's metadata records under `written_by_model` whether a model wrote it.
    """

    def __init__(
        self, inner: BaseSynthesizer, fallback: BaseSynthesizer, log: TraceLog
    ) -> None:
        super().__init__(inner)
        self._fallback = fallback
        self._log = log

    @override
    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        with self._log.stage("synthesize", len(nodes)) as note:
            note.n_out = 1
            try:
                response = self._write(query, nodes, **response_kwargs)
            except ModelError as error:
                raise_without_fallback()
                self._log.degrade(_degradation(error))
                response = self._fallback.synthesize(query, nodes)
            metadata = response.metadata or {}
            if unserved := metadata.get(UNSERVED_KEY):
                self._log.degrade(unserved)
            for note_on in metadata.get(NOTES_KEY, ()):
                self._log.degrade(note_on)
            # A synthesizer that calls no model records this itself.
            response.metadata = {WRITTEN_BY_KEY: True, **metadata}
        return response

    def _write(
        self, query: str | QueryBundle, nodes: list[NodeWithScore], **given: Any
    ) -> RESPONSE_TYPE:
        """Return the answer, from fewer sources if the prompt was too long."""
        try:
            return self._inner.synthesize(query, nodes, **given)
        except PromptTruncatedError as error:
            fewer = nodes[: max(1, _fitting(nodes, error.room // 2))]
            if len(fewer) == len(nodes):
                raise
            response = self._inner.synthesize(query, fewer, **given)
            response.source_nodes = nodes
            detail = (
                f"the model received only {len(fewer)} of {len(nodes)} sources: {error}"
            )
            kind = DegradationKind.PROMPT_SHORTENED
            self._log.degrade(Degradation(kind=kind, detail=detail))
            return response


def _fitting(nodes: Sequence[NodeWithScore], tokens: int) -> int:
    """Return how many of the first sources have at most `tokens` tokens together."""
    lengths = accumulate(most_tokens(node.node.get_content()) for node in nodes)
    return sum(length <= tokens for length in lengths)


def _degradation(error: ModelError) -> Degradation:
    shortened = isinstance(error, PromptTruncatedError)
    kind = (
        DegradationKind.PROMPT_SHORTENED
        if shortened
        else DegradationKind.GENERATION_UNAVAILABLE
    )
    detail = f"answered with verbatim sentences instead: {error}"
    return Degradation(kind=kind, detail=detail)
