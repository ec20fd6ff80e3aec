"""Definitions that refer to the sentence before: "Mains below this are called ...".

Such words say nothing alone. The sentence before is taken with them if it stands in the
same paragraph; otherwise a reason says that something is missing.
"""

import re

from elt_llm_consumer.definitions.definition_records import (
    Definition,
    merge_spans,
    text_of_spans,
)
from elt_llm_consumer.definitions.proposals import (
    MOST_DEFINITION_WORDS,
    DefinitionProposal,
    Way,
)
from elt_llm_consumer.definitions.terms import fold
from elt_llm_query.analysis.stems import pieces

NOTE_TAKEN = "with the sentence before, to which it refers"
NOTE_MISSING = "refers to words that it does not have"
# "This process is called", "Mains below this are called": the meaning is in front.
# "Those who keep a boat", "such boats as lie there", "it is usual that": it follows.
_POINTS_BACK = re.compile(
    r"(?!(?:those|such)\b(?=.*\b(?:who|that|which|as)\b)|it\s+is\b.*\bthat\b)"
    r"(?:this|these|those|such|it|they|the\s+(?:former|latter))\b|"
    r"(?:we|I|one)\s+calls?\s+(?:this|these|that|it|them|such)\b|"
    r".*\s(?:below|above|over|under|than|of|like|with|for|from|to|in|on|at|by)\s+"
    r"(?:this|that|these|those|it|them)\s*$",
    re.IGNORECASE | re.DOTALL,
)
# "The Data Steward looks after it": the object is not the subject, nor named before.
_OBJECT = re.compile(
    r"(?:(?:an?|the|any|each|every)\s+)?(?P<term>[^,;:.]{1,90}?)\s+(?P<verb>[a-z]+s?)"
    r"(?:\s+(?:after|at|by|for|from|in|into|of|on|over|to|up|with))?\s+(?:it|them)\b",
    re.IGNORECASE,
)
# "It" stands for what follows in "makes it possible for a guest to pay".
_EXPLETIVE = re.compile(
    r"(?:make|find|think|consider|deem)s?\s+it\s+(?:\w+\s+){1,2}(?:to|that|for\b.*\bto)\b",
    re.IGNORECASE | re.DOTALL,
)


def with_antecedent(
    text: str, candidate: DefinitionProposal
) -> tuple[Definition, tuple[str, ...]]:
    """Return the definition, with the sentence that it refers to, and a reason.

    Args:
        text: The text of the document.
        candidate: A candidate that was chosen.

    Returns:
        The definition unchanged and no reason, unless it refers to what is before it.
    """
    definition, place = candidate.definition, candidate.sentence
    if place is None or not _refers_back(candidate):
        return definition, ()
    # The number in front of the sentence, "4.2", is not the sentence before.
    ends = place.start - len(place.mark)
    before = [one for one in pieces(place.unit.text[:ends]) if one.end]
    spans = (
        place.unit.exact_spans(text, before[-1].start, before[-1].end) if before else ()
    )
    whole = merge_spans(text, [*spans, *definition.spans])
    words = text_of_spans(text, whole)
    if not spans or len(words.split()) > MOST_DEFINITION_WORDS:
        return definition, (NOTE_MISSING,)
    changed = definition.model_copy(update={"definition": words, "spans": whole})
    return changed, (NOTE_TAKEN,)


def _refers_back(candidate: DefinitionProposal) -> bool:
    words, term = candidate.definition.definition, candidate.definition.term
    if candidate.way is Way.NAMED and candidate.verb == "called":
        return _POINTS_BACK.match(words) is not None
    if candidate.way not in {Way.SUBJECT, Way.MENTION, Way.HEADING}:
        return False
    match = _OBJECT.match(words)
    if match is None or _EXPLETIVE.match(words, match.start("verb")):
        return False
    return fold(match["term"]) == fold(term)
