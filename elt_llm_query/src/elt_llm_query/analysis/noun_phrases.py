"""Patterns of English noun phrases, and the words of a text that carry its content."""

import re

from elt_llm_query.analysis.lexicon import (
    AUXILIARIES,
    DAYS,
    DETERMINERS,
    MONTHS,
    QUESTION_WORDS,
    STOP_WORDS,
    TIME_UNITS,
)
from elt_llm_query.analysis.stems import stem, words

PREPOSITIONS = (
    "of for in at on by with from under to between when if about after before during "
    "without against over into than while as because per within until unless since"
)
# Parts of regular expressions from here on.
AUX = "|".join(sorted(AUXILIARIES))
PREP = PREPOSITIONS.replace(" ", "|")
WORD = r"[^\W_][\w'\u2019-]*"
DETERMINER = rf"(?:{'|'.join(sorted(DETERMINERS))})"
# "The income of Acme last year", "of Acme today"
TIME = (
    rf"(?:last|next)\s+(?:{'|'.join(sorted(TIME_UNITS | DAYS | MONTHS))})"
    r"|today|yesterday|tomorrow|now|currently"
)
# A run of one to four words none of which ends a noun phrase.
STOPS = (
    rf"(?!(?:{PREP}|{AUX}|and|or|that|which|who|{DETERMINER}|it|its|they"
    rf"|{TIME})\b)"
)
NOUNS = rf"(?:{STOPS}{WORD}\s+){{0,3}}?{STOPS}{WORD}"
# "Thesis", "basis", "bus" and "access" are singular.
_PLURAL = re.compile(
    r"(?:[^siu\W]s|[^\W]ies|people|children|men|women)$", re.IGNORECASE
)


def stems_of(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(stem(w) for w in words(text.lower()) if w not in STOP_WORDS)


def telling_stems(question: str) -> frozenset[str]:
    """Return the stems of the content words of a question."""
    return frozenset(map(stem, telling_words(question)))


def telling_words(text: str) -> list[str]:
    """The words of a text that are neither stop words nor those of questions."""
    known = STOP_WORDS | QUESTION_WORDS
    return [w for w in words(text.lower()) if w not in known]


def is_plural(phrase: str) -> bool:
    """Return whether the last noun of a phrase is a plural by its ending."""
    return bool(_PLURAL.search(phrase.strip()))
