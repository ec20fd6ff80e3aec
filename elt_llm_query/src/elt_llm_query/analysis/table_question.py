"""Analyse a question to a table: the highest, a count, a sum, rows, or one cell."""

import re
from dataclasses import dataclass
from enum import StrEnum

from elt_llm_core.tables.numbers import ENGLISH, column_notation, figures
from elt_llm_core.tables.sql import Operator
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.stems import question_stems, stem, words

NEGATIONS = frozenset(
    [
        "not",
        "without",
        "except",
        "excluding",
        "never",
        "isn't",
        "aren't",
        "wasn't",
        "weren't",
        "doesn't",
        "don't",
        "didn't",
        "hasn't",
        "haven't",
        "hadn't",
    ]
)


class Ask(StrEnum):
    """The requested operation."""

    MOST = "most"
    LEAST = "least"
    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    ROWS = "rows"
    CELL = "cell"
    CHECK = "check"


@dataclass(frozen=True)
class NumberLimit:
    """A comparison with a number, as SQL writes it: `operator` `amount`.

    `noun` is the stem of the word that follows: what is counted or measured.
    """

    operator: Operator
    amount: float
    unit: str
    scaled: str = ""
    noun: str = ""


@dataclass(frozen=True)
class TableQuestion:
    """A parsed question to a table.

    `subject` names the kind of the rows ("which country"); `matter` has the stems that
    must be in the table. `between`: it asks which of some named rows. `measure` is the
    stem of the measure for longest or shortest; empty for other superlatives.
    """

    ask: Ask
    text: str
    matter: tuple[str, ...]
    subject: str = ""
    limit: NumberLimit | None = None
    between: bool = False
    measure: str = ""


_MOST = (
    r"highest|largest|biggest|greatest|most(?:\s+recent)?|maximum|latest|top|longest"
)
_LEAST = r"lowest|smallest|least|fewest|minimum|earliest|shortest"
SUPERLATIVE = re.compile(
    rf"(?<!at )(?<!at the )\b(?:(?P<most>{_MOST})|(?P<least>{_LEAST}))\b"
    r"(?!\s+of\s+(?:the|its|their)\b)",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:(?P<most>higher|larger|bigger|greater|more)|(?P<least>lower|smaller|less|fewer))\b"
    r"(?!\s+than\b)",
    re.IGNORECASE,
)
_OPERATORS: tuple[tuple[Operator, str], ...] = (
    (">=", r"at\s+least|no(?:t)?\s+(?:less|fewer|lower)\s+than|(?:>=|\u2265)"),
    (
        "<=",
        r"at\s+most|no(?:t)?\s+(?:more|greater|higher)\s+than|up\s+to|(?:<=|\u2264)",
    ),
    (
        ">",
        r"(?:more|greater|higher|larger|longer)\s+than|over|above|exceed(?:s|ed|ing)?|>",
    ),
    ("<", r"(?:less|fewer|lower|smaller|shorter)\s+than|under|below|<"),
)
_SCALE = r"thousand|million|billion|trillion|mn|bn"
_NUMBER = (
    r"(?P<number>(?:US\$|[$\u20ac\u00a3])?\s?-?\d(?:[\d.,]*\d)?"
    rf"(?:\s(?P<scale>{_SCALE})\b)?(?:\s?%|\s?percent(?:age)?(?:\spoints?)?\b|\s?\u20ac)?)"
)
_COUNT = re.compile(
    r"\b(?:how\s+many|(?:what\s+is\s+)?the\s+number\s+of)\b", re.IGNORECASE
)
LISTED = re.compile(
    r"\b(?:are|is|were|was)\s+(?:there|listed|shown|given|included|named)\b(?:\s+in\b)?",
    re.IGNORECASE,
)
SUMS = re.compile(
    r"\b(?:the\s+)?(?:sum|combined(?:\s+total)?|sum\s+total)\b(?:\s+of\b)?"
    r"|\b(?:in\s+total(?=\s*(?:[?,;]|$))|altogether|put\s+together|added\s+(?:up|together))\b",
    re.IGNORECASE,
)
# "How many berths are there at all harbours together?" adds up, and counts no rows.
TOGETHER = re.compile(
    r"\ball\b(?=\s+(?:the\s+)?(?:[a-z]+\s+){1,3}together\W*$)|\s+together(?=\W*$)",
    re.IGNORECASE,
)
AVERAGES = re.compile(r"\b(?:the\s+)?(?:average|mean)\b(?:\s+of\b)?", re.IGNORECASE)
_VERB = (
    r"(?:had|has|have|having|is|are|was|were|do|does|did|with|shows?|showed|recorded"
    r"|reports?|reported|received?|reached|registered|saw|accounts?|accounted|got|exceeds?"
    r"|exceeded|gets?|earns?|earned|pays?|paid|holds?|held|in\s+the|there)"
)
_SUBJECT = re.compile(
    rf"\b(?:which|what|how\s+many)\s+(?:(?:of\s+)?the\s+)?(?P<subject>(?:[\w'\u2019-]+\s+){{0,5}}?[\w'\u2019-]+?)\s+{_VERB}\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"\s+(?:of|from|in|for|with|at|by|on)\b", re.IGNORECASE)
_LONG = re.compile(r"\b(?P<long>longest|shortest)\b(?P<noun>[^,?;]*)", re.IGNORECASE)
_BARE = frozenset(
    [
        *_VERB.strip("(?:)").split("|"),
        "each",
        "record",
        "show",
        "table",
        "row",
        "figure",
    ]
)
_PLAIN_WORDS = frozenset(
    map(
        stem,
        words(
            "value amount number figure table row column list reported recorded shown "
            "according"
        ),
    )
)
_CELL = re.compile(
    r"^\W*(?:what|which|how\s+(?:much|many|high|large|big)|when)\b", re.IGNORECASE
)


# "annual cost of BillFlow": a header and a row without a question word or a verb.
_BARE_CELL = re.compile(
    r"^\W*(?!how\b|wh\w+\b)(?:the\s+)?(?:[\w()-]+\s+){1,4}(?:of|for)\s+[^.!;]+$",
    re.IGNORECASE,
)


def parse_bare_cell(question: str) -> TableQuestion | None:
    """Parse a request for one cell that is no sentence; None if it is another.

    Args:
        question: A question such as "data steward of Limit Breach".

    Returns:
        The parsed question. Every word of it must be in the table, so that what only
        looks like such a request is answered by none.
    """
    if _BARE_CELL.match(question) is None:
        return None
    matter = [s for s in question_stems(question) if s not in _PLAIN_WORDS]
    return TableQuestion(Ask.CELL, question, tuple(matter))


def parse_table_question(question: str) -> TableQuestion | None:
    """Parse a question to a table; None if it has no such form."""
    limit, rest = limit_of(question)
    ask, rest = _ask(rest, limit)
    if ask is None:
        return None
    counted = ask is Ask.SUM and _COUNT.search(rest) is not None
    subject, rest = ("", rest) if ask is Ask.CELL or counted else _subject(rest)
    matter = [s for s in question_stems(rest) if s not in _PLAIN_WORDS]
    if all(w.lower() in STOP_WORDS for w in words(rest)):
        matter = []
    between = ask in {Ask.MOST, Ask.LEAST} and not SUPERLATIVE.search(question)
    measure = _measure(question) if ask in {Ask.MOST, Ask.LEAST} else ""
    return TableQuestion(ask, question, tuple(matter), subject, limit, between, measure)


def _measure(question: str) -> str:
    """Return the noun after "longest", which no other word of the question replaces."""
    longest = _LONG.search(question)
    if longest is None:
        return ""
    noun = words(_PREPOSITION.split(longest["noun"])[0])
    return stem((noun or [longest["long"]])[-1].lower())


def _ask(question: str, limit: NumberLimit | None) -> tuple[Ask | None, str]:
    """Return the form, and the question without the words that express it."""
    if _COUNT.search(question) and (limit or LISTED.search(question)):
        together = limit is None and TOGETHER.search(question)
        ask, rest = (Ask.SUM if together else Ask.COUNT), LISTED.sub(" ", question)
        return ask, TOGETHER.sub(" ", rest) if together else rest
    if limit:
        return Ask.ROWS, question
    for pattern, ask in ((SUMS, Ask.SUM), (AVERAGES, Ask.AVERAGE)):
        if pattern.search(question):
            return ask, pattern.sub(" ", question)
    patterns = (SUPERLATIVE, _COMPARED) if " or " in question else (SUPERLATIVE,)
    for pattern in patterns:
        if superlative := pattern.search(question):
            ask = Ask.MOST if superlative["most"] else Ask.LEAST
            return ask, pattern.sub(" ", question)
    return (Ask.CELL, question) if _CELL.search(question) else (None, question)


def limit_of(question: str) -> tuple[NumberLimit | None, str]:
    """Return the comparison with a number, and the question without it."""
    for operator, pattern in _OPERATORS:
        comparison = re.search(
            rf"(?<![\w-])(?:{pattern})\s*{_NUMBER}", question, re.IGNORECASE
        )
        if comparison is None:
            continue
        number = re.sub(r"percent\w*(?:\spoints?)?", "%", comparison["number"].lower())
        number = number.replace(comparison["scale"] or "\0", "").strip()
        read = figures(number)
        # "over 1.000" may be over one or over a thousand; "1,000" is a thousand.
        if not read or column_notation([number]).dotted:
            return None, question
        figure = read.get(ENGLISH) or next(iter(read.values()))
        scale, rest = (comparison["scale"] or "").lower(), question[comparison.end() :]
        limit = NumberLimit(operator, figure.amount, figure.unit, scale, _noun(rest))
        return limit, f"{question[: comparison.start()]} {rest}"
    return None, question


def _noun(rest: str) -> str:
    """Return the stem of the first word, unless it is a stop word."""
    first = re.match(r"\s*([^\W\d_]+)", rest)
    return stem(first[1]) if first and first[1].lower() not in STOP_WORDS else ""


def _subject(question: str) -> tuple[str, str]:
    """Return the kind of the rows, and the question without it.

    In "Which wholesaler from Norway" it is a wholesaler; Norway must be in the table.
    """
    asked = _SUBJECT.search(question)
    if asked is None or asked["subject"].lower() in _BARE:
        return "", question
    subject = _PREPOSITION.split(asked["subject"])[0]
    parts = (
        question[: asked.start()],
        asked["subject"][len(subject) :],
        question[asked.end() :],
    )
    return subject, " ".join(parts)
