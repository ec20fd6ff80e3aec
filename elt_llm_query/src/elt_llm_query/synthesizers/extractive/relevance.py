"""Words of a question to which nothing in a source is near: it is not about them."""

from collections.abc import Iterable

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from elt_llm_core.errors import EmbedError, ModelError
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.question import Question
from elt_llm_query.analysis.term_match import match, vocabulary
from elt_llm_query.analysis.text import stem, words

FAR = 0.4  # cosine below which no word of the source may stand for the question's
_MOST_WORDS = 400  # of a source that are compared


def has_stranger(question: Question, said: str, embedder: BaseEmbedding | None) -> bool:
    """True where a telling word of the question is strange to what is said.

    It is when neither it nor a word of near meaning stands there; common words never
    are. Where nothing can embed, coverage alone has to tell.
    """
    known = vocabulary(said)
    telling = {s for s, weight in question.weights.items() if weight == 1}
    missing = [
        word
        for word in words(question.text)
        if stem(word) in telling and not match(stem(word), known)
    ]
    if not missing or embedder is None:
        return False
    there = _content(words(said))[:_MOST_WORDS]
    try:
        found = np.array(embedder.get_text_embedding_batch(there))
        asked = np.array([embedder.get_query_embedding(word) for word in missing])
    except (ModelError, EmbedError):
        return False
    lengths = np.outer(np.linalg.norm(asked, axis=1), np.linalg.norm(found, axis=1))
    cosines = asked @ found.T / np.maximum(lengths, 1e-12)
    return bool((cosines.max(axis=1) < FAR).any())


def _content(written: Iterable[str]) -> list[str]:
    lowered = (w.lower() for w in written)
    return list(dict.fromkeys(w for w in lowered if w not in STOP_WORDS)) or ["a"]
