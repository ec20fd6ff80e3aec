"""What the one sentence that answers must itself say, whatever stands around it.

Close is not the same: "Level 9" is not "Level 3", "before" not "after", and what one
official must do says nothing of another. Each demand is read from the question's form.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from elt_llm_query.synthesizers.matching import match, vocabulary
from elt_llm_query.synthesizers.question import Form, Question, is_shouted
from elt_llm_query.text import stem, words
from elt_llm_query.words import (
    ATTRIBUTES,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    STOP_WORDS,
    TIME_UNITS,
)

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
