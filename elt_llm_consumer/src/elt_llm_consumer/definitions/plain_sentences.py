"""The plainest sentences that define: "A Data Flow is the movement of …".

A capitalised name of several words is a term of its document, and a sentence that
begins with it and says what it is has no other purpose. Nor has a clause behind a
comma: "a Data Flow, which is the movement of …". "A member is anyone who …", "The wear
grade describes the state of …" and "We call a "ledger" a book that …" say it of any
name. A group is its members: "The officers are the President, the …" below "Officers".
"""

import re

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.naming_sentences import find_call
from elt_llm_consumer.definitions.proposals import DefinitionProposal, Way
from elt_llm_consumer.definitions.term_forms import clean_term
from elt_llm_consumer.definitions.terms import fold
from elt_llm_consumer.definitions.usage import heading_names
from elt_llm_core.language.acronyms import stands_for

_FEWEST_CAPITALS = 2
_SUBJECT = re.compile(
    r"(?:(?:An?|The|Any|Each|Every)\s+)?[\"\u201c]?(?P<term>[^,;:.()]{3,90}?)[\"\u201d]?"
    rf"(?:{patterns.BRACKETS})?(?:,[^,;:.]{{2,60}},)?\s+(?:is|are)\s",
)
# "anyone who …" says who is one: of eight labelled candidates seven are right.
_WHOEVER = re.compile(
    r"(?:anyone|anybody|someone|somebody|anything|something|those|(?:a|any|the)\s+person|"
    r"(?:the\s+)?one)\s+(?:who|whom|whose|which|that)\b",
    re.IGNORECASE,
)
# "The wear grade describes the state of …": all four labelled candidates are right.
# Only a measure is explained by what it describes; "The lawyer represents the tenant"
# tells what is done. A longer subject is no name: "the number below each task denotes".
_MOST_NAME_WORDS = 3
_DESCRIBES = re.compile(
    r"(?:The\s+|An?\s+)?(?P<term>[^,;:.()]{3,90}?)\s+"
    r"(?:describes?|denotes?|indicates?|expresses|represents?)\s+"
    r"(?:the|an?|how|whether|what)\s"
)
_MEASURES = re.compile(
    r"(?:category|class|code|grade|index|level|mark|number|rating|score|status)",
    re.IGNORECASE,
)
# "A mixed team consists of three boys and two girls": what the parts of a thing are. A
# longer subject is no name, and "shall consist" a rule.
_CONSISTS = re.compile(
    r"(?:(?:The|An?|Each|Every|Any)\s+)?[\"\u201c]?(?P<term>[^,;:.()]{3,90}?)[\"\u201d]?\s+"
    r"(?:consists?\s+of|comprises?|(?:is|are)\s+made\s+up\s+of)\s"
)
_NO_NAME = re.compile(
    r"(?:it|they|this|these|that|those|its|their|our|rest|remainder|others?)\b|"
    r".*\b(?:of|on|in|at|for|with|from|to|by|may|must|shall|should|can|will)\b",
    re.IGNORECASE,
)
# "We call a "ledger" a book that …"; with the name last, or without a clause, the words
# may tell of a call: "We call the "Help Desk" any day".
_RELATIVE = re.compile(r"\b(?:who|whom|whose|which|that)\b", re.IGNORECASE)
_CLAUSE = re.compile(r",\s+(?:which|who)\s+(?:is|are)\s+(?:an?|the|any|one)\s")
# "The first notice of loss (FNOL) is the record of what a caller says": a term that
# gets a short form is used again.
_SHORT_FORM = re.compile(
    r"(?:(?:An?|The)\s+)?(?P<term>[^,;:.()]{3,90}?)\s+\((?P<short>[A-Z][A-Za-z]{1,7})\)\s"
)
# "The officers are the President, the Treasurer and the Warden": a group is its
# members. Two are too few to tell members from remarks.
_MEMBER = r"(?:the|an?)\s+[^,;:.()]{2,60}"
_MEMBERS = re.compile(
    rf"{_MEMBER},\s+(?:{_MEMBER},\s+)*{_MEMBER}?,?\s+and\s+{_MEMBER}[.]?\s*",
    re.IGNORECASE,
)
# "is the only person who …" and "is a good idea" are remarks on something known.
_THING = re.compile(
    r"(?:[Aa]n?|[Tt]he|any|one)\s+"
    r"(?!(?:only|same|best|worst|most|least|first|last|next|good|great|bad|subject"
    r"|responsibility)\b)[a-z]"
)
# "is an Exempt Fund, if …" is a rule for some of them.
_CONDITION = re.compile(
    r"[^;:.]*?,?\s(?:if|unless|where|when|except|provided\s+that)\b", re.IGNORECASE
)


def is_plain_sentence(candidate: DefinitionProposal) -> bool:
    """Return whether a sentence plainly says what a capitalised name or who one is.

    Args:
        candidate: A candidate of any form.
    """
    place = candidate.sentence
    if place is None:
        return False
    term, definition = candidate.definition.term, candidate.definition.definition
    if _describes(candidate.way, term, place.text):
        return True
    if candidate.way is Way.SUBJECT and candidate.verb == "equals":
        above = heading_names(place.unit.section.rsplit(" > ", 1)[-1])
        if fold(term) in map(fold, above) and _MEMBERS.fullmatch(definition):
            return True
    if candidate.way is Way.NAMED and candidate.verb == "called":
        return _is_called(term, place.text)
    defines = _is_name(term) or _WHOEVER.match(definition) is not None
    if _is_abbreviated(term, definition, place.text):
        # "the record that a caller makes when …": the condition is that of the clause
        defines, definition = True, _RELATIVE.split(definition, maxsplit=1)[0]
    return (
        defines
        and _CONDITION.match(definition) is None
        and _says_what(candidate, term, place.text)
    )


def _says_what(candidate: DefinitionProposal, term: str, sentence: str) -> bool:
    """Return whether a clause or the whole sentence says what its term is."""
    if candidate.way is Way.APPOSITION:
        return re.search(re.escape(term) + _CLAUSE.pattern, sentence) is not None
    if candidate.way is not Way.SUBJECT or candidate.verb != "equals":
        return False
    subject = _SUBJECT.match(sentence)
    return subject is not None and fold(clean_term(subject["term"])) == fold(term)


def _describes(way: Way, term: str, sentence: str) -> bool:
    """Return whether a sentence says what its subject, the term, describes."""
    match = _DESCRIBES.match(sentence) if way is Way.SUBJECT else None
    words = term.split()
    if match is None or len(words) > _MOST_NAME_WORDS:
        return False
    if _MEASURES.fullmatch(words[-1]) is None:
        return False
    return fold(clean_term(match["term"])) == fold(term)


def names_parts(candidate: DefinitionProposal) -> bool:
    """Return whether a sentence says what its subject, the term, consists of.

    Args:
        candidate: A candidate of any form.
    """
    place, term = candidate.sentence, candidate.definition.term
    if candidate.way is not Way.SUBJECT or place is None:
        return False
    match = _CONSISTS.match(place.text)
    if match is None or len(term.split()) > _MOST_NAME_WORDS or _NO_NAME.match(term):
        return False
    return fold(clean_term(match["term"])) == fold(term)


def _is_called(term: str, sentence: str) -> bool:
    """Return whether a sentence says "we call a TERM a thing that …"."""
    call = find_call(sentence)
    if call is None or clean_term(call["term"]) != term:
        return False
    is_first = call.end("term") <= call.start("thing")
    return is_first and _RELATIVE.search(call["thing"]) is not None


def _is_abbreviated(term: str, definition: str, sentence: str) -> bool:
    """Return whether a sentence gives a term its short form, and says what it is.

    A definition that begins with a name, "is the Head of Law", tells who holds a role.
    """
    short = _SHORT_FORM.match(sentence)
    return (
        short is not None
        and fold(clean_term(short["term"])) == fold(term)
        and stands_for(short["short"].rstrip("s"), term, "initials")
        and _THING.match(definition) is not None
    )


def _is_name(term: str) -> bool:
    """Return whether all words of a term but the small ones have capitals."""
    words = [word for word in term.split() if word.lower() not in patterns.SMALL]
    capitals = sum(word[:1].isupper() for word in words)
    return capitals >= _FEWEST_CAPITALS and capitals == len(words)
