"""The stretch of a document around a quote, in which its list is looked for.

What lists need of a document is read once for a collection of one moment: the store
opens a collection that changed as a new object.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from llama_index.core.schema import TextNode

from elt_llm_core import provenance
from elt_llm_core.document import Block, BlockKind
from elt_llm_core.store import Collection
from elt_llm_core.store.database.records import Outlined
from elt_llm_query.analysis.document_lists import (
    Extent,
    ListBlock,
    ReadList,
    list_around,
    list_below,
    read_blocks,
    split_items,
)
from elt_llm_query.analysis.stems import words

# Chunks before and after a quote in which its list is looked for: rule books have one
# chunk for each rule, and a list with its sub-rules may have some fifty.
BEFORE, AFTER = 24, 80
SHORT_SECTION = 900  # characters of a section that is quoted whole: some six sentences
_PROSE = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM)
_DOCUMENTS = 16  # of a collection that are kept; the sources of a question are fewer


class ChunkPlace(NamedTuple):
    """The span of a chunk in its document, and where rules start in it."""

    node_id: str
    start: int
    end: int
    rules: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Stretch:
    """The part of a document around a quote: its blocks and its chunks.

    Attributes:
        home: The collection of the document.
        document_id: The document.
        text: The text of the whole document.
        blocks: The blocks of running text and tables in the stretch.
        places: The chunks in it that may be quoted.
    """

    home: Collection
    document_id: str
    text: str
    blocks: Sequence[ListBlock]
    places: Sequence[ChunkPlace]

    @property
    def document(self) -> tuple[str, str]:
        """Return the collection and the document."""
        return self.home.name, self.document_id

    def find(self, start: int, end: int) -> ReadList | None:
        """Return the list whose lead-in ends inside a span."""
        for at, block in enumerate(self.blocks):
            if start < block.end <= end + 1:
                led = list_below(self.blocks, at)
                if led is not None and not led.heading:
                    return led
        return None

    def led_by_paragraph(self, start: int) -> ReadList | None:
        """Return the list that the paragraph around a position leads in."""
        for at, block in enumerate(self.blocks):
            if block.start <= start < block.end:
                led = list_below(self.blocks, at)
                return None if led is None or led.heading else led
        return None

    def below_heading(self, section: str, node_id: str) -> ReadList | None:
        """Return the list directly below the heading of a section.

        Args:
            section: The path of the section.
            node_id: Its first chunk, since another section may have the same heading.
        """
        at = self._heading(section, node_id)
        return None if at is None else list_below(self.blocks, at)

    def short_section(self, section: str, node_id: str) -> ReadList | None:
        """Return the heading of a section with its paragraphs, if they are few.

        The arguments are those of `below_heading`.
        """
        at = self._heading(section, node_id)
        if at is None:
            return None
        heading, below = self.blocks[at], self.blocks[at + 1 :]
        inside = list(takewhile(lambda b: b.kind is not BlockKind.HEADING, below))
        plain = all(block.kind in _PROSE for block in inside)
        if not inside or not plain or inside[-1].end - inside[0].start > SHORT_SECTION:
            return None
        items = tuple(((block.start, block.end),) for block in inside)
        return ReadList((heading.start, heading.end), items, heading=True)

    def _heading(self, section: str, node_id: str) -> int | None:
        """Return which block is the heading of the section that a chunk begins."""
        last = section.rpartition(" > ")[2]
        end = next((p.end for p in self.places if p.node_id == node_id), 0)
        headings = [
            at
            for at, block in enumerate(self.blocks)
            if block.start < end and _is_heading(block, last)
        ]
        return headings[-1] if headings else None

    def around(self, start: int) -> ReadList | None:
        """Return the list with an item at a position."""
        for at, block in enumerate(self.blocks):
            if block.start <= start < block.end:
                return list_around(self.blocks, at)
        return None

    def holder(self, extent: Extent) -> str | None:
        """Return the id of the first chunk that contains a span."""
        for place in self.places:
            if place.start <= extent[0] and extent[1] <= place.end:
                return place.node_id
        return None

    def nodes(self, ids: Iterable[str]) -> Mapping[str, TextNode]:
        """Return chunks of the stretch by their ids."""
        return self.home.nodes(ids)


def _is_heading(block: ListBlock, text: str) -> bool:
    return block.kind is BlockKind.HEADING and block.text.strip() == text


class DocumentParts:
    """What lists need of one document. Chunks are read when a quote is near them.

    Args:
        outline: The position of each chunk.
        text: The text.
        blocks: The blocks in reading order.
    """

    def __init__(
        self, outline: Sequence[Outlined], text: str, blocks: Iterable[Block]
    ) -> None:
        self.outline = outline
        self._text = text
        self._blocks = read_blocks(
            [
                item
                for b in blocks
                if not _is_header(b, text)
                for item in split_items(_to_list_block(b, text))
            ]
        )
        self._places: dict[str, ChunkPlace] = {}

    def around(
        self, home: Collection, document_id: str, ordinal: int, where: Mapping[str, Any]
    ) -> Stretch | None:
        """Return the stretch around a chunk; None if nothing of it may be quoted.

        Args:
            home: The collection of the document.
            document_id: The document.
            ordinal: The number of the chunk in it.
            where: The filter of the question; chunks that it excludes are left out.
        """
        reach = range(ordinal - BEFORE, ordinal + AFTER + 1)
        near = [one.node_id for one in self.outline if one.ordinal in reach]
        if where:
            allowed = home.ids(where)
            near = [node for node in near if node in allowed]
        places = self._read_places(home, near)
        if not places:
            return None
        first, last = min(p.start for p in places), max(p.end for p in places)
        rules = _rule_starts(places)
        blocks = [
            b if b.rule or b.start not in rules else _with_rule(b, rules[b.start])
            for b in self._blocks
            if first <= b.start and b.end <= last
        ]
        return Stretch(home, document_id, self._text, blocks, places)

    def _read_places(self, home: Collection, ids: Sequence[str]) -> list[ChunkPlace]:
        new = [node for node in ids if node not in self._places]
        for node_id, node in home.nodes(new).items() if new else ():
            place = provenance.read(node)
            rules = tuple((span.rule.lower(), span.start) for span in place.rule_spans)
            self._places[node_id] = ChunkPlace(
                node_id, place.span_start, place.span_end, rules
            )
        return [self._places[node] for node in ids if node in self._places]


_parts: WeakKeyDictionary[Collection, dict[str, DocumentParts]] = WeakKeyDictionary()


def parts_of_document(home: Collection, document_id: str) -> DocumentParts:
    """Return what lists need of a document, read once for this state of a collection.

    Args:
        home: The collection, as it was opened.
        document_id: A document of it; an unknown one has no parts.
    """
    known = _parts.setdefault(home, {})
    parts = known.pop(document_id, None)
    if parts is None:
        parts = DocumentParts(
            home.outline(document_id),
            home.document_text(document_id),
            home.blocks(document_id),
        )
    known[document_id] = parts  # the last one was used last
    for oldest in list(known)[:-_DOCUMENTS]:
        known.pop(oldest, None)
    return parts


def _rule_starts(places: Iterable[ChunkPlace]) -> dict[int, str]:
    """Return the rule that begins at each position; a chunk may continue one."""
    starts: dict[str, int] = {}
    for place in places:
        for rule, start in place.rules:
            starts.setdefault(rule, start)
    return {start: rule for rule, start in starts.items()}


def _to_list_block(block: Block, text: str) -> ListBlock:
    row = block.kind is BlockKind.TABLE_ROW
    rule = "" if row else block.number.lower()
    return ListBlock(
        block.start, block.end, text[block.start : block.end], block.kind, rule
    )


def _with_rule(block: ListBlock, rule: str) -> ListBlock:
    row = block.kind is BlockKind.TABLE_ROW
    return block if row else block._replace(rule=rule)


def _is_header(block: Block, text: str) -> bool:
    """Return whether a row only repeats the headers of its table."""
    cells = [(c.header, text[c.start : c.end]) for c in block.cells]
    return bool(cells) and all(
        words(header.casefold()) == words(value.casefold()) for header, value in cells
    )
