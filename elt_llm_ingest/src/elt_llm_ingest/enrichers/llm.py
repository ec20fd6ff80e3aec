"""The base of enrichers that ask a language model about each chunk."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.schema import TextNode
from pydantic import PrivateAttr
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.errors import ModelError
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.provenance import Provenance, read, reading
from elt_llm_core.strategy import Models
from elt_llm_ingest.enrichers.base import Addition, Enricher, title_of

# A server that is down should not be asked about every chunk.
MAX_FAILURES = 3


class LLMEnricher(Enricher):
    """Asks a language model about each chunk.

    If the model fails for a chunk, the chunk gets nothing and the reason as its
    `problem`. After three failures in a row the model is not asked again.
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
        """Return what the answer adds to the chunk."""

    @override
    def additions(
        self, nodes: Sequence[TextNode], parsed: ParsedDocument | None
    ) -> Iterator[Addition]:
        failed, last = 0, ""
        for node in nodes:
            if failed >= MAX_FAILURES:
                yield Addition(
                    problem=f"not asked after {MAX_FAILURES} failures: {last}"
                )
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
    """Return the fields that bound what an enricher adds to a chunk."""
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
