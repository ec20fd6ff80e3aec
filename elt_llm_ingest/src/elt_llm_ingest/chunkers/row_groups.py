"""Table rows as chunks, each with its headers and a reference to its table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elt_llm_core.document import Block, Cell
from elt_llm_core.provenance import Parent
from elt_llm_ingest.chunkers.groups import (
    is_header,
    join_cells,
    row_cells,
    row_text,
    row_title,
)
from elt_llm_ingest.chunkers.parser import Piece, place
from elt_llm_ingest.chunkers.units import Count, split_by_tokens

TERM_WORDS, MEANING_WORDS = 6, 8


@dataclass(frozen=True)
class Rows:
    """Builds the chunks of a table, none longer than `limit` tokens as indexed.

    Rows share a chunk while they have at most `size` tokens together; a row that
    defines a term always has its own. With `size` 0 every row has its own.
    """

    text: str
    limit: int
    count: Count
    size: int = 0

    def table(self, rows: Sequence[Block]) -> Iterator[Piece]:
        """Return the chunks of one table's rows, each with the headers."""
        data_rows = [row for row in rows if not is_header(row)] or rows
        pieces = [piece for run in self._runs(data_rows) for piece in self._pieces(run)]
        whole = Parent(start=rows[0].start, end=rows[-1].end, leaves=len(pieces))
        parents = (whole,) if len(pieces) > 1 else ()
        for table_place, blocks in pieces:
            yield table_place.model_copy(update={"parents": parents}), blocks

    def _runs(self, rows: Sequence[Block]) -> Iterator[list[Block]]:
        run: list[Block] = []
        for row in rows:
            if run and not self._fits(run, row):
                yield run
                run = []
            run.append(row)
        if run:
            yield run

    def _fits(self, run: Sequence[Block], row: Block) -> bool:
        joined = self.text[run[-1].end : row.start].isspace()
        if not joined or self._is_definition(run[-1]) or self._is_definition(row):
            return False
        return self.count(self._render_rows([*run, row])) <= min(self.size, self.limit)

    def _render_rows(self, rows: Sequence[Block]) -> str:
        shown = [row_text(self.text, rows[0])]
        return "\n".join([*shown, *(row_cells(self.text, row) for row in rows[1:])])

    def _is_definition(self, row: Block) -> bool:
        """Return whether the row has a short cell and then a long one."""
        cells = [self.text[cell.start : cell.end].split() for cell in row.cells]
        filled = [cell for cell in cells if cell]
        return (
            len(filled) > 1
            and len(filled[0]) <= TERM_WORDS
            and any(len(cell) >= MEANING_WORDS for cell in filled[1:])
        )

    def _pieces(self, rows: Sequence[Block]) -> Iterator[Piece]:
        """Yield rows that fit as one chunk; a longer row in windows."""
        shown = self._render_rows(rows)
        cells = tuple(cell for row in rows for cell in row.cells)
        span = rows[0].start, rows[-1].end
        if self.count(shown) <= self.limit:
            yield self._piece(span, rows, cells, shown)
            return
        title = row_title(rows[0])
        room = max(self.limit - self.count(title), self.limit // 2, 8)
        for start, end in split_by_tokens(self.text, span, room, self.count):
            title_cells = (
                f"{title} - {join_cells(self.text[start:end])}" if title else ""
            )
            if self.count(title_cells) > self.limit:
                title_cells = ""
            inside = tuple(c for c in cells if c.start < end and c.end > start)
            yield self._piece((start, end), rows, inside, title_cells)

    def _piece(
        self,
        span: tuple[int, int],
        rows: Sequence[Block],
        cells: tuple[Cell, ...],
        shown: str,
    ) -> Piece:
        fields = {"cells": cells, "index_text": shown, "table": rows[0].table}
        table_place = place(*span, rows, "table_row")
        return table_place.model_copy(update=fields), rows
