"""Enrichers that a language model writes: questions, and a line of context."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.schema import TextNode, TransformComponent
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import ModelError
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.provenance import Provenance, read, reading
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.enrichers.base import Addition, Enricher, title_of
from elt_llm_ingest.llm_cache import needed

PATIENCE = 3  # failures in a row after which the model is not asked again
QUESTIONS = """\
Write {count} different short questions that the passage answers, as somebody would ask
who has not read it. One question a line, no numbers, nothing else.

Document: {title}
Section: {section}

Passage:
{text}
"""
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


class ToldEnricher(Enricher):
    """Asks a language model about each chunk.

    A chunk the model failed on goes without and says so as its `problem`; after three
    failures in a row the others are not asked about.
    """

    _llm: LLM = PrivateAttr()

    def __init__(self, llm: LLM, **fields: Any) -> None:
        super().__init__(**fields)
        self._llm = llm

    @abstractmethod
    def prompt(self, node: TextNode, parsed: ParsedDocument | None) -> str:
        """What is asked about a chunk."""

    @abstractmethod
    def told(self, answer: str) -> Addition:
        """What is made of the answer."""

    @override
    def additions(
        self, nodes: Sequence[TextNode], parsed: ParsedDocument | None
    ) -> Iterator[Addition]:
        failed, last = 0, ""
        for node in nodes:
            if failed >= PATIENCE:
                yield Addition(problem=f"not asked after {PATIENCE} failures: {last}")
                continue
            try:
                answer = self._llm.complete(self.prompt(node, parsed)).text
            except ModelError as error:
                failed, last = failed + 1, error.message
                yield Addition(problem=f"{self.class_name()}: {last}")
                continue
            failed = 0
            yield self.told(answer)


class QuestionsEnricher(ToldEnricher):
    """Questions the chunk answers, behind its text: HyDE, done while ingesting."""

    count: int = Field(default=3, ge=1, le=10, description="questions a chunk")

    @classmethod
    @override
    def class_name(cls) -> str:
        return "QuestionsEnricher"

    @override
    def prompt(self, node: TextNode, parsed: ParsedDocument | None) -> str:
        return QUESTIONS.format(count=self.count, **_about(node, parsed))

    @override
    def told(self, answer: str) -> Addition:
        lines = [
            line.strip().lstrip("-*•0123456789.) ") for line in answer.splitlines()
        ]
        asked = [line for line in lines if line.endswith("?")]
        return Addition(after=tuple(asked[: self.count]))


class ContextualPrefixEnricher(ToldEnricher):
    """One sentence that says what the chunk is about, in front of its text."""

    before: int = Field(default=1500, ge=0, description="characters shown before it")

    @classmethod
    @override
    def class_name(cls) -> str:
        return "ContextualPrefixEnricher"

    @override
    def prompt(self, node: TextNode, parsed: ParsedDocument | None) -> str:
        start = read(node).span_start
        text = parsed.text[max(start - self.before, 0) : start] if parsed else ""
        return CONTEXT.format(before=text, **_about(node, parsed))

    @override
    def told(self, answer: str) -> Addition:
        said = " ".join(answer.split())
        return Addition(before=(said,) if said else ())


class Questions(Strategy[TransformComponent]):
    """`QuestionsEnricher` with the configured language model."""

    count: int = Field(default=3, ge=1, le=10)

    @override
    def build(self, models: Models) -> TransformComponent:
        llm = needed(models, "the enricher 'questions'")
        return QuestionsEnricher(llm=llm, **_limits(models), **self.model_dump())


class ContextualPrefix(Strategy[TransformComponent]):
    """`ContextualPrefixEnricher` with the configured language model."""

    before: int = Field(default=1500, ge=0)

    @override
    def build(self, models: Models) -> TransformComponent:
        llm = needed(models, "the enricher 'contextual_prefix'")
        return ContextualPrefixEnricher(llm=llm, **_limits(models), **self.model_dump())


def _limits(models: Models) -> dict[str, Any]:
    embedder = as_counting(models.embedder)
    return {"count_tokens": embedder.count_tokens, "max_tokens": embedder.max_tokens}


def _about(node: TextNode, parsed: ParsedDocument | None) -> dict[str, str]:
    place: Provenance = read(node)
    return {
        "title": title_of(place, parsed),
        "section": place.section,
        "text": reading(node),
    }
