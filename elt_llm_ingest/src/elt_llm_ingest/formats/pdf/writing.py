"""Writes drafts as text, blocks and word rows."""

from array import array
from collections.abc import Sequence

from elt_llm_core.document import FINE, Block, BlockKind, Cell, Words, fine
from elt_llm_core.results import Box, trusted
from elt_llm_ingest.formats.build import TextBuilder, one_line
from elt_llm_ingest.formats.pdf.flow import Draft
from elt_llm_ingest.formats.pdf.table import Table
from elt_llm_ingest.formats.pdf.words import Line, Word, lines_of

Sizes = dict[int, tuple[float, float]]


class Writer:
    """The canonical text of a PDF, and where each of its words stands."""

    def __init__(self) -> None:
        self.sizes: Sizes = {}  # points; of a page before its first word
        self._text = TextBuilder()
        self._tables = 0
        self._headers: tuple[str, ...] = ()
        self._headings: list[int] = []
        self._words: dict[int, array[int]] = {}

    @property
    def text(self) -> str:
        """The text."""
        return self._text.text

    @property
    def blocks(self) -> list[Block]:
        """The blocks, without sections."""
        return self._text.blocks

    def words(self, page: int) -> Words:
        """Where the words of a page stand."""
        return Words(self._words.get(page, ()))

    def set_levels(self, levels: Sequence[int]) -> None:
        """Give the headings their levels, in the order of writing."""
        for at, level in zip(self._headings, levels, strict=True):
            known = self.blocks[at]
            self.blocks[at] = known.model_copy(update={"level": level})

    def add(self, draft: Draft, continued: bool = False) -> None:
        """Write a draft. `continued`: a table that goes on from the one before."""
        if draft.table is not None:
            self._add_table(draft, continued)
            return
        start = self._text.begin(draft.kind)
        for index, line in enumerate(draft.lines):
            if index:
                self._text.write("\n")
            self._write_words(line.words)
        pages = [line.page for line in draft.lines]
        if draft.kind is BlockKind.HEADING:
            self._headings.append(len(self.blocks))
        self._text.end(
            draft.kind,
            start,
            page=min(pages),
            end_page=max(pages),
            boxes=self._figure(draft),
            attributes=draft.attributes,
        )

    def _add_table(self, draft: Draft, continued: bool) -> None:
        table = draft.table
        assert table is not None  # noqa: S101  # the caller looked
        if not continued:
            self._tables += 1
            self._headers = table.headers()
        begun: dict[int, tuple[int, Cell]] = {}
        covered = table.covered()
        for index in range(len(table.rows)):
            begun = {c: (end, cell) for c, (end, cell) in begun.items() if end > index}
            cells = self._add_row(table, index, begun, covered)
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
        over = [
            cell.model_copy(update={"rows": end - index})
            for _, (end, cell) in sorted(begun.items())
        ]
        pages = [w.page for cell in row for w in cell]
        self._text.end(
            BlockKind.TABLE_ROW,
            start,
            page=min(pages),
            end_page=max(pages),
            table=one_line(table.title),
            table_number=self._tables,
            cells=tuple(sorted([*cells, *over], key=lambda cell: cell.column or 0)),
            attributes={"row": "header"} if index < table.header else {},
        )
        return cells

    def _cell(
        self, words: Sequence[Word], column: int, span: tuple[int, int] | None
    ) -> Cell:
        first = self._text.length
        self._write_words(words)
        return trusted(
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

    def _write_words(self, words: Sequence[Word]) -> None:
        """Write words with the blanks between them, and note where each stands."""
        at = self._text.length
        parts: list[str] = []
        page, note = 0, None
        for index, word in enumerate(words):
            if index and not word.glued:
                parts.append(" ")
                at += 1
            parts.append(word.text)
            start, at = at, at + len(word.text)
            if note is None or word.page != page:
                page = word.page
                width, height = self.sizes[page]
                note = self._words.setdefault(page, array("i")).extend
            left, top = word.left / width, word.top / height
            right, bottom = word.right / width, word.bottom / height
            if left < 0 or top < 0 or right > 1 or bottom > 1:
                left, top, right, bottom = map(_clamped, (left, top, right, bottom))
            note((start, at, fine(left), fine(top), fine(right), fine(bottom)))
        self._text.write("".join(parts))

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
        return tuple(
            self._box(page, line)
            for page in sorted({w.page for w in words})
            for line in lines_of([w for w in words if w.page == page])
        )

    def _box(self, page: int, line: Line | Word) -> Box:
        width, height = self.sizes[page]
        return trusted(
            Box,
            page=page,
            left=_fraction(line.left / width),
            top=_fraction(line.top / height),
            right=_fraction(line.right / width),
            bottom=_fraction(line.bottom / height),
        )


def _fraction(value: float) -> float:
    return fine(_clamped(value)) / FINE


def _clamped(value: float) -> float:
    return min(max(value, 0.0), 1.0)
