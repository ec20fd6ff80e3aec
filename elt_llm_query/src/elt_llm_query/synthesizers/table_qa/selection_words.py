"""The words of questions that select, count or group the rows of a table."""

import re

from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.analysis.table_question import AVERAGES, SUMS, SUPERLATIVE, Ask

_COUNT = re.compile(
    r"\b(?:how\s+many|(?:what\s+is\s+)?the\s+(?:total\s+)?number\s+of"
    r"|^\W*(?:total\s+)?number\s+of|^\W*count)\b",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"^\W*(?:which|what|list|name|show|give\s+me|in\s+which|at\s+which|for\s+which)\b"
    r"(?!\s+(?:is|are|was|were|do|does|did)\b)",
    re.IGNORECASE,
)
WHO = re.compile(r"^\W*(?:who|whom|whose)\b", re.IGNORECASE)
_CHECK = re.compile(r"^\W*(?:is|are|was|were|does|do|did|has|have)\b", re.IGNORECASE)
_CELL = re.compile(r"^\W*(?:what|which|how\s+(?:much|high|large|big))\b", re.IGNORECASE)
_TOTAL = re.compile(r"\btotal\b", re.IGNORECASE)

VERBS = frozenset(
    map(
        stem,
        words(
            "carry carried take taken took place make made perform performed conduct "
            "hold held happen occur occurred occurring exist belong come find found "
            "work works use used keep kept record recorded list listed show shown "
            "include included contain play played run ran name named know known "
            "call called find base based assign assigned locate located"
        ),
    )
)
# Only in these forms: "rates" and "marks" may be what is counted.
VERB_FORMS = frozenset(
    words(
        "rated graded marked classed classified go goes went sent supplies supplied "
        "provides provided"
    )
)
PLAIN = frozenset(
    map(
        stem,
        words(
            "different distinct separate various list listed table row total many "
            "number count name show"
        ),
    )
)
BEFORE_NOUN = frozenset(["which", "what", "many", "list", "show", "count"])
DIFFERENT = frozenset(["different", "distinct", "separate", "various"])
PLURAL = re.compile(r"(?:[^su\W]s|people|children|men|women|staff)$", re.IGNORECASE)
# Words that change what is asked; without a condition for them the answer is in doubt.
OPERATORS = frozenset(
    [
        "only",
        "other",
        "both",
        "either",
        "each",
        "every",
        "between",
        "before",
        "after",
        "until",
        "during",
        "than",
        "over",
        "under",
        "above",
        "below",
        "more",
        "most",
        "less",
        "fewer",
        "but",
        "if",
        "while",
        "because",
        "again",
        "per",
        "same",
        "once",
        "all",
        "also",
        "own",
        "further",
        "few",
    ]
)
PERSONS = frozenset(
    map(
        stem,
        words(
            "who name names person persons people employee employees staff member "
            "members player players colleague colleagues individual individuals"
        ),
    )
)
NAMES = frozenset([stem("name"), stem("who")])
MONEY = frozenset(["$", "\u20ac", "\u00a3", "\u00a5", "CHF"])


def operation_of(  # noqa: PLR0911 - one for each operation
    question: str,
) -> tuple[Ask | None, str]:
    """Return the operation, and the question without the words that express it.

    Args:
        question: The question.

    Returns:
        The operation, or None if the question has no such form.
    """
    if _COUNT.search(question):
        return Ask.COUNT, question
    for pattern, ask in ((SUMS, Ask.SUM), (AVERAGES, Ask.AVERAGE)):
        if pattern.search(question):
            return ask, pattern.sub(" ", question)
    if superlative := SUPERLATIVE.search(question):
        ask = Ask.MOST if superlative["most"] else Ask.LEAST
        return ask, SUPERLATIVE.sub(" ", question)
    if _CHECK.search(question):
        return Ask.CHECK, question
    if WHO.search(question) or _LIST.search(question):
        return Ask.ROWS, question
    if not _CELL.search(question):
        return None, question
    # "the total cost", where no row or column is a total
    return (Ask.SUM if _TOTAL.search(question) else Ask.CELL), question
