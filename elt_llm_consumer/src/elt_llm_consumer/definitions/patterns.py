"""The forms of written definitions, and English function words, as data.

A definition is a head (the term and its surroundings), a connector ("means") and the
defining text. All lists contain function words only: their position distinguishes a
term from a sentence in any field.
"""

import re

from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.stop_words import stop_words
from elt_llm_query.analysis.wordings import LIST_MARKS

WORD = r"[\w\u00ae\u2122][\w'\u2019/&\u00ae\u2122-]*"
BRACKETS = r"\s*\([^()]{1,60}\)"
DETERMINER = (
    r"(?:(?:the|an?|each|every|any|all|our|such|this|his|its|their|most|some)\s+)"
)
AUXILIARY = (
    r"(?:is|are|was|were|has|have|can|could|will|would|shall|should|may|might|must)"
)
LEXICAL = (
    r"(?:means?|refers?\s+to|denotes?|represents?|describes?|includes?|involves?|"
    r"consists?|comprises?|contains?|covers?|provides?|allows?|recogni[sz]es?|"
    r"requires?|occurs?|states?|applies|apply|supplements?|supports?|depends?|uses?|"
    r"governs?|studies|examines?|measures?|produces?|holds?|causes?|helps?|serves?|"
    r"acts?|works?|takes?|gives?|results?|begins?|ends?|starts?)"
)
QUOTE_OPEN = "[\"\u201c\u201f\u201e\u2018'\u00ab]"
QUOTE_CLOSE = "[\"\u201d\u201c\u2019'\u00bb]"
# A quotation mark would end the term; an apostrophe between letters does not.
_QUOTED_TEXT = (
    "(?:[^\"\u201c\u201d\u2018\u2019'\u00ab\u00bb\\n]|\\n(?!\\n)|"
    "(?<=\\w)['\u2019](?=\\w)|(?<=s)['\u2019](?=\\s\\w)){1,90}?"
)

MEANING_OF = (
    r"(?:shall\s+have|will\s+have|has|have|bears?|shall\s+bear)\s+"
    r"(?=the\s+(?:same\s+)?(?:meanings?|definitions?)\b)the\s+(?:same\s+)?"
    r"(?:meanings?|definitions?)"
)
GIVEN = (
    r"(?:given|set|ascribed|assigned|as|stated|defined|specified|in|it|provided|"
    r"attributed|described|laid)"
)
STATES = (
    r"(?P<mean>\b(?:shall|will|is\s+taken\s+to|are\s+taken\s+to)\s+(?:\w+\s+)?mean\b|"
    r"\bmeans?(?:\s+and\s+includes?)?\b)"
    r"|(?P<defined>\b(?:is|are|shall\s+be)\s+(?:hereby\s+)?defined\s+"
    r"(?:as|to\s+(?:be|mean))\b)"
    rf"|(?P<reference>\b{MEANING_OF}(?=\s+{GIVEN}\b)|"
    r"\b(?:is|are)\s+defined\s+(?:in|by|under)\b)"
    r"|(?P<refers>\brefers?\s+to\b)"
)
CONNECTOR = re.compile(rf"{STATES}|(?P<includes>\bincludes?\b)", re.IGNORECASE)
# What may not follow "means" (or "mean"): then it is the noun ("by means of") or the
# verb of a consequence ("this means you must").
NOT_AFTER = re.compile(
    r"\s*(?:of|to|by|for|from|or|in\s+which|through\s+which|by\s+which|whereby|includ\w+|"
    r"is|are|was|were|may|must|shall|can|will|should|available|necessary|used|"
    r"other\s+than|such\s+as|and\s+(?!any\b|an?\b|the\b|includes?\b)|less|more|little|"
    r"nothing|everything|business|well|what|it|we|you|they|he|she|not)\b|\s*[.;)?!]|"
    r"\s*-\w|\s*,(?!\s*(?:in|for|with|when|where|as|either|subject|unless|except|at|on)"
    r"\b)",
    re.IGNORECASE,
)
CONSEQUENCE = re.compile(r"\s*that\b", re.IGNORECASE)

QUALIFIER = (
    r"(?:\s*,\s*(?:in|for|when|where|as|with|under|unless|of)\b[^,;:.]{2,120},)?"
)
PAREN = r"(?:\s*\((?P<paren>[^()]{1,60})\))?"
QUOTED_HEAD = re.compile(
    rf"(?P<head>(?:\*\*|__)?{QUOTE_OPEN}\s*(?:\*\*|__)?(?P<term>{_QUOTED_TEXT})"
    rf"(?:\*\*|__)?\s*[,;]?{QUOTE_CLOSE}(?:\*\*|__)?"
    r"(?P<others>(?:\s*(?:,|or|and|/)\s*(?:or\s+|and\s+)?"
    rf"{QUOTE_OPEN}{_QUOTED_TEXT}{QUOTE_CLOSE}){{0,4}}))"
    rf"{PAREN}{QUALIFIER}\s*(?P<colon>[:,])?\s*$"
)
BOLD_HEAD = re.compile(
    rf"(?P<head>(?P<mark>\*\*|__|\*|_)(?P<term>[^*\n]{{1,90}}?)[:,]?(?P=mark)"
    r"(?P<others>(?:\s*(?:,|or|and|/)\s*(?:or\s+|and\s+)?"
    r"(?P=mark)[^*\n]{1,90}?(?P=mark)){0,4}))"
    rf"{PAREN}{QUALIFIER}\s*:?\s*$"
)
QUOTED_PART = re.compile(rf"{QUOTE_OPEN}({_QUOTED_TEXT}){QUOTE_CLOSE}")
BOLD_PART = re.compile(r"(\*\*|__|\*|_)([^*\n]{1,90}?)\1")
# A quotation, not a term: "he means well".
SPOKEN = re.compile(
    r"(?:I|he|she|it|we|you|they|this|that|what|who)\s+(?:\w+\s+)?means?\b",
    re.IGNORECASE,
)
# A line that starts another definition, after one that ended.
NEXT_ONE = re.compile(
    r"(?<=[.;])[ \t]*\n\s*"
    r"(?:by\s+|(?:the\s+)?(?:terms?|words?|expressions?|phrases?)\s+)?"
    rf"(?:{QUOTE_OPEN}(?:{_QUOTED_TEXT})?{QUOTE_CLOSE}|(\*\*|__)[^*\n]{{1,90}}?\1)"
    r"[^\n.;]{0,90}?\b(?:means?|refers?\s+to|includes?|is\s+defined|meaning)\b",
    re.IGNORECASE,
)
# Where a bare head may start: after a sentence, a list mark, a line break.
BOUNDARY = re.compile(
    r"(?:^|(?<=[.;:!?])[\"'\u201d\u2019)]*\s+|(?<=[.;:!?])[\"\u201d\u2019)]+\s+|\n+)"
)
LEAD = LIST_MARKS
PREFACE = re.compile(
    r"\s*(?:(?:In|For|Under|Within|Throughout|As\s+used\s+in|When\s+used\s+in|Where"
    r"\s+used"
    r"\s+in|Unless|And|and)\b(?:[^,;:.]|\.(?=\d)){0,200},\s*)",
)
WRAPPING = re.compile(
    r"\s*(?:definitions?\b(?!\s+(?:of|for)\b)\s*[:.\u2013\u2014-]?\s*)?(?:(?:a|an|the|any|every)\s+)?(?:reference\s+to\s+|references\s+to\s+)?"
    r"(?:(?:the\s+)?(?:terms?|words?|expressions?|phrases?)\s+)?(?=\S)",
    re.IGNORECASE,
)
BARE_HEAD = re.compile(
    rf"(?P<term>(?:[^,;:.?!]|\.(?=\w)){{1,90}}?){PAREN}{QUALIFIER}\s*$", re.DOTALL
)

# One line, two parts: "Term  -  text", "Term: text", "Term<newline>: text".
DASH = re.compile(
    r"(?P<term>[^\n]{1,90}?)(?P<gap>\s+)(?P<dash>[-\u2013\u2014]|--)\s+(?=\S)"
)
COLON = re.compile(r"(?P<term>[^:\n.;]{1,70}):\s+(?=\S)")
LISTED = re.compile(r"(?P<term>[^\n]{1,120}?)[ \t]*\n[ \t]*:[ \t]+(?=\S)")
TABBED = re.compile(r"(?P<term>[^\n\t]{1,90}?)[ ]*\t+[ ]*(?=\S)")

ACRONYM = re.compile(r"[A-Z][A-Za-z0-9&/.-]{0,11}s?")
TERM_HEADER = re.compile(
    r"\s*(?:defined\s+)?(?:terms?|words?|expressions?|phrases?|names?|abbreviations?|"
    r"acronyms?|initials|short\s*(?:form|name)|concepts?|entr(?:y|ies)|keywords?)"
    r"(?:\s*(?:/|or|and)\s*\w+)?\s*",
    re.IGNORECASE,
)
MEANING_HEADER = re.compile(
    r"\s*(?:meanings?|definitions?|descriptions?|explanations?|interpretations?|"
    r"expansions?|stands?\s+for|full\s*(?:form|name|title)|long\s*(?:form|name)|"
    r"what\s+it\s+means|defined\s+as|in\s+full)\b.{0,30}",
    re.IGNORECASE,
)
LEADING_CONNECTOR = re.compile(rf"\s*(?:\W{{0,3}})(?:{STATES})\s*:?\s*", re.IGNORECASE)
THE_MEANING = re.compile(r"\w+(?:\s+have)?\s+(?=the\b)|\w+\s+", re.IGNORECASE)
# "has the meaning given in the definition of "Deposit"".
NAMED_TARGET = re.compile(
    rf"\b(?:definition\s+of|given\s+(?:to|for)|as|for)\s+(?:the\s+term\s+)?"
    rf"{QUOTE_OPEN}(?P<term>{_QUOTED_TEXT}){QUOTE_CLOSE}"
)
# "section 5 of the Land Act": a place in another text.
ELSEWHERE = re.compile(
    r"(?:\([^()]*\)|,)?\s+(?:of|to|in)\s+(?:the\s+|that\s+)?(?:[\w'\u2019&-]+\s+){0,8}?"
    r"(?:Acts?|Regulations?|Directive|Code|Law|Ordinance|Convention|Treaty|Statute|"
    r"Order|Decree)\b"
)
A_REFERENCE = re.compile(
    rf"the\s+(?:same\s+)?(?:meanings?|definitions?)\s+{GIVEN}\b", re.IGNORECASE
)
MARKUP = re.compile(
    r"\[\]\([^)]*\)|\{:?[^}]*\}|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|`|"
    r"<br\s*/?>|(?<=\])\([^)]*\)"
)
# After a dash with single spaces only these words start a definition; anything else may
# be an ordinary dash in a sentence.
DETERMINED = re.compile(
    r"(?:the|an?|any|all|each|every|one|those|such|whatever|anything|anyone|someone)\s",
)
TRAILING_MARK = re.compile(
    r"(?:(?:[;,\n]\s*|\.\s+)(?:(?:and|or)\s+)?\(?|\s(?:(?:and|or)\s+)?\()"
    r"(?:[a-z]|[ivx]{1,4}|\d{1,3}(?:\.\d{1,3})*)[.)]?\s*$"
)
TRAILING = re.compile(r"(?:[\s;,]|;?\s*\b(?:and|or)\s*$)+$")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# No term starts with one of these words.
NOT_FIRST = _words(
    """
    all also always and another any are as at be because been being both but by can
    could did do does each either every example for from had has have he hence her
    here his how however i if in is it its may might moreover must my neither never
    no nor not note of often on only or other our over per same see shall she should
    since so some sometimes such that their then there therefore these they this
    those through thus to under usually was we were what when where which while who
    whom whose why will with within without would you your
    """
)
# Nor with these: "Please refer to the list" is a request, not a definition.
ADDRESS = _words(
    """
    kindly please
    """
)
# No term ends with one of these.
NOT_LAST = _words(
    """
    a all also an and any are as be been but by for generally has have in is it
    merely no normally not of often only or other simply some sometimes such that
    the therefore these they this those thus to typically usually what which who
    with
    """
)
# No term has one of these after its first word.
NOT_INSIDE = _words(
    """
    are be because been being but can could did do does had has have however if is
    it may might must not shall should therefore these they this those was were what
    when which while who will would
    """
)
# These open a clause in front of the subject; no sentence has them as its subject.
CLAUSE_OPENERS = _words(
    """
    although because despite regardless unless until whereas whether
    """
)
# Before a noun in small letters these count things ("two pieces") and name none;
# capitals make a name of both: "Two Factor Authentication".
COUNTS = _words(
    """
    one two three four five six seven eight nine ten eleven twelve
    """
)
# Alone these stand for one of several things: "the first is a key".
ORDINALS = _words(
    """
    first second third fourth fifth last latter former
    """
)
# The whole of a sentence behind its subject: "... are attached in Appendix I".
ONLY_POINTS = re.compile(
    r"(?:(?!\b(?:is|are|that|which|who|and|or)\b)[^,;:.]){1,80}?\s"
    r"(?:is|are|(?:can|may)\s+be)\s+"
    r"(?:(?:as|\w+(?:ed|own|iven|ound|en)|set\s+out|laid\s+down)\s+)?"
    r"(?:follows|below|above|overleaf|(?:in|on|at|under)\s+(?:the\s+)?(?:\w+\s+)?"
    r"(?:appendix|annex|table|figure|section|schedule|chapter)(?:\s+[\w.]+)?"
    r"(?:\s+(?:below|above|overleaf))?)\s*\.?",
    re.IGNORECASE,
)
# Not capitalised inside a capitalised name.
SMALL = stop_words(ENGLISH, "name")
ARTICLES = _words(
    """
    a an the
    """
)
# A bare noun after one of these is in a fixed phrase: "in charge", "under protest".
FIXED_BEFORE = _words(
    """
    at in on under without
    """
)
# A bare word after one of these is a verb: "may appeal", "to protest".
VERB_BEFORE = _words(
    """
    can cannot could may must shall should to will would
    """
)
