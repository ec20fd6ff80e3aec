"""The plainest sentence that defines: "A Data Flow is the movement of …".

A capitalised name of several words is a term of its document, and a sentence that
begins with it and says what it is has no other purpose. Nor has a clause behind a
comma: "a Data Flow, which is the movement of …".
"""

import re

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.proposals import DefinitionProposal, Way
from elt_llm_consumer.definitions.term_forms import clean_term
from elt_llm_consumer.definitions.terms import fold

_FEWEST_CAPITALS = 2
_SUBJECT = re.compile(
    r"(?:(?:An?|The|Any|Each|Every)\s+)?[\"\u201c]?(?P<term>[^,;:.()]{3,90}?)[\"\u201d]?"
    rf"(?:{patterns.BRACKETS})?(?:,[^,;:.]{{2,60}},)?\s+(?:is|are)\s",
)
_CLAUSE = re.compile(r",\s+(?:which|who)\s+(?:is|are)\s+(?:an?|the|any|one)\s")
# "is an Exempt Fund, if …" is a rule for some of them.
_CONDITION = re.compile(
    r"[^;:.]*?,?\s(?:if|unless|where|when|except|provided\s+that)\b", re.IGNORECASE
)


def is_plain_sentence(candidate: DefinitionProposal) -> bool:
    """Return whether a sentence plainly says what a capitalised name is.

    Args:
        candidate: A candidate of any form.
    """
    place, term = candidate.sentence, candidate.definition.term
    if place is None or not _is_name(term):
        return False
    if _CONDITION.match(candidate.definition.definition):
        return False
    if candidate.way is Way.APPOSITION:
        return re.search(re.escape(term) + _CLAUSE.pattern, place.text) is not None
    if candidate.way is not Way.SUBJECT or candidate.verb != "equals":
        return False
    subject = _SUBJECT.match(place.text)
    return subject is not None and fold(clean_term(subject["term"])) == fold(term)


def _is_name(term: str) -> bool:
    """Return whether all words of a term but the small ones have capitals."""
    words = [word for word in term.split() if word.lower() not in patterns.SMALL]
    capitals = sum(word[:1].isupper() for word in words)
    return capitals >= _FEWEST_CAPITALS and capitals == len(words)
