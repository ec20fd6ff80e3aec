"""Sentences that state something of a term without saying what it is.

"Each branch holds two keys" counts, "Payments are made monthly" tells what is done.
"""

import re

from elt_llm_consumer.definitions import patterns
from elt_llm_consumer.definitions.proposals import DefinitionProposal, Way
from elt_llm_consumer.definitions.terms import fold

# Of 94 labelled candidates that open like this 3 are right.
_OF_EACH = re.compile(
    r"(?:each|every)\s(?!(?:\S+\s+){1,6}?(?:consists?|comprises?|means?|denotes?|"
    r"represents?|is\s+(?:an?|the|any|one|made\s+up|composed|defined|called|known))\b)",
    re.IGNORECASE,
)
# Of 279 labelled candidates with another passive behind the term 4 are right.
_EXPLAINS = (
    r"(?:used|based|comprised|generated|obtained|defined|called|named|termed|known|"
    r"considered|deemed|treated|regarded|designed|intended|meant|composed|created|"
    r"described|understood|formed|derived|computed|calculated|expressed|measured|"
    r"represented|characteri[sz]ed|classified|entitled|made\s+up|made\s+of|"
    # What a role or a body is for: "The Estates Board is charged with the upkeep".
    r"(?:charged|tasked|concerned|entrusted)\s+with|(?:dedicated|devoted)\s+to|"
    r"made\s+responsible)\b"
)
_DONE = re.compile(
    rf"(?:{patterns.DETERMINER})?(?P<subject>{patterns.WORD}(?:\s+{patterns.WORD}){{0,5}}?)"
    r"\s+(?:is|are|was|were|has\s+been|have\s+been)\s+(?:\w+ly\s+|also\s+|not\s+)?"
    rf"(?!{_EXPLAINS})"
    r"(?:\w+ed|made|held|given|kept|paid|sent|taken|done|built|set|shown|found|written|"
    r"chosen|fed|drawn|run|put)\b"
    # "is given to reward": a purpose explains.
    rf"(?!\s+to\s+(?!(?:{patterns.DETERMINER})|\w+s\b)[a-z]+)",
    re.IGNORECASE,
)
_SAYS_WHAT = re.compile(r"equals|means?|refers?\s+to|denotes?", re.IGNORECASE)
_WAYS = frozenset({Way.HEADING, Way.MENTION, Way.SUBJECT})


def is_statement(candidate: DefinitionProposal) -> bool:
    """Return whether a whole sentence tells of each thing, or what is done to one.

    Args:
        candidate: A candidate of any form. Only those that are their whole sentence,
            by its subject, a mention or the heading above, can be statements.
    """
    return tells_of_each(candidate) or tells_what_is_done(candidate)


def tells_of_each(candidate: DefinitionProposal) -> bool:
    """Return whether a sentence states something of each thing: "Each branch holds".

    Args:
        candidate: A candidate of any form.
    """
    words = candidate.definition.definition
    return _is_whole_sentence(candidate) and _OF_EACH.match(words) is not None


def tells_what_is_done(candidate: DefinitionProposal) -> bool:
    """Return whether a sentence says what is done to its term: "Payments are made".

    Args:
        candidate: A candidate of any form.
    """
    definition = candidate.definition
    if not _is_whole_sentence(candidate):
        return False
    done = _DONE.match(definition.definition)
    return done is not None and fold(done["subject"]) == fold(definition.term)


def _is_whole_sentence(candidate: DefinitionProposal) -> bool:
    """Whether an informal definition is its sentence, not what stands behind "is"."""
    return candidate.way in _WAYS and not _SAYS_WHAT.fullmatch(candidate.verb)
