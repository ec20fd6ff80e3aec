"""Detect words of a question without a match in a text, by meaning."""

from collections.abc import Iterable

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from elt_llm_core.errors import EmbedError, ModelError
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.question import QuestionAnalysis
from elt_llm_query.analysis.read_sentence import read
from elt_llm_query.analysis.term_match import match

# Cosine below which no word of a source can replace a word of the question. Set by
# hand for the embedded model: half as much answers more questions, and more wrongly.
FAR = 0.4
_MOST_WORDS = 400  # of a source that are compared, to bound what is embedded


def lacks_a_word(
    question: QuestionAnalysis, text: str, embedder: BaseEmbedding | None
) -> bool:
    """Return whether a content word of the question has no match in a text.

    A match is the word itself or one of similar meaning. Common words always match.

    Args:
        question: The question.
        text: The sentence with its surroundings.
        embedder: Compares words; without one all words match, and coverage decides.
    """
    source = read(text)
    telling = {s for s, weight in question.weights.items() if weight == 1}
    asked = question.read
    missing = [
        word
        for word, word_stem in zip(asked.words, asked.stem_list, strict=True)
        if word_stem in telling and not match(word_stem, source.stems)
    ]
    if not missing or embedder is None:
        return False
    try:
        known = np.array(
            embedder.get_text_embedding_batch(
                _content_words(source.words)[:_MOST_WORDS]
            )
        )
        wanted = np.array([embedder.get_query_embedding(word) for word in missing])
    except (ModelError, EmbedError):
        return False
    lengths = np.outer(np.linalg.norm(wanted, axis=1), np.linalg.norm(known, axis=1))
    cosines = wanted @ known.T / np.maximum(lengths, 1e-12)
    return bool((cosines.max(axis=1) < FAR).any())


def _content_words(written: Iterable[str]) -> list[str]:
    lowered = (w.lower() for w in written)
    return list(dict.fromkeys(w for w in lowered if w not in STOP_WORDS)) or ["a"]
