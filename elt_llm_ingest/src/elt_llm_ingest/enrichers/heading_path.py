"""The document's title and the headings above a chunk, in front of its text."""

from collections.abc import Iterator, Sequence

from llama_index.core.schema import TextNode, TransformComponent
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import ParsedDocument
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.provenance import read, reading
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.enrichers.enricher import JOINED, Addition, Enricher, title_of


class HeadingPathEnricher(Enricher):
    """Adds title and headings, outermost first, unless the chunk contains them."""

    title: bool = Field(default=True, description="include the document's title")

    @classmethod
    @override
    def class_name(cls) -> str:
        return "HeadingPathEnricher"

    @override
    def additions(
        self, nodes: Sequence[TextNode], parsed: ParsedDocument | None
    ) -> Iterator[Addition]:
        for node in nodes:
            place = read(node)
            parts = place.section.split(JOINED) if place.section else []
            if self.title:
                parts = [title_of(place, parsed), *parts]
            own = reading(node)
            told = dict.fromkeys(part for part in parts if part and part not in own)
            yield Addition(before=tuple(told))


class HeadingPathEnricherOptions(Strategy[TransformComponent]):
    """`HeadingPathEnricher` within the embedder's limit."""

    title: bool = True

    @override
    def build(self, models: Models) -> TransformComponent:
        embedder = as_counting(models.embedder)
        return HeadingPathEnricher(
            count_tokens=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            title=self.title,
        )
