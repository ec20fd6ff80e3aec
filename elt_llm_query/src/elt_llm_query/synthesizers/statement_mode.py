"""Answers written as statements, each with the quotations that prove it.

A model that can be held to a JSON schema writes a list; the only labels that the schema
allows are those of the prompt. Each statement is then checked like any other, and its
quotations have to be in the sources that they name. A model that does not keep the
shape, also not when it is told what is wrong, is asked for plain text instead.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.prompts import PromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from pydantic import BaseModel, Field, JsonValue, create_model
from typing_extensions import override

from elt_llm_core.errors import AnswerShapeError
from elt_llm_core.models.structured import read_shape
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models, Strategy
from elt_llm_query.grounding.claim import STATEMENTS_KEY, UNSERVED_KEY
from elt_llm_query.grounding.plain_text import plain_text
from elt_llm_query.grounding.statements import (
    DraftStatement,
    GivenQuote,
    split_statements,
)
from elt_llm_query.llm_calls import keeps_shapes
from elt_llm_query.prompts import REFUSAL, statements_template
from elt_llm_query.synthesizers.prompt_packer import SourcePacker
from elt_llm_query.synthesizers.response_modes import CompactOptions, require_writer

_LABEL_LINE = re.compile(r"^\[([SF]\d+)\]", re.MULTILINE)


class WrittenQuote(BaseModel):
    """What proves a statement."""

    source: str = Field(description="the label of the source, without brackets")
    quote: str = Field(description="words of that source, copied letter for letter")


class WrittenStatement(BaseModel):
    """One statement of an answer as a model wrote it."""

    text: str = Field(description="one sentence of the answer, without labels")
    citations: list[WrittenQuote]


class WrittenAnswer(BaseModel):
    """An answer in order; no statement where the sources do not answer."""

    statements: list[WrittenStatement]


class StatementsOptions(Strategy[BaseSynthesizer]):
    """Statements as JSON, each with the quotations that prove it."""

    system_prompt: str = Field(default="", description="said before our rules")
    context_tokens: int = Field(
        default=0,
        ge=0,
        description="most tokens of sources in a prompt; 0: what the window holds",
    )

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        llm = require_writer(models, "statements")
        same = self.model_dump(include={"system_prompt", "context_tokens"})
        return StatementSynthesizer(llm, self, CompactOptions(**same).build(models))


class StatementSynthesizer(BaseSynthesizer):
    """Asks for statements, prompt by prompt where the sources do not fit into one.

    The response's metadata holds `statements`, and `degradation` if the model answered
    in plain text.

    Args:
        llm: The model.
        options: The prompt, and how much it holds.
        in_text: Answers where the model does not keep the shape.
    """

    def __init__(
        self, llm: LLM, options: StatementsOptions, in_text: BaseSynthesizer
    ) -> None:
        super().__init__(
            llm=llm,
            callback_manager=CallbackManager(),
            prompt_helper=SourcePacker(llm, options.context_tokens),
        )
        self._template = statements_template(options.system_prompt)
        self._in_text = in_text

    @override
    def _get_prompts(self) -> PromptDictType:
        return {"statements_template": self._template}

    @override
    def _update_prompts(self, prompts: PromptDictType) -> None:
        template = prompts.get("statements_template")
        if isinstance(template, PromptTemplate):
            self._template = template

    @override
    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        question = query if isinstance(query, str) else query.query_str
        shown = [n.node.get_content(metadata_mode=MetadataMode.LLM) for n in nodes]
        try:
            drafts = self.write(question, shown)
        except AnswerShapeError as error:
            response = self._in_text.synthesize(query, nodes, additional_source_nodes)
            detail = f"answered in plain text instead of statements: {error}"
            kind = DegradationKind.ANSWER_UNSTRUCTURED
            noted = {UNSERVED_KEY: Degradation(kind=kind, detail=detail)}
            response.metadata = {**(response.metadata or {}), **noted}
            return response
        sources = [*nodes, *(additional_source_nodes or [])]
        metadata = {STATEMENTS_KEY: drafts}
        return Response(_join(drafts), source_nodes=sources, metadata=metadata)

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
    ) -> str:
        return _join(self.write(query_str, text_chunks))

    @override
    async def aget_response(
        self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any
    ) -> str:
        return self.get_response(query_str, text_chunks)

    def write(self, question: str, texts: Sequence[str]) -> list[DraftStatement]:
        """Ask for the statements of an answer.

        Args:
            question: What is asked.
            texts: The sources as they are shown, each with its label.

        Returns:
            The statements in order, none twice; not one where the sources do not
            answer.

        Raises:
            AnswerShapeError: if the model does not keep the shape.
            ModelError: if the model fails.
        """
        drafts: dict[str, DraftStatement] = {}
        for context in self._prompt_helper.repack(self._template, texts, llm=self._llm):
            for written in self._ask(question, context).statements:
                for draft in _to_drafts(written, first=not drafts):
                    drafts.setdefault(draft.plain, draft)
        return list(drafts.values())

    def _ask(self, question: str, context: str) -> WrittenAnswer:
        values = {"query_str": question, "context_str": context}
        if keeps_shapes(self._llm):
            shape = _shape_with(_LABEL_LINE.findall(context))
            answer = self._llm.structured_predict(shape, self._template, **values)
            return WrittenAnswer.model_validate(answer.model_dump())
        text = self._llm.predict(self._template, **values)
        return read_shape(text, WrittenAnswer, self._llm.metadata.model_name)


def _shape_with(labels: Sequence[str]) -> type[BaseModel]:
    """The shape of an answer whose schema allows these labels and no others.

    It is said in the schema alone: an answer with another label is read, and the label
    reported, where a server does not hold its model to the schema.
    """
    allowed: list[JsonValue] = [*dict.fromkeys(labels)]
    known = Field(json_schema_extra={"enum": allowed})
    quote = create_model("WrittenQuote", __base__=WrittenQuote, source=(str, known))
    citations = (list[quote], Field())
    statement = create_model(
        "WrittenStatement", __base__=WrittenStatement, citations=citations
    )
    statements = (list[statement], Field())
    return create_model("WrittenAnswer", __base__=WrittenAnswer, statements=statements)


def _to_drafts(written: WrittenStatement, *, first: bool) -> Iterator[DraftStatement]:
    """Give the sentences of a statement; each rests on all of its quotations."""
    text = " ".join(plain_text(written.text).split())
    quotes = [
        GivenQuote(one.source.strip("[] \t").upper(), one.quote.strip())
        for one in written.citations
    ]
    labels = "".join(f"[{label}]" for label in dict.fromkeys(q.label for q in quotes))
    evidence = tuple(one for one in quotes if one.quote)
    for sentence in split_statements(text):
        gap = "" if first else " "
        first = False
        # Cut again: a label after a full stop is put before it.
        marked = split_statements(f"{sentence.text} {labels}")
        yield DraftStatement(gap, "".join(d.gap + d.text for d in marked), evidence)


def _join(drafts: Sequence[DraftStatement]) -> str:
    return "".join(draft.gap + draft.text for draft in drafts) or REFUSAL
