"""Semantic similarity of a question and a sentence, as named numbers.

With token vectors, each word of the question is compared with its nearest in the
sentence (MaxSim: Khattab and Zaharia, 2020, here with an embedder that was not trained
for it); an embedder without token vectors gives cosines only. The sentence reader was
trained for it, and reads question and sentence together.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import QueryBundle
from numpy.typing import NDArray

from elt_llm_core.errors import EmbedError, ModelError
from elt_llm_core.language.detect import question_language
from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.models.minilm import OnnxEmbedding, TokenReading
from elt_llm_core.models.sentence_reader import (
    ReadSentence,
    SentenceReader,
    shared_reader,
)
from elt_llm_core.models.weights import default_cache_dir
from elt_llm_query.analysis.lexicon import INTERROGATIVES
from elt_llm_query.analysis.stems import stem
from elt_llm_query.grounding.nearest import TextComparison
from elt_llm_query.retrieval.unit_vectors import Vector, embed_beginning, to_unit

Features = dict[str, float]

logger = logging.getLogger(__name__)
_UNREAD = "sentences are compared without the sentence reader: %s"
_WORD = re.compile(r"[\w'\u2019]+")
# The least cosine at which a token of a sentence counts as one of the question; set by
# hand.
_REPEATS = 0.6
# Log odds of the sentence reader beyond these are as good as these: without the limits
# the scorer is no better on questions that it was not fitted on
# ("A sentence reader" in measurements/answer-choice.md).
LEAST_READ, MOST_READ = -4.0, 6.0


@runtime_checkable
class TokenReader(Protocol):
    """An embedder that reads texts token by token."""

    def read_tokens(self, texts: Sequence[str]) -> list[TokenReading]:
        """Return the token vectors of each text."""


class EmbeddedSource(NamedTuple):
    """The embedded text of a sentence's whole source, and its stored vector, if any."""

    text: str
    vector: Vector | None


class EmbeddedSentence(NamedTuple):
    """The embedded text of a sentence or row, its heading, and possibly its source.

    Attributes:
        text: Its text.
        heading: The headings and lead-ins above it.
        source: The source that it is of.
        context: What the sentence reader reads it with; None: it is not read.
    """

    text: str
    heading: str
    source: EmbeddedSource | None = None
    context: str | None = ""


def token_reader(embedder: BaseEmbedding | None) -> TokenReader | None:
    """Return the embedder, or a wrapped one, that returns token vectors; else None."""
    for one in (embedder, getattr(embedder, "inner", None)):
        if isinstance(one, TokenReader):
            return one
    return None


def comparison_with(
    question: str, embedder: BaseEmbedding | None
) -> TextComparison | None:
    """Return what compares texts with a question.

    Args:
        question: The question.
        embedder: Embeds it and the texts; of a text that is too long, the beginning.

    Returns:
        None if the embedder is not one of this process, whose calls cost nothing. The
        cosines are 0 if it fails.
    """
    tokens = token_reader(embedder)
    if embedder is None or tokens is None:
        return None

    def likeness(texts: Sequence[str]) -> list[float]:
        try:  # as readings, because most of them were made for the answer
            asked, *readings = tokens.read_tokens([question, *texts])
        except (ModelError, EmbedError):
            return [0.0] * len(texts)
        return [float(one.vector @ asked.vector) for one in readings]

    def read(sentences: Sequence[ReadSentence]) -> list[float]:
        try:
            scores = reader_beside(embedder).score(question, sentences)
        except ModelError as error:
            logger.warning(_UNREAD, error)
            return [0.0] * len(sentences)
        return [float(s) for s in np.clip(scores, LEAST_READ, MOST_READ)]

    in_english = question_language(question) in {"", ENGLISH}
    return TextComparison(likeness, read if in_english else None)


def reader_beside(embedder: BaseEmbedding) -> SentenceReader:
    """Return the sentence reader, with the folder and threads of the embedder.

    Raises:
        ModelError: If it cannot be loaded.
    """
    for one in (embedder, getattr(embedder, "inner", None)):
        if isinstance(one, OnnxEmbedding):
            return shared_reader(one.cache_dir, one.threads)
    return shared_reader(default_cache_dir())


def compare_meanings(
    bundle: QueryBundle,
    weights: Mapping[str, float],
    shown: Sequence[EmbeddedSentence],
    embedder: BaseEmbedding | None,
    *,
    read: int = 0,
) -> list[Features]:
    """Return the named numbers of each sentence, in their order.

    Args:
        bundle: The question, with its vector if it is known.
        weights: Weight of each stem of the question.
        shown: The sentences.
        embedder: Embeds them.
        read: How many the sentence reader reads with the question: those whose words
            match best. The others count as those that surely do not answer.

    Returns:
        Numbers with the same names for all sentences, including `source_cosine` if
        every one has a source; empty if there is no embedder, or it or the reader
        fails.
    """
    if embedder is None or not shown:
        return [{} for _ in shown]
    rows = _compare_vectors(bundle, weights, shown, embedder)
    if not read or not rows[0]:
        return rows
    to_read = {
        at: ReadSentence(one.text, one.context)
        for at, one in enumerate(shown)
        if one.context is not None
    }
    best = sorted(to_read, key=lambda at: -_closeness(rows[at]))[:read]
    try:
        scores = reader_beside(embedder).score(
            bundle.query_str, [to_read[at] for at in best]
        )
    except ModelError as error:
        logger.warning(_UNREAD, error)
        return [{} for _ in shown]
    limited = np.full(len(shown), LEAST_READ)
    limited[best] = np.clip(scores, LEAST_READ, MOST_READ)
    return [
        row | {"reader": float(score)} for row, score in zip(rows, limited, strict=True)
    ]


def _closeness(row: Features) -> float:
    """Return how well the words of a sentence and its heading match the question."""
    return row.get("match_with_heading", row["cosine"])


def _compare_vectors(
    bundle: QueryBundle,
    weights: Mapping[str, float],
    shown: Sequence[EmbeddedSentence],
    embedder: BaseEmbedding,
) -> list[Features]:
    """Return the numbers that vectors give, or empty ones if the embedder fails."""
    tokens = token_reader(embedder)
    try:
        if tokens is not None:
            rows, asked = _by_tokens(bundle.query_str, weights, shown, tokens)
        else:
            rows, asked = _by_vectors(bundle, shown, embedder)
        sources = [one.source for one in shown if one.source is not None]
        if len(sources) < len(shown):
            return rows
        vectors = _source_vectors(sources, embedder)
        return [
            row | {"source_cosine": float(source @ asked)}
            for row, source in zip(rows, vectors, strict=True)
        ]
    except (ModelError, EmbedError):
        return [{} for _ in shown]


def _source_vectors(
    sources: Sequence[EmbeddedSource], embedder: BaseEmbedding
) -> list[Vector]:
    """Return a unit vector of each source: the stored one, or that of its beginning."""
    known: dict[str, Vector] = {}
    for text, stored in sources:
        if stored is not None:
            known[text] = stored
        elif text not in known:
            numbers, _ = embed_beginning(embedder.get_text_embedding, text)
            known[text] = to_unit(np.asarray(numbers, np.float32))
    return [known[source.text] for source in sources]


def _by_vectors(
    bundle: QueryBundle, shown: Sequence[EmbeddedSentence], embedder: BaseEmbedding
) -> tuple[list[Features], Vector]:
    """Return numbers from text vectors, and the unit vector of the question."""
    numbers = bundle.embedding or embedder.get_query_embedding(bundle.query_str)
    asked = to_unit(np.asarray(numbers, np.float32))
    vectors = np.array(embedder.get_text_embedding_batch([s.text for s in shown]))
    lengths = np.linalg.norm(vectors, axis=1)
    cosines = vectors @ asked / np.maximum(lengths, 1e-12)
    return [{"cosine": float(cosine)} for cosine in cosines], asked


def _by_tokens(
    question: str,
    weights: Mapping[str, float],
    shown: Sequence[EmbeddedSentence],
    reader: TokenReader,
) -> tuple[list[Features], Vector]:
    """Return numbers from token vectors, and the unit vector of the question."""
    texts = [question]
    for one in shown:
        texts += [one.text, one.heading or " "]
    asked, *readings = reader.read_tokens(texts)
    importance, asks = _token_weights(question, asked, weights)
    rows = [
        {"cosine": float(text.vector @ asked.vector)}
        | _matches(asked, importance, asks, text, heading)
        for text, heading in zip(readings[::2], readings[1::2], strict=True)
    ]
    return rows, asked.vector


def _token_weights(
    question: str, asked: TokenReading, weights: Mapping[str, float]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the weight of each token's word, and which tokens are question words."""
    importance = np.zeros(len(asked.spans))
    asks = np.zeros(len(asked.spans), dtype=bool)
    for word in _WORD.finditer(question):
        inside = [
            place
            for place, (start, end) in enumerate(asked.spans)
            if word.start() <= start and end <= word.end()
        ]
        importance[inside] = weights.get(stem(word[0]), 0.0)
        asks[inside] = word[0].lower() in INTERROGATIVES
    return (importance if importance.any() else np.ones_like(importance)), asks


def _matches(
    asked: TokenReading,
    importance: NDArray[np.float64],
    asks: NDArray[np.bool_],
    text: TokenReading,
    heading: TokenReading,
) -> Features:
    """Return numbers on how well the tokens of question and sentence match."""
    cosines = asked.vectors @ text.vectors.T
    if not cosines.size:
        cosines = np.zeros((len(asked.spans), 1), dtype=np.float32)
    nearest = cosines.max(axis=1)
    above = (asked.vectors @ heading.vectors.T).max(axis=1, initial=0.0)
    with_heading = np.maximum(nearest, above)
    telling = importance > 0
    repeated = cosines[telling].max(axis=0)
    new = repeated < _REPEATS
    answers = cosines[asks][:, new]
    return {
        "match": float(nearest @ importance / importance.sum()),
        "match_all": float(nearest.mean()),
        "match_with_heading": float(with_heading @ importance / importance.sum()),
        "weakest_match": float(with_heading[telling].min()),
        "answers_question_word": float(answers.max()) if answers.size else 0.0,
        "repeated": float(repeated.mean()),
        "new_tokens": float(np.log1p(new.sum())),
    }
