"""The base of all enrichers, and the base of those that call a model."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode, TextNode, TransformComponent
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import ModelError
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.provenance import (
    INDEX_GAP,
    Provenance,
    index_text,
    read,
    reading,
    write,
)
from elt_llm_core.strategy import Models, Stage

ENRICHERS: Stage[TransformComponent] = Stage("enrichers")
JOINED = " > "
# A server that is down should not be called for every chunk.
MAX_FAILURES = 3


@dataclass(frozen=True)
class Addition:
    """The addition to one chunk.

    `before` is put in front of the indexed text; its first parts are left out if not
    all fit. `after` is appended part by part while there is space.
    """

    before: Sequence[str] = ()
    after: Sequence[str] = ()
    date: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    problem: str = ""


class Enricher(TransformComponent):
    """Adds to the text that is embedded and keyword-indexed, never to the chunk's text.

    Additions beyond the embedder's `max_tokens` are left out, so that no model
    truncates the text. It is called with chunks in reading order and, if available,
    their document as `parsed`; it returns copies in the same order.
    """

    max_tokens: int = Field(default=256, ge=8, description="the embedder's limit")

    _count: Callable[[str], int] = PrivateAttr()

    def __init__(self, count_tokens: Callable[[str], int], **fields: Any) -> None:
        super().__init__(**fields)
        self._count = count_tokens

    @abstractmethod
    def additions(
        self, nodes: Sequence[TextNode], parsed: ParsedDocument | None
    ) -> Iterator[Addition]:
        """Return the addition to each chunk, in order."""

    @override
    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[BaseNode]:
        parsed = kwargs.get("parsed")
        texts = [node for node in nodes if isinstance(node, TextNode)]
        added = iter(zip(texts, self.additions(texts, parsed), strict=True))
        return [
            self._with(*next(added)) if isinstance(node, TextNode) else node
            for node in nodes
        ]

    def _with(self, node: TextNode, added: Addition) -> TextNode:
        place = read(node)
        told = {"date": added.date or place.date}
        told["problem"] = "; ".join(filter(None, (place.problem, added.problem)))
        changed = write(node, place.model_copy(update=told))
        changed = self._before(changed, added)
        for part in added.after:
            changed = self._after(changed, part)
        changed.metadata.update(added.metadata)
        return write(changed, read(changed))

    def _before(self, node: TextNode, added: Addition) -> TextNode:
        for first in range(len(added.before)):
            said = JOINED.join(added.before[first:])
            place = read(node)
            made = _join(said, place.index_before)
            tried = write(node, place.model_copy(update={"index_before": made}))
            if self._count(index_text(tried)) <= self.max_tokens:
                return tried
        return node

    def _after(self, node: TextNode, said: str) -> TextNode:
        place = read(node)
        made = _join(place.index_after, said)
        tried = write(node, place.model_copy(update={"index_after": made}))
        return tried if self._count(index_text(tried)) <= self.max_tokens else node


def title_of(place: Provenance, parsed: ParsedDocument | None) -> str:
    """Return the title of the document."""
    return parsed.title if parsed is not None else place.document


def _join(first: str, then: str) -> str:
    return INDEX_GAP.join(filter(None, (first, then)))


class LLMEnricher(Enricher):
    """Calls a language model for each chunk.

    If the model fails for a chunk, the chunk gets no addition and the reason as its
    `problem`. After three failures in a row the model is not called again.
    """

    _llm: LLM = PrivateAttr()

    def __init__(self, llm: LLM, **fields: Any) -> None:
        super().__init__(**fields)
        self._llm = llm

    @abstractmethod
    def prompt(self, node: TextNode, parsed: ParsedDocument | None) -> str:
        """Return the prompt about a chunk."""

    @abstractmethod
    def read_answer(self, answer: str) -> Addition:
        """Return the addition from the answer."""

    @override
    def additions(
        self, nodes: Sequence[TextNode], parsed: ParsedDocument | None
    ) -> Iterator[Addition]:
        failed, last = 0, ""
        for node in nodes:
            if failed >= MAX_FAILURES:
                yield Addition(problem=f"skipped after {MAX_FAILURES} failures: {last}")
                continue
            try:
                answer = self._llm.complete(self.prompt(node, parsed)).text
            except ModelError as error:
                failed, last = failed + 1, error.message
                yield Addition(problem=f"{self.class_name()}: {last}")
                continue
            failed = 0
            yield self.read_answer(answer)


def token_limits(models: Models) -> dict[str, Any]:
    """Return the fields that limit the length of additions."""
    embedder = as_counting(models.embedder)
    return {"count_tokens": embedder.count_tokens, "max_tokens": embedder.max_tokens}


def describe_chunk(node: TextNode, parsed: ParsedDocument | None) -> dict[str, str]:
    """Return the fields of a prompt: title, section and text of the chunk."""
    place: Provenance = read(node)
    return {
        "title": title_of(place, parsed),
        "section": place.section,
        "text": reading(node),
    }
