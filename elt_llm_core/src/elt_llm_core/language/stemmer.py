"""Snowball stemmers: the part of a word that its inflected forms share."""

from collections.abc import Callable
from functools import lru_cache

import Stemmer

from elt_llm_core.language.languages import ENGLISH, language_of


def make_stemmer(language: str = ENGLISH) -> Callable[[str], str]:
    """Return the stemmer of a language; one without effect if there is none.

    Use it in one thread only: Snowball stemmers are not thread-safe.
    """
    algorithm = language_of(language).stemmer
    if not algorithm:
        return str
    stem: Callable[[str], str] = Stemmer.Stemmer(algorithm).stemWord
    return stem


@lru_cache(maxsize=65_536)
def stem_word(word: str, language: str = ENGLISH) -> str:
    """Return the stem of a word in lower case. Thread-safe; results are cached.

    Args:
        word: A single word in any case.
        language: ISO 639-1 code; empty for English.
    """
    # A new stemmer for each uncached word: creating one takes microseconds.
    return str(make_stemmer(language)(word.lower()))
