"""Requirements that the answering sentence itself must meet, whatever surrounds it.

Similar is not equal: "Level 9" is not "Level 3", "before" is not "after", and a duty of
one official does not apply to another. Each requirement is read from the question's
form.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from elt_llm_query.analysis.lexicon import (
    ATTRIBUTES,
    MEASURED,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    STOP_WORDS,
    TIME_UNITS,
)
from elt_llm_query.analysis.negation import Sign, signs_agree
from elt_llm_query.analysis.question import (
    Form,
    QuestionAnalysis,
    analyse,
    is_measure,
)
from elt_llm_query.analysis.read_sentence import Sentence, read
from elt_llm_query.analysis.stems import stem
from elt_llm_query.analysis.term_match import Vocabulary, match
from elt_llm_query.synthesizers.extractive.form_fit import sentence_fit
from elt_llm_query.synthesizers.extractive.other_kinds import is_of_another_kind
from elt_llm_query.synthesizers.extractive.roles import names_no_holder

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
# An ordinal stands before a noun: not "how long does it last", "what comes first" or,
# without an article, "last week".
_FORMS = "|".join(sorted(STOP_WORDS))
_ORDINALS = "|".join(sorted(_ORDINAL_OF))
_ORDINAL = re.compile(
    rf"(?:\b(?P<article>the)\s+)?\b(?P<word>{_ORDINALS})\b(?=[\s-]+"
    rf"(?:(?:and|or)\s+(?:{_ORDINALS})\b"
    rf"|(?!(?:{_FORMS})\b)(?:(?P<time>{'|'.join(sorted(TIME_UNITS))})\b|\w)))",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:before|prior\s+to|ahead\s+of)\b", re.IGNORECASE)
_AFTER = re.compile(
    # "since January 2022" is a period, to the present day
    rf"\b(?:after|following|since(?!\s+(?:\d|(?:{'|'.join(sorted(MONTHS))})\b)))\b",
    re.IGNORECASE,
)
_NAMED = r"[A-Z][\w'\u2019-]*(?:\s+(?:of\s+)?[A-Z][\w'\u2019-]*)"
_AGENT = re.compile(
    r"\b(?:must|shall|may|should|can|could|will|would|does|do|did|has|have|had)\s+"
    rf"(?:the\s+|an?\s+|every\s+|each\s+)?(?!I\b)(?P<name>{_NAMED}*)"
)
_LONG_NAME = re.compile(rf"(?<=\s)(?P<name>{_NAMED}+)")
_STRICT = frozenset([Form.NUMBER, Form.TIME, Form.PERSON])
# "part-time", "two-factor": statements about other kinds do not apply to this kind.
_COMPOUND = re.compile(
    r"(?<![\w-])(?!(?:non|un|in)-)[A-Za-z]{2,}(?:-[A-Za-z]{2,})+(?![\w-])"
)
_RATE = re.compile(
    r"\b(?:per|each|every)\s+(?:\w+\s+)?"
    rf"(?P<unit>{'|'.join(sorted(TIME_UNITS - {'second', 'seconds'}))})\b",
    re.IGNORECASE,
)
_BOUND = r"(?:maxim|minim)(?:um|al)|lowest|highest|smallest|largest|least|greatest"
_ATTRIBUTE = re.compile(
    rf"\b(?:what|which|{_BOUND})\s+(?:(?:is|are)\s+the\s+)?(?:(?:{_BOUND})\s+)?"
    rf"(?P<noun>{'|'.join(ATTRIBUTES)})\b",
    re.IGNORECASE,
)

_HOW_MUCH = re.compile(rf"\bhow\s+(?P<noun>{'|'.join(MEASURED)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Setting:
    """A candidate's words: its own, its heading's, and those with its neighbours'."""

    own: Sentence
    heading: Sentence
    near: Sentence

    @property
    def under_heading(self) -> Sentence:
        """Return its own words and those of its heading."""
        return read(f"{self.heading.text}\n{self.own.text}")


@dataclass(frozen=True)
class Pair:
    """A noun with an identifier, "Level 9": that pair, or the noun with another one."""

    same: re.Pattern[str]
    other: re.Pattern[str]


@dataclass(frozen=True)
class Attribute:
    """A measurable attribute ("age"), with the stems and symbols of its units."""

    noun: str
    units: Vocabulary
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class Demands:
    """The requirements of a question for its answer, read from it once.

    Attributes:
        codes: Each "AAL4", as people write it.
        pairs: Each "Level 9".
        ordinals: Alternative words for each "second"; one of them is required.
        sides: Patterns of a wrong side and the right one, for "before" and "after".
        names: Actors, and other names of two words, as stems with spaces around.
        attribute: The requested measurable attribute, if any.
        compounds: Each "part-time", as people write it.
        rates: Stems of the units of each "per year", if a number is asked for.
    """

    codes: tuple[re.Pattern[str], ...]
    pairs: tuple[Pair, ...]
    ordinals: tuple[frozenset[str], ...]
    sides: tuple[re.Pattern[str], re.Pattern[str]] | None
    names: tuple[str, ...]
    attribute: Attribute | None
    compounds: tuple[re.Pattern[str], ...] = ()
    rates: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def demands_of(text: str) -> Demands:
    """Return the requirements of a question for the answering sentence."""
    question = analyse(text)
    return Demands(
        codes=tuple(
            _code_pattern(code)
            for code in _CODE.findall(text)
            if not (_DIGIT_ORDINAL.fullmatch(code) or is_measure(code))
        ),
        pairs=tuple(_pairs(text)),
        ordinals=tuple(
            _ORDINAL_OF[one["word"].lower()]
            for one in _ORDINAL.finditer(_NO_ORDINAL.sub(" ", text))
            if one["article"] or not one["time"] or one["word"].lower() != "last"
        ),
        sides=_sides(text),
        names=() if question.in_capitals else tuple(_names(question)),
        attribute=_attribute(question),
        compounds=tuple(map(_compound_pattern, _COMPOUND.findall(text))),
        rates=tuple(stem(rate["unit"]) for rate in _RATE.finditer(text))
        if question.form is Form.NUMBER and not question.often
        else (),
    )


def meets(question: QuestionAnalysis, setting: Setting) -> bool:
    """Return whether the candidate meets the requirements of its question."""
    demands = demands_of(question.text)
    return (
        _has_codes(demands, setting)
        and _has_restrictors(demands, setting)
        and all(_has_pair(pair, setting) for pair in demands.pairs)
        and _has_ordinals(demands, setting)
        and not _other_side(demands, setting.own.text)
        and all(name in setting.under_heading.stem_line for name in demands.names)
        and _has_attribute(demands.attribute, setting.own)
    )


def _has_codes(demands: Demands, setting: Setting) -> bool:
    """Return True if every "AAL4" of the question is near the candidate, in full."""
    if not demands.codes:
        return True
    text = f"{setting.heading.text}\n{setting.near.text}"
    return all(code.search(text) for code in demands.codes)


def _has_restrictors(demands: Demands, setting: Setting) -> bool:
    """Return True if every "part-time" and "per year" is near the candidate."""
    if not demands.compounds and not demands.rates:
        return True
    text = f"{setting.heading.text}\n{setting.near.text}"
    stems = setting.heading.stems | setting.near.stems
    return all(one.search(text) for one in demands.compounds) and all(
        match(unit, stems) for unit in demands.rates
    )


def _compound_pattern(compound: str) -> re.Pattern[str]:
    """Return a pattern of adjacent words, the last one possibly inflected.

    A hyphen between the words is optional.
    """
    *first, last = compound.split("-")
    begins = stem(last) if last.lower().startswith(stem(last)) else last[:-2]
    ending = re.escape(begins)
    runs = r"[-\s.\u2010\u2011]{0,3}".join([*map(re.escape, first), ending])
    return re.compile(rf"(?<!\w){runs}\w*", re.IGNORECASE)


def _code_pattern(code: str) -> re.Pattern[str]:
    runs = r"[-\s.]?".join(_RUN.findall(code))
    return re.compile(rf"(?<![^\W_]){runs}(?:'?s)?(?![^\W_])", re.IGNORECASE)


def _pairs(asked: str) -> Iterator[Pair]:
    for pair in _PAIR.finditer(asked):
        noun, mark = pair["noun"], pair["mark"]
        if _is_pair(noun, mark, pair["after"] or ""):
            other = rf"\b{re.escape(noun)}\b\W{{1,3}}(?:\d|[A-Z]\b)"
            yield Pair(_pair_pattern(noun, mark), re.compile(other, re.IGNORECASE))


def _has_pair(pair: Pair, setting: Setting) -> bool:
    """Return True if the "Level 9" of the question occurs as that pair."""
    if pair.same.search(setting.under_heading.text):
        return True
    other = pair.other.search(setting.own.text)
    return not other and bool(pair.same.search(setting.near.text))


def _is_pair(noun: str, mark: str, after: str) -> bool:
    """Return False for "in 5", "May 5" and "scored 3 goals"."""
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
    pattern = rf"\b{re.escape(noun)}s?\b\W{{1,3}}(?:{either})(?![^\W_]|\.\d)"
    place = int(mark) if mark.isdigit() else 0
    if 0 < place <= len(ORDINALS) and (ring := ORDINALS[place - 1]):
        pattern += rf"|\b(?:{'|'.join(ring)})\W{{1,3}}{re.escape(noun)}\b"
    return re.compile(pattern, re.IGNORECASE)


def _has_ordinals(demands: Demands, setting: Setting) -> bool:
    """Return True if the sentence has a "second" or "2nd" for a "second"."""
    if not demands.ordinals:
        return True
    own = {w.lower() for w in re.findall(r"\w+", setting.under_heading.text)}
    return not any(own.isdisjoint(ring) for ring in demands.ordinals)


def _sides(asked: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """Return the patterns of the wrong side and of the requested one."""
    for here, there in ((_BEFORE, _AFTER), (_AFTER, _BEFORE)):
        if here.search(asked) and not there.search(asked):
            return there, here
    return None


def _other_side(demands: Demands, own: str) -> bool:
    """Return True if the question asks for "before" and the text has only "after"."""
    if demands.sides is None:
        return False
    wrong, right = demands.sides
    return bool(wrong.search(own)) and not right.search(own)


def _names(question: QuestionAnalysis) -> Iterator[str]:
    """Return the actors in the question, and names of two words if they matter."""
    for pattern in (_AGENT, _LONG_NAME):
        if pattern is _AGENT or question.form in _STRICT:
            for name in pattern.finditer(question.text):
                yield read(name["name"]).stem_line


def is_measured(question: QuestionAnalysis, text: str) -> bool:
    """Return whether a text names what "how heavy" asks for, or a unit of it.

    Args:
        question: The question; another than "how heavy" accepts every text.
        text: The text.
    """
    if not _HOW_MUCH.search(question.text):
        return True
    return _has_attribute(_attribute(question), read(text))


def _attribute(question: QuestionAnalysis) -> Attribute | None:
    asked = _ATTRIBUTE.search(question.text) or _HOW_MUCH.search(question.text)
    if question.form is not Form.NUMBER or not asked:
        return None
    noun = asked["noun"].lower()
    noun = MEASURED.get(noun, noun)
    units = ATTRIBUTES[noun]
    symbols = tuple(unit for unit in units if not unit.isalpha())
    return Attribute(stem(noun), frozenset(map(stem, units)), symbols)


def _has_attribute(attribute: Attribute | None, own: Sentence) -> bool:
    """Return True if the text has the word or a unit of the attribute.

    An age is given by "age" or in years, an area by "area" or in square metres.
    """
    return attribute is None or bool(
        match(attribute.noun, own.stems)
        or attribute.units & own.stems
        or any(symbol in own.text for symbol in attribute.symbols)
    )


# A negated statement does not answer who does something or what may be done.
_AFFIRMED = re.compile(
    r"^\W*(?:(?:to|by|from|with|for)\s+)?(?:who|whom|whose|where)\b"
    r"|^\W*(?:what|which)\b.*\b(?:may|can|must|shall|should)\b"
    r"|^\W*which\b.*\b(?:is|are|was|were)\b"
    r"|^\W*what\s+(?:is|are|was|were)\s+(?!(?:the|an?|my|your|this|that)\b|\S+['\u2019]s\b)",
    re.IGNORECASE,
)


def agrees(question: QuestionAnalysis, setting: Setting) -> bool:
    """Return whether a sentence negates the question's words as the question does.

    A word that is not in the sentence is looked up in its heading and then near it; a
    word that the question negates must occur negated.
    """
    asked = question.read.signs
    layers = [setting.own, setting.heading, setting.near]
    plain = all(sign is Sign.PLAIN for _, sign in asked.words)
    affirmed = plain and bool(_AFFIRMED.match(question.text))
    if not signs_agree(question.weights, asked, layers, affirmed=affirmed):
        return False
    if question.form is Form.YES_NO or not asked.denies_a_verb:
        return True
    return setting.own.signs.negates_any(question.weights)


class FormCheck(NamedTuple):
    """How well a sentence has the requested form, 0 to 1, and whether it is opposed."""

    fit: float
    opposed: bool


def check_sentence(
    question: QuestionAnalysis, sentence: Sentence, setting: Setting
) -> FormCheck | None:
    """Return how a sentence fits its question; None if it fails a requirement."""
    if not meets(question, setting):
        return None
    if is_of_another_kind(question.text, setting.own, setting.heading):
        return None
    if names_no_holder(question.text, setting.own.text):
        return None
    opposed = not agrees(question, setting)
    return FormCheck(sentence_fit(question, sentence.text), opposed)
