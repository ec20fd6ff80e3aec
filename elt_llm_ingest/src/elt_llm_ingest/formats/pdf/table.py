"""What a table is on its way: rows of cells of words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from elt_llm_ingest.formats.pdf.words import Word, joined

Row = list[list[Word]]
Spans = dict[tuple[int, int], tuple[int, int]]


@dataclass(eq=False)
class Table:
    """A table as rows of cells of words; every row has a cell for every column.

    `header` rows come first and are counted. `spans`: (row, column) to the number of
    rows and columns that a cell covers, where it is more than one; the cells it covers
    are empty. `settled`: its cells are as the page shows them;
    `drawn`: with lines between them; `mended`: only some of the lines are drawn.
    """

    rows: list[Row]
    header: int = 0
    title: str = ""
    spans: Spans = field(default_factory=dict)
    settled: bool = False
    drawn: bool = False
    mended: bool = False

    def covered(self) -> set[tuple[int, int]]:
        """The places that belong to a cell that begins elsewhere."""
        return {
            (row + down, column + across)
            for (row, column), (rows, columns) in self.spans.items()
            for down in range(rows)
            for across in range(columns)
            if (down, across) != (0, 0)
        }

    def words(self) -> Iterator[Word]:
        """All words, row by row."""
        for row in self.rows:
            for cell in row:
                yield from cell

    def headers(self) -> tuple[str, ...]:
        """What stands above each column, header rows joined with " / "."""
        paths: list[list[str]] = [[] for _ in self.rows[0]] if self.rows else []
        for row in range(self.header):
            for column, cell in enumerate(self.rows[row]):
                said = " ".join(cell_text(cell).split())
                _, columns = self.spans.get((row, column), (1, 1))
                for covered in range(column, min(column + columns, len(paths))):
                    if said and said not in paths[covered][-1:]:
                        paths[covered].append(said)
        return tuple(" / ".join(path) for path in paths)


def cell_text(cell: Sequence[Word]) -> str:
    """The words of a cell on one line."""
    return joined(cell)
