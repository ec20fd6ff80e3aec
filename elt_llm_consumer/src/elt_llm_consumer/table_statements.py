"""What the rows of a table state of the entities that they name.

A row counts only where the header of its name column says that the rows are
information, or where the table is evidently about it, and where the cell has no more
than the name. A value counts below a header of `table_columns.yaml`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from elt_llm_consumer.column_subjects import (
    BRACKETS,
    PERSONS,
    RULES,
    ColumnSubject,
    ColumnVocabulary,
    header_parts,
    states_rule,
)
from elt_llm_consumer.definitions.terms import fold
from elt_llm_core.language.acronyms import find_acronyms
from elt_llm_core.records import Record
from elt_llm_core.tables.numbers import nothing
from elt_llm_core.tables.relation_records import Field, Relation, Row

_ITEMS = re.compile(r"\s*[,;/\u2022]\s*|\s+(?:and|&|und|et|y)\s+")
_NUMBER = re.compile(r"^(?:[^\W\d_]+\.?\s+)?\d[\d.]*\s*[.:)\u2013-]?\s+")
_SOME = 2  # subjects in one table: one alone may be of something else, as "Owner"
# What a matrix says of persons: the subject and its label.
_ACCOUNTS = {"owner": "Accountable", "responsible": "Responsible"}
_CARD = 2  # columns of a table about one entity: properties and values


class RowQuote(Record):
    """A row as proof: its place, its table, and the cells that fill a field.

    `cells` are pairs of header and value. They are empty for a row above that only has
    a cell which the other one repeats.
    """

    document_id: str
    document: str
    section: str
    table: str
    page: int | None
    start: int
    end: int
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def line(self) -> str:
        """The cells as text."""
        return "; ".join(f"{header}: {value}" for header, value in self.cells)

    @property
    def place(self) -> str:
        """The document and the title of the table without its number."""
        title = _NUMBER.sub("", self.table)
        return f"{self.document}, {title}" if title else self.document


class TableStatement(NamedTuple):
    """What one row says of one name in one field; `values` by subject."""

    name: str
    field: str
    table: str
    values: Mapping[str, tuple[str, str]]
    quotes: tuple[RowQuote, ...]


class _Value(NamedTuple):
    """The text of a cell, and the row in which it is written."""

    text: str
    row: Row


class StatementReader:
    """The statements of one table.

    Args:
        relation: The table.
        known: Folded names, aliases and terms.
        vocabulary: The words of headers.
    """

    def __init__(
        self,
        relation: Relation,
        known: Collection[str],
        vocabulary: ColumnVocabulary,
    ) -> None:
        self._relation = relation
        self._vocabulary = vocabulary
        self._known = known
        self._title = _NUMBER.sub("", relation.title)
        self._headers = [column.header for column in relation.columns]
        self._parts = [header_parts(header) for header in self._headers]
        # A row without a cell has one that spans columns, or was split wrongly.
        self._rows = [row for row in relation.rows if None not in row.fields]

    def statements(self) -> Iterator[TableStatement]:
        """Return what the table says, in row order."""
        if not self._rows:
            return
        readings = self._by_row(), self._by_rule(), self._by_role()
        yield from chain(
            *readings, self._by_matrix(), self._by_property(), self._of_title()
        )

    def _by_row(self) -> Iterator[TableStatement]:
        """A row per entity: "Loan | Head of Collections | Registrar"."""
        column, is_certain = self._name_column()
        if column is None:
            return
        subjects = _without_rule_owners(self._subjects(skipped={column}))
        if any(parts & self._vocabulary.words("attributes") for parts in self._parts):
            # The owner and the class of an attribute, whose rules hold all the same.
            subjects = {c: s for c, s in subjects.items() if s.field == RULES}
        if not is_certain and not self._is_about_names(column, subjects.values()):
            return
        partial = self._partial(list(self._named_rows(column)), subjects)
        for row in self._rows:
            for name in self._names_in(_cell(row, column).text):
                own = {c: s for c, s in subjects.items() if (name, c) not in partial}
                yield from self._row_statements(row, [name], own)

    def _named_rows(self, column: int) -> Iterator[tuple[Row, list[str]]]:
        """Return rows with their names; one without a name continues the one above."""
        names: list[str] = []
        for row in self._rows:
            text = _cell(row, column).text
            if text.strip() and not self._repeats(text):
                names = self._names_in(text)
            yield row, names

    def _partial(
        self,
        rows: Sequence[tuple[Row, Sequence[str]]],
        subjects: Mapping[int, ColumnSubject],
    ) -> set[tuple[str, int]]:
        """Return names with columns in which their rows differ.

        Such rows are about attributes, places or departments, and not about the whole.
        """
        values: dict[tuple[str, int], set[str]] = defaultdict(set)
        for column, subject in subjects.items():
            for row, names in rows if subject.field != RULES else ():
                value = self._value(row, column, subject)
                for name in names:
                    values[name, column].add(fold(value.text) if value else "")
        return {pair for pair, texts in values.items() if len(texts) > 1}

    def _by_rule(self) -> Iterator[TableStatement]:
        """A row per rule, which names what it applies to."""
        words = self._vocabulary.words("names", "certain") | self._vocabulary.words(
            "names", "of_rules"
        )
        columns = [c for c, parts in enumerate(self._parts) if parts & words]
        if len(columns) != 1 or columns[0] == self._name_column()[0]:
            return
        subjects = {
            c: one
            for c, one in self._subjects(skipped=set(columns)).items()
            if one.field == RULES
        }
        for row in self._rows:
            names = self._names_in(_cell(row, columns[0]).text)
            yield from self._row_statements(row, names, subjects)

    def _by_role(self) -> Iterator[TableStatement]:
        """A row per role, which lists what the role has."""
        words = self._vocabulary.words("roles")
        roles = [c for c, parts in enumerate(self._parts) if parts & words]
        for column, parts in enumerate(self._parts):
            subject = next(
                (s for s in self._vocabulary.subjects if parts & s.lists), None
            )
            if subject is not None and len(roles) == 1:
                for row in self._rows:
                    yield from self._of_role(row, roles[0], column, subject)

    def _of_role(
        self, row: Row, role: int, column: int, subject: ColumnSubject
    ) -> Iterator[TableStatement]:
        value = self._value(row, role, subject)
        if value is None:
            return
        listed = _cell(row, column).text
        of_role = self._headers[role], value.text
        cells = of_role, (self._headers[column], listed)
        values = {subject.key: of_role}
        for name in self._names_in(listed):
            yield self._statement(name, subject, cells, values, [row, value.row])

    def _by_matrix(self) -> Iterator[TableStatement]:
        """A matrix of responsibilities (RACI): things and roles, with letters."""
        marks = self._matrix()
        if marks is None:
            return
        names = {c: fold(h) for c, h in enumerate(self._headers) if c}
        named = {c: name for c, name in names.items() if name in self._known}
        if named and 2 * len(named) >= len(names):
            if self._parts[0] & self._vocabulary.words("roles"):
                for at, name in named.items():
                    yield from self._of_marks(name, marks, column=at)
            return
        column, is_certain = self._name_column()
        subjects = [s for s in self._vocabulary.subjects if s.key in _ACCOUNTS]
        if column == 0 and (is_certain or self._is_about_names(0, subjects)):
            for row in self._rows:
                for name in self._names_in(_cell(row, 0).text):
                    yield from self._of_marks(name, marks, row=row)

    def _matrix(self) -> dict[tuple[int, int], frozenset[str]] | None:
        """Return what each cell means by row and column; None for another table.

        Letters may be grades: all three kinds of marks must be there.
        """
        marks: dict[tuple[int, int], frozenset[str]] = {}
        for row in self._rows:
            for column in range(1, len(self._headers)):
                value = self._value(row, column, None)
                meanings = self._vocabulary.meanings(value.text) if value else ()
                if meanings is None:
                    return None
                if meanings:
                    marks[row.n, column] = frozenset(meanings)
        kinds = frozenset(chain(*marks.values()))
        return marks if kinds.issuperset((*_ACCOUNTS, "others")) else None

    def _of_marks(
        self,
        name: str,
        marks: Mapping[tuple[int, int], frozenset[str]],
        row: Row | None = None,
        column: int | None = None,
    ) -> Iterator[TableStatement]:
        """Return who has the marks of a row, or of a column."""
        subjects = {one.key: one for one in self._vocabulary.subjects}
        for key, title in _ACCOUNTS.items():
            roles: dict[str, Row] = {}
            for (n, at), meanings in marks.items():
                if (
                    key not in meanings
                    or (row and n != row.n)
                    or column not in (None, at)
                ):
                    continue
                there = self._relation.rows[n - 1]
                role = self._headers[at] if row else _cell(there, 0).text
                if self._vocabulary.can_be_person(role):
                    roles.setdefault(role, there)
            if roles:
                cells = ((title, ", ".join(roles)),)
                values = {key: cells[0]}
                rows = list(roles.values())
                yield self._statement(name, subjects[key], cells, values, rows)

    def _by_property(self) -> Iterator[TableStatement]:
        """A row per property, a column per entity."""
        names = {c: fold(h) for c, h in enumerate(self._headers) if c}
        named = {c: name for c, name in names.items() if name in self._known}
        if 2 * len(named) < len(names) or not self._has_properties():
            return
        for column, name in named.items():
            yield from self._of_column(column, name)

    def _of_title(self) -> Iterator[TableStatement]:
        """A row per property of the entity that the title names."""
        name = fold(self._title)
        # Below "Description" or "Type" stands what a field is, not what it has.
        contents = self._vocabulary.words("contents")
        is_card = len(self._parts) == _CARD and self._parts[1] & contents
        if is_card and name in self._known and self._has_properties():
            yield from self._of_column(1, name)

    def _of_column(self, column: int, name: str) -> Iterator[TableStatement]:
        labels = Counter(fold(row.label) for row in self._rows)
        for row in self._rows:
            subject = self._vocabulary.subject_of(
                header_parts(row.label), [_cell(row, column).text]
            )
            value = self._value(row, column, subject) if subject else None
            if not subject or not value:
                continue
            is_rule = subject.field == RULES
            if states_rule([value.text]) if is_rule else labels[fold(row.label)] == 1:
                cells = ((row.label, value.text),)
                values = {subject.key: cells[0]}
                yield self._statement(name, subject, cells, values, [row, value.row])

    def _has_properties(self) -> bool:
        """Whether the first column has properties that are subjects."""
        if self._relation.labels or not self._parts[0] & self._vocabulary.words(
            "properties"
        ):
            return False
        labels = {header_parts(row.label) for row in self._rows}
        subjects = [
            s for s in self._vocabulary.subjects for p in labels if p & s.headers
        ]
        return bool(subjects) and self._is_about_some(subjects)

    def _name_column(self) -> tuple[int | None, bool]:
        """Return the column of names, and whether its header is certain."""
        labels = self._relation.labels
        for column, parts in enumerate(self._parts):
            if parts & self._vocabulary.words("names", "certain"):
                return column, True
            if not (
                column < labels or parts & self._vocabulary.words("names", "groups")
            ):
                break
        if self._parts[labels] & self._vocabulary.words("names", "possible"):
            return labels, False
        return None, False

    def _is_about_names(self, column: int, subjects: Iterable[ColumnSubject]) -> bool:
        """Whether a table that may be of anything is about entities."""
        names = [self._names_in(_cell(row, column).text) for row in self._rows]
        known = sum(bool(n) and set(n) <= set(self._known) for n in names)
        return self._is_about_some(subjects) and 2 * known >= len(names)

    def _is_about_some(self, subjects: Iterable[ColumnSubject]) -> bool:
        """Whether enough subjects, or the title, show a table of information."""
        # A check or a rule may be of anything, such as tyres.
        keys = {one.key for one in subjects if one.field != RULES}
        return len(keys) >= _SOME or self._says_so()

    def _says_so(self) -> bool:
        """Whether the title says that the table is about information or its owners."""
        words = set(fold(f"{self._title} {self._relation.section}").split())
        return bool(words & self._vocabulary.words("titles"))

    def _subjects(self, skipped: Collection[int]) -> dict[int, ColumnSubject]:
        """Return the subjects of columns; none if two have the same header."""
        by_column: dict[int, ColumnSubject] = {}
        for column, parts in enumerate(self._parts):
            cells = [_cell(row, column).text for row in self._rows]
            subject = (
                None if column in skipped else self._vocabulary.subject_of(parts, cells)
            )
            if subject is not None:
                by_column[column] = subject
        headers = [self._headers[column] for column in by_column]
        return by_column if len(set(headers)) == len(headers) else {}

    def _row_statements(
        self, row: Row, names: Sequence[str], subjects: Mapping[int, ColumnSubject]
    ) -> Iterator[TableStatement]:
        by_field: dict[str, dict[int, _Value]] = {}
        for column, subject in subjects.items():
            value = self._value(row, column, subject)
            if value is not None:
                by_field.setdefault(subject.field, {})[column] = value
        for field, filled in by_field.items():
            if field == RULES and not states_rule([v.text for v in filled.values()]):
                continue
            cells, rows = self._cells(row, filled, subjects)
            values = {
                subjects[column].key: (self._headers[column], value.text)
                for column, value in filled.items()
            }
            subject = subjects[next(iter(filled))]
            for name in names:
                yield self._statement(name, subject, cells, values, rows)

    def _cells(
        self,
        row: Row,
        filled: Mapping[int, _Value],
        subjects: Mapping[int, ColumnSubject],
    ) -> tuple[tuple[tuple[str, str], ...], list[Row]]:
        """Return headers with values, what completes them too, and their rows."""
        also = frozenset(chain(*(subjects[column].also for column in filled)))
        values = dict(filled)
        for column, parts in enumerate(self._parts):
            if column not in subjects and parts & also:
                value = self._value(row, column, None)
                values |= {column: value} if value else {}
        ordered = sorted(values.items())
        cells = tuple((self._headers[column], value.text) for column, value in ordered)
        return cells, [row, *(value.row for _, value in ordered)]

    def _statement(
        self,
        name: str,
        subject: ColumnSubject,
        cells: tuple[tuple[str, str], ...],
        values: Mapping[str, tuple[str, str]],
        rows: Sequence[Row],
    ) -> TableStatement:
        """Return a statement whose proof is the first row, and rows it repeats."""
        first, *above = dict.fromkeys(row.n for row in rows)
        quotes = (self._quote(first, cells), *(self._quote(n) for n in above))
        return TableStatement(name, subject.field, self._relation.id, values, quotes)

    def _quote(self, n: int, cells: tuple[tuple[str, str], ...] = ()) -> RowQuote:
        relation, row = self._relation, self._relation.rows[n - 1]
        return RowQuote(
            document_id=relation.document_id,
            document=relation.document,
            section=relation.section,
            table=relation.title,
            page=row.page,
            start=row.start,
            end=row.end,
            cells=cells,
        )

    def _value(
        self, row: Row, column: int, subject: ColumnSubject | None
    ) -> _Value | None:
        """Return a cell that says something, or the one above that it repeats."""
        n = row.n
        while (field := self._relation.field(n, column)) and n > 1:
            if not self._repeats(field.text):
                break
            n -= 1
        text = field.text if field else ""
        if (
            field is None
            or nothing(text)
            or text.casefold() in self._vocabulary.no_values
        ):
            return None
        if subject is not None and not self._vocabulary.can_be_value(text, subject):
            return None
        return _Value(text, self._row_of(field, n))

    def _repeats(self, text: str) -> bool:
        """Return whether a cell only repeats the one above."""
        return " ".join(text.casefold().split()) in self._vocabulary.repeats

    def _row_of(self, field: Field, n: int) -> Row:
        """Return the row in which a cell is written: a merged one is in the first."""
        rows = self._relation.rows
        inside = (r for r in rows[:n] if r.start <= field.start < r.end)
        return next(inside, rows[n - 1])

    def _names_in(self, text: str) -> list[str]:
        """Return the folded name in a cell, or those of a list of known names."""
        pairs = find_acronyms(text)
        whole = fold(BRACKETS.sub("", text) if pairs else text)
        if whole in self._known:
            return [whole]
        names = [fold(part) for part in _ITEMS.split(text) if part.strip()]
        return names if len(names) > 1 and set(names) <= set(self._known) else []


def _without_rule_owners(
    subjects: Mapping[int, ColumnSubject],
) -> dict[int, ColumnSubject]:
    """Return subjects without persons after a rule: they may be those who check it."""
    rules = [c for c, one in subjects.items() if one.field == RULES]
    first = min(rules, default=max(subjects, default=0))
    return {c: s for c, s in subjects.items() if s.field != PERSONS or c <= first}


def _cell(row: Row, column: int) -> Field:
    field = row.fields[column]
    if field is None:  # such rows are left out
        raise AssertionError
    return field
