"""Base classes of synthesizers."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager
from llama_index.core.indices.prompt_helper import ChatPromptHelper, PromptHelper
from llama_index.core.llms import MockLLM
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle
from typing_extensions import override


class ModellessSynthesizer(BaseSynthesizer):
    """A synthesizer without a language model and without prompts.

    LlamaIndex would use its global model, and load the token table of an unused model,
    which takes 0.3 s of processor time per process. Asynchronous methods make the same
    call here.
    """

    def __init__(self) -> None:
        super().__init__(
            llm=MockLLM(),
            callback_manager=CallbackManager(),
            prompt_helper=PromptHelper(tokenizer=str.split),
            chat_prompt_helper=ChatPromptHelper(tokenizer=str.split),
        )

    @override
    def _get_prompts(self) -> PromptDictType:
        return {}

    @override
    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Do nothing: there are no prompts."""

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
    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> Any:
        return self.get_response(query_str, text_chunks, **response_kwargs)


class WrappingSynthesizer(ModellessSynthesizer):
    """A synthesizer around `inner`, which has the prompts and answers bare texts.

    A subclass implements `synthesize` with its work before or after.
    """

    def __init__(self, inner: BaseSynthesizer) -> None:
        super().__init__()
        self._inner = inner

    @override
    def _get_prompt_modules(self) -> PromptMixinType:
        return {"inner": self._inner}

    @override
    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> Any:
        return self._inner.get_response(query_str, text_chunks, **response_kwargs)
