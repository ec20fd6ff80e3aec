"""The base of all chunkers: exact spans, places on the page, rule numbers."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
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
from elt_llm_core.language.detect import document_language
from elt_llm_core.provenance import Provenance, read, write
from elt_llm_core.suspicion import Suspicion
from elt_llm_ingest.chunkers.figure_mentions import FigureMentions
from elt_llm_ingest.chunkers.numbering import Numbering
from elt_llm_ingest.chunkers.places import Places
from elt_llm_ingest.chunkers.source_document import SourceDocument

Piece = tuple[Provenance, Sequence[Block]]
DETECTED = "auto"


class SpanChunker(NodeParser):
    """Splits documents into chunks with their exact locations.

    `document_text[start:end]` is the text of every chunk, and no chunk's searchable
    text exceeds the embedder's limit. Plain documents are treated as one run of prose.
    """

    max_tokens: int = Field(default=256, ge=8, description="the embedder's limit")
    language: str = Field(
        default=DETECTED,
        description="language of the sentence rules; auto: the document's language",
    )

    _count: Callable[[str], int] = PrivateAttr()

    def __init__(self, count: Callable[[str], int], **fields: Any) -> None:
        super().__init__(**fields)
        self._count = count

    @abstractmethod
    def pieces(self, parsed: ParsedDocument, numbers: Numbering) -> Iterator[Piece]:
        """Return every chunk's span, kind and section with its blocks, in order."""

    def chunk(self, parsed: ParsedDocument) -> list[TextNode]:
        """Return the chunks of a parsed document in reading order, with provenance."""
        nodes = []
        places, numbers = Places(parsed.pages), Numbering(parsed)
        figures = FigureMentions(parsed)
        for ordinal, (place, blocks) in enumerate(self.pieces(parsed, numbers)):
            start, end = place.span_start, place.span_end
            page, last, boxes = places.of(start, end, blocks)
            done = place.model_copy(
                update={
                    "ordinal": ordinal,
                    "page": page,
                    "end_page": last,
                    "boxes": boxes,
                    "rules": numbers.within(start, end),
                    "rule_spans": numbers.spans(start, end),
                    "references": numbers.references(start, end),
                    "figure_number": figures.number(start, end),
                    "figure_references": figures.mentions(start, end),
                }
            )
            nodes.append(write(TextNode(text=parsed.text[start:end]), done))
        return nodes

    def language_of(self, parsed: ParsedDocument) -> str:
        """Return the language of the rules that split the document's sentences."""
        if self.language != DETECTED:
            return self.language
        return document_language(parsed.text)

    @override
    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        made: list[BaseNode] = []
        for node in nodes:
            source = node.source_node if not isinstance(node, Document) else None
            source = source or node.as_related_node_info()
            for index, chunk in enumerate(self.chunk(parsed_of(node))):
                made.append(_link_source(chunk, source, self.id_func(index, node)))
        return made

    @override
    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
    ) -> list[BaseNode]:
        # LlamaIndex finds chunks by searching for their text and may match an earlier
        # copy.
        done = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node in done:
            if isinstance(node, TextNode):
                place = read(node)
                node.start_char_idx = place.span_start
                node.end_char_idx = place.span_end
                node.excluded_embed_metadata_keys = sorted(node.metadata)
                node.excluded_llm_metadata_keys = sorted(node.metadata)
        return done


def parsed_of(node: BaseNode) -> ParsedDocument:
    """Return the loader's document, or the node's text as one paragraph."""
    if isinstance(node, SourceDocument) and node.parsed is not None:
        return node.parsed
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    blocks = []
    if text.strip():
        blocks = [Block(kind=BlockKind.PARAGRAPH, start=0, end=len(text))]
    return ParsedDocument(title="", text=text, blocks=blocks, parser="")


def place(start: int, end: int, blocks: Sequence[Block], kind: str) -> Provenance:
    """Return the location of a span, in the section of the last block it overlaps."""
    last = blocks[-1]
    return Provenance(
        span_start=start,
        span_end=end,
        kind=kind,
        section=last.section,
        generated=last.attributes.get("generated") == "true" or None,
        reading_order="doubtful" if any(map(_is_doubtful, blocks)) else "",
        suspicious=(Suspicion.HIDDEN_CHARACTERS,) if any(map(_hides, blocks)) else (),
    )


def _is_doubtful(block: Block) -> bool:
    return block.attributes.get("reading_order") == "doubtful"


def _hides(block: Block) -> bool:
    """Return whether characters with hidden text were removed from the block."""
    return Suspicion.HIDDEN_CHARACTERS in block.attributes


def _link_source(chunk: TextNode, source: RelatedNodeInfo, node_id: str) -> TextNode:
    chunk.id_ = node_id
    chunk.relationships[NodeRelationship.SOURCE] = source
    return chunk
