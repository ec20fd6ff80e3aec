"""Chunks of whole sentences that never leave their section."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import (
    BaseNode,
    Document,
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from pydantic import Field, PrivateAttr
from typing_extensions import override

from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.models.protocol import as_counting
from elt_llm_core.provenance import Provenance, read, write
from elt_llm_core.strategy import Models, Strategy
from elt_llm_ingest.chunkers.base import SourceDocument
from elt_llm_ingest.chunkers.groups import (
    PROSE,
    cells_shown,
    groups,
    row_text,
    row_title,
)
from elt_llm_ingest.chunkers.places import Places
from elt_llm_ingest.chunkers.units import Count, Span, sentences, trimmed, windows


@dataclass(frozen=True)
class _Unit:
    """A sentence, or a window of a long one, and the block it is in."""

    span: Span
    tokens: int
    block: Block


class SentenceChunker(NodeParser):
    """Cuts documents into chunks with their exact places.

    Prose is packed sentence by sentence up to `chunk_size` tokens inside one section;
    headings without text of their own go with what follows. A table row, a fact sheet
    and a relationship are a chunk each. `document_text[start:end]` is the text of every
    chunk. Plain documents are read as one stretch of prose.
    """

    chunk_size: int = Field(default=200, ge=8, description="most tokens a chunk")
    chunk_overlap: int = Field(default=0, ge=0, description="tokens carried over")
    max_tokens: int = Field(default=256, ge=8, description="the embedder's limit")
    language: str = Field(default="en", description="of the sentence rules")

    _count: Count = PrivateAttr()

    def __init__(self, count: Callable[[str], int], **fields: Any) -> None:
        super().__init__(**fields)
        self._count = count

    @classmethod
    @override
    def class_name(cls) -> str:
        return "SentenceChunker"

    def chunk(self, parsed: ParsedDocument) -> list[TextNode]:
        """The chunks of a parsed document in reading order, with provenance."""
        found = []
        places = Places(parsed.pages)
        for ordinal, (place, blocks) in enumerate(self._places(parsed)):
            start, end = place.span_start, place.span_end
            page, last, boxes = places.of(start, end, blocks)
            done = place.model_copy(
                update={
                    "ordinal": ordinal,
                    "page": page,
                    "end_page": last,
                    "boxes": boxes,
                }
            )
            found.append(write(TextNode(text=parsed.text[start:end]), done))
        return found

    @override
    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        made: list[BaseNode] = []
        for node in nodes:
            chunks = self.chunk(_parsed(node))
            source = node.source_node if not isinstance(node, Document) else None
            source = source or node.as_related_node_info()
            made.extend(
                _tied(chunk, source, self.id_func(i, node))
                for i, chunk in enumerate(chunks)
            )
        return made

    @override
    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
    ) -> list[BaseNode]:
        # LlamaIndex looks chunks up by their text and may find an earlier copy of it.
        done = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node in done:
            if isinstance(node, TextNode):
                place = read(node)
                node.start_char_idx = place.span_start
                node.end_char_idx = place.span_end
                node.excluded_embed_metadata_keys = sorted(node.metadata)
                node.excluded_llm_metadata_keys = sorted(node.metadata)
        return done

    def _places(
        self, parsed: ParsedDocument
    ) -> Iterator[tuple[Provenance, Sequence[Block]]]:
        """Every chunk's span, kind and section with the blocks it touches."""
        for group in groups(parsed.blocks):
            kind = group[0].kind
            if kind in PROSE:
                yield from self._prose(parsed.text, group)
            elif kind is BlockKind.TABLE_ROW:
                yield from self._row(parsed.text, group[0])
            else:
                for start, end in self._whole(parsed.text, group[0]):
                    yield _place(start, end, group, kind.value), group

    def _whole(self, text: str, block: Block) -> list[Span]:
        return windows(text, (block.start, block.end), self._limit, self._count)

    @property
    def _limit(self) -> int:
        """Most tokens of a chunk that is not cut by choice."""
        return max(self.max_tokens, 8)

    def _prose(
        self, text: str, group: Sequence[Block]
    ) -> Iterator[tuple[Provenance, Sequence[Block]]]:
        size = min(self.chunk_size, self._limit)
        units = [unit for block in group for unit in self._units(text, block, size)]
        at = 0
        while at < len(units):
            until = self._pack(text, units, at, size)
            run = units[at:until]
            touched = _distinct([unit.block for unit in run])
            start, end = run[0].span[0], run[-1].span[1]
            yield _place(start, end, touched, "prose"), touched
            at = (
                max(self._back(units, at, until), at + 1)
                if until < len(units)
                else until
            )

    def _units(self, text: str, block: Block, size: int) -> Iterator[_Unit]:
        if block.kind in (BlockKind.HEADING, BlockKind.CODE):
            spans = [trimmed(text, block.start, block.end)]
        else:
            spans = sentences(text, block.start, block.end, self.language)
        for span in spans:
            for piece in windows(text, span, size, self._count):
                yield _Unit(piece, self._count(text[slice(*piece)]), block)

    def _pack(self, text: str, units: Sequence[_Unit], at: int, size: int) -> int:
        """The end of the chunk that begins at `at`.

        As many units as fit; a block that would be cut though it fits into a chunk of
        its own begins the next one, if this one is at least half full without it.
        """
        until, total = at + 1, units[at].tokens
        while until < len(units) and total + units[until].tokens <= size:
            total += units[until].tokens
            until += 1
        if until == len(units):
            return self._fitted(text, units, at, until, size)
        first = until
        while first > at and units[first - 1].block is units[until].block:
            first -= 1
        kept = sum(unit.tokens for unit in units[at:first])
        if first > at and kept >= size / 2 and _block_tokens(units, first) <= size:
            until = first
        return self._fitted(text, units, at, _without_headings(units, at, until), size)

    def _fitted(
        self, text: str, units: Sequence[_Unit], at: int, until: int, size: int
    ) -> int:
        """`until`, or less where the joined text counts more than its parts."""
        while until - at > 1:
            joined = text[units[at].span[0] : units[until - 1].span[1]]
            if self._count(joined) <= size:
                return until
            until -= 1
        return until

    def _back(self, units: Sequence[_Unit], at: int, until: int) -> int:
        """Where the next chunk begins: `chunk_overlap` tokens of sentences earlier."""
        total, start = 0, until
        while start > at + 1 and total + units[start - 1].tokens <= self.chunk_overlap:
            start -= 1
            total += units[start].tokens
        return start

    def _row(
        self, text: str, row: Block
    ) -> Iterator[tuple[Provenance, Sequence[Block]]]:
        """A table row whole, or in windows where the embedder cannot take it."""
        shown = row_text(text, row)
        if self._count(shown) <= self._limit:
            place = _place(row.start, row.end, [row], "table_row")
            update = {"cells": row.cells, "index_text": shown, "table": row.table}
            yield place.model_copy(update=update), [row]
            return
        title = row_title(row)
        room = max(self._limit - self._count(title), self._limit // 2, 8)
        for start, end in windows(text, (row.start, row.end), room, self._count):
            said = f"{title} - {cells_shown(text[start:end])}" if title else ""
            if self._count(said) > self._limit:
                said = ""
            update = {
                "cells": tuple(c for c in row.cells if c.start < end and c.end > start),
                "index_text": said,
                "table": row.table,
            }
            place = _place(start, end, [row], "table_row")
            yield place.model_copy(update=update), [row]


class SentenceChunks(Strategy[NodeParser]):
    """`SentenceChunker` with the embedder's own token count."""

    chunk_size: int = Field(default=200, ge=8)
    chunk_overlap: int = Field(default=0, ge=0)
    language: str = Field(default="en", min_length=2)

    @override
    def build(self, models: Models) -> NodeParser:
        embedder = as_counting(models.embedder)
        return SentenceChunker(
            count=embedder.count_tokens,
            chunk_size=self.chunk_size,
            chunk_overlap=self.chunk_overlap,
            max_tokens=embedder.max_tokens,
            language=self.language,
        )


def _place(start: int, end: int, blocks: Sequence[Block], kind: str) -> Provenance:
    section = blocks[-1].section
    return Provenance(span_start=start, span_end=end, kind=kind, section=section)


def _distinct(blocks: Sequence[Block]) -> list[Block]:
    return [b for i, b in enumerate(blocks) if i == 0 or blocks[i - 1] is not b]


def _block_tokens(units: Sequence[_Unit], first: int) -> int:
    block = units[first].block
    return sum(unit.tokens for unit in units[first:] if unit.block is block)


def _without_headings(units: Sequence[_Unit], at: int, until: int) -> int:
    """A heading at the end of a chunk belongs to the next one."""
    end = until
    while end > at + 1 and units[end - 1].block.kind is BlockKind.HEADING:
        end -= 1
    return end if units[end - 1].block.kind is not BlockKind.HEADING else until


def _parsed(node: BaseNode) -> ParsedDocument:
    if isinstance(node, SourceDocument) and node.parsed is not None:
        return node.parsed
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    blocks = []
    if text.strip():
        blocks = [Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))]
    return ParsedDocument(title="", text=text, blocks=blocks, parser="")


def _tied(chunk: TextNode, source: RelatedNodeInfo, node_id: str) -> TextNode:
    chunk.id_ = node_id
    chunk.relationships[NodeRelationship.SOURCE] = source
    return chunk
