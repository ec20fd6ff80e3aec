"""Where sentences begin and end, by the rules of their language."""

import sentencex

from elt_llm_core.language.known import ENGLISH


def sentence_spans(text: str, language: str = ENGLISH) -> list[tuple[int, int]]:
    """The sentences of a text in order, as spans that may hold space at their ends.

    A language that has no rules is cut by those of English.
    """
    found = sentencex.get_sentence_boundaries(language or ENGLISH, text)
    return [(one["start_index"], one["end_index"]) for one in found]
