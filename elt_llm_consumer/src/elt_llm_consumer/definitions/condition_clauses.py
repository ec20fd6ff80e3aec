"""Definitions that hold under a condition: "For timed results, "better" means ...".

A candidate begins behind the verb. Where the sentence begins with a clause that limits
what the term means, the words alone would claim more than the sentence does, so the
whole sentence is taken.
"""

import re

from elt_llm_consumer.definitions import patterns
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

# Behind the clause: an article and marks before the term, and the verb behind it.
_CLAUSE = re.compile(
    r"(?P<clause>(?:if|when|where|unless|once|on|for|at|during|within|after|before|in)"
    r"\b[^.;:]{2,200}),\s+(?P<rest>[^,]+)",
    re.IGNORECASE | re.DOTALL,
)
# These name the document that defines, and limit nothing.
_FRAME = re.compile(
    r"for\s+(?:the\s+)?(?:purposes?|avoidance)\b|\w+\s+(?:this|these|our)\b|"
    r"\w+\s+used\b|for\s+example\b|in\s+(?:general|addition|particular|short|other)\b|"
    r"(?:unless|where|when|if)\s+(?:the\s+context|otherwise)\b",
    re.IGNORECASE,
)
_BEFORE = patterns.ARTICLES | {"any", "each", "every", "its", "their", "his", "her", ""}
_WAYS = frozenset({Way.STATED, Way.SUBJECT})


def with_condition(
    text: str, candidate: DefinitionProposal, definition: Definition
) -> Definition:
    """Return the definition with the whole sentence if a condition opens it.

    Args:
        text: The text of the document.
        candidate: The candidate that was chosen.
        definition: Its definition.
    """
    if candidate.sentence is None or candidate.way not in _WAYS:
        return definition
    match = _CLAUSE.fullmatch(text, candidate.at, definition.start)
    if match is None or _FRAME.match(match["clause"]):
        return definition
    if not _opens(match["rest"], definition.term):
        return definition
    spans = merge_spans(text, [(candidate.at, definition.start), *definition.spans])
    words = text_of_spans(text, spans)
    if len(words.split()) > MOST_DEFINITION_WORDS:
        return definition
    return definition.model_copy(update={"definition": words, "spans": spans})


def _opens(clause: str, term: str) -> bool:
    """Return whether a clause begins with a term: "its final position is"."""
    before, separator, _ = f" {fold(clause)} ".partition(f" {fold(term)} ")
    return bool(separator) and before.strip() in _BEFORE
