"""The base of formats that are one table with a row per term."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field
from typing_extensions import override

from elt_llm_consumer.exchange.cells import guard_cell, unguard_cell
from elt_llm_consumer.exchange.glossary_format import (
    GlossaryFormat,
    TargetRules,
    TermChecker,
    shorten,
)
from elt_llm_consumer.exchange.glossary_terms import Glossary, Term
from elt_llm_consumer.exchange.table_files import (
    TableRow,
    TextTable,
    read_csv,
    write_csv,
)
from elt_llm_core.errors import ExchangeError, suggest
from elt_llm_core.product_exports import Problem

Cells = dict[str, str]


class TabularFormat(GlossaryFormat):
    """A CSV file with a row per term. A subclass defines the columns."""

    formula_safe: bool = Field(
        default=True,
        description="put an apostrophe before text that a spreadsheet would run "
        "as a formula",
    )

    columns: ClassVar[tuple[str, ...]]
    required: ClassVar[frozenset[str]]
    column_of: ClassVar[Mapping[str, str]]
    unique_column: ClassVar[str] = ""
    """A column whose text identifies a row, where the name alone does not."""
    byte_order_mark: ClassVar[bool] = False
    rules: ClassVar[TargetRules] = TargetRules()

    @abstractmethod
    def cells(self, term: Term, glossary: Glossary) -> Cells:
        """Return column to text; columns left out are empty."""

    @abstractmethod
    def terms(self, rows: Sequence[Cells]) -> list[Term]:
        """Return a term per row, in the order of the rows."""

    def glossary_name(self, rows: Sequence[Cells]) -> str:  # noqa: ARG002 - a hook
        """Return the name of the glossary; "" if the file does not contain it."""
        return ""

    def row_problems(
        self,
        cells: Cells,  # noqa: ARG002 - a hook
    ) -> list[tuple[str, str, str, str]]:
        """Return column, value, rule and remedy for problems of the raw row."""
        return []

    @override
    def write(self, glossary: Glossary) -> bytes:
        return self.write_table(self.columns, self._rows(glossary))

    def write_table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> bytes:
        """Return the bytes of a table; another kind of file overrides this."""
        return write_csv(columns, rows, mark=self.byte_order_mark)

    def read_table(self, content: bytes) -> TextTable:
        """Return the table of a file; another kind of file overrides this."""
        return read_csv(content)

    @override
    def read(self, content: bytes) -> Glossary:
        rows = [self._raw(row) for row in self._checked_table(content).rows]
        return Glossary(name=self.glossary_name(rows), terms=tuple(self.terms(rows)))

    @override
    def check(self, content: bytes) -> list[Problem]:
        table = self._checked_table(content)
        raw = [self._raw(row) for row in table.rows]
        problems = [
            _problem(row.number, entry, *fault)
            for entry, (row, cells) in enumerate(zip(table.rows, raw, strict=True))
            for fault in [*self._status(cells), *self.row_problems(cells)]
        ]
        problems += self._repetitions(table, raw)
        checker = TermChecker(self.rules, self.column_of, first_row=2)
        for problem in checker.problems(self.terms(raw)):
            row = table.rows[problem.entry or 0]
            problems.append(problem.model_copy(update={"row": row.number}))
        return sorted(problems, key=lambda problem: problem.row or 0)

    def _rows(self, glossary: Glossary) -> list[list[str]]:
        guard = guard_cell if self.formula_safe else str
        rows = []
        for term in self.keep_glossary(glossary).terms:
            cells = self.cells(term, glossary)
            rows.append([guard(cells.get(name, "")) for name in self.columns])
        return rows

    def _raw(self, row: TableRow) -> Cells:
        """Return the cells of a row before they were guarded."""
        clean = unguard_cell if self.formula_safe else str
        return {name: clean(text).strip() for name, text in row.cells.items()}

    def _checked_table(self, content: bytes) -> TextTable:
        """Return the table. Raises ExchangeError for a missing or unknown column."""
        table = self.read_table(content)
        for column in table.columns:
            if column not in self.columns:
                raise ExchangeError(
                    f"a {self.title} file has no column {column!r}",
                    suggest(column, self.columns),
                )
        missing = [one for one in self.columns if one not in table.columns]
        lacking = [one for one in missing if one in self.required]
        if lacking:
            raise ExchangeError(
                f"a {self.title} file must have the column {lacking[0]!r}; this one "
                f"has {', '.join(map(repr, table.columns))}",
                "add the column, or pass the format of the file",
            )
        return table

    def _status(self, cells: Cells) -> list[tuple[str, str, str, str]]:
        column = self.column_of.get("status", "")
        value = cells.get(column, "")
        known = self.statuses()
        if not known or not value or value in known:
            return []
        cure = f"use one of: {', '.join(known)}"
        return [(column, value, "is not a status of the target", cure)]

    def _repetitions(self, table: TextTable, raw: Sequence[Cells]) -> list[Problem]:
        """Return rows with the identity of an earlier row, ignoring case."""
        column = self.unique_column
        first: dict[str, int] = {}
        problems = []
        for entry, (row, cells) in enumerate(zip(table.rows, raw, strict=True)):
            value = cells.get(column, "")
            number = first.setdefault(value.casefold(), row.number)
            if column and number != row.number:
                rule = f"is also in row {number}"
                cure = "rename one of the two, or merge them"
                problems.append(_problem(row.number, entry, column, value, rule, cure))
        return problems


def _problem(
    row: int, entry: int, column: str, value: str, rule: str, cure: str
) -> Problem:
    return Problem(
        row=row,
        entry=entry,
        column=column,
        value=shorten(value),
        rule=rule,
        cure=cure,
    )
