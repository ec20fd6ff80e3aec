"""Writes drafts as text, blocks and word rows."""

from collections import defaultdict
from collections.abc import Sequence

from elt_llm_core.document import Block, BlockKind, Cell
from elt_llm_core.results import Box
from elt_llm_ingest.formats.build import TextBuilder, one_line
from elt_llm_ingest.formats.pdf.flow import Draft
from elt_llm_ingest.formats.pdf.tables import cell_text
from elt_llm_ingest.formats.pdf.words import Line, Word, lines_of

WordRow = tuple[int, int, float, float, float, float]
Sizes = dict[int, tuple[float, float]]


class Writer:
    """The canonical text of a PDF, and where each of its words stands."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._text = TextBuilder()
        self._tables = 0
        self._headers: tuple[str, ...] = ()
        self.words: dict[int, list[WordRow]] = defaultdict(list)

    @property
    def text(self) -> str:
        """The text."""
        return self._text.text

    @property
    def blocks(self) -> list[Block]:
        """The blocks, without sections."""
        return self._text.blocks

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
        self._text.end(
            draft.kind,
            start,
            page=min(pages),
            end_page=max(pages),
            level=draft.level,
            boxes=(),
        )

    def _add_table(self, draft: Draft, continued: bool) -> None:
        table = draft.table
        assert table is not None  # noqa: S101  # the caller looked
        if not continued:
            self._tables += 1
            self._headers = tuple(
                one_line(cell_text(c))
                for row in table.rows[: table.header]
                for c in row
            )
        for index, row in enumerate(table.rows):
            is_header = index < table.header
            self._add_row(row, one_line(table.title), is_header)

    def _add_row(self, row: Sequence[list[Word]], title: str, is_header: bool) -> None:
        start = self._text.begin(BlockKind.TABLE_ROW, str(self._tables))
        cells = []
        for index, words in enumerate(row):
            if index:
                self._text.write("\t")
            first = self._text.length
            self._write_words(words)
            header = self._headers[index] if index < len(self._headers) else ""
            cells.append(
                Cell(
                    header=header,
                    start=first,
                    end=self._text.length,
                    boxes=self._boxes(words),
                )
            )
        pages = [w.page for cell in row for w in cell]
        self._text.end(
            BlockKind.TABLE_ROW,
            start,
            page=min(pages),
            end_page=max(pages),
            table=title,
            cells=tuple(cells),
            attributes={"row": "header"} if is_header else {},
        )

    def _write_words(self, words: Sequence[Word]) -> None:
        for index, word in enumerate(words):
            if index and not word.glued:
                self._text.write(" ")
            start, end = self._text.write(word.text)
            self.words[word.page].append((start, end, *self._fractions(word)))

    def _fractions(self, word: Word) -> tuple[float, float, float, float]:
        width, height = self._sizes[word.page]
        return (
            _fraction(word.left / width),
            _fraction(word.top / height),
            _fraction(word.right / width),
            _fraction(word.bottom / height),
        )

    def _boxes(self, words: Sequence[Word]) -> tuple[Box, ...]:
        return tuple(
            self._box(page, line)
            for page in sorted({w.page for w in words})
            for line in lines_of([w for w in words if w.page == page])
        )

    def _box(self, page: int, line: Line) -> Box:
        width, height = self._sizes[page]
        return Box(
            page=page,
            left=_fraction(line.left / width),
            top=_fraction(line.top / height),
            right=_fraction(line.right / width),
            bottom=_fraction(line.bottom / height),
        )


def _fraction(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 5)
