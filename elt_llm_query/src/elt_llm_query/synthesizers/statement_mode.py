"""Answers written as statements, each with the quotations that prove it.

A model that supports a JSON schema writes a list; the schema allows only the labels of
the prompt. Each statement is then checked like any other, and its quotations must be in
the sources that they name. A model that does not match the schema, even after one
correction, is asked for plain text instead.
"""

import re
from collections.abc import Iterator, Sequence

from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore
from pydantic import BaseModel, Field, JsonValue, create_model
from typing_extensions import override

from elt_llm_core.errors import AnswerShapeError
from elt_llm_core.models.structured import read_shape
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.strategy import Models
from elt_llm_query.grounding.claim import STATEMENTS_KEY
from elt_llm_query.grounding.plain_text import plain_text
from elt_llm_query.grounding.statements import (
    DraftStatement,
    GivenQuote,
    split_statements,
)
from elt_llm_query.llm_calls import keeps_shapes
from elt_llm_query.prompts import REFUSAL, statements_template
from elt_llm_query.synthesizers.response_modes import CompactOptions
from elt_llm_query.synthesizers.written_answer import (
    Budget,
    ModelSynthesizer,
    Written,
    WrittenOptions,
    label_texts,
    note_unread,
    require_writer,
)

STATEMENTS = "statements_template"
MENDED = 2  # calls of an answer with one correction
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


class StatementsOptions(WrittenOptions):
    """Statements as JSON, each with the quotations that prove it."""

    @override
    def build(self, models: Models) -> BaseSynthesizer:
        llm = require_writer(models, "statements")
        in_text = CompactOptions(**self.model_dump()).build(models)
        return StatementSynthesizer(llm, self, in_text)


class StatementSynthesizer(ModelSynthesizer):
    """Asks for statements, in several prompts if the sources need them.

    The response's metadata holds `statements`, unless the model answered in plain text.

    Args:
        llm: The model.
        options: The prompt, its size and the maximum number of prompts.
        in_text: Answers if the model does not follow the schema.
    """

    def __init__(
        self, llm: LLM, options: StatementsOptions, in_text: ModelSynthesizer
    ) -> None:
        template = statements_template(options.system_prompt)
        super().__init__(llm, options, **{STATEMENTS: template})
        self._in_text = in_text

    @override
    def _get_prompt_modules(self) -> PromptMixinType:
        return {"in_text": self._in_text}

    @override
    def write(
        self, question: str, nodes: Sequence[NodeWithScore], budget: Budget
    ) -> Written:
        """Ask for the statements of an answer: in order, without duplicates.

        Empty if the sources do not answer. Raises ModelError.
        """
        drafts: dict[str, DraftStatement] = {}
        rest = label_texts(nodes)
        notes: tuple[Degradation, ...] = ()
        first = True
        # An answer that does not match the schema costs another call to correct it.
        while rest and (first or budget.remaining >= MENDED):
            context, later = self.fill(STATEMENTS, question, rest)
            try:
                written = self._ask(question, context, budget)
            except AnswerShapeError as error:
                if first and budget.remaining > 0:
                    return self._write_text(question, nodes, budget, error)
                if first:
                    raise
                notes = _note_shape("omitted output that is not a statement", error)
                break
            first, rest = False, later
            for one in written.statements:
                for draft in _to_drafts(one, first=not drafts):
                    drafts.setdefault(draft.plain, draft)
        proved = list(drafts.values())
        notes = (*notes, *note_unread(len(rest), len(nodes)))
        return Written(_join(proved), notes, {STATEMENTS_KEY: proved})

    def _write_text(
        self,
        question: str,
        nodes: Sequence[NodeWithScore],
        budget: Budget,
        error: AnswerShapeError,
    ) -> Written:
        """Answer in plain text, with the remaining budget."""
        written = self._in_text.write(question, nodes, budget)
        notes = _note_shape("answered in plain text instead of statements", error)
        return Written(written.text, (*notes, *written.notes))

    def _ask(self, question: str, context: str, budget: Budget) -> WrittenAnswer:
        values = {"query_str": question, "context_str": context}
        if not keeps_shapes(self._llm):
            budget.begin()
            # Not by `ask`, because streamed JSON is of no use to a reader.
            text = self._llm.predict(self.get_prompts()[STATEMENTS], **values)
            return read_shape(text, WrittenAnswer, self._llm.metadata.model_name)
        budget.begin()
        shape = _shape_with(_LABEL_LINE.findall(context))
        template = self.get_prompts()[STATEMENTS]
        answer = self._llm.structured_predict(shape, template, **values)
        return WrittenAnswer.model_validate(answer.model_dump())


def _note_shape(what: str, error: AnswerShapeError) -> tuple[Degradation, ...]:
    kind = DegradationKind.ANSWER_UNSTRUCTURED
    return (Degradation(kind=kind, detail=f"{what}: {error}"),)


def _shape_with(labels: Sequence[str]) -> type[BaseModel]:
    """Return the schema of an answer that allows only these labels.

    Only the schema enforces this: if a server does not enforce the schema, an answer
    with another label is accepted, and the label is reported.
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
    """Return the sentences of a statement; each is based on all its quotations."""
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
        # Split again, because a label after a full stop is moved before it.
        marked = split_statements(f"{sentence.text} {labels}")
        yield DraftStatement(gap, "".join(d.gap + d.text for d in marked), evidence)


def _join(drafts: Sequence[DraftStatement]) -> str:
    return "".join(draft.gap + draft.text for draft in drafts) or REFUSAL
