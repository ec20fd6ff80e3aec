"""Find the table, column and rows of a question by its words.

A table is queried only if every word of the question is matched: by the header of one
column, by the labels of rows, or by the table's title. With one word unmatched, the
question may be about something else.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from elt_llm_core.tables import NUMBERS, Kind, Relation, Row, total_rows
from elt_llm_core.tables.numbers import figures, nothing, one_unit
from elt_llm_query.analysis.date_limits import DateRange, date_range_of
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.analysis.table_question import NEGATIONS, Ask, TableQuestion
from elt_llm_query.analysis.term_match import Vocabulary, match, vocabulary

FEWEST = 2  # rows or columns that are compared

# English, and totals in German and Spanish.
TOTALS = frozenset(
    map(
        stem,
        words(
            "total subtotal sum overall average mean all combined gesamt insgesamt "
            "gesamtsumme summe zwischensumme suma totales"
        ),
    )
)
_SUM_SIGNS = frozenset("\u2211\u03a3")
_NAME = 3  # letters; shorter words are not looked up in file names


@dataclass(frozen=True)
class TableWords:
    """A relation with its words."""

    relation: Relation

    @cached_property
    def headers(self) -> list[Vocabulary]:
        """Return the stems of each column's header."""
        return [stems_of_text(f"{c.header} {c.unit}") for c in self.relation.columns]

    @cached_property
    def title(self) -> Vocabulary:
        """Return the stems of the table's title, section, document and label header."""
        relation = self.relation
        label = relation.columns[relation.labels].header
        return stems_of_text(
            f"{relation.title} {relation.section} {relation.document} {label}"
        )

    @cached_property
    def labels(self) -> list[tuple[str, ...]]:
        """Return the stems of each row's label in order, without text in brackets."""
        return [
            stems_in(remove_brackets(row.label)) or stems_in(row.label)
            for row in self.relation.rows
        ]

    @cached_property
    def identifiers(self) -> list[tuple[str, ...]]:
        """Return the stems of the identifier before each label: "A01", "LAB-3".

        Empty without a letter and a digit, or capitals: a number may be another's.
        """
        if self.relation.labels == 0:
            return [() for _ in self.relation.rows]
        fields = [row.fields[0] for row in self.relation.rows]
        return [
            stems_in(f.text) if f and _IDENTIFIER.search(f.text) else () for f in fields
        ]

    @cached_property
    def openings(self) -> list[tuple[str, ...]]:
        """Return the stems of each label up to its first comma, if the rest is short.

        "Inventories, net" is inventories; "Forms, lists and receipts of lockers" are
        not all forms.
        """
        openings = [
            stems_in(remove_brackets(r.label).partition(",")[0])
            for r in self.relation.rows
        ]
        pairs = zip(openings, self.labels, strict=True)
        return [o if len(label) <= 2 * len(o) else () for o, label in pairs]

    def over(self, wanted: TableQuestion) -> frozenset[str]:
        """Return stems of the subject that are in the title or the file name.

        Words of a file name may be written together: BESTBUY is Best Buy.
        """
        name = re.sub(r"\W|_", "", self.relation.document).lower()
        names = {w for w in words(wanted.text) if w[0].isupper() and len(w) >= _NAME}
        known = {stem(w) for w in names if w.lower().removesuffix("'s") in name}
        titled = {s for s in wanted.matter if match(s, self.title)}
        return frozenset(titled | (known & {*wanted.matter}))

    @cached_property
    def totals(self) -> frozenset[int]:
        """Return the numbers of the rows whose label marks a total."""
        return frozenset(
            row.n
            for row, label in zip(self.relation.rows, self.labels, strict=True)
            if TOTALS & {*label} or row.label.strip() in _SUM_SIGNS
        )

    @cached_property
    def sums(self) -> frozenset[int]:
        """Return the numbers of the rows that are totals, by label or by value."""
        return self.totals | total_rows(self.relation)


def remove_brackets(text: str) -> str:
    """Return the text without the parts in brackets."""
    return re.sub(r"\([^()]*\)", " ", text)


def stems_of_text(text: str) -> Vocabulary:
    """Return the stems of a text; "%" also counts as "percent"."""
    return vocabulary(text.replace("%", " % percent percentage "))


def stems_in(text: str) -> tuple[str, ...]:
    """Return the stems of all its words, in order."""
    return tuple(map(stem, words(text)))


_MOST_OF = re.compile(r"\b(?:most|fewest)\s+(?P<noun>[^\W\d_]+)", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[^\W\d_].*\d|\d.*[^\W\d_]|^[A-Z]{2,5}$")
_ORDERED = frozenset([*NUMBERS, Kind.DATE])
_UNIT_LABEL = re.compile(r"%|\bper\b|\brates?\b|\bratios?\b|\bpercent", re.IGNORECASE)
PERIODS = frozenset(
    map(stem, words("year quarter month week day date period fiscal financial"))
)
_SECTIONS = 2  # rows without a value: with this many it is several tables in one


@dataclass(frozen=True)
class TablePlan:
    """The answering cells of one table: `columns` of the rows numbered `rows`.

    `across`: the columns of one row are compared, else rows in one column. `inside` are
    the words matched by headers and labels, `over` the others.
    """

    relation: Relation
    wanted: TableQuestion
    columns: tuple[int, ...]
    rows: tuple[int, ...]
    inside: frozenset[str] | set[str]
    over: frozenset[str] | set[str]
    across: bool = False


def plan_table(  # noqa: PLR0911 - each is a reason to step aside
    wanted: TableQuestion, relation: Relation
) -> TablePlan | None:
    """Return how this table answers, or None if a word is unmatched or in doubt."""
    table = TableWords(relation)
    if _needs_selection(wanted, table):
        return None
    wanted = _with_subject(wanted, table)
    named = _named_rows(wanted, table)
    if len(named) == 1 and wanted.ask is not Ask.CELL and {*named} <= table.sums:
        named = []  # the others are parts of it
    taken = {
        s for n in named for s in (*table.labels[n - 1], *table.identifiers[n - 1])
    }
    left = [s for s in wanted.matter if s not in taken]
    columns = _columns(left, wanted, table)
    if not columns:
        return None
    if _counts_rows(wanted, table, columns[0]):
        return None
    headed = {s for s in left if match(s, table.headers[columns[0]])}
    over = table.over(wanted)
    if any(_is_of_another(wanted, table, c, over) for c in columns):
        return None
    shape = _choose_shape(wanted, table, named, columns)
    if shape is None or {*left} - headed - over or not _in_column(wanted, table, shape):
        return None
    inside = headed | (taken & {*wanted.matter})
    if not inside and not over & vocabulary(f"{relation.title} {relation.section}"):
        return None
    return TablePlan(
        relation, wanted, shape[0], shape[1], inside, over - inside, shape[2]
    )


def plan_sum(wanted: TableQuestion | None, relation: Relation) -> TablePlan | None:
    """Return the plan of a sum for "the total cost", where no cell is the total."""
    total = stem("total")
    if wanted is None or wanted.ask is not Ask.CELL or total not in wanted.matter:
        return None
    table = TableWords(relation)
    if table.totals or any(total in header for header in table.headers):
        return None
    matter = tuple(s for s in wanted.matter if s != total)
    return plan_table(replace(wanted, ask=Ask.SUM, matter=matter), relation)


def _needs_selection(wanted: TableQuestion, table: TableWords) -> bool:
    """Return True if rows must be selected or grouped first; see `selection.py`.

    A "not", a comparison with a date, and a count of anything but rows are nothing that
    a comparison of all rows answers. Neither is "which depot has the highest cost" in a
    table of vehicles, of which a depot has several, nor "which electric vehicle".
    """
    if wanted.ask is Ask.COUNT and wanted.limit is None:
        return True
    dates, _ = date_range_of(wanted.text)
    if dates is not None and dates.compared and not _is_in_header(dates, table):
        return True
    if NEGATIONS & {w.lower() for w in words(wanted.text)}:
        return True
    relation = table.relation
    subject = {*stems_in(wanted.subject)}
    grouped = [
        c
        for c, column in enumerate(relation.columns)
        if subject and subject == header_stems(table, c) and column.kind is Kind.TEXT
    ]
    if grouped:
        return relation.labels not in grouped
    asked = f" {' '.join(stems_in(wanted.subject))} "
    return any(
        f" {' '.join(value)} " in asked
        for c, column in enumerate(relation.columns)
        if c != relation.labels and column.kind is Kind.TEXT
        for row in relation.rows
        if (field := relation.field(row.n, c)) and (value := stems_in(field.text))
    )


def _counts_rows(wanted: TableQuestion, table: TableWords, column: int) -> bool:
    """Return True for "who inspects the most assets": rows are counted, not compared.

    The word after "most" or "fewest" is then what the rows are, and not in the column.
    """
    counted = _MOST_OF.search(wanted.text)
    if counted is None:
        return False
    noun = stem(counted["noun"])
    labels = header_stems(table, table.relation.labels)
    return not match(noun, table.headers[column]) and bool(
        match(noun, frozenset(labels))
    )


def _is_in_header(dates: DateRange, table: TableWords) -> bool:
    """Return True if a column has the words itself: "change since 1980"."""
    stems = {*stems_in(dates.wording)}
    return any(stems <= header for header in table.headers)


def _is_of_another(
    wanted: TableQuestion, table: TableWords, column: int, over: frozenset[str]
) -> bool:
    """Return True if the column has another form of the word before the noun.

    "Opening hours" are not in a column "Opens", whatever the title is; "male rates" are
    in one "Males". For "longest" the column itself must name the measure.
    """
    header = table.headers[column]
    if wanted.measure and not match(wanted.measure, header):
        return True
    plain = {_plain(w) for w in words(table.relation.columns[column].header)}
    asked = [*words(wanted.text), ""]
    return any(
        match(stem(one), header) and _plain(one) not in plain
        for one, noun, after in zip(asked, asked[1:], asked[2:], strict=False)
        if stem(noun) in over
        and not match(stem(noun), header)
        and not match(stem(after), header)
    )


def _plain(word: str) -> str:
    return word.casefold().removesuffix("s")


def _with_subject(wanted: TableQuestion, table: TableWords) -> TableQuestion:
    """Return the question with its subject as a topic, if it names the compared rows.

    "Which fee is highest" asks for a row, like "which service has the highest fee".
    """
    subject = stems_in(wanted.subject)
    ordered = [c for c in table.relation.columns if c.kind in _ORDERED]
    headed = [
        c for c in ordered if all(match(s, stems_of_text(c.header)) for s in subject)
    ]
    if not subject or wanted.matter or len(headed) != 1:
        return wanted
    return replace(wanted, subject="", matter=subject)


def _in_column(wanted: TableQuestion, table: TableWords, shape: "Shape") -> bool:
    """Return True if the column has the quantity that is compared with a number."""
    noun = wanted.limit.noun if wanted.limit else ""
    return not noun or bool(match(noun, table.headers[shape[0][0]]))


Shape = tuple[tuple[int, ...], tuple[int, ...], bool]


def _choose_shape(
    wanted: TableQuestion,
    table: TableWords,
    named: Sequence[int],
    columns: Sequence[int],
) -> Shape | None:
    """Return columns, rows and direction for the question, if they fit it."""
    if wanted.ask is Ask.CELL:
        one = len(named) == 1 and len(columns) == 1
        return (tuple(columns), tuple(named), False) if one else None
    if len(columns) == 1:
        return _down(wanted, table, named, columns[0])
    if len(named) == 1 and wanted.ask in {Ask.MOST, Ask.LEAST}:
        return _across(table, named[0], columns)
    return None


def _down(
    wanted: TableQuestion, table: TableWords, named: Sequence[int], column: int
) -> Shape | None:
    """Return the rows to compare in one column."""
    relation = table.relation
    counted = wanted.ask is Ask.COUNT and wanted.limit is None
    kinds = _ORDERED if wanted.ask in {Ask.MOST, Ask.LEAST} else NUMBERS
    if not counted and relation.columns[column].kind not in kinds:
        return None
    if len(named) == 1 or (wanted.between and len(named) < FEWEST):
        return None
    rows = list(named)
    if not rows:
        rows = [r.n for r in relation.rows if has_data(r) and r.n not in table.sums]
        if len(table.totals) > 1 or has_sections(relation):
            return None
    if _mixes_units(relation, rows, column) or len(rows) < FEWEST:
        return None
    apart = _are_apart(wanted, table, rows, named)
    return ((column,), tuple(rows), False) if apart else None


def _are_apart(
    wanted: TableQuestion, table: TableWords, rows: Sequence[int], named: Sequence[int]
) -> bool:
    """Return False if rows are the same thing at other times, or differ in a column.

    The best of them is still the best, unless some were named for comparison.
    """
    labels = [table.labels[n - 1] for n in rows]
    extreme = wanted.ask in {Ask.MOST, Ask.LEAST} and not wanted.between
    if len({*labels}) < len(labels) and not extreme:
        return False
    if wanted.ask is not Ask.SUM:
        return True
    relation = table.relation
    keys = [c for c in range(len(relation.columns)) if _is_period(table, c)]
    return not any(
        len({f.text for n in rows if (f := relation.field(n, c)) is not None}) > 1
        for c in keys
        if c != relation.labels or not named
    )


def _is_period(table: TableWords, column: int) -> bool:
    """Return True for a column with the year or other period of a row."""
    header = header_stems(table, column)
    return bool(header) and header <= PERIODS


def _across(table: TableWords, row: int, columns: Sequence[int]) -> Shape | None:
    """Return the columns to compare in one row."""
    relation = table.relation
    compared = [relation.columns[c] for c in columns]
    kept = [
        c
        for c in columns
        if not TOTALS & table.headers[c]
        and (field := relation.field(row, c)) is not None
        and not nothing(field.text)  # words such as "none" are judged later
    ]
    if _has_other_figures(relation, row, columns):
        return None
    same = one_unit(c.unit for c in compared) and all(
        c.kind in NUMBERS for c in compared
    )
    return (tuple(kept), (row,), True) if same and len(kept) >= FEWEST else None


def _has_other_figures(relation: Relation, row: int, columns: Sequence[int]) -> bool:
    """Return True if a column of text, which is not compared, has a number here."""
    return any(
        column.kind is Kind.TEXT
        and c != relation.labels
        and c not in columns
        and (field := relation.field(row, c)) is not None
        and bool(figures(field.text))
        for c, column in enumerate(relation.columns)
    )


def _named_rows(wanted: TableQuestion, table: TableWords) -> list[int]:
    """Return the rows whose whole label is in the question; of overlaps the longest."""
    asked = f" {' '.join(stems_in(wanted.text))} "
    spans = _spans(asked, table.identifiers) | _spans(asked, table.labels)
    if not spans:
        # "Inventories" for "Inventories, net", if only one row begins with it.
        openings = Counter(table.openings)
        spans = _spans(asked, [o if openings[o] == 1 else () for o in table.openings])
    return [
        n
        for n, label in spans.items()
        if not any(label != o and f" {label} " in f" {o} " for o in spans.values())
    ]


def _spans(asked: str, labels: Sequence[tuple[str, ...]]) -> dict[int, str]:
    """Return the labels in the question, by row number."""
    by_row = {n: " ".join(label) for n, label in enumerate(labels, start=1)}
    return {n: said for n, said in by_row.items() if said and f" {said} " in asked}


def _columns(
    left: Sequence[str], wanted: TableQuestion, table: TableWords
) -> list[int]:
    """Return the columns whose headers match most words; of ties those without more.

    Empty if no header matches a word and there are several columns.
    """
    kinds = [c.kind for c in table.relation.columns]
    fits = [c for c in range(len(kinds)) if c != table.relation.labels]
    if wanted.ask is not Ask.CELL and (wanted.limit or wanted.ask is not Ask.COUNT):
        fits = [c for c in fits if kinds[c] in _ORDERED]
    scores = {c: sum(match(s, table.headers[c]) for s in left) for c in fits}
    best = max(scores.values(), default=0)
    best_columns = [c for c, score in scores.items() if score == best]
    if len(best_columns) > 1 and best:
        exact = [c for c in best_columns if len(header_stems(table, c)) <= best]
        best_columns = exact if len(exact) == 1 else best_columns
    if wanted.ask is Ask.COUNT and not wanted.limit and not best:
        return best_columns[:1]
    return best_columns


def header_stems(table: TableWords, column: int) -> set[str]:
    """Return the stems of a header without stop words and text in brackets."""
    header = words(remove_brackets(table.relation.columns[column].header))
    return {stem(w) for w in header if not is_stop_word(w)}


def is_stop_word(word: str) -> bool:
    """Return True for a word without content; "IT" in capitals is none."""
    return word.lower() in STOP_WORDS and not (len(word) > 1 and word.isupper())


def has_data(row: Row) -> bool:
    """Return False for a row without a label, and for one that only heads others."""
    return bool(row.label) and not (row.label.endswith(":") and _only_label(row))


def has_sections(relation: Relation) -> bool:
    """Return True if rows without values divide the table into several."""
    return sum(map(_only_label, relation.rows)) >= _SECTIONS


def _only_label(row: Row) -> bool:
    return sum(bool(f and f.text) for f in row.fields) <= 1


def _mixes_units(relation: Relation, rows: Iterable[int], column: int) -> bool:
    """Return True if the labels of some values name a unit and others do not."""
    named = {
        bool(_UNIT_LABEL.search(relation.rows[n - 1].label))
        for n in rows
        if has_value(relation, n, column)
    }
    return len(named) > 1


def has_value(relation: Relation, n: int, column: int) -> bool:
    """Return True if a row has a number or date in a column."""
    field = relation.field(n, column)
    return field is not None and field.value is not None
