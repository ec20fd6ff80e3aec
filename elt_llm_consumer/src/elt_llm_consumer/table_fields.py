"""Fields of entities from rows of tables that name them: owner, retention, class.

A row counts only where the header of its name column says that the rows are
information, or where the table is evidently about it, and where the cell has no more
than the name. A value counts below a header of `table_columns.yaml`. A wrong owner with
a proof is worse than none, so anything else fills nothing.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

import yaml

from elt_llm_consumer.definitions.terms import fold
from elt_llm_core.language.acronyms import find_acronyms
from elt_llm_core.records import Record
from elt_llm_core.tables.numbers import nothing
from elt_llm_core.tables.relation_records import Field, Relation, Row

_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_PARTS = re.compile(r"\s*/\s*|\s+or\s+")
_ITEMS = re.compile(r"\s*[,;/\u2022]\s*|\s+(?:and|&|und|et|y)\s+")
_LETTERS = re.compile(r"[^\W\d_]{2}")  # of a person, a role or an office
_NUMBER = re.compile(r"^(?:[^\W\d_]+\.?\s+)?\d[\d.]*\s*[.:)\u2013-]?\s+")
_PERSONS = "governance_rules"
_RULES = "business_rules"
_SOME = 2  # subjects in one table: one alone may be of something else, as "Owner"
_CARD = 2  # columns of a table about one entity: properties and values
_SENTENCE = 3  # words of the shortest rule: "Weight is positive"; "rule 4.2" is none


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


class RowFields(NamedTuple):
    """The rows behind each field of an entity, and values that differ by table."""

    rows: Mapping[str, Sequence[RowQuote]]
    conflicts: Mapping[str, Sequence[str]]

    @property
    def fields(self) -> tuple[str, ...]:
        """The filled fields."""
        return tuple(self.rows)

    def lines(self, field: str) -> list[str]:
        """Return the text of a field: a line a row, and one a conflict."""
        rows = (row.line for row in self.rows.get(field, ()) if row.cells)
        return [*dict.fromkeys(rows), *self.conflicts.get(field, ())]


class TableFields:
    """The fields that tables fill, by the names in their rows.

    Args:
        relations: The tables of the documents.
        names: Names of the model's entities.
        others: Terms and aliases, by which lists of names are known.
    """

    def __init__(
        self,
        relations: Iterable[Relation],
        names: Collection[str],
        others: Collection[str],
    ) -> None:
        self._names = {fold(name) for name in names}
        known = self._names | {fold(name) for name in others}
        self._statements: dict[str, list[_Statement]] = defaultdict(list)
        for relation in relations:
            for one in _StatementReader(relation, known).statements():
                self._statements[one.name].append(one)

    def of(self, names: Sequence[str]) -> RowFields:
        """Return the fields of an entity.

        Args:
            names: Its name, then its aliases. An alias that is the name of another
                entity is left out.
        """
        keys = dict.fromkeys(map(fold, names))
        own = [k for n, k in enumerate(keys) if n == 0 or k not in self._names]
        statements = [one for key in own for one in self._statements.get(key, ())]
        rows: dict[str, list[RowQuote]] = {}
        for one in statements:
            listed = rows.setdefault(one.field, [])
            listed += [quote for quote in one.quotes if quote not in listed]
        return RowFields(rows, _conflicts(statements))


class _Statement(NamedTuple):
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


class _Subject(NamedTuple):
    """What a column may say: the header words and, of some, the possible cells."""

    key: str
    field: str
    headers: frozenset[str]
    also: frozenset[str]
    values: frozenset[str]
    lists: frozenset[str]


class _StatementReader:
    """The statements of one table.

    Args:
        relation: The table.
        known: Folded names, aliases and terms.
    """

    def __init__(self, relation: Relation, known: Collection[str]) -> None:
        self._relation = relation
        self._known = known
        self._title = _NUMBER.sub("", relation.title)
        self._headers = [column.header for column in relation.columns]
        self._parts = [_header_parts(header) for header in self._headers]
        # A row without a cell has one that spans columns, or was split wrongly.
        self._rows = [row for row in relation.rows if None not in row.fields]

    def statements(self) -> Iterator[_Statement]:
        """Return what the table says, in row order."""
        if not self._rows:
            return
        readings = self._by_row(), self._by_rule(), self._by_role()
        yield from chain(*readings, self._by_property(), self._of_title())

    def _by_row(self) -> Iterator[_Statement]:
        """A row per entity: "Loan | Head of Collections | Registrar"."""
        column, is_certain = self._name_column()
        if column is None:
            return
        subjects = _without_rule_owners(self._subjects(skipped={column}))
        if any(parts & _words("attributes") for parts in self._parts):
            # The owner and the class of an attribute, whose rules hold all the same.
            subjects = {c: s for c, s in subjects.items() if s.field == _RULES}
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
            if text.strip() and not _repeats(text):
                names = self._names_in(text)
            yield row, names

    def _partial(
        self,
        rows: Sequence[tuple[Row, Sequence[str]]],
        subjects: Mapping[int, _Subject],
    ) -> set[tuple[str, int]]:
        """Return names with columns in which their rows differ.

        Such rows are about attributes, places or departments, and not about the whole.
        """
        values: dict[tuple[str, int], set[str]] = defaultdict(set)
        for column, subject in subjects.items():
            for row, names in rows if subject.field != _RULES else ():
                value = self._value(row, column, subject)
                for name in names:
                    values[name, column].add(fold(value.text) if value else "")
        return {pair for pair, texts in values.items() if len(texts) > 1}

    def _by_rule(self) -> Iterator[_Statement]:
        """A row per rule, which names what it applies to."""
        certain, of_rules = _words("names", "certain"), _words("names", "of_rules")
        columns = [c for c, p in enumerate(self._parts) if p & (certain | of_rules)]
        if len(columns) != 1 or columns[0] == self._name_column()[0]:
            return
        subjects = {
            c: one
            for c, one in self._subjects(skipped=set(columns)).items()
            if one.field == _RULES
        }
        for row in self._rows:
            names = self._names_in(_cell(row, columns[0]).text)
            yield from self._row_statements(row, names, subjects)

    def _by_role(self) -> Iterator[_Statement]:
        """A row per role, which lists what the role has."""
        roles = [c for c, parts in enumerate(self._parts) if parts & _words("roles")]
        for column, parts in enumerate(self._parts):
            subject = next((s for s in _subjects() if parts & s.lists), None)
            if subject is not None and len(roles) == 1:
                for row in self._rows:
                    yield from self._of_role(row, roles[0], column, subject)

    def _of_role(
        self, row: Row, role: int, column: int, subject: _Subject
    ) -> Iterator[_Statement]:
        value = self._value(row, role, subject)
        if value is None:
            return
        listed = _cell(row, column).text
        of_role = self._headers[role], value.text
        cells = of_role, (self._headers[column], listed)
        values = {subject.key: of_role}
        for name in self._names_in(listed):
            yield self._statement(name, subject, cells, values, [row, value.row])

    def _by_property(self) -> Iterator[_Statement]:
        """A row per property, a column per entity."""
        names = {c: fold(h) for c, h in enumerate(self._headers) if c}
        named = {c: name for c, name in names.items() if name in self._known}
        if 2 * len(named) < len(names) or not self._has_properties():
            return
        for column, name in named.items():
            yield from self._of_column(column, name)

    def _of_title(self) -> Iterator[_Statement]:
        """A row per property of the entity that the title names."""
        name = fold(self._title)
        # Below "Description" or "Type" stands what a field is, not what it has.
        is_card = len(self._parts) == _CARD and self._parts[1] & _words("contents")
        if is_card and name in self._known and self._has_properties():
            yield from self._of_column(1, name)

    def _of_column(self, column: int, name: str) -> Iterator[_Statement]:
        labels = Counter(fold(row.label) for row in self._rows)
        for row in self._rows:
            subject = _subject_of(_header_parts(row.label), [_cell(row, column).text])
            value = self._value(row, column, subject) if subject else None
            if not subject or not value:
                continue
            is_rule = subject.field == _RULES
            if _is_rule([value.text]) if is_rule else labels[fold(row.label)] == 1:
                cells = ((row.label, value.text),)
                values = {subject.key: cells[0]}
                yield self._statement(name, subject, cells, values, [row, value.row])

    def _has_properties(self) -> bool:
        """Whether the first column has properties that are subjects."""
        if self._relation.labels or not self._parts[0] & _words("properties"):
            return False
        labels = {_header_parts(row.label) for row in self._rows}
        subjects = [s for s in _subjects() for p in labels if p & s.headers]
        return bool(subjects) and self._is_about_some(subjects)

    def _name_column(self) -> tuple[int | None, bool]:
        """Return the column of names, and whether its header is certain."""
        labels = self._relation.labels
        for column, parts in enumerate(self._parts):
            if parts & _words("names", "certain"):
                return column, True
            if not (column < labels or parts & _words("names", "groups")):
                break
        if self._parts[labels] & _words("names", "possible"):
            return labels, False
        return None, False

    def _is_about_names(self, column: int, subjects: Iterable[_Subject]) -> bool:
        """Whether a table that may be of anything is about entities."""
        names = [self._names_in(_cell(row, column).text) for row in self._rows]
        known = sum(bool(n) and set(n) <= set(self._known) for n in names)
        return self._is_about_some(subjects) and 2 * known >= len(names)

    def _is_about_some(self, subjects: Iterable[_Subject]) -> bool:
        """Whether enough subjects, or the title, show a table of information."""
        # A check or a rule may be of anything, such as tyres.
        keys = {one.key for one in subjects if one.field != _RULES}
        return len(keys) >= _SOME or self._says_so()

    def _says_so(self) -> bool:
        """Whether the title says that the table is about information or its owners."""
        words = set(fold(f"{self._title} {self._relation.section}").split())
        return bool(words & _words("titles"))

    def _subjects(self, skipped: Collection[int]) -> dict[int, _Subject]:
        """Return the subjects of columns; none if two have the same header."""
        by_column: dict[int, _Subject] = {}
        for column, parts in enumerate(self._parts):
            cells = [_cell(row, column).text for row in self._rows]
            subject = None if column in skipped else _subject_of(parts, cells)
            if subject is not None:
                by_column[column] = subject
        headers = [self._headers[column] for column in by_column]
        return by_column if len(set(headers)) == len(headers) else {}

    def _row_statements(
        self, row: Row, names: Sequence[str], subjects: Mapping[int, _Subject]
    ) -> Iterator[_Statement]:
        by_field: dict[str, dict[int, _Value]] = {}
        for column, subject in subjects.items():
            value = self._value(row, column, subject)
            if value is not None:
                by_field.setdefault(subject.field, {})[column] = value
        for field, filled in by_field.items():
            if field == _RULES and not _is_rule([v.text for v in filled.values()]):
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
        self, row: Row, filled: Mapping[int, _Value], subjects: Mapping[int, _Subject]
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
        subject: _Subject,
        cells: tuple[tuple[str, str], ...],
        values: Mapping[str, tuple[str, str]],
        rows: Sequence[Row],
    ) -> _Statement:
        """Return a statement whose proof is the first row, and rows it repeats."""
        first, *above = dict.fromkeys(row.n for row in rows)
        quotes = (self._quote(first, cells), *(self._quote(n) for n in above))
        return _Statement(name, subject.field, self._relation.id, values, quotes)

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

    def _value(self, row: Row, column: int, subject: _Subject | None) -> _Value | None:
        """Return a cell that says something, or the one above that it repeats."""
        n = row.n
        while (field := self._relation.field(n, column)) and n > 1:
            if not _repeats(field.text):
                break
            n -= 1
        text = field.text if field else ""
        if (
            field is None
            or nothing(text)
            or text.casefold() in _signs("same", "nothing")
        ):
            return None
        if subject is not None and not _fits(text, subject):
            return None
        return _Value(text, self._row_of(field, n))

    def _row_of(self, field: Field, n: int) -> Row:
        """Return the row in which a cell is written: a merged one is in the first."""
        rows = self._relation.rows
        inside = (r for r in rows[:n] if r.start <= field.start < r.end)
        return next(inside, rows[n - 1])

    def _names_in(self, text: str) -> list[str]:
        """Return the folded name in a cell, or those of a list of known names."""
        pairs = find_acronyms(text)
        whole = fold(_BRACKETS.sub("", text) if pairs else text)
        if whole in self._known:
            return [whole]
        names = [fold(part) for part in _ITEMS.split(text) if part.strip()]
        return names if len(names) > 1 and set(names) <= set(self._known) else []


def _conflicts(statements: Sequence[_Statement]) -> dict[str, list[str]]:
    """Return a line for each subject that differs by table, or by name in one."""
    by_subject: dict[tuple[str, str], dict[tuple[str, str], dict[str, str]]] = {}
    for one in statements:
        for key, (header, value) in one.values.items():
            rows = by_subject.setdefault((one.field, key), {})
            text = f"{header}: {value} ({one.quotes[0].place})"
            rows.setdefault((one.table, one.name), {}).setdefault(fold(value), text)
    lines: dict[str, list[str]] = {}
    for (field, _), rows in by_subject.items():
        # A thing has one owner and one period, but any number of rules.
        if field != _RULES and len({frozenset(t) for t in rows.values()}) > 1:
            values = dict.fromkeys(chain(*(t.values() for t in rows.values())))
            lines.setdefault(field, []).append(f"Conflict: {'; '.join(values)}")
    return lines


def _fits(text: str, subject: _Subject) -> bool:
    """Return whether a cell can be a value, and not the type of one: "char(20)"."""
    if subject.values and fold(text) not in subject.values:
        return False
    plain = fold(_BRACKETS.sub("", text))
    if subject.field != _RULES and plain in _words("types"):
        return False
    if subject.field != _PERSONS:
        return True
    return bool(_LETTERS.search(text)) and plain not in _words("answers")


def _is_rule(texts: Iterable[str]) -> bool:
    """Return whether one of the texts has words enough to be a rule, not its number."""
    return any(
        sum(bool(_LETTERS.search(word)) for word in text.split()) >= _SENTENCE
        for text in texts
    )


def _without_rule_owners(subjects: Mapping[int, _Subject]) -> dict[int, _Subject]:
    """Return subjects without persons after a rule: they may be those who check it."""
    rules = [c for c, one in subjects.items() if one.field == _RULES]
    first = min(rules, default=max(subjects, default=0))
    return {c: s for c, s in subjects.items() if s.field != _PERSONS or c <= first}


def _repeats(text: str) -> bool:
    """Return whether a cell only repeats the one above."""
    return " ".join(text.casefold().split()) in _signs("same")


def _cell(row: Row, column: int) -> Field:
    field = row.fields[column]
    if field is None:  # such rows are left out
        raise AssertionError
    return field


@cache
def _header_parts(header: str) -> frozenset[str]:
    """Return the parts of a header, each folded: "Owner / steward" has two."""
    plain = _BRACKETS.sub(" ", header)
    return frozenset(fold(part) for part in _PARTS.split(plain))


def _subject_of(parts: frozenset[str], cells: Sequence[str]) -> _Subject | None:
    """Return what a column is about by its header, and by its cells if that is open."""
    for subject in _subjects():
        if not parts & subject.headers:
            continue
        if not subject.values or any(fold(c) in subject.values for c in cells):
            return subject
    return None


@cache
def _vocabulary() -> Mapping[str, Any]:
    content = files("elt_llm_consumer").joinpath("table_columns.yaml")
    words: Mapping[str, Any] = yaml.safe_load(content.read_text("utf-8"))
    return words


@cache
def _words(*path: str) -> frozenset[str]:
    """Return the folded words of a list."""
    words: Any = _vocabulary()
    for key in path:
        words = words[key]
    return frozenset(fold(str(word)) for word in words)


@cache
def _signs(*names: str) -> frozenset[str]:
    """Return the cells of lists, in small letters."""
    return frozenset(str(s).casefold() for n in names for s in _vocabulary()[n])


@cache
def _subjects() -> tuple[_Subject, ...]:
    content = _vocabulary()

    def fold_words(words: Iterable[str]) -> frozenset[str]:
        return frozenset(map(fold, words))

    return tuple(
        _Subject(
            key=one.get("same_as", key),
            field=one["field"],
            headers=fold_words(one["headers"]),
            also=fold_words(one.get("also", ())),
            values=fold_words(one.get("values", ())),
            lists=fold_words(content["lists"].get(key, ())),
        )
        for key, one in content["subjects"].items()
    )
