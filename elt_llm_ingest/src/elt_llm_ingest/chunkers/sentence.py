"""Chunks of whole sentences that never leave their section."""

from collections.abc import Iterator, Sequence

from llama_index.core.node_parser import NodeParser
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.chunkers.groups import PROSE, group_blocks
from elt_llm_ingest.chunkers.numbering import Numbering
from elt_llm_ingest.chunkers.packing import Packing, Unit
from elt_llm_ingest.chunkers.parser import DETECTED, Piece, SpanChunker, place
from elt_llm_ingest.chunkers.row_groups import Rows
from elt_llm_ingest.chunkers.units import split_by_tokens


class SentenceChunker(SpanChunker):
    """Splits documents into chunks with their exact locations.

    Prose is packed sentence by sentence up to `chunk_size` tokens inside one section;
    headings without text of their own join the next section. A table row, a figure, a
    fact sheet and a relationship are one chunk each.
    """

    chunk_size: int = Field(default=200, ge=8, description="maximum tokens per chunk")
    chunk_overlap: int = Field(
        default=0, ge=0, description="tokens repeated from the previous chunk"
    )

    @classmethod
    @override
    def class_name(cls) -> str:
        return "SentenceChunker"

    @override
    def pieces(self, parsed: ParsedDocument, numbers: Numbering) -> Iterator[Piece]:
        rows, packing = self.rows(parsed.text), self.packing(parsed)
        for group in group_blocks(parsed.blocks):
            kind = group[0].kind
            if kind in PROSE:
                yield from self.prose(group, packing, numbers)
            elif kind is BlockKind.TABLE_ROW:
                yield from rows.table(group)
            else:
                block = group[0]
                span = block.start, block.end
                for start, end in split_by_tokens(
                    parsed.text, span, self.max_tokens, self._count
                ):
                    yield place(start, end, group, kind.value), group

    def prose(
        self,
        group: Sequence[Block],
        packing: Packing,
        numbers: Numbering,  # noqa: ARG002 - for those who cut at rules
    ) -> Iterator[Piece]:
        """Return the chunks of a run of prose of one section."""
        yield from map(piece_of, packing.runs(group))

    def packing(self, parsed: ParsedDocument) -> Packing:
        """Return the packing of the document's sentences."""
        size = min(self.chunk_size, self.max_tokens)
        language = self.language_of(parsed)
        return Packing(parsed.text, size, self.chunk_overlap, self._count, language)

    def rows(self, text: str) -> Rows:
        """Return the chunker of table rows in `text`."""
        return Rows(text, self.max_tokens, self._count)


class SentenceChunkerOptions(Strategy[NodeParser]):
    """`SentenceChunker` with the embedder's own token count."""

    chunk_size: int = Field(default=200, ge=8)
    chunk_overlap: int = Field(default=0, ge=0)
    language: str = Field(
        default=DETECTED,
        min_length=2,
        description="language of the sentence rules; auto: the document's language",
    )

    @override
    def build(self, models: Models) -> NodeParser:
        embedder = as_counting(models.embedder)
        return SentenceChunker(
            count=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            **self.model_dump(),
        )


def piece_of(run: Sequence[Unit]) -> Piece:
    """Return the chunk of a run of sentences."""
    touched = [
        u.block for i, u in enumerate(run) if not i or run[i - 1].block is not u.block
    ]
    return place(run[0].start, run[-1].end, touched, "prose"), touched
