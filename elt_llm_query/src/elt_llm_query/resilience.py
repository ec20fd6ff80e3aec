"""Stages that are timed and that may fail without taking the answer with them."""

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import EmbedError, ModelError, PromptTruncatedError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_query.context_limits import bounded
from elt_llm_query.deadlines import in_time
from elt_llm_query.grounding.claim import UNSERVED_KEY, WRITTEN_BY_KEY
from elt_llm_query.synthesizers.base import WrappingSynthesizer
from elt_llm_query.trace import TraceLog


class GuardedStep(BaseNodePostprocessor):
    """A postprocessor with a stopwatch; where its model fails, the nodes stay.

    `stage` is its name in the trace.
    """

    stage: str

    _inner: BaseNodePostprocessor = PrivateAttr()
    _log: TraceLog = PrivateAttr()

    failure: ClassVar[DegradationKind] = DegradationKind.POSTPROCESSOR_UNAVAILABLE

    def __init__(
        self, inner: BaseNodePostprocessor, log: TraceLog, stage: str, **limits: Any
    ) -> None:
        super().__init__(stage=stage, **limits)
        self._inner = inner
        self._log = log

    @classmethod
    @override
    def class_name(cls) -> str:
        return "GuardedStep"

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._log.stage(self.stage, len(nodes)) as note:
            try:
                found = self._inner.postprocess_nodes(nodes, query_bundle)
            except (ModelError, EmbedError) as error:
                told = Degradation(kind=self.failure, detail=f"{self.stage}: {error}")
                self._log.degrade(told)
                found = list(nodes)
            found = self._kept(found)
            note.nodes(found)
        return found

    def _kept(self, found: list[NodeWithScore]) -> list[NodeWithScore]:
        return found


class BoundStep(GuardedStep):
    """A postprocessor of the sources; at most `most` come out.

    What it brings beside them is not counted; see `bounded`.
    """

    most: int = Field(gt=0)

    def __init__(
        self, inner: BaseNodePostprocessor, log: TraceLog, stage: str, most: int
    ) -> None:
        super().__init__(inner, log, stage, most=most)

    @classmethod
    @override
    def class_name(cls) -> str:
        return "BoundStep"

    @override
    def _kept(self, found: list[NodeWithScore]) -> list[NodeWithScore]:
        return bounded(found, self.most)


class GuardedRerank(GuardedStep):
    """A reranker that may take `seconds`; at most `top_k` nodes come out.

    Where it fails or takes longer, the order stays.
    """

    top_k: int = Field(gt=0)

    failure: ClassVar[DegradationKind] = DegradationKind.RERANKER_UNAVAILABLE

    def __init__(
        self, inner: BaseNodePostprocessor, log: TraceLog, top_k: int, seconds: float
    ) -> None:
        timed = inner.within(seconds) if isinstance(inner, KeepsTime) else None
        inner = timed or InTime(inner, seconds)
        super().__init__(inner, log, "rerank", top_k=top_k)

    @classmethod
    @override
    def class_name(cls) -> str:
        return "GuardedRerank"

    @override
    def _kept(self, found: list[NodeWithScore]) -> list[NodeWithScore]:
        return found[: self.top_k]


@runtime_checkable
class KeepsTime(Protocol):
    """A postprocessor that looks at the time itself."""

    def within(self, seconds: float) -> BaseNodePostprocessor:
        """The same one, which raises ModelError once it takes longer."""


class InTime(BaseNodePostprocessor):
    """A postprocessor that raises ModelError once it takes more than `seconds`.

    It then goes on in a thread that keeps no process from ending, on copies.
    """

    seconds: float = Field(gt=0)

    _inner: BaseNodePostprocessor = PrivateAttr()

    def __init__(self, inner: BaseNodePostprocessor, seconds: float) -> None:
        super().__init__(seconds=seconds)
        self._inner = inner

    @classmethod
    @override
    def class_name(cls) -> str:
        return "InTime"

    @override
    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        copies = [NodeWithScore(node=n.node.model_copy(), score=n.score) for n in nodes]
        return in_time(
            self.seconds, lambda: self._inner.postprocess_nodes(copies, query_bundle)
        )


class GuardedSynthesizer(WrappingSynthesizer):
    """A synthesizer with a stopwatch; where its model fails, `fallback` answers.

    The response's metadata says under `written_by_model` whether a model wrote it.
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
            by_model = self._inner is not self._fallback
            try:
                response = self._inner.synthesize(query, nodes, **response_kwargs)
            except ModelError as error:
                self._log.degrade(_degradation(error))
                response = self._fallback.synthesize(query, nodes)
                by_model = False
            metadata = response.metadata or {}
            if told := metadata.get(UNSERVED_KEY):
                self._log.degrade(told)
            response.metadata = {**metadata, WRITTEN_BY_KEY: by_model}
        return response


def _degradation(error: ModelError) -> Degradation:
    shortened = isinstance(error, PromptTruncatedError)
    kind = (
        DegradationKind.PROMPT_SHORTENED
        if shortened
        else DegradationKind.GENERATION_UNAVAILABLE
    )
    detail = f"answered with verbatim sentences instead: {error}"
    return Degradation(kind=kind, detail=detail)
