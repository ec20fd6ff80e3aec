"""Build the canonical text with correct spans."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.records import replace_fields

SEPARATOR = " > "
MAX_TITLE = 200  # characters; a longer line is no title
# Characters of a heading, which every chunk below it repeats: one of 200,000 made 500
# chunks of the same length. Some documents set whole paragraphs as headings; no
# paragraph of 130 chapters of handbooks and standards is longer.
MAX_HEADING = 1_500


def one_line(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


class TextBuilder:
    """Collects blocks, separated by a blank line, or a newline between table rows."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._settled: list[str] = []
        self._length = 0
        self._last_table: str | None = None
        self._tables: dict[str, int] = {}
        self.blocks: list[Block] = []

    @property
    def text(self) -> str:
        """Return everything written so far."""
        self.settle()
        self._settled = ["".join(self._settled)]  # the pieces are as large again
        return self._settled[0]

    def settle(self) -> None:
        """Join the written text, which takes less memory than its pieces."""
        self._settled.append("".join(self._parts))
        self._parts.clear()

    @property
    def length(self) -> int:
        """Return the number of characters written so far."""
        return self._length

    def write(self, text: str) -> tuple[int, int]:
        """Append `text` and return its span."""
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        return start, self._length

    def begin(self, kind: BlockKind, table: str | None = None) -> int:
        """Write the separator before a block of this kind; return its start."""
        if self._length:
            same_table = kind is BlockKind.TABLE_ROW and table == self._last_table
            self.write("\n" if same_table else "\n\n")
        self._last_table = table if kind is BlockKind.TABLE_ROW else None
        return self._length

    def end(self, kind: BlockKind, start: int, **fields: Any) -> Block | None:
        """Close the block begun at `start`. An empty one is dropped.

        A heading that is too long to be one is a paragraph.
        """
        if self._length <= start:
            return None
        if kind is BlockKind.HEADING and self._length - start > MAX_HEADING:
            kind, fields = BlockKind.PARAGRAPH, {**fields, "level": 0}
        block = Block(kind=kind, start=start, end=self._length, **fields)
        self.blocks.append(block)
        return block

    def add(self, kind: BlockKind, text: str, **fields: Any) -> Block | None:
        """Write a whole block of plain text; nothing for empty text."""
        text = text.strip()
        if not text:
            return None
        start = self.begin(kind)
        self.write(text)
        return self.end(kind, start, **fields)

    def add_row(
        self,
        cells: Sequence[str],
        headers: Sequence[str],
        table_key: str,
        **fields: Any,
    ) -> Block | None:
        """Write a table row: cells separated by tabs, each on one line.

        `table_key` identifies the table and is not written. A row of empty cells is
        dropped.
        """
        lines = [one_line(cell) for cell in cells]
        if not any(lines):
            return None
        start = self.begin(BlockKind.TABLE_ROW, table_key)
        spans = []
        for index, cell in enumerate(lines):
            if index:
                self.write("\t")
            spans.append(self.write(cell))
        texts = tuple(
            Cell(header=header_of(headers, i), start=s, end=e)
            for i, (s, e) in enumerate(spans)
        )
        number = self.table_number(table_key)
        return self.end(
            BlockKind.TABLE_ROW, start, cells=texts, table_number=number, **fields
        )

    def table_number(self, key: str) -> int:
        """Return the number of a table by its key, from 1 in the order of writing."""
        return self._tables.setdefault(key, len(self._tables) + 1)


def header_of(headers: Sequence[str], index: int) -> str:
    """Return the header of a column, empty beyond the last."""
    return one_line(headers[index]) if index < len(headers) else ""


def with_sections(text: str, blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks with section paths; a heading's own path ends with itself."""
    return list(assign_sections(text, blocks))


def assign_sections(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks as `with_sections` does."""
    stack: list[tuple[int, str]] = []
    section = ""
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            level = block.level or 1
            stack = [entry for entry in stack if entry[0] < level]
            stack.append((level, one_line(text[block.start : block.end])))
            section = SEPARATOR.join(title for _, title in stack)
        yield (
            block
            if block.section == section
            else replace_fields(block, section=section)
        )


def title_of(text: str, blocks: Sequence[Block], fallback: str) -> str:
    """Return the first top heading, or the file name without its extension."""
    tops = [b for b in blocks if b.kind is BlockKind.HEADING and b.level <= 1]
    title = one_line(text[tops[0].start : tops[0].end]) if tops else ""
    return title if 0 < len(title) <= MAX_TITLE else fallback
