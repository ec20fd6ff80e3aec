"""LlamaIndex's response modes with our prompts: labels, quotes, honest refusal."""

from collections.abc import Sequence
from typing import Any, ClassVar

from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.response_synthesizers import (
    Accumulate as AccumulateResponses,
)
from llama_index.core.response_synthesizers import (
    BaseSynthesizer,
    ResponseMode,
    SimpleSummarize,
    get_response_synthesizer,
)
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import MissingModelError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.grounding.claim import UNSERVED_KEY
from elt_llm_query.prompts import answer_template, refine_template
from elt_llm_query.synthesizers.prompt_packer import BETWEEN, SourcePacker


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
    """One prompt with the beginning of every source, cut to fit."""

    mode = ResponseMode.SIMPLE_SUMMARIZE

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        llm = self._writer(models)
        return OnePromptSummarize(
            llm=llm,
            prompt_helper=SourcePacker(llm, self.context_tokens),
            text_qa_template=answer_template(self.system_prompt),
            callback_manager=CallbackManager(),
        )


class OnePromptSummarize(SimpleSummarize):
    """One prompt that holds every source, or the beginning of each.

    LlamaIndex joins the sources before it cuts them, so that the last are lost, and
    puts them into the prompt as a Python list whose line breaks are escaped. The
    response's metadata holds `degradation` where a source was cut.
    """

    @override
    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        response = super().synthesize(
            query, nodes, additional_source_nodes, **response_kwargs
        )
        question = query if isinstance(query, str) else query.query_str
        texts = [n.node.get_content(metadata_mode=MetadataMode.LLM) for n in nodes]
        pairs = zip(texts, self._beginnings(question, texts), strict=True)
        if cut := sum(len(shown) < len(text.strip()) for text, shown in pairs):
            detail = f"the model read the beginning of {cut} of {len(nodes)} sources"
            kind = DegradationKind.PROMPT_SHORTENED
            noted = {UNSERVED_KEY: Degradation(kind=kind, detail=detail)}
            response.metadata = {**(response.metadata or {}), **noted}
        return response

    @override
    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **kwargs: Any
    ) -> str:
        values = self._values(query_str, text_chunks)
        return self._llm.predict(self._text_qa_template, **values, **kwargs)

    @override
    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        values = self._values(query_str, text_chunks)
        return await self._llm.apredict(
            self._text_qa_template, **values, **response_kwargs
        )

    def _values(self, question: str, texts: Sequence[str]) -> dict[str, str]:
        context = BETWEEN.join(self._beginnings(question, texts))
        return {"query_str": question, "context_str": context}

    def _beginnings(self, question: str, texts: Sequence[str]) -> list[str]:
        prompt = self._text_qa_template.partial_format(query_str=question)
        return self._prompt_helper.truncate(prompt, texts, llm=self._llm)


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
