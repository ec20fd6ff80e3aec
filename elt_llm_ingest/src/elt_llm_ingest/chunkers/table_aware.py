"""Tables with their titles, optionally with several short rows per chunk."""

import re
from collections.abc import Iterator, Sequence

from llama_index.core.node_parser import NodeParser
from pydantic import Field
from typing_extensions import override

from elt_llm_core.document import Block, BlockKind, ParsedDocument
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.strategy import Models
from elt_llm_ingest.chunkers.groups import same_table
from elt_llm_ingest.chunkers.numbering import Numbering
from elt_llm_ingest.chunkers.parser import Piece
from elt_llm_ingest.chunkers.row_groups import Rows
from elt_llm_ingest.chunkers.sentence import SentenceChunker, SentenceChunkerOptions

TITLE = re.compile(r"\s*(?:Table|Tabelle|Tab\.)\s+[\w.-]+", re.IGNORECASE)
TITLES = frozenset({BlockKind.CAPTION, BlockKind.PARAGRAPH, BlockKind.HEADING})
MAX_TITLE = 200  # characters; a longer paragraph before a table is not its title


class TableAwareChunker(SentenceChunker):
    """`SentenceChunker` that uses "Table 3 ..." before a table as its title.

    The title is indexed with every row and is not a separate chunk. Rows share a chunk
    while they have at most `table_chunk_size` tokens together (0: one row each).
    """

    table_chunk_size: int = Field(
        default=0, ge=0, description="maximum tokens of table rows per chunk"
    )

    @classmethod
    @override
    def class_name(cls) -> str:
        return "TableAwareChunker"

    @override
    def pieces(self, parsed: ParsedDocument, numbers: Numbering) -> Iterator[Piece]:
        blocks = _drop_titles(parsed.text, parsed.blocks)
        yield from super().pieces(parsed.model_copy(update={"blocks": blocks}), numbers)

    @override
    def rows(self, text: str) -> Rows:
        return Rows(text, self.max_tokens, self._count, self.table_chunk_size)


class TableAwareChunkerOptions(SentenceChunkerOptions):
    """`TableAwareChunker` with the embedder's own token count."""

    table_chunk_size: int = Field(default=0, ge=0)

    @override
    def build(self, models: Models) -> NodeParser:
        embedder = as_counting(models.embedder)
        return TableAwareChunker(
            count=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            **self.model_dump(),
        )


def _drop_titles(text: str, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks without table titles, which are on the rows."""
    done: list[Block] = []
    title, first = "", None
    for block in blocks:
        row = block.kind is BlockKind.TABLE_ROW
        before = done[-1] if done else None
        if row and (first is None or not same_table(first, block)):
            title, first = "", block
            if before is not None and _is_title(text, before, block):
                title = " ".join(text[before.start : before.end].split())
                done.pop()
        elif not row:
            first = None
        done.append(
            block.model_copy(update={"table": title}) if row and title else block
        )
    return done


def _is_title(text: str, block: Block, row: Block) -> bool:
    line = " ".join(text[block.start : block.end].split())
    if block.kind not in TITLES or len(line) > MAX_TITLE:
        return False
    return line == row.table or bool(TITLE.match(line))
