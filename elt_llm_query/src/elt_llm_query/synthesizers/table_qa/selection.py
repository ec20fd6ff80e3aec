"""Plan a question that selects, counts or groups the rows of a table.

As in `planner.py`, every word of the question must be accounted for: by a condition,
by the header of a column, by the name of the rows, or as a verb that says nothing
("carried out"). A "not", "only" or "or" without a condition leaves it unplanned.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from elt_llm_core.tables import NUMBERS, Kind, Relation
from elt_llm_query.analysis.date_limits import date_range_of
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.analysis.table_question import (
    LISTED,
    Ask,
)
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.table_qa.conditions import (
    CellCondition,
    QuestionTokens,
    are_in_doubt,
    date_condition,
    find_conditions,
    leaves_out_value,
)
from elt_llm_query.synthesizers.table_qa.planner import (
    FEWEST,
    PERIODS,
    TableWords,
    has_data,
    has_sections,
    header_stems,
    remove_brackets,
)
from elt_llm_query.synthesizers.table_qa.selection_words import (
    BEFORE_NOUN,
    DIFFERENT,
    MONEY,
    NAMES,
    OPERATORS,
    PERSONS,
    PLAIN,
    PLURAL,
    VERB_FORMS,
    VERBS,
    WHO,
    operation_of,
)

_QUANTITY = frozenset(map(stem, words("number quantity count qty")))


@dataclass(frozen=True)
class RowSelection:
    """The rows that a question selects, and what it asks of them.

    Attributes:
        relation: The table.
        ask: The operation.
        conditions: The conditions that the rows meet.
        rows: The numbers of the selected rows.
        looked_at: The numbers of all rows that were looked at.
        column: The column that is counted, compared, added up or looked up; None for
            the rows themselves.
        values: Whether the different values of the column are meant.
        subject: The kind of the rows, if the table does not name it.
        inside: The stems that conditions and headers account for.
    """

    relation: Relation
    ask: Ask
    conditions: tuple[CellCondition, ...]
    rows: tuple[int, ...]
    looked_at: tuple[int, ...]
    column: int | None
    values: bool
    subject: str
    inside: frozenset[str]


def plan_selection(  # noqa: PLR0911 - each is a reason to step aside
    question: str, relation: Relation
) -> RowSelection | None:
    """Return which rows a question selects, or None if a word is left or in doubt."""
    table = TableWords(relation)
    if len(table.totals) > 1 or has_sections(relation):
        return None
    dates, rest = date_range_of(question)
    ask, rest = operation_of(rest)
    if ask is None:
        return None
    tokens = QuestionTokens(rest)
    conditions = find_conditions(tokens, table, VERBS)
    if conditions is None:
        return None
    if dates is not None:
        condition = date_condition(dates, tokens, table)
        if condition is None:
            return None
        conditions.append(condition)
    if are_in_doubt(conditions, tokens) or leaves_out_value(tokens, table):
        return None
    if tokens.left_negations() or _has_operators(tokens, ask):
        return None
    return _SelectionPlanner(tokens, table, ask, tuple(conditions)).plan()


def _has_operators(tokens: QuestionTokens, ask: Ask) -> bool:
    """Return True if a word is left that would change the selection."""
    allowed = {"most"} if ask in {Ask.MOST, Ask.LEAST} else set()
    return any(
        word in OPERATORS - allowed
        for i, word in enumerate(tokens.lower)
        if i not in tokens.used
    )


class _SelectionPlanner:
    """One reading of a question to a table."""

    def __init__(
        self,
        tokens: QuestionTokens,
        table: TableWords,
        ask: Ask,
        conditions: tuple[CellCondition, ...],
    ) -> None:
        self._tokens, self._table, self._ask = tokens, table, ask
        self._relation = table.relation
        self._conditions = conditions
        self._inside = {tokens.stems[i] for i in tokens.used}
        tokens.used.update(
            i
            for i, word in enumerate(tokens.lower)
            if word in VERB_FORMS
            and not any(match(tokens.stems[i], h) for h in table.headers)
        )

    def plan(self) -> RowSelection | None:
        """Return the selection, if all words are accounted for."""
        if self._ask is Ask.CHECK:
            return self._plan_check()
        noun = self._noun()
        left = [i for i in self._tokens.content() if i not in noun]
        stems = [self._tokens.stems[i] for i in noun]
        column = self._column_of(stems)
        named_rows = column is None and all(match(s, self._table.title) for s in stems)
        if not noun and (WHO.search(self._tokens.text) or self._is_noun_a_value()):
            named_rows = False
        if self._ask in {Ask.COUNT, Ask.ROWS}:
            return self._plan_rows(left, stems, column, named_rows=named_rows)
        if self._ask in {Ask.MOST, Ask.LEAST} and column is not None:
            return self._plan_groups(left, column)
        return self._plan_numbers(left, stems, named_rows=named_rows)

    def _noun(self) -> list[int]:
        """Return the places of the words after "which" or "how many", without verbs."""
        lower, noun = self._tokens.lower, list[int]()
        openers = {"which", "what", "many", "list", "name", "show", "count"}
        starts = [i for i, w in enumerate(lower) if w in openers]
        starts += [
            i + 1
            for i, w in enumerate(lower[:-1])
            if (w, lower[i + 1]) == ("number", "of")
        ]
        if not starts:
            return noun
        for i in range(starts[0] + 1, len(lower)):
            word, used = lower[i], i in self._tokens.used
            opening = not noun and word in {"of", "the", "me", "all"}
            if word in STOP_WORDS and not (opening or (noun and word == "and")):
                break
            # "Rowing boats" are no rows.
            known = VERBS if word.endswith("ing") else VERBS | PLAIN
            plain = self._tokens.stems[i] in known
            if not used and word not in STOP_WORDS and not plain:
                noun.append(i)
        return noun

    def _column_of(self, stems: Sequence[str]) -> int | None:
        """Return the column, other than the labels, of which this is the header.

        No noun is the header of none, also where a header has only stop words ("Then").
        """
        if not stems:
            return None
        columns = [
            c
            for c in self._after_identifiers()
            if c != self._relation.labels and {*stems} == self._telling(c)
        ]
        return columns[0] if len(columns) == 1 else None

    def _after_identifiers(self) -> range:
        """Return the columns without the identifiers before the labels."""
        return range(int(self._relation.labels > 0), len(self._relation.columns))

    def _telling(self, column: int) -> set[str]:
        return header_stems(self._table, column)

    def _plan_rows(  # noqa: PLR0911 - each is a reason to step aside
        self,
        left: Sequence[int],
        noun: Sequence[str],
        column: int | None,
        *,
        named_rows: bool,
    ) -> RowSelection | None:
        """Plan a list or count of rows, or of the values of a column."""
        if column is None and not noun and WHO.search(self._tokens.text):
            column, left = self._asked_person(left)
        subject = "" if named_rows or column is not None else self._subject(noun)
        if subject and not self._conditions:
            return None  # "how many pumps" are not all the rows of a table of assets
        if subject is None or not self._covers(left, column):
            return None
        if column is None:
            # "The number of staff" may be any; only "are there" counts all rows.
            labels = self._relation.labels
            if not noun and self._is_one_identified():
                return None  # "What should I do about E-03" need not ask for its label
            named = [c for c in self._conditions if c.column == labels]
            if counted_cell := self._plan_counted_cell(left, named, subject):
                return counted_cell
            dated = self._relation.columns[labels].kind is Kind.DATE
            if not dated and any(not c.negated for c in named):
                return None  # "how many employees does Carrefour have" counts no rows
            counted = self._ask is Ask.COUNT and LISTED.search(self._tokens.text)
            return (
                self._selection(None, subject) if self._conditions or counted else None
            )
        return self._plan_values(column, noun)

    def _is_one_identified(self) -> bool:
        """Return True if the only condition is the identifier of one row."""
        only = self._conditions[0] if len(self._conditions) == 1 else None
        if only is None or only.negated or self._ask is not Ask.ROWS:
            return False
        return len(only.rows) == 1 and only.column not in self._after_identifiers()

    def _plan_counted_cell(
        self, left: Sequence[int], named: Sequence[CellCondition], subject: str
    ) -> RowSelection | None:
        """Plan the number of one named row: "Number of berths" beside "Pier 3"."""
        columns = [
            c
            for c, one in enumerate(self._relation.columns)
            if one.kind is Kind.INTEGER
            and {*map(stem, words(one.header)[:1])} & _QUANTITY
        ]
        if self._ask is not Ask.COUNT or len(columns) != 1 or len(named) != 1:
            return None
        condition = named[0]
        alone = len(self._conditions) == len(condition.rows) == 1
        if not alone or condition.negated or not self._covers(left, columns[0]):
            return None
        return self._selection(columns[0], subject, ask=Ask.CELL)

    def _plan_values(self, column: int, noun: Sequence[str]) -> RowSelection | None:
        """Plan a list, count or sum of the values of a column."""
        negated = any(c.negated for c in self._conditions)
        if negated:  # a depot without electric vehicles is none of the other rows
            return None
        one = self._relation.columns[column]
        if one.kind in NUMBERS and not self._telling(column) <= PERIODS:
            counts = one.kind is Kind.INTEGER and one.unit not in MONEY | {"%"}
            if self._ask is not Ask.COUNT or not counts:
                return None
            if DIFFERENT.isdisjoint(self._tokens.lower):
                many = self._is_plural(column, noun)
                return self._selection(column, ask=Ask.SUM) if many else None
        return self._selection(column, values=True)

    def _is_plural(self, column: int, noun: Sequence[str]) -> bool:
        """Return True if the noun is plural in the header: "Goals", not "Grade".

        A number of a column with a singular header is no number of things.
        """
        header = words(remove_brackets(self._relation.columns[column].header))
        return any(stem(w) in noun and PLURAL.search(w) for w in header)

    def _is_noun_a_value(self) -> bool:
        """Return True if the noun after "how many" or "which" is itself a value.

        "How many samples are there?" counts no rows whose data object is a sample.
        """
        lower = self._tokens.lower
        for i, word in enumerate(lower[:-1]):
            if word in BEFORE_NOUN or lower[i : i + 2] == ["number", "of"]:
                return i + 1 + (word == "number") in self._tokens.used
        return False

    def _asked_person(self, left: Sequence[int]) -> tuple[int | None, list[int]]:
        """Return the column of "who inspected" or "who was the inspector".

        Of several the one whose header has most of the words: "the data steward".
        """
        taken = {x.column for x in self._conditions} | {self._relation.labels}
        scores = {
            c: sum(
                bool(match(self._tokens.stems[i], self._table.headers[c])) for i in left
            )
            for c in self._after_identifiers()
            if self._relation.columns[c].kind is Kind.TEXT and c not in taken
        }
        best = max(scores.values(), default=0)
        fits = [c for c, score in scores.items() if score == best and best]
        return (fits[0] if len(fits) == 1 else None), [*left]

    def _subject(self, noun: Sequence[str]) -> str | None:
        """Return what the rows must be, empty for what they are; None if in doubt."""
        label = self._telling(self._relation.labels)
        persons = bool(label & PERSONS)
        if not noun:
            return "" if persons else None
        # "Names" may be those of companies: the table must speak of persons itself.
        speaks = (label | self._table.title) & PERSONS - NAMES
        if persons and speaks and {*noun} <= PERSONS:
            return ""
        headers = [
            h for c, h in enumerate(self._table.headers) if c != self._relation.labels
        ]
        if any(match(s, header) for s in noun for header in headers):
            return None  # "plans" is part of several headers
        return " ".join(self._tokens.words[i] for i in self._noun())

    def _plan_groups(self, left: Sequence[int], column: int) -> RowSelection | None:
        """Plan the value of a column with the most rows ("which depot has most")."""
        kinds = self._relation.columns[column].kind
        named = [self._tokens.stems[i] for i in left]
        named = [s for s in named if s not in VERBS | PLAIN]
        label = self._telling(self._relation.labels)
        rows = all(match(s, self._table.title) for s in named)
        rows |= bool(label & PERSONS) and {*named} <= PERSONS
        # "The most vehicles" may be the highest number in a column "Vehicles".
        others = {*range(len(self._table.headers))} - {column, self._relation.labels}
        counted = any(match(s, self._table.headers[c]) for c in others for s in named)
        if kinds is not Kind.TEXT or not named or not rows or counted:
            return None
        if self._conditions:
            return None
        return self._selection(column, values=True)

    def _plan_numbers(
        self, left: Sequence[int], noun: Sequence[str], *, named_rows: bool
    ) -> RowSelection | None:
        """Plan an extreme, a sum or a cell in one column of the selected rows."""
        everything = [*left]
        if noun and not named_rows:
            everything = sorted({*left, *self._noun()})
        column = self._target(everything)
        if column is None or not self._covers(everything, column):
            return None
        labels = self._relation.labels
        if all(c.column == labels for c in self._conditions):
            return None  # rows by their labels: the other planner decides
        return self._selection(column)

    def _target(self, left: Sequence[int]) -> int | None:
        """Return the column whose header has most of these words, if it is one."""
        stems = [self._tokens.stems[i] for i in left]
        ordered = self._ask is not Ask.CELL
        taken = {c.column for c in self._conditions}
        scores = {
            c: sum(bool(match(s, self._table.headers[c])) for s in stems)
            for c, one in enumerate(self._relation.columns)
            if c not in taken
            and (c != self._relation.labels or not ordered)
            and (not ordered or one.kind in NUMBERS)
        }
        best = max(scores.values(), default=0)
        fits = [c for c, score in scores.items() if score == best]
        if len(fits) > 1:
            fits = [c for c in fits if len(self._telling(c)) <= best]
        return fits[0] if best and len(fits) == 1 else None

    def _plan_check(self) -> RowSelection | None:
        """Plan a question whether the cell of one row has a value."""
        labels = self._relation.labels
        named = [c for c in self._conditions if c.column == labels]
        tested = [c for c in self._conditions if c.column != labels]
        if len(named) != 1 or len(tested) != 1 or len(named[0].rows) != 1:
            return None
        column = tested[0].column
        if not self._covers(self._tokens.content(), column):
            return None
        row = next(iter(named[0].rows))
        inside = frozenset(self._inside)
        return RowSelection(
            self._relation,
            Ask.CHECK,
            self._conditions,
            (row,),
            (row,),
            column,
            values=False,
            subject="",
            inside=inside,
        )

    def _covers(self, left: Sequence[int], column: int | None) -> bool:
        """Return True if each word is in a header that is used, or over the table."""
        used = {c.column for c in self._conditions} | {column} - {None}
        headed = [self._table.headers[c] for c in used if c is not None]
        for i in left:
            one = self._tokens.stems[i]
            if self._is_before_header(i, column):
                if not match(one, self._table.title):
                    return False
            elif any(match(one, header) for header in headed):
                self._inside.add(one)
            elif one not in VERBS | PLAIN and not match(one, self._table.title):
                return False
        return True

    def _is_before_header(self, place: int, column: int | None) -> bool:
        """Return True for a word that belongs to the asked header but is not in it.

        The "data" of "data owner" is not in a header "Owner"; that another header has
        it, as "Data object", does not account for it.
        """
        stems = self._tokens.stems
        if column is None or place + 1 >= len(stems):
            return False
        if stems[place] in VERBS | PLAIN:
            return False
        header = self._table.headers[column]
        adjacent = place + 1 not in self._tokens.used
        return (
            adjacent
            and bool(match(stems[place + 1], header))
            and not match(stems[place], header)
        )

    def _differ_in_period(self, rows: set[int]) -> bool:
        """Return True if rows are of several years: the same thing at other times."""
        relation = self._relation
        return any(
            len({f.text for n in rows if (f := relation.field(n, c)) is not None}) > 1
            for c, column in enumerate(relation.columns)
            if c != relation.labels and column.kind is not Kind.DATE
            if self._telling(c) and self._telling(c) <= PERIODS
        )

    def _selection(
        self,
        column: int | None,
        subject: str = "",
        ask: Ask | None = None,
        *,
        values: bool = False,
    ) -> RowSelection | None:
        """Return the selection of the rows that meet all conditions."""
        sums = self._table.sums
        every = [r.n for r in self._relation.rows if has_data(r) and r.n not in sums]
        rows = {*every}
        for condition in self._conditions:
            rows &= condition.rows
        unknown = [c.unknown & {*every} for c in self._conditions if c.negated]
        added = (ask or self._ask) in {Ask.SUM, Ask.AVERAGE}
        if not rows or any(unknown) or len(every) < FEWEST:
            return None
        if added and self._differ_in_period(rows):
            return None
        if column is not None:
            self._inside |= self._telling(column) & {*self._tokens.stems}
        return RowSelection(
            self._relation,
            ask or self._ask,
            self._conditions,
            tuple(sorted(rows)),
            tuple(every),
            column,
            values=values,
            subject=subject,
            inside=frozenset(self._inside),
        )
