"""Has a text the form a question asks for: a number, a time, a definition?"""

import re

from elt_llm_query.synthesizers.definitions import grade
from elt_llm_query.synthesizers.matching import match, phrases, vocabulary
from elt_llm_query.synthesizers.question import Form, Question
from elt_llm_query.text import stem, words
from elt_llm_query.verify import numbers
from elt_llm_query.words import (
    DAYS,
    FREQUENCY,
    LOWER,
    LOWER_PHRASES,
    MONTHS,
    NUMBER_WORDS,
    PARTS,
    STOP_WORDS,
    TIME_UNITS,
    UPPER,
    UPPER_PHRASES,
)

NEAR = 5  # words between a number and what it counts
UNCOUNTED = 0.6  # fit of a number that stands by something else

_TIME_WORDS = MONTHS | TIME_UNITS
_TEMPORAL = frozenset(
    ["before", "after", "until", "within", "once", "when", "during", "upon", "while"]
)
_FREQUENCY = frozenset(map(stem, FREQUENCY))
_UPPER = re.compile(
    rf"\b(?:{'|'.join(UPPER)}|{phrases(UPPER_PHRASES)})\b", re.IGNORECASE
)
_LOWER = re.compile(
    rf"\b(?:{'|'.join(LOWER)}|{phrases(LOWER_PHRASES)})\b", re.IGNORECASE
)
_OF_RULES = re.compile(
    r"^\W*(?:[A-Za-z]{0,2}\d[\w.]*\+*\)|\d[\w.]*\.?)(?=\s)"
    rf"|\b(?:{'|'.join(PARTS)})s?\.?\s+\d[\w.]*",
    re.IGNORECASE,
)
_SPELT = "|".join(NUMBER_WORDS)
_UNITS = "|".join(sorted(TIME_UNITS))
# "two-factor", "no one", "one of the": number words that count nothing.
_NO_COUNT = re.compile(
    rf"\b(?:{_SPELT})-(?!(?:{_SPELT}|{_UNITS})\b)[a-z]+"
    r"|\b(?:no|any|the|this|that|each|every)\s+one\b|\bone\s+(?:another|of)\b",
    re.IGNORECASE,
)
_DATE = re.compile(r"\b\d{4}\b|\d+[:/.]\d+")
# "8 a.m.", "20.30 h", "eight o'clock".
_CLOCK = re.compile(
    rf"\b(?:\d{{1,2}}(?:[:.]\d\d)?|{_SPELT})\s*"
    r"(?:[ap]\.?\s?m\b|o\s?['\u2019]?\s?clock\b|h(?:rs?|ours?)?\b)"
    r"|\b(?:half|quarter)\s+(?:past|to)\b",
    re.IGNORECASE,
)
# "at 8": an hour that counts nothing, as what follows it has no number.
_HOUR = re.compile(
    rf"\b(?:at|from|until|till|by|before|after)\s+(?:[01]?\d|2[0-4]|{_SPELT})\b"
    r"(?![^\W_]|[-.,:/]\d|\s*[^\w\s.,;:!?)])\W*(?P<next>\w*)",
    re.IGNORECASE,
)


def form_fit(question: Question, text: str) -> float:
    """1 where the text has the form asked for, 0 where it lacks it, else between.

    A number that the question itself names answers nothing, nor does that of a rule; a
    lower bound does not answer a question for an upper one. Of a definition it is how
    plain it is.
    """
    if question.form is Form.DEFINITION:
        return grade(question.term, text)
    text = _OF_RULES.sub(" ", text)
    if _wrong_bound(question, text):
        return 0.0
    if question.form is Form.NUMBER:
        return _counted(question, _NO_COUNT.sub(" ", text))
    if question.form is Form.TIME:
        return float(_tells_when(question, text))
    return 0.5


def _counted(question: Question, text: str) -> float:
    """Whether a number tells how many, how long or how often."""
    often = not vocabulary(text).isdisjoint(_FREQUENCY)
    if question.often and often:
        return 1.0
    asked = numbers(question.text)
    if not numbers(text) - asked:
        return 0.0
    if not question.counted:
        return 1.0
    tokens = words(text)
    for place, token in enumerate(tokens):
        if numbers(token) - asked:
            around = " ".join(tokens[max(place - NEAR, 0) : place + NEAR + 1])
            if any(match(c, vocabulary(around)) for c in question.counted):
                return 1.0
    return UNCOUNTED


def _tells_when(question: Question, text: str) -> bool:
    """True for a date, a span, an hour, or a day that the question does not name."""
    lowered = {w.lower() for w in words(text)}
    days = DAYS - {w.lower() for w in words(question.text)}
    if not lowered.isdisjoint(_TIME_WORDS | _TEMPORAL | days):
        return True
    hours = (found["next"].lower() for found in _HOUR.finditer(text))
    return bool(_DATE.search(text) or _CLOCK.search(text)) or any(
        not after or after in STOP_WORDS or after in DAYS for after in hours
    )


def _wrong_bound(question: Question, text: str) -> bool:
    """True where an upper bound is asked for and a lower one told, or the reverse."""
    for asked, told in ((_UPPER, _LOWER), (_LOWER, _UPPER)):
        if asked.search(question.text) and not told.search(question.text):
            return bool(told.search(text)) and not asked.search(text)
    return False
