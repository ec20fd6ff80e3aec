"""Write drafts as text, blocks and word rows."""

from array import array
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elt_llm_core.document import (
    FINE,
    TIE,
    Block,
    BlockKind,
    Blocks,
    Cell,
    Words,
    to_fine_units,
)
from elt_llm_core.records import build_trusted
from elt_llm_core.results import Box
from elt_llm_ingest.readers.pdf.blocks import Draft
from elt_llm_ingest.readers.pdf.geometry import Table
from elt_llm_ingest.readers.pdf.words import Line, Word, is_row, join_words, lines_of
from elt_llm_ingest.readers.text_builder import TextBuilder, one_line

MANY = 4000  # blocks that are not packed
PAGE = attrgetter("page")
# In the order of the fields, which is the order of the text.
DEFAULTS = {name: field.get_default() for name, field in Block.model_fields.items()}
Sizes = dict[int, tuple[float, float]]


class DocumentWriter:
    """The canonical text of a PDF, and the positions of its words."""

    def __init__(self) -> None:
        self.sizes: Sizes = {}  # points; for a page before its first word
        self._text = TextBuilder()
        self._tables = 0
        self._headers: tuple[str, ...] = ()
        self._packed = Blocks()
        self._places: dict[int, tuple[array[int], array[float]]] = {}
        self._words: dict[int, array[int]] = {}

    @property
    def text(self) -> str:
        """Return the text."""
        return self._text.text

    @property
    def blocks(self) -> Sequence[Block]:
        """Return the blocks, without sections and levels; packed if there are many."""
        if not self._packed:
            return self._text.blocks
        self.settle()
        return self._packed

    def words(self, page: int) -> Words:
        """Return the positions of the words of a page."""
        return Words(self._words.get(page, ()))

    def add(self, draft: Draft, continued: bool = False) -> None:
        """Write a draft. `continued`: a table that continues the previous one."""
        if len(self._text.blocks) > MANY:
            self.settle()
        if draft.table is not None:
            self._add_table(draft, continued)
            return
        start = self._text.begin(draft.kind)
        for index, line in enumerate(draft.lines):
            if index:
                self._text.write("\n")
            self._write_words(line.words, line.text)
        pages = [line.words[0].page for line in draft.lines]
        self._end(
            draft.kind,
            start,
            page=min(pages),
            end_page=max(pages),
            boxes=self._figure(draft),
            attributes=draft.attributes,
        )

    def _end(self, kind: BlockKind, start: int, **fields: Any) -> None:
        """Close the block begun at `start`; its fields are not validated."""
        if self._text.length > start:
            span = {"kind": kind, "start": start, "end": self._text.length}
            self._text.blocks.append(
                build_trusted(Block, **{**DEFAULTS, **span, **fields})
            )

    def _add_table(self, draft: Draft, continued: bool) -> None:
        table = draft.table
        assert table is not None  # noqa: S101  # the caller looked
        if not continued:
            self._tables += 1
            self._headers = table.headers()
        begun: dict[int, tuple[int, Cell]] = {}
        covered = table.covered_places()
        for index in range(len(table.rows)):
            begun = {c: (end, cell) for c, (end, cell) in begun.items() if end > index}
            cells = self._add_row(table, index, begun, covered, draft.attributes)
            begun |= {
                cell.column or 0: (index + cell.rows, cell)
                for cell in cells
                if cell.rows > 1
            }

    def _add_row(
        self,
        table: Table,
        index: int,
        begun: dict[int, tuple[int, Cell]],
        covered: set[tuple[int, int]],
        attributes: dict[str, str],
    ) -> list[Cell]:
        """Write a row; returns its own cells. `begun`: those that reach into it."""
        row = table.rows[index]
        start = self._text.begin(BlockKind.TABLE_ROW, str(self._tables))
        cells: list[Cell] = []
        for column, words in enumerate(row):
            if (index, column) not in covered:
                if cells:
                    self._text.write("\t")
                cells.append(
                    self._cell(words, column, table.spans.get((index, column)))
                )
        whole = cells
        if begun:
            over = [
                cell.model_copy(update={"rows": end - index})
                for _, (end, cell) in sorted(begun.items())
            ]
            whole = sorted([*cells, *over], key=lambda cell: cell.column or 0)
        pages = [w.page for cell in row for w in cell]
        self._end(
            BlockKind.TABLE_ROW,
            start,
            page=min(pages),
            end_page=max(pages),
            table=one_line(table.title),
            table_number=self._tables,
            cells=tuple(whole),
            attributes={**attributes, "row": "header"}
            if index < table.header
            else attributes,
        )
        return cells

    def _cell(
        self, words: Sequence[Word], column: int, span: tuple[int, int] | None
    ) -> Cell:
        first = self._text.length
        self._write_words(words, join_words(words))
        return build_trusted(
            Cell,
            header=self._headers[column] if column < len(self._headers) else "",
            start=first,
            end=self._text.length,
            boxes=self._boxes(words),
            id="",
            column=column,
            columns=span[1] if span else 1,
            rows=span[0] if span else 1,
        )

    def _write_words(self, words: Sequence[Word], text: str) -> None:
        """Write words with known text, and record their positions."""
        end, _ = self._text.write(text)
        if words and not words[0].glued:
            end -= 1  # no blank is written before the first
        one = bool(words) and words[0].page == words[-1].page  # they come in order
        for page, page_words in (
            [(words[0].page, words)] if one else groupby(words, PAGE)
        ):
            if page not in self._places:
                self._places[page] = array("i"), array("d")
            spans: list[int] = []
            points: list[float] = []
            for word in page_words:
                at = end if word.glued else end + 1
                end = at + len(word.text)
                spans += at, end
                points += word.left, word.top, word.right, word.bottom
            rows = self._places[page]
            rows[0].fromlist(spans)
            rows[1].fromlist(points)

    def settle(self) -> None:
        """Pack the written data to save memory."""
        if self._packed or len(self._text.blocks) > MANY:
            self._packed.extend(self._text.blocks)
            self._text.blocks.clear()
        self._text.settle()
        for page, (spans, points) in self._places.items():
            rows = self._words.setdefault(page, array("i"))
            rows.frombytes(_rows(spans, points, self.sizes[page]).tobytes())
        self._places.clear()

    def _figure(self, draft: Draft) -> tuple[Box, ...]:
        if draft.box is None:
            return ()
        width, height = self.sizes[draft.page]
        left, top, right, bottom = draft.box
        return (
            Box(
                page=draft.page,
                left=_fraction(left / width),
                top=_fraction(top / height),
                right=_fraction(right / width),
                bottom=_fraction(bottom / height),
            ),
        )

    def _boxes(self, words: Sequence[Word]) -> tuple[Box, ...]:
        if len(words) == 1:
            return (self._box(words[0].page, words[0]),)
        if _is_one_line(words):
            return (self._box(words[0].page, Line([*words])),)
        return tuple(
            self._box(page, line)
            for page in sorted({w.page for w in words})
            for line in lines_of([w for w in words if w.page == page])
        )

    def _box(self, page: int, line: Line | Word) -> Box:
        width, height = self.sizes[page]
        return build_trusted(
            Box,
            page=page,
            left=_fraction(line.left / width),
            top=_fraction(line.top / height),
            right=_fraction(line.right / width),
            bottom=_fraction(line.bottom / height),
        )


def _is_one_line(words: Sequence[Word]) -> bool:
    """Return whether words are at one height of one page, without making lines."""
    if not is_row(words):
        return False
    page = words[0].page
    return not any(w.rotated or w.page != page for w in words)


def _rows(
    spans: "array[int]", points: "array[float]", size: tuple[float, float]
) -> NDArray[np.intc]:
    """Return start, end and box of each word in the form of `Words`."""
    boxes = np.frombuffer(points).reshape(-1, 4) / (size * 2)
    fractions = boxes.clip(0, 1)
    scaled = fractions * FINE
    near = np.rint(scaled)
    rows = np.empty((len(near), 6), np.intc)
    rows[:, :2] = np.frombuffer(spans, np.intc).reshape(-1, 2)
    rows[:, 2:] = near
    doubtful = np.abs(np.abs(scaled - near) - 0.5) < TIE
    for row, side in np.argwhere(doubtful).tolist():
        rows[row, 2 + side] = to_fine_units(float(fractions[row, side]))
    return rows


def _fraction(value: float) -> float:
    if value <= 0.0:
        return 0.0
    return to_fine_units(value) / FINE if value < 1.0 else 1.0
