"""One sentence per chunk, with the sentences around it for reading."""

from collections.abc import Iterator, Sequence
from typing import Any

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import BaseNode, TextNode
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import Block, BlockKind
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.provenance import read
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.chunkers.numbering import Numbering
from elt_llm_ingest.chunkers.packing import Packing, Unit
from elt_llm_ingest.chunkers.parser import DETECTED, Piece, parsed_of
from elt_llm_ingest.chunkers.sentence import SentenceChunker, piece_of


class SentenceWindowChunker(SentenceChunker):
    """Each sentence with the span of `window_size` sentences on either side.

    The window never leaves the section. With `window_text` the nodes contain its text
    as `window` and their own as `original_text`, as LlamaIndex's
    `MetadataReplacementPostProcessor` expects; otherwise only the span.
    """

    window_size: int = Field(default=3, ge=1, description="sentences on either side")
    window_text: bool = True

    @classmethod
    @override
    def class_name(cls) -> str:
        return "SentenceWindowChunker"

    @override
    def prose(
        self, group: Sequence[Block], packing: Packing, numbers: Numbering
    ) -> Iterator[Piece]:
        units = [unit for block in group for unit in packing.units(block)]
        runs = list(_with_headings(units, packing.size))
        for index, run in enumerate(runs):
            first = max(index - self.window_size, 0)
            last = min(index + self.window_size, len(runs) - 1)
            window = {"window_start": runs[first][0].start}
            window["window_end"] = runs[last][-1].end
            place, blocks = piece_of(run)
            yield place.model_copy(update=window), blocks

    @override
    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        made = super()._parse_nodes(nodes, show_progress, **kwargs)
        if not self.window_text:
            return made
        texts = {node.node_id: parsed_of(node).text for node in nodes}
        for node in made:
            place = read(node)
            if place.window is not None and isinstance(node, TextNode):
                node.metadata["window"] = texts[node.ref_doc_id or ""][
                    slice(*place.window)
                ]
                node.metadata["original_text"] = node.text
        return made


def _with_headings(units: Sequence[Unit], size: int) -> Iterator[Sequence[Unit]]:
    """Return one sentence each, with the headings before it while they fit."""
    run: list[Unit] = []
    for unit in units:
        full = sum(one.tokens for one in run) + unit.tokens > size
        if run and (run[-1].block.kind is not BlockKind.HEADING or full):
            yield run
            run = []
        run.append(unit)
    if run:
        yield run


class SentenceWindowChunkerOptions(Strategy[NodeParser]):
    """`SentenceWindowChunker`; windows are spans, and no text is stored twice."""

    chunk_size: int = Field(default=200, ge=8)
    chunk_overlap: int = Field(default=0, ge=0, le=0, description="there is none")
    language: str = Field(
        default=DETECTED,
        min_length=2,
        description="language of the sentence rules; auto: the document's language",
    )
    window_size: int = Field(default=3, ge=1)

    @override
    def build(self, models: Models) -> NodeParser:
        embedder = as_counting(models.embedder)
        return SentenceWindowChunker(
            count=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            window_text=False,
            **self.model_dump(),
        )
