"""Conditions of a question on the rows of a table, checked cell by cell.

"Which vehicles are not electric" names a value of one column, "which have no mileage"
an empty cell, "which are first aiders" a column of yes and no, "which were registered
before 2018" a range of dates. A condition records the rows that meet it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from elt_llm_core.graph.label_words import is_participle
from elt_llm_core.tables import NUMBERS, Kind, Relation
from elt_llm_core.tables.column_types import says_none
from elt_llm_core.tables.numbers import nothing
from elt_llm_query.analysis.date_limits import DateRange
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.analysis.term_match import match
from elt_llm_query.synthesizers.table_qa.occasions import (
    DENIES,
    OCCASIONS,
    is_empty,
    leaves_open,
    tells_when_or_who,
)
from elt_llm_query.synthesizers.table_qa.planner import (
    PERIODS,
    TableWords,
    header_stems,
    is_stop_word,
    remove_brackets,
    stems_in,
)

_NOT = frozenset(
    words(
        "not never no without except excluding neither nor non lacking lack lacks "
        "isn't aren't wasn't weren't doesn't don't didn't hasn't haven't hadn't cannot "
        "can't won't"
    )
)
_NONE_OF = frozenset(["no", "without", "lack", "lacks", "lacking"])
_WITH = frozenset(["have", "has", "had", "with", "having"])
_YES = frozenset(["yes", "ja", "si", "sí", "y", "true", "x", "✓", "✔", "☑"])
_NO = frozenset(["no", "nein", "n", "false", "✗", "✘", "☐"])
_STATES = frozenset(["up", "down", "on", "off"])
_ZERO = re.compile(r"0+(?:[.,]0+)?")
# Beside those of labels in models.
_PARTICIPLES = frozenset(words("done cut dealt hung repaid rebuilt rewritten swept"))
_ANYTHING = frozenset(["anything", "anyone", "anybody"])
_BEFORE_PARTICIPLES = frozenset(["been", "be", "being", "yet", "ever"])
_SHORT = 2  # characters; a shorter value counts only next to its header


@dataclass(frozen=True)
class CellCondition:
    """A condition on the cells of one column.

    Attributes:
        column: The column.
        rows: The numbers of the rows that meet it.
        wording: It in words, after the header: "is Electric".
        unknown: The rows of which the cell does not tell.
        negated: Whether the question has a "not" for it.
    """

    column: int
    rows: frozenset[int]
    wording: str
    unknown: frozenset[int] = frozenset()
    negated: bool = False


@dataclass
class QuestionTokens:
    """The words of a question, and which of them a condition has accounted for."""

    text: str
    used: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.words = words(self.text.replace("\u2019", "'"))
        self.lower = [w.lower() for w in self.words]
        self.stems = [stem(w) for w in self.words]

    def content(self) -> list[int]:
        """Return the places of the words that are left and are no stop words."""
        return [
            i
            for i, word in enumerate(self.words)
            if i not in self.used and not is_stop_word(word)
        ]

    def left_negations(self) -> bool:
        """Return True if a negation belongs to no condition."""
        return any(w in _NOT for i, w in enumerate(self.lower) if i not in self.used)

    def negation_before(self, start: int, passed: Iterable[str]) -> int | None:
        """Return the place of the negation of the word at `start`.

        Between them are only stop words and words whose stems are `passed`.
        """
        skipped = frozenset(passed)
        for i in range(start - 1, -1, -1):
            if self.lower[i] in _NOT and i not in self.used:
                return i
            plain = self.lower[i] in STOP_WORDS or i in self.used
            if not plain and not match(self.stems[i], skipped):
                return None
        return None


def find_conditions(
    tokens: QuestionTokens, table: TableWords, verbs: frozenset[str]
) -> list[CellCondition] | None:
    """Return the conditions of a question, and mark their words as used.

    Args:
        tokens: The question.
        table: The table.
        verbs: Stems that may stand between a "not" and its value.

    Returns:
        The conditions, all of which a row must meet unless they `are_in_doubt`; None
        if what one of them means is in doubt.
    """
    phrases = _choose_phrases(list(_value_phrases(tokens, table)), tokens, table)
    if phrases is None:
        return None
    conditions = []
    for column, spans in phrases.items():
        condition = _to_condition(column, spans, tokens, table, verbs)
        if condition is None:
            return None
        conditions.append(condition)
    conditions += _header_conditions(tokens, table, verbs, {*phrases})
    return conditions


def are_in_doubt(conditions: Sequence[CellCondition], tokens: QuestionTokens) -> bool:
    """Return True if several conditions need not all be met.

    "Electric or sold before 2018" is met by one; in "not electric in Leeds" it is
    unknown what is negated.
    """
    if len(conditions) < 2:  # noqa: PLR2004 - one alone is met
        return False
    return "or" in tokens.lower or any(c.negated for c in conditions)


def leaves_out_value(tokens: QuestionTokens, table: TableWords) -> bool:
    """Return True if a word that is left may be a value that is also a stop word.

    Such as "IT" or "May", written as in the table, or "down" in any case.
    """
    relation = table.relation
    values = {
        tuple(named)
        for column in range(len(relation.columns))
        for value in _distinct_texts(relation, column)
        if value.casefold().strip() not in _YES | _NO
        and (named := words(value))
        and all(w.lower() in STOP_WORDS for w in named)
    }
    values.add(("May",))  # a month without a year
    states = _STATES & {value[0].lower() for value in values if len(value) == 1}
    return any(
        tokens.lower[i] in states
        or any(tuple(tokens.words[i : i + len(value)]) == value for value in values)
        for i in range(len(tokens.words))
        if i not in tokens.used
    )


@dataclass(frozen=True)
class _Phrase:
    """A value of a column that the question names, at `start` to `end`."""

    column: int
    value: str
    start: int
    end: int


def _value_phrases(tokens: QuestionTokens, table: TableWords) -> Iterator[_Phrase]:
    relation = table.relation
    for column in range(len(relation.columns)):
        for value in _distinct_texts(relation, column):
            for stems in {stems_in(value), stems_in(remove_brackets(value))}:
                size = len(stems)
                for start in range(len(tokens.stems) - size + 1) if size else ():
                    phrase = _Phrase(column, value, start, start + size)
                    if tuple(tokens.stems[start : start + size]) == stems and (
                        _is_telling(phrase, tokens, table)
                    ):
                        yield phrase


def _distinct_texts(relation: Relation, column: int) -> list[str]:
    fields = (relation.field(row.n, column) for row in relation.rows)
    texts = (f.text for f in fields if f is not None and not nothing(f.text))
    return list(dict.fromkeys(texts))


def _is_telling(phrase: _Phrase, tokens: QuestionTokens, table: TableWords) -> bool:
    """Return True if the words are this value by themselves, or next to its header.

    A letter or number counts only after its header ("category C", "grade 7"), written
    as in the table.
    """
    folded = phrase.value.casefold().strip()
    if folded in _YES or folded in _NO:
        return False
    kind = table.relation.columns[phrase.column].kind
    wording = tokens.lower[phrase.start : phrase.end]
    plain = [w for w in wording if w not in STOP_WORDS]
    if not plain:
        return False
    bare = (
        kind in NUMBERS and len(wording) == 1 and any(c.isdigit() for c in wording[0])
    )
    if not bare and any(len(w) > _SHORT and not w.isdigit() for w in plain):
        return True
    if len(wording) > 1 and kind not in NUMBERS:
        return True
    as_written = tokens.words[phrase.start : phrase.end] == words(phrase.value)
    before = tokens.stems[max(phrase.start - 1, 0) : phrase.start]
    after = tokens.stems[phrase.end : phrase.end + 1]
    header = table.headers[phrase.column]
    return as_written and any(match(s, header) for s in (*before, *after))


def _choose_phrases(
    phrases: Sequence[_Phrase], tokens: QuestionTokens, table: TableWords
) -> dict[int, list[_Phrase]] | None:
    """Return the longest phrases by column; None if two columns fit one equally."""
    longest = [
        p
        for p in phrases
        if not any(
            o.start <= p.start and p.end <= o.end and o.end - o.start > p.end - p.start
            for o in phrases
        )
    ]
    by_place: dict[tuple[int, int], list[_Phrase]] = defaultdict(list)
    for phrase in longest:
        by_place[phrase.start, phrase.end].append(phrase)
    chosen: dict[int, list[_Phrase]] = defaultdict(list)
    for (start, _), several in by_place.items():
        columns = {p.column for p in several}
        if (direction := _directed_column(tokens, table, start)) is not None:
            columns &= {direction}
        if len(columns) > 1:
            columns = {c for c in columns if _is_headed(tokens, table, c)}
        if len(columns) != 1:
            return None
        column = columns.pop()
        chosen[column] += [p for p in several if p.column == column]
    return dict(chosen)


def _directed_column(
    tokens: QuestionTokens, table: TableWords, start: int
) -> int | None:
    """Return the column whose whole header stands before a value: "To", "From"."""
    before = start - 1
    while before >= 0 and tokens.lower[before] in {"a", "an", "the"}:
        before -= 1
    if before < 0 or tokens.lower[before] not in STOP_WORDS:
        return None
    headers = [c.header.casefold().strip() for c in table.relation.columns]
    word = tokens.lower[before]
    return headers.index(word) if word in headers else None


def _is_headed(tokens: QuestionTokens, table: TableWords, column: int) -> bool:
    return any(match(tokens.stems[i], table.headers[column]) for i in tokens.content())


def _to_condition(
    column: int,
    phrases: Sequence[_Phrase],
    tokens: QuestionTokens,
    table: TableWords,
    verbs: frozenset[str],
) -> CellCondition | None:
    """Return the condition that a cell is one of the values, or is none of them."""
    phrases = [p for p in phrases if p.column == column]
    first = min(p.start for p in phrases)
    passed = verbs | table.headers[column]
    negation = tokens.negation_before(first, passed)
    for phrase in phrases:
        tokens.used.update(range(phrase.start, phrase.end))
    if negation is not None:
        # "not in Leeds or York" is neither; "not in Leeds but in York" is in doubt.
        if len({p.start for p in phrases}) > 1 and "but" in tokens.lower:
            return None
        tokens.used.add(negation)
    values = {stems_in(p.value) for p in phrases}
    named = dict.fromkeys(p.value for p in phrases)
    cells = _cells_of(table.relation, column)
    parts = [n for n, text in cells.items() if _has_part(stems_in(text), values)]
    if not table.sums.issuperset(parts):
        return None  # "German, French" beside "German"
    same = {n for n, text in cells.items() if stems_in(text) in values}
    empty = frozenset(n for n, text in cells.items() if nothing(text))
    wording = f"is {'not ' if negation is not None else ''}{' or '.join(named)}"
    if negation is None:
        return CellCondition(column, frozenset(same), wording, empty)
    others = frozenset({*cells} - same - empty)
    return CellCondition(column, others, wording, empty, negated=True)


def _has_part(cell: tuple[str, ...], values: Iterable[tuple[str, ...]]) -> bool:
    """Return True if a value, but not the whole cell, is one of these."""
    if cell in values:
        return False
    joined = f" {' '.join(cell)} "
    return any(f" {' '.join(value)} " in joined for value in values)


def _cells_of(relation: Relation, column: int) -> dict[int, str]:
    """Return the text of each row's cell in a column; empty without a cell."""
    fields = {row.n: relation.field(row.n, column) for row in relation.rows}
    return {n: f.text if f is not None else "" for n, f in fields.items()}


def _header_conditions(
    tokens: QuestionTokens,
    table: TableWords,
    verbs: frozenset[str],
    taken: set[int],
) -> Iterator[CellCondition]:
    """Return conditions on columns of yes and no, and on empty cells."""
    for column in range(len(table.relation.columns)):
        if column == table.relation.labels or column in taken:
            continue
        named = frozenset(header_stems(table, column))
        bare = named - OCCASIONS or named  # never audited: no "Last audit"
        one = table.relation.columns[column]
        if one.kind is Kind.DATE:
            named = bare
        condition = None
        if places := _header_places(named, tokens):
            cells = _cells_of(table.relation, column)
            if _is_yes_or_no(cells.values()):
                yield _yes_or_no(column, cells, places, tokens, verbs | named)
                continue
            condition = _empty_or_filled(column, cells, places, tokens)
        if condition is None and tells_when_or_who(one):
            condition = _never_done(column, _header_places(bare, tokens), table, tokens)
        if condition is not None:
            yield condition


def _header_places(named: frozenset[str], tokens: QuestionTokens) -> list[int]:
    """Return where the question has a header; empty if it lacks a word of it."""
    places = [i for i in tokens.content() if match(tokens.stems[i], named)]
    present = frozenset(tokens.stems[i] for i in places)
    return places if named and all(match(s, present) for s in named) else []


def _is_yes_or_no(texts: Iterable[str]) -> bool:
    filled = {t.casefold().strip() for t in texts if not nothing(t)}
    return bool(filled) and filled <= _YES | _NO


def _yes_or_no(
    column: int,
    cells: dict[int, str],
    places: Sequence[int],
    tokens: QuestionTokens,
    passed: frozenset[str],
) -> CellCondition:
    negation = tokens.negation_before(places[0], passed)
    tokens.used.update(places)
    wanted = _YES
    if negation is not None:
        tokens.used.add(negation)
        wanted = _NO
    rows = frozenset(n for n, t in cells.items() if t.casefold().strip() in wanted)
    empty = frozenset(n for n, t in cells.items() if nothing(t))
    texts = dict.fromkeys(t for n, t in cells.items() if n in rows)
    wording = (
        f"is {' or '.join(texts)}" if texts else f"is {'no' if negation else 'yes'}"
    )
    # A mark for yes alone: the empty cells are the others.
    if negation is not None and not rows:
        return CellCondition(column, empty, "is empty", negated=True)
    return CellCondition(column, rows, wording, empty, negated=negation is not None)


def _empty_or_filled(
    column: int, cells: dict[int, str], places: Sequence[int], tokens: QuestionTokens
) -> CellCondition | None:
    """Return the condition of "without a remark" or "have a remark"."""
    before = places[0] - 1
    while before >= 0 and tokens.lower[before] in {"a", "an", "any", "the"}:
        before -= 1
    # Asked first: each set below looks at all cells.
    if before < 0 or tokens.lower[before] not in _NONE_OF | _WITH:
        return None
    none = frozenset(n for n, t in cells.items() if nothing(t) or says_none(t))
    zero = frozenset(n for n, t in cells.items() if _ZERO.fullmatch(t.strip()))
    denying = frozenset(n for n, t in cells.items() if DENIES.match(t.strip())) - none
    if tokens.lower[before] in _NONE_OF:
        tokens.used.update([before, *places])
        if zero:  # "no defects" is a zero; beside it an empty cell tells nothing
            unknown = none | denying
            return CellCondition(column, zero, "is 0", unknown, negated=True)
        texts = {cells[n] for n in none if cells[n].strip()}
        empty = {"empty"} if any(not cells[n].strip() for n in none) else set()
        wording = f"is {' or '.join(sorted(texts | empty))}"
        return CellCondition(column, none, wording, denying, negated=True)
    article = tokens.lower[places[0] - 1] in {"a", "an", "any"}
    apart = places[-1] - places[0] >= len(places)
    if tokens.lower[before] in _WITH and article and not apart:
        tokens.used.update(places)
        filled = frozenset({*cells} - none)
        if filled & (zero | denying):  # filled with "none": no row is certain
            filled = frozenset()
        return CellCondition(column, filled, "is filled")
    return None


def _never_done(
    column: int,
    places: Sequence[int],
    table: TableWords,
    tokens: QuestionTokens,
) -> CellCondition | None:
    """Return the condition of "have never been inspected": the cell is empty.

    Its verb is in the header: "Last inspection", "Inspected", "Replaced by".
    """
    verb = tokens.lower[places[0]] if places else ""
    if not (is_participle(verb) or verb in _PARTICIPLES):
        return None
    before = places[0] - 1
    while before >= 0 and tokens.lower[before] in _BEFORE_PARTICIPLES:
        before -= 1
    if before < 0 or tokens.lower[before] not in _NOT:
        return None
    cells = _cells_of(table.relation, column)
    one = table.relation.columns[column]
    empty = frozenset(n for n, t in cells.items() if is_empty(one, t))
    unsure = [n for n, t in cells.items() if n not in empty and leaves_open(one, t)]
    if 0 < len(unsure) == len(cells) - len(empty):
        return None  # it has no days, whatever its header says
    tokens.used.update([before, *places])
    tokens.used.update(i for i, w in enumerate(tokens.lower) if w in _ANYTHING)
    return CellCondition(column, empty, "is empty", frozenset(unsure), negated=True)


def date_condition(
    dates: DateRange, tokens: QuestionTokens, table: TableWords
) -> CellCondition | None:
    """Return the condition on the column of dates that the question means.

    It is the only one whose header the question names, or the only one of the table if
    its header says no more than "Date".
    """
    relation = table.relation
    columns = [c for c, one in enumerate(relation.columns) if one.kind is Kind.DATE]
    headed = [c for c in columns if _is_headed(tokens, table, c)]
    bare_header = all(header_stems(table, c) <= PERIODS for c in columns)
    chosen = headed or (columns if bare_header else [])
    # "The cost in 2020" is in a column "Cost 2020".
    year = dates.first[:4]
    in_header = any(year in one.header for one in relation.columns)
    if len(chosen) != 1 or (in_header and not dates.compared):
        return None
    column = chosen[0]
    tokens.used.update(
        i for i in tokens.content() if match(tokens.stems[i], table.headers[column])
    )
    values = {row.n: relation.field(row.n, column) for row in relation.rows}
    days = {n: str(f.value) if f and f.value else "" for n, f in values.items()}
    rows = frozenset(n for n, day in days.items() if day and dates.holds(day))
    bare = frozenset(n for n, day in days.items() if not day)
    return CellCondition(column, rows, f"is {dates.wording}", bare)
