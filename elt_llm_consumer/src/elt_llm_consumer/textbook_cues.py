"""By which cues a sentence of explaining prose is known to define a term, as data.

Function words, punctuation and nouns of kind ("a type of") only: no word of any field.
A weight is what a cue adds to the log odds; all were fitted by ridge regression to
sentences that people marked, then rounded by hand. `elt-llm eval parsing` fits them
again on parts of the files and prints how well that does on the others.
"""

import math
import re
from typing import NamedTuple

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


class Cue(NamedTuple):
    """A pattern and what it adds to the log odds of a definition."""

    name: str
    pattern: re.Pattern[str]
    weight: float


def _cue(name: str, weight: float, pattern: str, *, folded: bool = False) -> Cue:
    return Cue(name, re.compile(pattern, re.IGNORECASE if folded else 0), weight)


CUES = (
    _cue(
        "passive name",
        1.5,
        rf"\b(?:is|are|was|were|be|been)\s+{_ADVERB}(?:{_NAMED}|said\s+to\s+be)\b",
        folded=True,
    ),
    _cue("name", 0.8, rf"\b{_NAMED}\b", folded=True),
    _cue(
        "name at the end",
        0.3,
        r"(?:called|known as|termed|referred to as)\s+(?:an?\s|the\s)?"
        r"(?:[\w'\u2019\u201c\u201d-]+\s?){1,4}(?:\([^)]*\))?\s*[.,;]",
    ),
    _cue(
        "relative copula",
        1.2,
        r",\s+(?:which|who)\s+(?:is|are|was|were)\s+(?:\w+ly\s+)?"
        r"(?:an?|the|those|\w+s|when|\w+ed)\b",
    ),
    _cue(
        "relative clause",
        1.3,
        r",\s+(?:which|whereby|where|in which|wherein)\s+(?!(?:is|are|was|were)\b)\w+",
    ),
    _cue(
        "copula and article",
        0.6,
        _SUBJECT + r"(?:is|are)\s+(?:\w+ly\s+|also\s+|often\s+)?(?:an?|the|any|one)\s+"
        r"[\w-]+(?:\s[\w-]+){0,4}?\s(?:that|which|of|in|who|whose|where|used|for|with|"
        r"by|between|to|when|from|at|whereby|made|containing|designed|\w+ing|\w+ed)\b",
    ),
    _cue(
        "copula",
        0.6,
        _SUBJECT + r"(?:is|are)\s+(?:typically |usually |also |often |defined as )?"
        r"(?:an?|the|any|one|those)\b",
    ),
    _cue(
        "is a ... that",
        0.6,
        r"\b(?:is|are)\s+an?\s+[^,.;]{2,70}?\s"
        r"(?:that|which|of|in which|who|where|used|for|with|by|between|to)\b",
    ),
    _cue("is the ... of", 0.6, r"\b(?:is|are)\s+the\s+[\w-]+(?:\s[\w-]+)?\s+"
         r"(?:of|that|in which|by which|between|when|at which|from)\b"),
    _cue("short subject", 0.9, rf"{_SHORT_SUBJECT}(?:{_VERB}|is|are)\b"),
    _cue("subject and verb", 0.3, rf"{_SUBJECT}{_VERB}\b"),
    _cue(
        "noun phrase and verb",
        0.8,
        r"^(?:The|An?)\s+(?:[\w-]+\s){1,3}(?:is|are|has|have|contains?|consists?|"
        r"includes?|refers?|involves?|provides?|allows?|uses?|occurs?|describes?|"
        r"states?)\b",
    ),
    _cue("refers to", 0.8, r"\brefers?\s+to\b", folded=True),
    _cue("consists of", 0.8, r"\b(?:consists?\s+of|comprises?|contains?|composed\s+of|"
         r"(?:is|are)\s+made\s+up\s+of)\b", folded=True),
    _cue("involves", 0.4, r"\b(?:involves?|describes?|includes?|encompasses|requires|"
         r"represents?|denotes?|indicates|states\s+that)\b", folded=True),
    _cue("defined", 0.7, r"\bdefin(?:ed|es|e|ition)\b", folded=True),
    _cue(
        "apposition",
        0.8,
        r",\s+(?:an?|the|any)\s+[^,]{8,}?"
        r"(?:that|which|of|in|for|who|whereby|where|used|to)\b[^,]*[,.]",
    ),
    _cue("kind", 0.1, rf"\b{KIND}s?\s+(?:of|in which|that|by which|for|whereby|where|"
         r"who|which|used)\b", folded=True),
    _cue("copula and kind", 0.3, r"\b(?:is|are|as|,)\s+(?:an?|the|any)\s+"
         rf"(?:[\w-]+\s){{0,3}}{KIND}s?\b"),
    _cue(
        "colon and article",
        1.0,
        r"[a-z]\s*:\s+(?:an?|the|any|one|those|\w+s)\b",
    ),
    _cue("colon", 0.7, r"[a-z)]\s?:\s+(?:an?|the|any)?\s?[a-z][\w-]+\s"),
    _cue("phrase in brackets", 0.9, r"\w\s\((?!\s?\[)(?:an?\s|the\s|or\s|also\s)?"
         r"[a-z][\w-]+\s[a-z][^)]{4,}\)"),
    _cue("short form", 1.0, r"\([A-Z]{2,6}s?\)"),
    _cue("such as", 0.6, r"\b(?:for\s+(?:example|instance)|such\s+as)\b", folded=True),
    _cue("long", 0.9, r"^.{240}"),
    _cue("example", -0.7, r"\bexamples?\b", folded=True),
    _cue("modal", -0.3, r"\b(?:can|may|might|could|will|would|should)\b", folded=True),
    _cue("connective", -0.3, r"^(?:However|Thus|Therefore|For example|For instance|In "
         r"addition|Moreover|Although|While|Because|As|After|But|And|So|Finally|"
         r"Similarly|Instead|Since)\b"),
    _cue("capital", -0.3, r"(?<=[a-z,] )[A-Z][a-z]+"),
    _cue("name of somebody", -0.3, r"(?<=[a-z,] )[A-Z][a-z]+ [A-Z][a-z]+"),
    _cue("digit", -0.4, r"\d"),
    _cue("figure", -0.5, r"\[ ?link ?\]|\b(?:Figure|Table)\s+\d"),
    _cue("one word", -1.4, r"^\W*\w*\W*$"),
    _cue("tiny", -1.7, r"^.{0,45}$"),
)  # fmt: skip
BIAS = -1.4
LEAST = 0.31  # where precision and recall are about equal on the marked sentences


def seen(sentence: str) -> tuple[bool, ...]:
    """Which cues a sentence has, in the order of `CUES`."""
    return tuple(cue.pattern.search(sentence) is not None for cue in CUES)


def confidence(sentence: str) -> float:
    """How likely a sentence defines a term, 0 to 1."""
    found = zip(CUES, seen(sentence), strict=True)
    return 1 / (1 + math.exp(-BIAS - sum(cue.weight for cue, has in found if has)))
