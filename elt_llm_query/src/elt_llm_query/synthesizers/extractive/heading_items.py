"""Sentences about another of the things that their heading lists.

Below "Packing, transport and couriers", a sentence about couriers answers no question
about packing, although the heading has the word.
"""

import re
from functools import lru_cache

from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import Sentence, read
from elt_llm_query.analysis.stems import stems
from elt_llm_query.analysis.term_match import SYNONYM, Vocabulary, match

_BETWEEN = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+", re.IGNORECASE)
_NUMBER = re.compile(r"^\W*\d[\w.]*\s+")
_MANY = 3  # items: such a heading lists things that exclude each other
# Other words of the question in a sentence that show that it is about the same matter:
# "A charge is made for a lost card" for "the fee for a lost card"
_SAME_MATTER = 2
_SUBJECT = 2  # content words at the start of a sentence that may be its subject
_LONGEST = 3  # words of an item; longer ones are clauses of a title


def is_of_another_item(question: QuestionAnalysis, own: Sentence, section: str) -> bool:
    """Return whether a sentence names another item of its heading, and not the asked.

    Two items may be steps of one matter ("Cancellations and refunds"): a sentence about
    the other one is rejected only if that is its subject, and what the question asks
    about is said of it.

    Args:
        question: The question.
        own: The sentence, with the one before it if it refers back.
        section: The path of its section.
    """
    items = _items(section.rpartition(" > ")[2])
    asked = [item for item in items if not item.isdisjoint(question.weights)]
    if not asked or any(_is_in(item, own.stems) for item in asked):
        return False
    other_words = question.weights.keys() - frozenset().union(*items)
    shared = sum(1 for word in other_words if match(word, own.stems))
    if shared >= _SAME_MATTER:
        return False
    if len(items) >= _MANY:
        return any(not item.isdisjoint(own.stems) for item in items)
    subject = stems(own.text)[:_SUBJECT]
    return shared > 0 and any(not item.isdisjoint(subject) for item in items)


def _is_in(item: frozenset[str], vocabulary: Vocabulary) -> bool:
    """Return whether a sentence has a word of an item, or a synonym of one."""
    return any(match(word, vocabulary) >= SYNONYM for word in item)


@lru_cache(maxsize=256)
def _items(heading: str) -> tuple[frozenset[str], ...]:
    """Return the stems of each thing of a heading that lists several, else nothing."""
    parts = [part for part in _BETWEEN.split(_NUMBER.sub("", heading)) if part]
    if len(parts) == 1 or any(len(read(part).words) > _LONGEST for part in parts):
        return ()
    items = [frozenset(stems(part)) for part in parts]
    common = frozenset.intersection(*items) if items else frozenset()
    return tuple(item - common for item in items)
