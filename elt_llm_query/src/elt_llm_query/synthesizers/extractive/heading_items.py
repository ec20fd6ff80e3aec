"""Sentences about another of the things that their heading lists.

Below "Packing, transport and couriers", a sentence about couriers answers no question
about packing, although the heading has the word.
"""

import re
from functools import lru_cache

from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import Sentence, read
from elt_llm_query.analysis.stems import stems

_BETWEEN = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+", re.IGNORECASE)
_NUMBER = re.compile(r"^\W*\d[\w.]*\s+")
_LONGEST = 3  # words of an item; longer ones are clauses of a title


def is_of_another_item(question: QuestionAnalysis, own: Sentence, section: str) -> bool:
    """Return whether a sentence names another item of its heading, and not the asked.

    Args:
        question: The question.
        own: The sentence, with the one before it if it refers back.
        section: The path of its section.
    """
    items = _items(section.rpartition(" > ")[2])
    asked = [item for item in items if not item.isdisjoint(question.weights)]
    if not asked or any(not item.isdisjoint(own.stems) for item in asked):
        return False
    return any(not item.isdisjoint(own.stems) for item in items)


@lru_cache(maxsize=256)
def _items(heading: str) -> tuple[frozenset[str], ...]:
    """Return the stems of each thing of a heading that lists several, else nothing."""
    parts = [part for part in _BETWEEN.split(_NUMBER.sub("", heading)) if part]
    if len(parts) == 1 or any(len(read(part).words) > _LONGEST for part in parts):
        return ()
    return tuple(frozenset(stems(part)) for part in parts)
