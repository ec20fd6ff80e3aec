"""LlamaIndex's response modes with our prompts: labels, quotes, honest refusal."""

from collections.abc import Sequence
from typing import Any, ClassVar

from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
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
        return get_response_synthesizer(
            **self._parts(models),
            refine_template=refine_template(self.system_prompt),
            summary_template=answer_template(self.system_prompt),
            response_mode=self.mode,
        )

    def _parts(self, models: Models) -> dict[str, Any]:
        """What the synthesizers of all modes are made of."""
        llm = self._writer(models)
        return {
            "llm": llm,
            "prompt_helper": SourcePacker(llm, self.context_tokens),
            "text_qa_template": answer_template(self.system_prompt),
            "callback_manager": CallbackManager(),
        }

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
        return OnePromptSummarize(**self._parts(models))


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
        if not nodes:
            return super().synthesize(query, nodes, additional_source_nodes)
        question = query if isinstance(query, str) else query.query_str
        texts = [n.node.get_content(metadata_mode=MetadataMode.LLM) for n in nodes]
        shown = self._beginnings(question, texts)
        metadata = {}
        pairs = zip(texts, shown, strict=True)
        if cut := sum(len(part) < len(text.strip()) for text, part in pairs):
            detail = f"the model read the beginning of {cut} of {len(nodes)} sources"
            kind = DegradationKind.PROMPT_SHORTENED
            metadata[UNSERVED_KEY] = Degradation(kind=kind, detail=detail)
        sources = [*nodes, *(additional_source_nodes or [])]
        return Response(self._ask(question, shown), sources, metadata)

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
        self, query_str: str, text_chunks: Sequence[str], **kwargs: Any
    ) -> str:
        return self._ask(query_str, self._beginnings(query_str, text_chunks))

    @override
    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        return self.get_response(query_str, text_chunks)

    def _ask(self, question: str, shown: Sequence[str]) -> str:
        values = {"query_str": question, "context_str": BETWEEN.join(shown)}
        return self._llm.predict(self._text_qa_template, **values)

    def _beginnings(self, question: str, texts: Sequence[str]) -> list[str]:
        prompt = self._text_qa_template.partial_format(query_str=question)
        return self._prompt_helper.truncate(prompt, texts, llm=self._llm)


class AccumulateOptions(_ResponseModeOptions):
    """One answer a source, put together."""

    mode = ResponseMode.ACCUMULATE

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        return PlainAccumulate(**self._parts(models))


class PlainAccumulate(AccumulateResponses):
    """Answers put together without "Response 1:", which no source says."""

    @override
    def _format_response(self, outputs: list[Any], separator: str) -> str:
        return "\n\n".join(str(output) for output in outputs if output)
