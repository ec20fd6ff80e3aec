"""Lead-ins that name what a question asks the number of."""

import re

from elt_llm_query.analysis.noun_phrases import AUX, is_plural
from elt_llm_query.analysis.stems import stem, words

# "How many kinds of courses are there?"
_COUNTED = re.compile(
    rf"\bhow\s+many\s+(?P<noun>(?:(?!(?:{AUX})\b)[\w'\u2019-]+\s+)+)(?:{AUX})\b",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(
    r"\b(?:following|these)\s+(?P<noun>(?:[\w'\u2019-]+\s*){1,4})", re.IGNORECASE
)


def counts_items(question: str, lead: str) -> bool:
    """Return whether the number of items below a lead-in is the one that is asked for.

    "The school offers the following courses:" has the courses of "How many courses does
    it offer?", and "The rescue boat carries:" no boats.

    Args:
        question: The question.
        lead: The lead-in of a list.
    """
    asked = _COUNTED.search(question)
    if asked is None:
        return False
    *before, last = words(asked["noun"].lower())
    forms = {last, *filter(is_plural, before)}  # "criteria" has no ending of a plural
    stems = {*map(stem, forms)}
    named = words(lead.lower())[-1:]
    if following := _FOLLOWING.search(lead):
        named += words(following["noun"].lower())
    return any(
        word in forms or (is_plural(word) and stem(word) in stems) for word in named
    )
