"""Cues of explanatory prose: "A ledger is a book that ...", "called a ledger".

Many cues, none of them decisive, indicate an explaining sentence. The sum of their
points is one feature of a candidate.
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

# Points of a cue. No weight is fitted: the levels are what one would say of each cue.
# One level changed by a step moves F1 on the DEFT development set by -2.1 to +1.2
# points; ridge weights fitted to that set did worse on held-out files (.68).
TELLS, SAYS, HINTS, DOUBTS, DENIES = 2.0, 1.0, 0.5, -0.5, -2.0


class Cue(NamedTuple):
    """A pattern and the points it adds to the log odds of a definition.

    A `folded` pattern is searched in the sentence in lower case: one that ignores case
    takes several times as long.
    """

    name: str
    pattern: re.Pattern[str]
    weight: float
    folded: bool


def _cue(name: str, weight: float, pattern: str, *, folded: bool = False) -> Cue:
    return Cue(name, re.compile(pattern), weight, folded)


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
    lowered = sentence.lower()
    return tuple(
        cue.pattern.search(lowered if cue.folded else sentence) is not None
        for cue in CUES
    )


def points(sentence: str) -> float:
    """Return the points of all cues that a sentence has."""
    matches = zip(CUES, match_cues(sentence), strict=True)
    return sum(cue.weight for cue, matched in matches if matched)


def confidence(sentence: str) -> float:
    """Return the probability that a sentence of a textbook explains a term."""
    return 1 / (1 + math.exp(EVEN - points(sentence)))
