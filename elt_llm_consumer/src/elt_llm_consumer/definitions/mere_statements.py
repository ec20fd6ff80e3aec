"""Sentences that state something of a term without saying what it is.

"Each branch holds two keys" counts, "Payments are made monthly" tells what is done,
"Tickets refer to a seat" points at another thing.
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
# "Tickets refer to a seat and a show": each has one. What several things are is not one
# thing without any mark of its own, unless that stands for several: "a set of duties".
_PLAIN_WORD = (
    rf"(?!(?:{patterns.AUXILIARY}|{patterns.LEXICAL}|that|which|who|whose|where|when|of|"
    rf"for|in|on|at|to|by|with|from|between|used|and|or)\b){patterns.WORD}"
)
_BARE = rf"(?:one\s+|{patterns.DETERMINER}){_PLAIN_WORD}(?:\s+{_PLAIN_WORD}){{0,3}}"
_MENTIONS = re.compile(
    rf"(?=.*\b(?:an?|one)\s){_BARE}(?:,\s*{_BARE})*(?:,?\s+(?:and|or)\s+{_BARE})?\W*",
    re.IGNORECASE | re.DOTALL,
)
# Papers and entries that point at things. In 272 written documents no sentence about
# one of them says "refers to" to define it; "A delegate refers to a member of the
# board" has the same form and defines.
_RECORDS = frozenset(
    {
        *("agreement", "application", "approval", "bill", "booking", "certificate"),
        *("charge", "claim", "contract", "deed", "entry", "form", "invoice", "licence"),
        *("license", "line", "note", "notice", "order", "permit", "policy", "receipt"),
        *("record", "report", "request", "reservation", "sheet", "slip", "statement"),
        *("ticket", "transaction", "voucher", "warrant"),
    }
)
_POINTS = re.compile(
    rf"(?:an?|one)\s+{_PLAIN_WORD}(?:\s+{_PLAIN_WORD}){{0,2}}?"
    rf"(?:\s+(?:of|in|on|at|from)\s+(?:the|this|that|its|our|an?|one)\s+{_PLAIN_WORD}"
    rf"(?:\s+{_PLAIN_WORD}){{0,2}})?\W*",
    re.IGNORECASE,
)
_REFERS = re.compile(
    rf"(?:(?P<each>(?:each|every)\s+)|{patterns.DETERMINER})?"
    rf"(?P<subject>{patterns.WORD}(?:\s+{patterns.WORD}){{0,5}}?)\s+"
    r"(?P<verb>refers?)\s+to\s+",
    re.IGNORECASE,
)
_SAYS_WHAT = re.compile(r"equals|means?|refers?\s+to|denotes?", re.IGNORECASE)
_WAYS = frozenset({Way.HEADING, Way.MENTION, Way.SUBJECT})


def is_statement(candidate: DefinitionProposal) -> bool:
    """Return whether a sentence tells of each thing, what is done to one, or points.

    Args:
        candidate: A candidate of any form. Only those by the subject of their sentence,
            a mention or the heading above can be statements.
    """
    return (
        tells_of_each(candidate)
        or tells_what_is_done(candidate)
        or mentions_another(candidate)
    )


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


def mentions_another(candidate: DefinitionProposal) -> bool:
    """Return whether its subject only points at other things by "refer to".

    Such as "Each slip refers to a berth" and "Deeds refer to a voyage or a season"; "A
    mooring permit refers to a berth of the harbour", because a permit points.

    Args:
        candidate: A candidate of any form.
    """
    place = candidate.sentence
    if candidate.way not in _WAYS or place is None:
        return False
    refers = _REFERS.match(place.text)
    if refers is None or fold(refers["subject"]) != fold(candidate.definition.term):
        return False
    if refers["each"] is not None:
        return True
    if refers["verb"].lower() == "refer":
        return _MENTIONS.fullmatch(place.text, refers.end()) is not None
    points = _POINTS.fullmatch(place.text, refers.end())
    return points is not None and not _RECORDS.isdisjoint(
        fold(candidate.definition.term).split()[-1:]
    )


def _is_whole_sentence(candidate: DefinitionProposal) -> bool:
    """Whether an informal definition is its sentence, not what stands behind "is"."""
    return candidate.way in _WAYS and not _SAYS_WHAT.fullmatch(candidate.verb)
