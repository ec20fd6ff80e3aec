"""Definitions in explanatory prose: "A ledger is a book that ...", "called a ledger".

Many cues, none of them decisive, mark such a sentence, so each definition carries a
confidence. In a rule book these shapes cost precision: the caller decides whether to
use them.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.definition_records import (
    Definition,
    DefinitionSource,
    TextUnit,
    text_of_spans,
)
from elt_llm_consumer.definitions.prose import clean_term, strip_full_stop
from elt_llm_consumer.definitions.terms import WORD, fold_word
from elt_llm_query.analysis.stems import pieces

_SUBJECT = (
    r"^(?:\W*[A-Z][^,]{2,60},\s*)?(?!(?:It|They|This|These|He|She|There|Those|That|We|"
    r"You|I|Such|Some|Many|Most|Both|Other|One|His|Her|Their|Its|Our|What|Here|Another)"
    r"\b)(?:(?:The|An?|Each|Every|Any)\s+)?(?:[\w'\u2019/-]+\s+){0,5}?[\w'\u2019/-]+"
    r"(?:\s*\([^)]*\))?(?:,[^,]{2,70},)?\s+"
)
_SHORT_SUBJECT = (
    r"^(?!(?:It|They|This|These|He|She|There|Those|That|We|You|I|Such|Some|Many|Most|"
    r"Both|Other|One|His|Her|Their|Its|Our|What|Here|Another)\b)(?:(?:The|An?|In)\s+)?"
    r"(?:[\w'\u2019/-]+\s+){0,2}[\w'\u2019/-]+\s+"
)
_VERB = (
    r"(?:refers?|involves?|describes?|occurs?|includes?|consists?|examines?|studies|"
    r"states?|holds?|allows?|produces?|focus(?:es)?|measures?|requires?|provides?|"
    r"represents?|exists?|means|happens?|arises?|explains?|seeks?|contains?|"
    r"emphasi[sz]es?|proposes?|suggests?|views?|assumes?|looks?|helps?|controls?|"
    r"regulates?|serves?|acts?|works?)"
)
KIND = (
    r"(?:study|process|ability|act|practice|tendency|state|condition|belief|idea|"
    r"principle|theory|use|amount|number|measure|rate|ratio|degree|extent|movement|"
    r"loss|change|transfer|set|series|group|class|type|form|kind|branch|part|system|"
    r"way|method|point|period|region|layer|structure|area|place|distance|quantity|"
    r"unit|force|device|person|people|substance|relationship|right|power|agreement|"
    r"collection|concept|term)"
)
_NAMED = r"(?:called|termed|known\s+as|referred\s+to\s+as|dubbed|named)"
_ADVERB = r"(?:also\s+|often\s+|sometimes\s+|usually\s+|commonly\s+|now\s+)?"

# Points of a cue. No weight is fitted: the levels are what one would say of each cue.
# One level changed by a step moves F1 on the DEFT development set by -2.1 to +1.2
# points; ridge weights fitted to that set did worse on held-out files (.68).
TELLS, SAYS, HINTS, DOUBTS, DENIES = 2.0, 1.0, 0.5, -0.5, -2.0


class Cue(NamedTuple):
    """A pattern and the points it adds to the log odds of a definition."""

    name: str
    pattern: re.Pattern[str]
    weight: float


def _cue(name: str, weight: float, pattern: str, *, folded: bool = False) -> Cue:
    return Cue(name, re.compile(pattern, re.IGNORECASE if folded else 0), weight)


CUES = (
    _cue(
        "passive name",
        TELLS,
        rf"\b(?:is|are|was|were|be|been)\s+{_ADVERB}(?:{_NAMED}|said\s+to\s+be)\b",
        folded=True,
    ),
    _cue("name", SAYS, rf"\b{_NAMED}\b", folded=True),
    _cue(
        "name at the end",
        HINTS,
        r"(?:called|known as|termed|referred to as)\s+(?:an?\s|the\s)?"
        r"(?:[\w'\u2019\u201c\u201d-]+\s?){1,4}(?:\([^)]*\))?\s*[.,;]",
    ),
    _cue(
        "relative copula",
        SAYS,
        r",\s+(?:which|who)\s+(?:is|are|was|were)\s+(?:\w+ly\s+)?"
        r"(?:an?|the|those|\w+s|when|\w+ed)\b",
    ),
    _cue(
        "relative clause",
        SAYS,
        r",\s+(?:which|whereby|where|in which|wherein)\s+(?!(?:is|are|was|were)\b)\w+",
    ),
    _cue(
        "copula and article",
        SAYS,
        _SUBJECT + r"(?:is|are)\s+(?:\w+ly\s+|also\s+|often\s+)?(?:an?|the|any|one)\s+"
        r"[\w-]+(?:\s[\w-]+){0,4}?\s(?:that|which|of|in|who|whose|where|used|for|with|"
        r"by|between|to|when|from|at|whereby|made|containing|designed|\w+ing|\w+ed)\b",
    ),
    _cue(
        "copula",
        HINTS,
        _SUBJECT + r"(?:is|are)\s+(?:typically |usually |also |often |defined as )?"
        r"(?:an?|the|any|one|those)\b",
    ),
    _cue(
        "is a ... that",
        SAYS,
        r"\b(?:is|are)\s+an?\s+[^,.;]{2,70}?\s"
        r"(?:that|which|of|in which|who|where|used|for|with|by|between|to)\b",
    ),
    _cue("is the ... of", HINTS, r"\b(?:is|are)\s+the\s+[\w-]+(?:\s[\w-]+)?\s+"
         r"(?:of|that|in which|by which|between|when|at which|from)\b"),
    _cue("short subject", HINTS, rf"{_SHORT_SUBJECT}(?:{_VERB}|is|are)\b"),
    _cue("subject and verb", HINTS, rf"{_SUBJECT}{_VERB}\b"),
    _cue(
        "noun phrase and verb",
        HINTS,
        r"^(?:The|An?)\s+(?:[\w-]+\s){1,3}(?:is|are|has|have|contains?|consists?|"
        r"includes?|refers?|involves?|provides?|allows?|uses?|occurs?|describes?|"
        r"states?)\b",
    ),
    _cue("refers to", SAYS, r"\brefers?\s+to\b", folded=True),
    _cue("consists of", HINTS, r"\b(?:consists?\s+of|comprises?|contains?|"
         r"composed\s+of|(?:is|are)\s+made\s+up\s+of)\b", folded=True),
    _cue("involves", HINTS, r"\b(?:involves?|describes?|includes?|encompasses|requires|"
         r"represents?|denotes?|indicates|states\s+that)\b", folded=True),
    _cue("defined", SAYS, r"\bdefin(?:ed|es|e|ition)\b", folded=True),
    _cue(
        "apposition",
        SAYS,
        r",\s+(?:an?|the|any)\s+[^,]{8,}?"
        r"(?:that|which|of|in|for|who|whereby|where|used|to)\b[^,]*[,.]",
    ),
    _cue("kind", HINTS, rf"\b{KIND}s?\s+(?:of|in which|that|by which|for|whereby|where|"
         r"who|which|used)\b", folded=True),
    _cue("copula and kind", HINTS, r"\b(?:is|are|as|,)\s+(?:an?|the|any)\s+"
         rf"(?:[\w-]+\s){{0,3}}{KIND}s?\b"),
    _cue(
        "colon and article",
        SAYS,
        r"[a-z]\s*:\s+(?:an?|the|any|one|those|\w+s)\b",
    ),
    _cue("colon", HINTS, r"[a-z)]\s?:\s+(?:an?|the|any)?\s?[a-z][\w-]+\s"),
    _cue("phrase in brackets", SAYS, r"\w\s\((?!\s?\[)(?:an?\s|the\s|or\s|also\s)?"
         r"[a-z][\w-]+\s[a-z][^)]{4,}\)"),
    _cue("short form", SAYS, r"\([A-Z]{2,6}s?\)"),
    _cue("such as", HINTS, r"\b(?:for\s+(?:example|instance)|such\s+as)\b",
         folded=True),
    _cue("long", HINTS, r"^.{240}"),
    _cue("example", DOUBTS, r"\bexamples?\b", folded=True),
    _cue("modal", DOUBTS, r"\b(?:can|may|might|could|will|would|should)\b",
         folded=True),
    _cue("connective", DOUBTS, r"^(?:However|Thus|Therefore|For example|For instance|"
         r"In addition|Moreover|Although|While|Because|As|After|But|And|So|Finally|"
         r"Similarly|Instead|Since)\b"),
    _cue("capital", DOUBTS, r"(?<=[a-z,] )[A-Z][a-z]+"),
    _cue("name of somebody", DOUBTS, r"(?<=[a-z,] )[A-Z][a-z]+ [A-Z][a-z]+"),
    _cue("digit", DOUBTS, r"\d"),
    _cue("figure", DOUBTS, r"\[ ?link ?\]|\b(?:Figure|Table)\s+\d"),
    _cue("one word", DENIES, r"^\W*\w*\W*$"),
    _cue("tiny", DENIES, r"^.{0,45}$"),
)  # fmt: skip
EVEN = 1.0  # points at which a definition is as likely as not: one cue that says so


def match_cues(sentence: str) -> tuple[bool, ...]:
    """Return which cues a sentence has, in the order of `CUES`."""
    return tuple(cue.pattern.search(sentence) is not None for cue in CUES)


def confidence(sentence: str) -> float:
    """Return how likely a sentence defines a term, from 0 to 1."""
    matches = zip(CUES, match_cues(sentence), strict=True)
    points = sum(cue.weight for cue, matched in matches if matched)
    return 1 / (1 + math.exp(EVEN - points))


SURE = 0.7  # confidence for a glossary; about four in five such sentences define
_MOST_WORDS = 5  # of a term; longer noun phrases describe instead of naming
_SHORTEST = 12  # characters of a meaning: two or three words
_BEFORE = re.compile(r"[\w'\u2019/-]+(?:\s+[\w'\u2019/-]+)*\s*(?:\([^()]*\)\s*)?$")
# The meaning comes first: "a book of accounts is called a ledger".
_NAMED_AS = re.compile(
    r",?\s+(?:(?:is|are|was|were|be|been)\s+)?(?:also\s+|often\s+|sometimes\s+|usually\s+|"
    r"commonly\s+|now\s+|better\s+|\(\s*)?(?:called|termed|known\s+as|referred\s+to\s+as|"
    r"dubbed)\s+(?:an?\s+|the\s+)?[\"\u201c\u2018]?"
    r"(?P<term>[\w-][\w'\u2019/-]*(?:\s+[\w'\u2019/-]+){0,4}?)"
    r"(?=[\"\u201d\u2019]?\s*(?:[,.;:()]|$|\s(?:which|that|who|because|when|and|or|in|of"
    r"|for|by|from|to|is|are|was|were)\b))",
    re.IGNORECASE,
)
# The term comes first: a verb that equates it with its meaning.
_EQUATED = re.compile(
    r"\s+(?:(?:is|are)(?:\s+(?:\w+ly|also|often|defined\s+as))?"
    r"(?=\s+(?:an?|the|any|one|those|\w+s|\w+)\b)|"
    r"refers?\s+to|means|describes?|consists?\s+of|involves?|occurs?\s+when|includes?|"
    r"examines|studies(?!\s+(?:of|in|on|with|for|to|have|has|had|were|was|are|is|\w+ing)\b)|"
    r"states\s+that|denotes?|represents?)\s+",
)
# After a singular term a verb without its s is an imperative: "refer to the list".
_BARE_VERB = re.compile(
    r"\s+(?:refer|describe|consist|involve|include|denote|represent)\b"
)
_APPOSITION = re.compile(
    r",\s+(?:which|who)\s+(?:is|are|was|were|means?)\s+|,\s+(?:which|whereby|wherein|"
    r"in\s+which)\s+|,\s+(?=(?:an?|the|any)\s+[\w-]+)|,\s+or\s+|"
    r"\s*:\s+(?=[a-z])|\s*[\u2014\u2013]\s*(?=[a-z])|\s+\((?=(?:an?|the|or)\s|[a-z]+\s)"
)
_CLOSING = re.compile(r"[)\u2014\u2013]")
_OPENING = re.compile(
    r"^(?:[A-Z][^,]{2,60},\s+)?(?:(?:the|an?|each|every|any)\s+)?", re.IGNORECASE
)
_Pair = tuple[tuple[int, int], tuple[int, int]]


def find_explanations(
    text: str, units: Sequence[TextUnit], threshold: float = SURE
) -> list[Definition]:
    """Return a definition for each sentence with at least `threshold` confidence.

    `named_at` is the span of the term; the definition is the part of the sentence that
    says what it is. Sentences whose term cannot be located are skipped.
    """
    definitions = []
    for unit in units:
        for piece in pieces(unit.text):
            sentence = unit.text[piece.start : piece.end]
            likely = confidence(sentence)
            pair = locate_term(sentence) if likely >= threshold else None
            if pair is not None:
                definition = _build_explanation(text, unit, piece.start, pair, likely)
                definitions.append(definition)
    return definitions


def locate_term(sentence: str) -> _Pair | None:
    """Return the spans of the term and of its meaning in a sentence, or None."""
    return (
        _term_after_meaning(sentence)
        or _term_before_verb(sentence)
        or _term_in_apposition(sentence)
    )


def _term_after_meaning(sentence: str) -> _Pair | None:
    for match in _NAMED_AS.finditer(sentence):
        if _is_term(match["term"]) and match.start() >= _SHORTEST:
            return match.span("term"), (0, match.start())
    return None


def _term_before_verb(sentence: str) -> _Pair | None:
    match = _EQUATED.search(sentence)
    if match is None:
        return None
    lead = patterns.LEAD.match(sentence)
    opening = _OPENING.match(sentence[lead.end() if lead else 0 :])
    start = (lead.end() if lead else 0) + (opening.end() if opening else 0)
    term = sentence[start : match.start()]
    if _BARE_VERB.match(match.group()) and not _is_plural(term):
        return None
    if start >= match.start() or not _is_term(term):
        return None
    return (start, match.start()), (match.end(), len(sentence))


def _term_in_apposition(sentence: str) -> _Pair | None:
    for match in _APPOSITION.finditer(sentence):
        start = _last_words(sentence, match.start())
        closing = _CLOSING.search(sentence, match.end())
        end = closing.start() if closing else len(sentence)
        if start is not None and end - match.end() >= _SHORTEST:
            return (start, match.start()), (match.end(), end)
    return None


def _last_words(sentence: str, end: int) -> int | None:
    """Where the words before `end` begin that no function word interrupts."""
    if _BEFORE.search(sentence[:end]) is None:
        return None
    start = None
    words = list(WORD.finditer(sentence[:end]))[-_MOST_WORDS:]
    for word in reversed(words):
        lowered = word.group().lower()
        gap = sentence[word.end() : end if start is None else start]
        if not lowered[0].isalpha() or lowered in _NO_PART or gap.strip(" -("):
            break
        start = word.start()
    return start


_NO_PART = (
    patterns.NOT_FIRST
    | patterns.NOT_LAST
    | patterns.NOT_INSIDE
    | patterns.SMALL
    | patterns.ARTICLES
)


def _is_plural(term: str) -> bool:
    """Whether a noun phrase takes a plural verb."""
    words = WORD.findall(term.lower())
    return bool(words) and ("and" in words or fold_word(words[-1]) != words[-1])


def _is_term(phrase: str) -> bool:
    words = [word.group().lower() for word in WORD.finditer(clean_term(phrase))]
    if not 1 <= len(words) <= _MOST_WORDS or "," in phrase:
        return False
    if words[0] in patterns.NOT_FIRST | patterns.ADDRESS:
        return False
    return not any(word in patterns.NOT_INSIDE for word in words)


def _build_explanation(
    text: str, unit: TextUnit, base: int, pair: _Pair, likely: float
) -> Definition:
    (start, end), (low, high) = pair
    body = strip_full_stop(unit.text[base + low : base + high])
    spans = unit.exact_spans(text, base + low, base + low + len(body))
    names = unit.spans(base + start, base + end)
    return Definition(
        term=clean_term(unit.text[base + start : base + end]),
        definition=text_of_spans(text, spans),
        source=DefinitionSource.TEXTBOOK,
        spans=spans,
        page=unit.page,
        section=unit.section,
        named_at=(names[0][0], names[-1][1]),
        confidence=round(likely, 3),
    )
