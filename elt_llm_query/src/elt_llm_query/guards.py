"""Stages that are timed and that may fail without taking the answer with them."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.errors import EmbedError, ModelError, PromptTruncatedError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_query.trace import TraceLog

WRITTEN_BY_KEY = "written_by_model"


class GuardedStep(BaseNodePostprocessor):
    """A postprocessor with a stopwatch; where its model fails, the nodes stay.

    `stage` is its name in the trace. At most `top_k` nodes come out; 0 is no limit.
    """

    stage: str
    top_k: int = 0

    _inner: BaseNodePostprocessor = PrivateAttr()
    _log: TraceLog = PrivateAttr()

    def __init__(
        self, inner: BaseNodePostprocessor, log: TraceLog, stage: str, top_k: int = 0
    ) -> None:
        super().__init__(stage=stage, top_k=top_k)
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
                ranked = self._inner.postprocess_nodes(nodes, query_bundle)
            except (ModelError, EmbedError) as error:
                kind = DegradationKind.RERANKER_UNAVAILABLE
                self._log.degrade(Degradation(kind=kind, detail=str(error)))
                ranked = list(nodes)
            ranked = ranked[: self.top_k or None]
            note.nodes(ranked)
        return ranked


class GuardedSynthesizer(BaseSynthesizer):
    """A synthesizer with a stopwatch; where its model fails, `fallback` answers.

    The response's metadata says under `written_by_model` whether a model wrote it.
    """

    def __init__(
        self, inner: BaseSynthesizer, fallback: BaseSynthesizer, log: TraceLog
    ) -> None:
        # LlamaIndex reaches for its global model where none is given.
        super().__init__(llm=MockLLM(), callback_manager=CallbackManager())
        self._inner = inner
        self._fallback = fallback
        self._log = log

    @override
    def _get_prompts(self) -> PromptDictType:
        return {}

    @override
    def _update_prompts(self, prompts: PromptDictType) -> None:
        """They are the inner one's."""

    @override
    def _get_prompt_modules(self) -> PromptMixinType:
        return {"inner": self._inner}

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
            response.metadata = {**(response.metadata or {}), WRITTEN_BY_KEY: by_model}
        return response

    @override
    async def asynthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        return self.synthesize(query, nodes, additional_source_nodes)

    @override
    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> Any:
        return self._inner.get_response(query_str, text_chunks, **response_kwargs)

    @override
    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> Any:
        return self.get_response(query_str, text_chunks, **response_kwargs)


def _degradation(error: ModelError) -> Degradation:
    shortened = isinstance(error, PromptTruncatedError)
    kind = (
        DegradationKind.PROMPT_SHORTENED
        if shortened
        else DegradationKind.GENERATION_UNAVAILABLE
    )
    detail = f"answered with verbatim sentences instead: {error}"
    return Degradation(kind=kind, detail=detail)
