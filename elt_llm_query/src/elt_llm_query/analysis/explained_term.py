"""Recognise whether a sentence says what a thing is, or only mentions the thing.

"The scale is checked every year" and "Lorries stop at the weighbridge" answer no
question what a scale or a weighbridge is, though they share its only word.
"""

import re
from functools import lru_cache

from elt_llm_query.analysis.definition import TOLD, grade, name_pattern
from elt_llm_query.analysis.lexicon import ATTRIBUTES, IRREGULAR, VALUES
from elt_llm_query.analysis.noun_phrases import AUX, PREP
from elt_llm_query.analysis.question import Form, QuestionAnalysis
from elt_llm_query.analysis.read_sentence import sentences
from elt_llm_query.analysis.stems import words

_CONTENTS = VALUES | frozenset(ATTRIBUTES)
_DEFINITE = re.compile(
    r"^\W*what(?:\s+(?:is|are|was|were)|['\u2019]s)\s+(?:the|our|your|their|its|my)\s",
    re.IGNORECASE,
)
_A_KIND = re.compile(
    r"^\W*what(?:\s+(?:is|are|was|were)|['\u2019]s)\s+an?\s|^\W*define\b|\bmean(?:ing)?\b"
    r"|\bdefinition\b|\brefer\s+to\b|\bstand\s+for\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"^\W*what(?:\s+(?:is|are|was|were)|['\u2019]s)\s+(?!(?:the|our|your|their|its|my)\s)",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^\W*what\s+(?:are|were)\s+(?:the|our|your|their|its)\s",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"\W{0,3}\d")
_REACH = 80  # characters before a term that may introduce it; longest phrase: 40
_WHO = re.compile(r"^\W*who\b", re.IGNORECASE)
# "called X", "what we mean by X", "the term X", "when we say X, we mean ..."
_NAMED = re.compile(
    r"(?:\b(?:called|known\s+as|termed|named|referred\s+to\s+as|defined\s+as|defines?|means?\s+by"
    r"|meant\s+by|understood\s+by|(?:definition|meaning|concept|notion)\s+of|term"
    r"|counts?\s+as|counted\s+as|considered|deemed|treated\s+as"
    r"|(?<!there\s)(?:is|are)(?=\W{1,3}an?\s)|say|speak\s+of|such\s+as|said\s+to\s+be)"
    # "this is the cohesion theory", "a hormone, abscisic acid"
    r"|\b(?:this|that|these|those|it|which)\s+(?:is|are|was|were)"
    r"|\b(?:an?|one|another)\s+[\w-]+(?:\s+[\w-]+)?,"
    r"|[,(\u2013\u2014]\s*or)\W{1,3}(?:(?:an?|the)\s+\W?)?$",
    re.IGNORECASE,
)
_VERBS = (
    r"means?|refers?|denotes?|consists?|compris(?:es?|ing)|contains?|includes?|covers?|represents?|measures?"
    r"|constitutes?|forms?|serves?|acts?|functions?|enables?|allows?|lets?|helps?"
    r"|provides?|gives?|expresses?|indicates?|corresponds?|equals?|amounts?|occurs?"
    r"|arises?|exists?|involves?|describes?|combines?|connects?|links?|separates?"
    r"|happens?|results?|shows?|tells?|states?|carr(?:y|ies)|pass(?:es)?|converts?"
    r"|transfers?|turns?|keeps?|performs?|administers?|coordinates?|advises?|examines?"
    r"|stud(?:y|ies)|protects?|prevents?|removes?|lists?|exercises?|determines?|governs?"
    r"|blocks?|moves?|secures?|sorts?|regulates?|controls?|monitors?|supervises?|manages?|collects?|distributes?"
)
# A participle with these words describes: "is made of willow", "is used to weigh".
_DESCRIBING = re.compile(
    r"(?:made|composed|formed|built|constructed|comprised|used|designed|intended|meant"
    r"|characteri[sz]ed|distinguished|considered|regarded|viewed|seen|understood"
    r"|defined|described|located|situated|caused|produced|created|derived|based|equipped|measured"
    r"|expressed|calculated|said)\b",
    re.IGNORECASE,
)
_ADVERBS = (
    r"(?:(?:also|often|then|still|always|not|now|only|just|never|again|already|both"
    r"|simply|therefore|however|usually|normally|generally|typically|\w+ly)\W{1,2})*+"
)
_PARTICIPLE = rf"(?:\w+ed|{'|'.join(sorted(IRREGULAR))}|put|set|shut|cut|being)"
# What follows a participle that is the verb: "is published each January".
_AFTER_VERB = (
    rf"(?:\W*$|\W*[.;:!?,]|\s+(?:{PREP}|and|or|each|every|once|twice|again|daily|weekly"
    r"|monthly|yearly|annually|there|here|to|up|out|off|down|away|back|first|\w+ly|\d"
    r"|an?|the|this|that|these|those|only|near|through|behind|beside|next|along|across"
    r"|repaired|last|tomorrow|today)\b)"
)
_STATES = (
    r"(?:free|available|open|closed|due|subject|valid|compulsory|mandatory|optional"
    r"|required|necessary|important|responsible|liable|exempt|eligible|able|unable|ready"
    r"|likely|possible|full|empty|busy|out|up|down|off|on|there|here|next|near|behind"
    r"|beside|below|above|inside|outside|opposite|missing|new|old|safe|late|good|bad"
    r"|effective|common|rare|normal|useful|popular|dangerous|different|similar|essential"
    r"|higher|lower|greater|smaller|larger|better|worse|longer|shorter|easier|harder)"
)
_AMOUNT_OF = (
    r"(?:[$\u20ac\u00a3]|\d[\d.,]*\s*(?:%|per\s?cent\b|euros?\b|dollars?\b|pounds?\b))"
)
# "What is included?" and "What is not free?" ask which things are so.
_QUALITY = re.compile(
    rf"(?:(?:not|also|still|always|never|only|\w+ly)\s+)*+(?:{_PARTICIPLE}|{_STATES})",
    re.IGNORECASE,
)
_NO_NOUN = (
    rf"(?:{_PARTICIPLE}{_AFTER_VERB}|{_AMOUNT_OF}|(?:{PREP}|to)\b(?!\s+(?:the\s+)?form\b)"
    rf"|{_STATES}{_AFTER_VERB}|(?:{_STATES}\s+)?(?:{PREP}|to)\b)"
)
_ASIDE = r"(?:\s*\([^)]{1,80}\)|,[^,.;]{1,80},)?[\"'\u201d\u2019*_]*"
_IS = r"\s+(?:(?:is|are|was|were)|(?:can|may|must|should)\s+be|became|becomes?)\s+"
_COPULA = rf"{_ASIDE}{_IS}{_ADVERBS}(?:{_DESCRIBING.pattern}|(?!{_NO_NOUN}))"
_VERB = rf"{_ASIDE}\s+(?:also\s+|can\s+|may\s+)?(?:{_VERBS})\b"
# As in "the orlop, which is the lowest deck" and "a coracle, a small boat".
_BREAK = r"[\"'\u201d\u2019*_]*(?:\s*[,(:\u2013\u2014]|\s+-)\s*"
_APPOSITION = (
    rf"{_BREAK}(?:which|who|where|whose|that\s+is|i\.\s?e\.|namely|in\s+other\s+words|meaning)\b"
    rf"(?!\s+(?:is|are|was|were)\s+{_ADVERBS}{_NO_NOUN})"
    rf"|{_BREAK}(?:or\s+)?(?:an?|the|one\s+of|any|those|also|formerly)\s"
    r"(?![^,.;]*,?\s+(?:and|or)\s+(?:an?|the)\s)"
    rf"|{_BREAK}(?:{_DESCRIBING.pattern}|\w+s\s+of\b)"
    rf"|\s*[:\u2014]\s*(?!(?:\w+\s){{1,3}}(?:{AUX})\b)\w"
    r"|\s*\((?!see\b|pages?\b|section\b|fig|table\b|ext)[^)]*[a-z]{2,}\W+[a-z]{2,}"
)
_OTHERS = r"[\"'\u201d\u2019]*,?\s+(?:and|or)\s+(?:any\s+|all\s+)?other\b"
# A phrase after a preposition is no subject: "users of the scale are trained people".
_WITHIN = re.compile(
    rf"\b(?:{PREP}|to)\s+(?:all\s+)?(?:(?:an?|the|any|each|every|our|its|this)\s+)?$",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"^\W*(?:\(?\w{1,3}\)\s+)?(?:it|this|that|these|they|such)\s+"
    r"(?:(?:term|expression|word)\s+)?(?:is|are|was|were|means?|refers?|denotes?|consists?"
    r"|compris\w+|includes?|covers?)\b",
    re.IGNORECASE,
)


def asks_what_a_thing_is(question: QuestionAnalysis) -> bool:
    """Return whether a question asks what a kind of thing is, and not for its value.

    "What is the fee?" and "What are the rules?" ask for the content of something known.

    Args:
        question: The question.
    """
    if question.form is not Form.DEFINITION or _WHO.search(question.text):
        return False
    if _LISTED.search(question.text):
        return False
    if _A_KIND.search(question.text):
        return True
    head = (words(question.term.lower()) or [""])[-1]
    if head in _CONTENTS or head.removesuffix("s") in _CONTENTS:
        return False
    return not (_QUALITY.fullmatch(question.term) and _BARE.search(question.text))


def asks_for_a_kind(question: QuestionAnalysis) -> bool:
    """Return whether a question asks what a thing is that no "the" makes known.

    Args:
        question: The question.
    """
    return asks_what_a_thing_is(question) and not _DEFINITE.search(question.text)


def begins_with_amount(text: str) -> bool:
    """Return whether a text begins with a number or an amount of money.

    Args:
        text: A cell of a table.
    """
    return bool(_AMOUNT.match(text))


def explains(term: str, text: str) -> bool:
    """Return whether a text says what the term is.

    A text without the term may describe it in other words; it counts as saying so.

    Args:
        term: The term.
        text: One or several sentences.
    """
    name = re.compile(rf"\b{name_pattern(term)}\b", re.IGNORECASE)
    if not words(term) or not name.search(text):
        return True
    after = False
    for one in sentences(text):
        if after and _REFERS.search(one.text):
            return True
        after = bool(name.search(one.text))
        if after and _explains(term, one.text):
            return True
    return False


def _explains(term: str, sentence: str) -> bool:
    """Return whether a sentence with the term says what it is."""
    if grade(term, sentence) >= TOLD:
        return True
    return any(
        _NAMED.search(_before(place))
        or (place["what"] is not None and _is_explained(place))
        for place in _places(term).finditer(sentence)
    )


def _is_explained(place: re.Match[str]) -> bool:
    is_subject = not _WITHIN.search(_before(place))
    return is_subject or place["subject"] is None


def _before(place: re.Match[str]) -> str:
    return place.string[max(place.start() - _REACH, 0) : place.start()]


@lru_cache(maxsize=64)
def _places(term: str) -> re.Pattern[str]:
    subject = rf"(?P<subject>{_COPULA}|{_VERB})"
    return re.compile(
        rf"\b{name_pattern(term)}\b(?P<what>{_APPOSITION}|{_OTHERS}|{subject})?",
        re.IGNORECASE,
    )
