"""Split text into sentences by the rules of its language."""

import re

import sentencex

from elt_llm_core.language.languages import ENGLISH

# sentencex 1.0 assumes that a space before a full stop has one byte, and panics on
# "A\u00a0. B" in every language with initials.
_WIDE_SPACE = re.compile(r"(?<=\w)\s*[^\S\x00-\x7f]\s*(?=\.)")


def sentence_spans(text: str, language: str = ENGLISH) -> list[tuple[int, int]]:
    """Return the sentences of a text as spans `[start, end)`, in order.

    Args:
        text: Text in one language.
        language: ISO 639-1 code. A language without rules of its own, and an empty
            code, is split by the rules of English.

    Returns:
        Spans that cover the text; they include the white space around a sentence.
    """
    plain = _WIDE_SPACE.sub(lambda match: " " * len(match[0]), text)
    boundaries = sentencex.get_sentence_boundaries(language or ENGLISH, plain)
    return [(each["start_index"], each["end_index"]) for each in boundaries]
