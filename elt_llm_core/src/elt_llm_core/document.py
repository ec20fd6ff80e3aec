"""What a loader returns and every later step reads: text, blocks, pages.

One canonical text per document. A block, a word, a table cell and a chunk are all
character spans `[start, end)` of it, so `text[start:end]` is the proof of everything.
Cells of a table row are separated by a tab in the text, rows by a newline, blocks by a
blank line; nothing else is added to what the document says.
"""

from enum import StrEnum
from typing import Any

from pydantic import Field

from elt_llm_core.results import Box, Record


class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    CAPTION = "caption"
    FIGURE = "figure"  # its text is the caption, its boxes are the picture
    CODE = "code"
    FACT_SHEET = "fact_sheet"
    RELATIONSHIP = "relationship"
    FURNITURE = "furniture"  # running headers, footers, page numbers: kept, not chunked
    CONTENTS = "contents"  # lines of a table of contents: kept, not chunked


class Cell(Record):
    """One cell of a table row: its column's header and its span.

    A cell that spans rows is repeated in each of them, in a PDF with the span of the
    first; one that spans columns stands once, in the first. A header of several rows is
    joined from the top: "Sales / 2024".
    """

    header: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    boxes: tuple[Box, ...] = ()
    id: str = Field(default="", description="what the file itself calls the cell")
    column: int | None = Field(default=None, ge=0, description="the first is 0")
    columns: int = Field(default=1, ge=1, description="that it spans")
    rows: int = Field(default=1, ge=1, description="that it spans, this one included")


class Block(Record):
    """A piece of the document in reading order."""

    kind: BlockKind
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    page: int | None = Field(default=None, ge=1, description="page it starts on")
    end_page: int | None = Field(default=None, ge=1, description="page it ends on")
    section: str = Field(default="", description="headings above, ' > ' between levels")
    level: int = Field(default=0, ge=0, description="of a heading, 1 is the top")
    number: str = Field(default="", description="of a rule: 3.2.1, C12(a), Art. 5")
    table: str = Field(default="", description="title of the table a row belongs to")
    table_number: int = Field(default=0, ge=0, description="of a row's table, from 1")
    cells: tuple[Cell, ...] = Field(default=(), description="of a table row")
    boxes: tuple[Box, ...] = Field(default=(), description="where no words are known")
    confidence: float | None = Field(
        default=None, ge=0, le=1, description="of text recognition, None for real text"
    )
    attributes: dict[str, str] = Field(default_factory=dict)


class Page(Record):
    """A page (or slide, sheet, diagram) and its words.

    `words` holds one row a word, in the order of the text: start, end, left, top,
    right, bottom; characters of the document, then fractions of the page.
    """

    number: int = Field(ge=1)
    width: float = Field(gt=0, description="points")
    height: float = Field(gt=0, description="points")
    label: str = ""
    words: list[tuple[int, int, float, float, float, float]] = Field(
        default_factory=list
    )


class Sidecar(Record):
    """Structured content beside the text, for the batch products.

    `kind` is `model` (entities and relationships) or `inventory` (fact sheets).
    """

    kind: str
    name: str
    content: dict[str, Any]


class ParsedDocument(Record):
    """One document as read: `text[b.start:b.end]` is the text of block `b`.

    Blocks are in reading order and do not overlap. `parser` is name and version.
    `part` tells apart several documents made from one file, and is empty for most.
    """

    title: str
    text: str
    blocks: list[Block]
    pages: list[Page] = Field(default_factory=list)
    parser: str
    part: str = ""
    warnings: tuple[str, ...] = ()
    sidecars: tuple[Sidecar, ...] = ()
