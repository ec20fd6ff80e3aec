"""Which blocks make chunks together, and what is indexed for a table row."""

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


def groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Runs of prose of one section; every other block by itself.

    Headings join the section below them when they have no text of their own. The header
    row of a table that has other rows is told with each of them.
    """
    group: list[Block] = []
    for index, block in enumerate(blocks):
        if group and (block.kind not in PROSE or not _same_section(group, block)):
            yield group
            group = []
        if block.kind in PROSE:
            group.append(block)
        elif block.kind not in UNSEEN and not _is_told_elsewhere(blocks, index):
            yield [block]
    if group:
        yield group


def _same_section(group: Sequence[Block], block: Block) -> bool:
    last = group[-1].section
    if block.section == last:
        return True
    only_headings = all(b.kind is BlockKind.HEADING for b in group)
    return only_headings and block.section.startswith(last + SEPARATOR)


def _is_told_elsewhere(blocks: Sequence[Block], index: int) -> bool:
    if blocks[index].attributes.get("row") != "header":
        return False
    following = blocks[index + 1 : index + 2]
    return any(
        b.kind is BlockKind.TABLE_ROW and b.attributes.get("row") != "header"
        for b in following
    )


def row_text(text: str, row: Block) -> str:
    """What is indexed for a table row: "Title - Header: value | Header: value".

    The title is the table's, else the innermost heading above it. Empty cells are left
    out.
    """
    cells = []
    for cell in row.cells:
        value = text[cell.start : cell.end].strip()
        if value:
            cells.append(f"{cell.header}: {value}" if cell.header else value)
    said = " | ".join(cells) or cells_shown(text[row.start : row.end])
    title = row_title(row)
    return f"{title} - {said}" if title else said


def row_title(row: Block) -> str:
    """The table's title, else the innermost heading above the row."""
    return row.table or row.section.rsplit(SEPARATOR, 1)[-1]


def cells_shown(text: str) -> str:
    """The cells of a row's text with bars between them."""
    return " | ".join(part.strip() for part in text.split("\t") if part.strip())
