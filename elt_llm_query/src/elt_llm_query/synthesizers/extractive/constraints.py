"""What the one sentence that answers must itself say, whatever stands around it.

Close is not the same: "Level 9" is not "Level 3", "before" not "after", and what one
official must do says nothing of another. Each demand is read from the question's form.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from elt_llm_query.analysis.definition import grade
from elt_llm_query.analysis.lexicon import (
    ATTRIBUTES,
    DAYS,
    FREQUENCY,
    LOWER,
    LOWER_PHRASES,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    PARTS,
    STOP_WORDS,
    TIME_UNITS,
    UPPER,
    UPPER_PHRASES,
)
from elt_llm_query.analysis.negation import (
    OPPOSITE,
    Sign,
    Signed,
    bases,
    denies,
    prefixed,
    signed,
    signs_of,
)
from elt_llm_query.analysis.quantities import numbers
from elt_llm_query.analysis.question import Form, Question, is_shouted
from elt_llm_query.analysis.term_match import match, phrases, vocabulary
from elt_llm_query.analysis.text import stem, words

_CODE = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z\d]+(?:-[A-Za-z\d]+)*\b")
_RUN = re.compile(r"\d+|[A-Za-z]+")
_PAIR = re.compile(
    r"\b(?P<noun>[A-Za-z]{3,})\s+(?P<mark>\d{1,3}(?:\.\d+)*[a-z]?|[A-HJ-Z])\b"
    r"(?!\s*%|[,:]\d)(?:\s+(?P<after>[a-z]+))?"
)
_VERBAL = ("s", "ed", "ing", "ly")
_ORDINAL_OF = {word: ring for ring in ORDINALS for word in ring}
_DIGIT_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b", re.IGNORECASE)
_NO_ORDINAL = re.compile(
    r"\b(?:per|a|each|every)\s+second\b|\bat\s+last\b", re.IGNORECASE
)
_BEFORE = re.compile(r"\b(?:before|prior\s+to|ahead\s+of)\b", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:after|following|since)\b", re.IGNORECASE)
_NAMED = r"[A-Z][\w'\u2019-]*(?:\s+(?:of\s+)?[A-Z][\w'\u2019-]*)"
_AGENT = re.compile(
    r"\b(?:must|shall|may|should|can|could|will|would|does|do|did|has|have|had)\s+"
    rf"(?:the\s+|an?\s+|every\s+|each\s+)?(?P<name>{_NAMED}*)"
)
_LONG_NAME = re.compile(rf"(?<=\s)(?P<name>{_NAMED}+)")
_STRICT = frozenset([Form.NUMBER, Form.TIME, Form.PERSON])
_BOUND = r"(?:maxim|minim)(?:um|al)|lowest|highest|smallest|largest|least|greatest"
_ATTRIBUTE = re.compile(
    rf"\b(?:what|which|{_BOUND})\s+(?:(?:is|are)\s+the\s+)?(?:(?:{_BOUND})\s+)?"
    rf"(?P<noun>{'|'.join(ATTRIBUTES)})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Said:
    """A candidate's words: `own` with its heading, and `near` with its neighbours."""

    own: str
    heading: str
    near: str

    @property
    def titled(self) -> str:
        """Its own words under its heading."""
        return f"{self.heading}\n{self.own}"


def meets(question: Question, said: Said) -> bool:
    """True where the candidate says what its question demands of the answer."""
    asked = question.text
    return (
        _same_codes(asked, said)
        and _same_pairs(asked, said)
        and _same_ordinals(asked, said)
        and not _other_side(asked, said.own)
        and _same_names(question, said)
        and _same_attribute(question, said.own)
    )


def _same_codes(asked: str, said: Said) -> bool:
    """Every "AAL4" of the question stands by the candidate, whole."""
    text = f"{said.heading}\n{said.near}"
    return all(
        re.search(_code_pattern(code), text, re.IGNORECASE)
        for code in _CODE.findall(asked)
        if not _DIGIT_ORDINAL.fullmatch(code)
    )


@lru_cache(maxsize=256)
def _code_pattern(code: str) -> str:
    runs = r"[-\s.]?".join(_RUN.findall(code))
    return rf"(?<![^\W_]){runs}(?:'?s)?(?![^\W_])"


def _same_pairs(asked: str, said: Said) -> bool:
    """Every "Level 9" of the question stands there as that pair."""
    for found in _PAIR.finditer(asked):
        noun, mark, after = found["noun"], found["mark"], found["after"] or ""
        if not _is_pair(noun, mark, after):
            continue
        pair = _pair_pattern(noun, mark)
        if pair.search(said.titled):
            continue
        other = re.search(
            rf"\b{re.escape(noun)}\b\W{{1,3}}(?:\d|[A-Z]\b)", said.own, re.IGNORECASE
        )
        if other or not pair.search(said.near):
            return False
    return True


def _is_pair(noun: str, mark: str, after: str) -> bool:
    """False for "in 5", "May 5" and "scored 3 goals"."""
    lowered = noun.lower()
    if lowered in STOP_WORDS | MONTHS | NUMBER_WORDS.keys():
        return False
    if noun[0].isupper() or not mark[0].isdigit():
        return True
    counts = after.endswith("s") or after in TIME_UNITS
    return not counts and not lowered.endswith(_VERBAL)


def _pair_pattern(noun: str, mark: str) -> re.Pattern[str]:
    marks = [mark, *(w for w, value in NUMBER_WORDS.items() if value == mark)]
    either = "|".join(map(re.escape, marks))
    found = rf"\b{re.escape(noun)}s?\b\W{{1,3}}(?:{either})(?![^\W_]|\.\d)"
    place = int(mark) if mark.isdigit() else 0
    if 0 < place <= len(ORDINALS) and (ring := ORDINALS[place - 1]):
        found += rf"|\b(?:{'|'.join(ring)})\W{{1,3}}{re.escape(noun)}\b"
    return re.compile(found, re.IGNORECASE)


def _same_ordinals(asked: str, said: Said) -> bool:
    """A "second" of the question is a "second" or "2nd" of the sentence."""
    told = {w.lower() for w in re.findall(r"\w+", said.titled)}
    wanted = re.findall(r"\w+", _NO_ORDINAL.sub(" ", asked.lower()))
    return all(not told.isdisjoint(_ORDINAL_OF[w]) for w in wanted if w in _ORDINAL_OF)


def _other_side(asked: str, own: str) -> bool:
    """True where one asks for "before" and the other tells "after" alone."""
    for here, there in ((_BEFORE, _AFTER), (_AFTER, _BEFORE)):
        if here.search(asked) and not there.search(asked):
            return bool(there.search(own)) and not here.search(own)
    return False


def _same_names(question: Question, said: Said) -> bool:
    """Who acts in the question acts in the sentence; so does any name of two words."""
    asked = question.text
    if is_shouted(asked):
        return True
    names = [m["name"] for m in _AGENT.finditer(asked)]
    if question.form in _STRICT:
        names += [m["name"] for m in _LONG_NAME.finditer(asked)]
    told = f" {_stemmed(said.titled)} "
    return all(f" {_stemmed(name)} " in told for name in names)


def _stemmed(text: str) -> str:
    return " ".join(map(stem, words(text)))


def _same_attribute(question: Question, own: str) -> bool:
    """An age is told by "age" or by years, an area by "area" or by square metres."""
    found = _ATTRIBUTE.search(question.text)
    if question.form is not Form.NUMBER or not found:
        return True
    noun = found["noun"].lower()
    told = vocabulary(own)
    units = frozenset(map(stem, ATTRIBUTES[noun]))
    symbols = [u for u in ATTRIBUTES[noun] if not u.isalpha()]
    return bool(
        match(stem(noun), told) or units & told or any(s in own for s in symbols)
    )


# What is not done, or may not be, tells not who does it nor what may be done.
_AFFIRMED = re.compile(
    r"^\W*(?:(?:to|by|from|with|for)\s+)?(?:who|whom|whose|where)\b"
    r"|^\W*(?:what|which)\b.*\b(?:may|can|must|shall|should)\b"
    r"|^\W*which\b.*\b(?:is|are|was|were)\b"
    r"|^\W*what\s+(?:is|are|was|were)\s+(?!(?:the|an?|my|your|this|that)\b|\S+['\u2019]s\b)",
    re.IGNORECASE,
)
_OPPOSITES = {sign: {OPPOSITE[sign]} for sign in (Sign.PLAIN, Sign.NEGATED)}
_DENYING = {**_OPPOSITES, Sign.PLAIN: {Sign.NEGATED, Sign.OPEN}}


def agrees(question: Question, own: str, heading: str, near: str) -> bool:
    """Whether the words of a question are negated in a sentence as they are in it.

    A word that its own text does not hold is looked for in its heading, then near it;
    one that the question negates must stand there, negated.
    """
    asked = signed(question.text)
    told = [signed(own), signed(heading), signed(near)]
    denied = _denied(asked)
    plain = all(sign is Sign.PLAIN for _, sign in asked)
    affirmed = plain and bool(_AFFIRMED.match(question.text))
    wrong = _DENYING if affirmed else _OPPOSITES
    if not all(_stands(term, asked, told, wrong) for term in question.weights):
        return False
    if question.form is Form.YES_NO or not denied:
        return True
    negated = (s for t in question.weights for s in signs_of(t, told[0]))
    return _denied(told[0]) or Sign.NEGATED in negated


def said_otherwise(question: Question, text: str) -> frozenset[str]:
    """Terms of the question that the text has with a prefix, or without theirs."""
    asked, told = signed(question.text), signed(text)
    return frozenset(
        term
        for term in question.weights
        if prefixed(term, told)
        or any(signs_of(base, told) for base in _unprefixed(term, asked))
    )


def _stands(
    term: str, asked: Signed, told: Sequence[Signed], wrong: Mapping[Sign, set[Sign]]
) -> bool:
    """Whether a word of the question stands as it is asked for, or is not there.

    `wrong` tells of a sign in the question which alone may not answer it.
    """
    wanted = {sign for word, sign in asked if stem(word) == term}
    if len(wanted) != 1 or Sign.OPEN in wanted:
        return True
    (sign,) = wanted
    for layer in told:
        if have := signs_of(term, layer):
            return not have <= wrong[sign]
        for base in _unprefixed(term, asked):
            if have := signs_of(base, layer):
                return not have <= wrong[OPPOSITE[sign]]
    return sign is Sign.PLAIN


def _unprefixed(term: str, asked: Signed) -> Iterable[str]:
    """Stems of what a word of the question negates by how it begins."""
    return [base for word, _ in asked if stem(word) == term for _, base in bases(word)]


def _denied(told: Signed) -> bool:
    """True where a verb is denied."""
    return any(sign is Sign.OPEN and denies(word) for word, sign in told)


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
