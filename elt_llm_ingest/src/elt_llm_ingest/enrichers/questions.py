"""Questions that a chunk answers, written by a language model."""

from llama_index.core.schema import TextNode, TransformComponent
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.enrichers.enricher import (
    Addition,
    LLMEnricher,
    describe_chunk,
    token_limits,
)
from elt_llm_ingest.llm_cache import require_llm

QUESTIONS = """\
Write {count} different short questions that the passage answers, as somebody would ask
who has not read it. One question a line, no numbers, nothing else.

Document: {title}
Section: {section}

Passage:
{text}
"""


class QuestionsEnricher(LLMEnricher):
    """Appends questions that the chunk answers: HyDE at ingest time."""

    count: int = Field(default=3, ge=1, le=10, description="questions a chunk")

    @classmethod
    @override
    def class_name(cls) -> str:
        return "QuestionsEnricher"

    @override
    def prompt(self, node: TextNode, parsed: ParsedDocument | None) -> str:
        return QUESTIONS.format(count=self.count, **describe_chunk(node, parsed))

    @override
    def read_answer(self, answer: str) -> Addition:
        lines = [
            line.strip().lstrip("-*•0123456789.) ") for line in answer.splitlines()
        ]
        questions = [line for line in lines if line.endswith("?")]
        return Addition(after=tuple(questions[: self.count]))


class QuestionsEnricherOptions(Strategy[TransformComponent]):
    """`QuestionsEnricher` with the configured language model."""

    count: int = Field(default=3, ge=1, le=10)

    @override
    def build(self, models: Models) -> TransformComponent:
        llm = require_llm(models, "the enricher 'questions'")
        return QuestionsEnricher(llm=llm, **token_limits(models), **self.model_dump())
