"""Answers that a model writes in few calls, with notes on unread sources."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.indices.prompt_helper import ChatPromptHelper
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from pydantic import Field
from typing_extensions import override

from elt_llm_core.errors import MissingModelError
from elt_llm_core.models.gateway.spending import Account, answers_left, count_calls
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.grounding.claim import NOTES_KEY
from elt_llm_query.synthesizers.answer_stream import predict_answer
from elt_llm_query.synthesizers.prompt_packer import SourcePacker

# Of the window: sources are worth more than a long answer, which has to be proved.
LARGEST_ANSWER = 4


class WrittenOptions(Strategy[BaseSynthesizer]):
    """Options of all modes."""

    system_prompt: str = Field(
        default="", description="prompt text before the rules for citations"
    )
    context_tokens: int = Field(
        default=0,
        ge=0,
        description="maximum tokens of sources in a prompt; 0: as many as the "
        "context window holds",
    )
    most_calls: int = Field(
        default=4,
        ge=1,
        description="maximum model calls per question, including rewrites; "
        "sources that fit into no prompt are omitted",
    )


def require_writer(models: Models, name: str) -> LLM:
    """Return the model that writes answers, with a limited answer length.

    Args:
        models: The models of the run.
        name: The synthesizer that needs it.

    Raises:
        MissingModelError: If none is configured.
    """
    llm = models.llm
    if llm is None:
        raise MissingModelError(
            f"the synthesizer {name!r} needs a language model",
            "set models.llm_strategy (for example ollama), or "
            "query.synthesizer_strategy: extractive",
        )
    most = llm.metadata.context_window // LARGEST_ANSWER
    if llm.metadata.num_output > most and "num_predict" in type(llm).model_fields:
        return llm.model_copy(update={"num_predict": most})
    return llm


@dataclass(frozen=True)
class Written:
    """The text of a model; `notes` are its degradations.

    `metadata` is for the response.
    """

    text: str
    notes: tuple[Degradation, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


def note_unread(unread: int, among: int) -> tuple[Degradation, ...]:
    """Return the note on sources that were not read completely, or an empty tuple."""
    if not unread:
        return ()
    detail = (
        f"the model read {among - unread} of {among} sources completely: more do "
        "not fit into its window and the limit of calls (most_calls)"
    )
    return (Degradation(kind=DegradationKind.PROMPT_SHORTENED, detail=detail),)


class Budget:
    """The number of remaining answers.

    Args:
        most: Maximum for a question, including its rewrites.
        account: Counts the requested answers.
    """

    def __init__(self, most: int, account: Account) -> None:
        # One in any case: a question whose rewrites took all has an answer too.
        self._most = max(answers_left(most), 1)
        self._account = account
        self._begun = 0

    @property
    def remaining(self) -> int:
        """How many; a model of another package counts only what was begun."""
        return self._most - max(self._account.asked, self._begun)

    def begin(self) -> bool:
        """Count one that is asked for now; return whether it is not the first."""
        self._begun += 1
        return self._begun > 1


class ModelSynthesizer(BaseSynthesizer):
    """A synthesizer that limits its calls to a model.

    The response's metadata has `notes` if the model did not read every source
    completely.

    Args:
        llm: The model.
        options: The size and the number of prompts.
        prompts: The templates by name.
    """

    def __init__(
        self, llm: LLM, options: WrittenOptions, **prompts: BasePromptTemplate
    ) -> None:
        self.packer = SourcePacker(llm, options.context_tokens)
        super().__init__(
            llm=llm,
            callback_manager=CallbackManager(),
            prompt_helper=self.packer,
            # It is not used; by default it loads the token table of another model.
            chat_prompt_helper=ChatPromptHelper(tokenizer=str.split),
        )
        self._most_calls = options.most_calls
        self._prompts: PromptDictType = dict(prompts)

    @abstractmethod
    def write(
        self, question: str, nodes: Sequence[NodeWithScore], budget: Budget
    ) -> Written:
        """Call the model.

        Args:
            question: The question.
            nodes: The labelled sources, the best first.
            budget: The remaining calls.

        Raises:
            ModelError: If the model fails, or its window is too small.
        """

    def ask(self, prompt: str, budget: Budget, **values: str) -> str:
        """Return the answer to the prompt of that name."""
        again = budget.begin()
        return predict_answer(self._llm, self._prompts[prompt], again=again, **values)

    def fill(
        self, prompt: str, question: str, sources: Sequence[str], **given: Any
    ) -> tuple[str, list[str]]:
        """As `SourcePacker.fill`, for the prompt of that name and the question."""
        template = self._prompts[prompt].partial_format(query_str=question)
        return self.packer.fill(template, sources, **given)

    @override
    def _get_prompts(self) -> PromptDictType:
        return dict(self._prompts)

    @override
    def _update_prompts(self, prompts: PromptDictType) -> None:
        known = {name: prompts[name] for name in self._prompts if name in prompts}
        self._prompts = {**self._prompts, **known}

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
        with count_calls("answer") as account:
            written = self.write(question, nodes, Budget(self._most_calls, account))
        metadata = dict(written.metadata)
        if written.notes:
            metadata[NOTES_KEY] = written.notes
        sources = [*nodes, *(additional_source_nodes or [])]
        return Response(written.text, sources, metadata)

    @override
    async def asynthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        work = partial(self.synthesize, query, nodes, additional_source_nodes)
        return await asyncio.to_thread(work)

    @override
    def get_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        nodes = [NodeWithScore(node=TextNode(text=text)) for text in text_chunks]
        return str(self.synthesize(query_str, nodes))

    @override
    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        work = partial(self.get_response, query_str, text_chunks)
        return await asyncio.to_thread(work)


def label_texts(nodes: Sequence[NodeWithScore]) -> list[str]:
    """Return the sources as a prompt shows them, each under its label."""
    texts = (n.node.get_content(metadata_mode=MetadataMode.LLM) for n in nodes)
    return [text.strip() for text in texts]
