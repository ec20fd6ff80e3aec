"""The result of a loader: text, blocks and pages.

There is one canonical text per document. A block, a word, a table cell and a chunk are
all character spans `[start, end)` of it, so `text[start:end]` is the proof of
everything. In the text, cells of a table row are separated by a tab, rows by a newline,
blocks by a blank line; nothing else is added to the document's words.
"""

import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any, overload

from pydantic import Field, PlainSerializer, TypeAdapter, WithJsonSchema
from typing_extensions import override

from elt_llm_core.records import Record
from elt_llm_core.results import Box

FINE = 100_000  # units per side of a page
TIE = 1e-6
GROUP = 256  # blocks that are packed together
MOST = 1 << 28  # bytes of such a group


class BlockKind(StrEnum):
    """The kind of a block."""

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
    first; one that spans columns is only in the first. A header of several rows is
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


class Blocks(Sequence[Block]):
    """The blocks of a long document, compressed and decoded on access.

    They take a twentieth of the memory. Sequential reading is fast, random access is
    not.
    """

    __slots__ = ("_ends", "_groups", "_open")

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self._groups: list[bytes] = []
        self._ends: list[int] = []
        self._open: tuple[int, list[Block]] = -1, []
        self.extend(blocks)

    def extend(self, blocks: Iterable[Block]) -> None:
        """Pack more blocks."""
        left = iter(blocks)
        while group := list(islice(left, GROUP)):
            data = _GROUP.dump_json(group, exclude_defaults=True)
            self.add_packed(zlib.compress(data, 1), len(group))

    def add_packed(self, data: bytes, count: int) -> None:
        """Add a group from `packed`. It is validated when it is read."""
        self._groups.append(data)
        self._ends.append(len(self) + count)

    @property
    def packed(self) -> Iterator[tuple[bytes, int]]:
        """Return the groups in order, with the number of blocks in each."""
        for data, start, end in zip(self._groups, [0, *self._ends], self._ends):  # noqa: B905
            yield data, end - start

    @override
    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> list[Block]: ...
    @override
    def __getitem__(self, index: int | slice) -> Block | list[Block]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        at = bisect_right(self._ends, place)
        return self._group(at)[place - self._ends[at]]

    @override
    def __iter__(self) -> Iterator[Block]:
        for at in range(len(self._groups)):
            yield from self._group(at)

    @override
    def __eq__(self, other: object) -> bool:
        if isinstance(other, Blocks | list):
            return len(self) == len(other) and list(self) == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def _group(self, at: int) -> list[Block]:
        if self._open[0] != at:
            reader = zlib.decompressobj()
            data = reader.decompress(self._groups[at], MOST)
            self._open = at, _GROUP.validate_json(data)
        return self._open[1]


_GROUP = TypeAdapter(list[Block])
WordRow = tuple[int, int, float, float, float, float]


def to_fine_units(fraction: float) -> int:
    """Return a fraction as the nearest integer number of `FINE` units."""
    scaled = fraction * FINE
    near = round(scaled)
    if abs(abs(scaled - near) - 0.5) < TIE:  # the product is not exact
        return round(round(fraction, 5) * FINE)
    return near


class Words(Sequence[WordRow]):
    """Rows of `Page.words` in 24 bytes per word; fractions have five decimals."""

    __slots__ = ("_flat",)

    def __init__(self, flat: Iterable[int] = ()) -> None:
        """Create the rows from `flat`: six numbers per word, four in `FINE` units."""
        self._flat = flat if isinstance(flat, array) else array("i", flat)

    @property
    def packed(self) -> bytes:
        """Return the rows as bytes for `from_bytes`."""
        return self._flat.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Words":
        """Return the rows of `packed`. Raises ValueError for invalid data."""
        flat = array("i")
        flat.frombytes(data)
        if len(flat) % 6:
            raise ValueError(f"{len(flat)} numbers are no rows of six")
        return cls(flat)

    def move_spans(self, move: Callable[[int], int]) -> "Words":
        """Return the rows with moved text positions, without lost ones."""
        flat = array("i")
        for at in range(0, len(self._flat), 6):
            start, end = move(self._flat[at]), move(self._flat[at + 1])
            if end > start:
                flat.extend((start, end, *self._flat[at + 2 : at + 6]))
        return Words(flat)

    @override
    def __len__(self) -> int:
        return len(self._flat) // 6

    @overload
    def __getitem__(self, index: int) -> WordRow: ...
    @overload
    def __getitem__(self, index: slice) -> "list[WordRow]": ...
    @override
    def __getitem__(self, index: int | slice) -> "WordRow | list[WordRow]":
        if isinstance(index, slice):
            return [self._row(i) for i in range(*index.indices(len(self)))]
        return self._row(range(len(self))[index])

    @override
    def __iter__(self) -> Iterator[WordRow]:
        flat = iter(self._flat)
        for s, e, a, b, c, d in zip(flat, flat, flat, flat, flat, flat, strict=True):
            yield s, e, a / FINE, b / FINE, c / FINE, d / FINE

    @override
    def __eq__(self, other: object) -> bool:
        if isinstance(other, Words):
            return self._flat == other._flat
        return isinstance(other, list) and list(self) == other

    __hash__ = None  # type: ignore[assignment]

    @override
    def __repr__(self) -> str:
        return repr(list(self))

    def _row(self, index: int) -> WordRow:
        s, e, a, b, c, d = self._flat[6 * index : 6 * index + 6]
        return s, e, a / FINE, b / FINE, c / FINE, d / FINE


class Page(Record):
    """A page (or slide, sheet, diagram) and its words.

    `words` has one row per word, in the order of the text: start, end, left, top,
    right, bottom; characters of the document, then fractions of the page.
    """

    number: int = Field(ge=1)
    width: float = Field(gt=0, description="points")
    height: float = Field(gt=0, description="points")
    label: str = ""
    words: Annotated[
        Sequence[WordRow],
        PlainSerializer(list, return_type=list[WordRow]),
        WithJsonSchema(TypeAdapter(list[WordRow]).json_schema()),
    ] = Field(default_factory=list)


class Sidecar(Record):
    """Structured content in addition to the text, for the batch products.

    `kind` is `model` (entities and relationships), `inventory` (fact sheets) or
    `enterprise_model` (see `elt_llm_core.enterprise.model`).
    """

    kind: str
    name: str
    content: dict[str, Any]


class ParsedDocument(Record):
    """One document as read: `text[b.start:b.end]` is the text of block `b`.

    Blocks are in reading order and do not overlap. `parser` is name and version. `part`
    distinguishes several documents of one file, and is empty for most.
    """

    title: str
    text: str
    blocks: Annotated[
        Sequence[Block],
        PlainSerializer(list, return_type=list[Block]),
        WithJsonSchema(TypeAdapter(list[Block]).json_schema()),
    ]
    pages: list[Page] = Field(default_factory=list)
    parser: str
    part: str = ""
    attributes: dict[str, str] = Field(
        default_factory=dict, description="its metadata: authors, date, identifiers"
    )
    warnings: tuple[str, ...] = ()
    sidecars: tuple[Sidecar, ...] = ()
