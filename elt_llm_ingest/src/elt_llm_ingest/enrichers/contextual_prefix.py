"""A sentence of context for each chunk, written by a language model."""

from llama_index.core.schema import TextNode, TransformComponent
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.provenance import read
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.enrichers.enricher import (
    Addition,
    LLMEnricher,
    describe_chunk,
    token_limits,
)
from elt_llm_ingest.llm_cache import require_llm

CONTEXT = """\
Say in one sentence of at most 30 words what the passage is about and where in the
document it stands, so that it can be found by a search. Answer with the sentence only.

Document: {title}
Section: {section}

What stands before it:
{before}

Passage:
{text}
"""


class ContextualPrefixEnricher(LLMEnricher):
    """Adds a sentence about the chunk's subject in front of its text."""

    before: int = Field(
        default=1500, ge=0, description="characters of preceding text in the prompt"
    )

    @classmethod
    @override
    def class_name(cls) -> str:
        return "ContextualPrefixEnricher"

    @override
    def prompt(self, node: TextNode, parsed: ParsedDocument | None) -> str:
        start = read(node).span_start
        text = parsed.text[max(start - self.before, 0) : start] if parsed else ""
        return CONTEXT.format(before=text, **describe_chunk(node, parsed))

    @override
    def read_answer(self, answer: str) -> Addition:
        sentence = " ".join(answer.split())
        return Addition(before=(sentence,) if sentence else ())


class ContextualPrefixEnricherOptions(Strategy[TransformComponent]):
    """`ContextualPrefixEnricher` with the configured language model."""

    before: int = Field(default=1500, ge=0)

    @override
    def build(self, models: Models) -> TransformComponent:
        llm = require_llm(models, "the enricher 'contextual_prefix'")
        return ContextualPrefixEnricher(
            llm=llm, **token_limits(models), **self.model_dump()
        )
