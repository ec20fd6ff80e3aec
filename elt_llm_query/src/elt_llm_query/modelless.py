"""LlamaIndex's synthesizer for those that ask no language model themselves."""

from llama_index.core.callbacks import CallbackManager
from llama_index.core.indices.prompt_helper import ChatPromptHelper, PromptHelper
from llama_index.core.llms import MockLLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from typing_extensions import override


class ModellessSynthesizer(BaseSynthesizer):
    """A synthesizer that neither asks a language model nor packs a prompt.

    LlamaIndex would reach for its global model, and load the token table of a model
    that is not used, which costs 0.3 s of processor time a process.
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
