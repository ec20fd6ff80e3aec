"""Group blocks for chunking, and the indexed text of a table row."""

from collections.abc import Iterator, Sequence

from elt_llm_core.document import Block, BlockKind

PROSE = frozenset(
    {
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.LIST_ITEM,
        BlockKind.CAPTION,
        BlockKind.CODE,
    }
)
UNSEEN = frozenset({BlockKind.FURNITURE, BlockKind.CONTENTS})
SEPARATOR = " > "


def group_blocks(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Yield runs of prose of one section, the rows of one table, other blocks singly.

    Headings without text of their own join the section below them. Blocks that are not
    chunked (furniture, contents) end a run of prose, but not a table.
    """
    group: list[Block] = []
    for block in blocks:
        if block.kind is BlockKind.FIGURE and block.start == block.end:
            continue  # a picture without text
        if group and not _goes_on(group, block):
            yield group
            group = []
        if block.kind not in UNSEEN:
            group.append(block)
    if group:
        yield group


def _goes_on(group: Sequence[Block], block: Block) -> bool:
    last = group[-1]
    if last.kind is BlockKind.TABLE_ROW:
        # A table may continue on the next page.
        return block.kind in UNSEEN or same_table(last, block)
    return last.kind in PROSE and block.kind in PROSE and _same_section(group, block)


def same_table(row: Block, block: Block) -> bool:
    """Return whether `block` continues the table of `row`."""
    return block.kind is BlockKind.TABLE_ROW and (
        (row.table_number, row.table, row.section)
        == (block.table_number, block.table, block.section)
    )


def _same_section(group: Sequence[Block], block: Block) -> bool:
    last = group[-1].section
    if block.section == last:
        return True
    only_headings = all(b.kind is BlockKind.HEADING for b in group)
    return only_headings and block.section.startswith(last + SEPARATOR)


def is_header(row: Block) -> bool:
    """Return whether a row contains the names of the columns."""
    return row.attributes.get("row") == "header"


def row_text(text: str, row: Block) -> str:
    """Return the indexed text of a row: "Title - Header: value | Header: value".

    The title is the table's, or else the innermost heading above it. Empty cells are
    left out.
    """
    cells = row_cells(text, row)
    title = row_title(row)
    return f"{title} - {cells}" if title and cells != title else cells


def row_cells(text: str, row: Block) -> str:
    """Return the cells with their headers: "Header: value | Header: value"."""
    cells = []
    for cell in row.cells:
        value = text[cell.start : cell.end].strip()
        if value:
            cells.append(f"{cell.header}: {value}" if cell.header else value)
    return " | ".join(cells) or join_cells(text[row.start : row.end])


def row_title(row: Block) -> str:
    """Return the table's title, or the innermost heading above the row."""
    return row.table or row.section.rsplit(SEPARATOR, 1)[-1]


def join_cells(text: str) -> str:
    """Return the cells of a row's text separated by bars."""
    return " | ".join(part.strip() for part in text.split("\t") if part.strip())
