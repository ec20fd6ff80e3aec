"""A table as a typed relation whose every value knows where it stands."""

from pydantic import Field as Told

from elt_llm_core.results import Box, Record
from elt_llm_core.tables.values import Amount, Kind


class Column(Record):
    """One column. In SQL it is called `name`: c0, c1 ..."""

    name: str
    header: str = Told(description="header path, ' / ' between levels")
    kind: Kind
    unit: str = Told(default="", description="that all its cells have")
    places: int = Told(default=0, ge=0, description="most decimals of its numbers")


class Field(Record):
    """One cell: as written, its value, and characters `[start, end)` of the document.

    `value` is None where the cell says nothing; dates are ISO 8601.
    """

    text: str
    value: Amount | None
    start: int = Told(ge=0)
    end: int = Told(ge=0)
    boxes: tuple[Box, ...] = ()


class Row(Record):
    """A row of data. `fields` has one for each column, None where there is no cell."""

    n: int = Told(ge=1, description="its number among the rows of data")
    start: int = Told(ge=0)
    end: int = Told(ge=0)
    page: int | None = None
    label: str = Told(description="what the row is of")
    fields: tuple[Field | None, ...]


class Relation(Record):
    """A table of a document. It is `clean` where nothing speaks against asking it.

    `id` is made of the document's id and the table's number in it. A table that goes on
    over pages is one relation.
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
    problems: tuple[str, ...] = Told(default=(), description="why it is not clean")

    @property
    def span(self) -> tuple[int, int]:
        """The characters from the first row of data to the last."""
        if not self.rows:
            return 0, 0
        return self.rows[0].start, self.rows[-1].end

    @property
    def clean(self) -> bool:
        """True where headers, columns and types are certain."""
        return not self.problems

    def field(self, n: int, column: int) -> Field | None:
        """The cell of row `n` (from 1) in a column (from 0)."""
        return self.rows[n - 1].fields[column]
