"""What synthesizers that stand around another one have in common."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from typing_extensions import override

from elt_llm_query.modelless import ModellessSynthesizer


class WrappingSynthesizer(ModellessSynthesizer):
    """A synthesizer around `inner`, which has the prompts and answers bare texts.

    A subclass says in `synthesize` what it does before or after.
    """

    def __init__(self, inner: BaseSynthesizer) -> None:
        super().__init__()
        self._inner = inner

    @override
    def _get_prompt_modules(self) -> PromptMixinType:
        return {"inner": self._inner}

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
