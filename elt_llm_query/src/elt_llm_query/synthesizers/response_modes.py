"""LlamaIndex's response modes with our prompts: labels, quotes, honest refusal."""

from typing import Any, ClassVar

from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.response_synthesizers import (
    Accumulate as AccumulateResponses,
)
from llama_index.core.response_synthesizers import (
    BaseSynthesizer,
    ResponseMode,
    get_response_synthesizer,
)
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import MissingModelError
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.prompts import answer_template, refine_template
from elt_llm_query.synthesizers.prompt_packer import SourcePacker


class _ResponseModeOptions(Strategy[BaseSynthesizer]):
    """What all modes have."""

    mode: ClassVar[ResponseMode]

    system_prompt: str = Field(default="", description="said before our rules")
    context_tokens: int = Field(
        default=0,
        ge=0,
        description="most tokens of sources in a prompt; 0: what the window holds",
    )

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        llm = self._writer(models)
        answer = answer_template(self.system_prompt)
        return get_response_synthesizer(
            llm=llm,
            prompt_helper=SourcePacker(llm, self.context_tokens),
            text_qa_template=answer,
            refine_template=refine_template(self.system_prompt),
            summary_template=answer,
            response_mode=self.mode,
            callback_manager=CallbackManager(),
        )

    def _writer(self, models: Models) -> LLM:
        return require_writer(models, self.mode.value)


def require_writer(models: Models, name: str) -> LLM:
    """The model that writes answers. Raises MissingModelError where none is set.

    Args:
        models: The models of the run.
        name: The synthesizer that needs it.
    """
    if models.llm is None:
        raise MissingModelError(
            f"the synthesizer {name!r} needs a language model",
            "set models.llm_strategy (for example ollama), or "
            "query.synthesizer_strategy: extractive",
        )
    return models.llm


class CompactOptions(_ResponseModeOptions):
    """All sources in as few prompts as fit."""

    mode = ResponseMode.COMPACT


class RefineOptions(_ResponseModeOptions):
    """One prompt a source, each improving the answer."""

    mode = ResponseMode.REFINE


class TreeSummarizeOptions(_ResponseModeOptions):
    """Prompts over parts, then over their answers."""

    mode = ResponseMode.TREE_SUMMARIZE


class SimpleSummarizeOptions(_ResponseModeOptions):
    """One prompt; sources are cut to fit."""

    mode = ResponseMode.SIMPLE_SUMMARIZE


class AccumulateOptions(_ResponseModeOptions):
    """One answer a source, put together."""

    mode = ResponseMode.ACCUMULATE

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        llm = self._writer(models)
        return PlainAccumulate(
            llm=llm,
            prompt_helper=SourcePacker(llm, self.context_tokens),
            text_qa_template=answer_template(self.system_prompt),
            callback_manager=CallbackManager(),
        )


class PlainAccumulate(AccumulateResponses):
    """Answers put together without "Response 1:", which no source says."""

    @override
    def _format_response(self, outputs: list[Any], separator: str) -> str:
        return "\n\n".join(str(output) for output in outputs if output)
