"""A table of a document as a relation: its columns, rows and cells."""

from pydantic import Field as Told

from elt_llm_core.records import Record
from elt_llm_core.results import Box
from elt_llm_core.tables.column_types import Amount, Kind


class Column(Record):
    """One column. In SQL it is called `name`: c0, c1 ..."""

    name: str
    header: str = Told(description="header path, ' / ' between levels")
    kind: Kind
    unit: str = Told(default="", description="unit shared by all its cells")
    places: int = Told(
        default=0, ge=0, description="maximum number of decimals of its numbers"
    )


class Field(Record):
    """One cell: as written, its value, and characters `[start, end)` of the document.

    `value` is None for an empty cell, and for words such as "none" in a column of
    numbers; dates are ISO 8601.
    """

    text: str
    value: Amount | None
    start: int = Told(ge=0)
    end: int = Told(ge=0)
    boxes: tuple[Box, ...] = ()


class Row(Record):
    """A row of data. `fields` has one item for each column, None without a cell."""

    n: int = Told(ge=1, description="its number among the data rows")
    start: int = Told(ge=0)
    end: int = Told(ge=0)
    page: int | None = None
    label: str = Told(description="label of the row")
    fields: tuple[Field | None, ...]


class Relation(Record):
    """A table of a document. It is `clean` if it can be queried reliably.

    `id` consists of the document's id and the table's number in it. A table that
    continues over pages is one relation.
    """

    id: str
    document_id: str
    document: str
    title: str
    section: str = ""
    page: int | None = None
    end_page: int | None = None
    columns: tuple[Column, ...]
    labels: int = Told(default=0, ge=0, description="the column that names the rows")
    rows: tuple[Row, ...]
    problems: tuple[str, ...] = Told(
        default=(), description="reasons why it is not clean"
    )

    @property
    def span(self) -> tuple[int, int]:
        """The characters from the first row of data to the last."""
        if not self.rows:
            return 0, 0
        return self.rows[0].start, self.rows[-1].end

    @property
    def clean(self) -> bool:
        """Return True if headers, columns and types are certain."""
        return not self.problems

    def field(self, n: int, column: int) -> Field | None:
        """The cell of row `n` (from 1) in a column (from 0)."""
        return self.rows[n - 1].fields[column]
