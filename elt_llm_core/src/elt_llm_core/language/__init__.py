"""Languages: how each is detected, cut into words and sentences, and stemmed.

A language is an ISO 639-1 code. An empty code stands for English, so that chunks
stored before languages were detected keep their meaning.
"""

from elt_llm_core.language.detect import (
    Guess,
    chunk_languages,
    detect,
    document_language,
    question_language,
)
from elt_llm_core.language.known import ENGLISH, LANGUAGES, Language, name_of
from elt_llm_core.language.sentences import sentence_spans
from elt_llm_core.language.tokens import question_tokens, tokenize

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "Guess",
    "Language",
    "chunk_languages",
    "detect",
    "document_language",
    "name_of",
    "question_language",
    "question_tokens",
    "sentence_spans",
    "tokenize",
]
