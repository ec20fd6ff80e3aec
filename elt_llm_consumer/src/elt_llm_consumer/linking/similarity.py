"""Similarity of passages to a name, and the domain of a term without an entity.

Cosines are calibrated to one scale for every embedder: 0 is the mean over all compared
texts, 1 the same text. No language model is called.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from pydantic import Field

from elt_llm_consumer.corpus import Handbook, HandbookPassage
from elt_llm_consumer.definitions.terms import clean, fold
from elt_llm_consumer.linking.mapping_features import (
    name_definition,
    name_description,
)
from elt_llm_consumer.linking.model_entities import Entity
from elt_llm_consumer.linking.text_vectors import (
    MissingVector,
    TextVectors,
    Vector,
    embed_patiently,
)
from elt_llm_core.jobs import JobContext
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.records import Record
from elt_llm_core.reviews.review_records import NEEDS_CLARIFICATION
from elt_llm_core.strategy import Models

_FEWEST_WORDS = 3  # least words of a passage as evidence; a cell or a label is none


class SemanticIndex:
    """Searches the stored vectors of a handbook's passages.

    Args:
        handbook: The documents.
        models: Their embedder is called.
        context: A job that waits for its embedder; None to wait for none.
    """

    def __init__(
        self, handbook: Handbook, models: Models, context: JobContext | None = None
    ) -> None:
        self._handbook = handbook
        self._models = models
        embed = partial(embed_texts, models)
        self._embed = embed_patiently(embed, context) if context else embed

    @cached_property
    def _matrix(self) -> Vector:
        vectors: dict[str, Vector] = {}
        for name in self._handbook.collections:
            ids = [p.node_id for p in self._handbook.passages if p.collection == name]
            vectors.update(self._handbook.store.open(name).vectors(ids))
        rows = [vectors[p.node_id] for p in self._handbook.passages]
        return np.stack(rows) if rows else np.zeros((0, 1), dtype=np.float32)

    def scores(self, query: str) -> Vector:
        """Return the calibrated score of every passage, in their order.

        0 is the mean cosine of this query with all passages (no particular similarity),
        1 is the cosine of a text with itself: (cosine - mean) / (1 - mean), not below
        0. The mean differs between embedders by half of the scale. Without it one
        threshold would mean "same subject" with one embedder and "same language" with
        another.
        """
        if not self._handbook.passages:
            return np.zeros(0, dtype=np.float32)
        return calibrate(self._matrix @ self.query(query))

    def query(self, text: str) -> Vector:
        """Return the unit vector of a query. Raises ModelError or EmbedError."""
        vector = np.asarray(
            self._models.embedder.get_query_embedding(text), dtype=np.float32
        )
        unit: Vector = vector / max(float(np.linalg.norm(vector)), 1e-9)
        return unit

    def texts(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors of documents, shape (n, dimension)."""
        return self._embed(texts)

    @cached_property
    def _eligible(self) -> list[int]:
        """Return the passages that may be evidence."""
        return [
            number
            for number, passage in enumerate(self._handbook.passages)
            if len(passage.text.split()) >= _FEWEST_WORDS
        ]

    def nearest(self, query: str, k: int) -> list[tuple[float, HandbookPassage]]:
        """Return the `k` best passages of three words or more, best first."""
        scores = self.scores(query)
        passages = self._handbook.passages
        order = sorted(self._eligible, key=lambda i: (-round(float(scores[i]), 6), i))
        return [(float(scores[i]), passages[i]) for i in order[:k]]


def embed_texts(models: Models, texts: Sequence[str]) -> Vector:
    """Return unit vectors of documents, shape (n, dimension).

    Args:
        models: Their embedder is called.
        texts: The documents; a long one counts by its beginning.

    Returns:
        A row for each text.

    Raises:
        ModelError: If the embedder cannot be reached.
        EmbedError: If a text has no vector.
    """
    embedder = as_counting(models.embedder)
    kept = [
        _truncate(text, embedder.count_tokens, embedder.max_tokens) for text in texts
    ]
    return np.asarray(embedder.embed_array(kept), dtype=np.float32)


def calibrate(cosines: Vector) -> Vector:
    """Return (cosine - mean) / (1 - mean) of one query's cosines, at least 0."""
    mean = float(cosines.mean()) if len(cosines) > 1 else 0.0
    scaled = (cosines - mean) / max(1.0 - mean, 1e-6)
    return np.asarray(np.clip(scaled, 0.0, 1.0), dtype=np.float32)


def _truncate(text: str, count: Callable[[str], int], limit: int) -> str:
    """Return the beginning of a text that the embedder reads completely."""
    words = text.split()
    while len(words) > 1 and count(" ".join(words)) > limit:
        words = words[: len(words) * 3 // 4]
    beginning = " ".join(words)
    # Some languages have no spaces between words.
    while beginning and count(beginning) > limit:
        beginning = beginning[: len(beginning) * 3 // 4]
    return beginning


UNASSIGNED = "UNASSIGNED"
# Calibrated scores, chosen by eye on the sample's terms; they only decide whether a
# person is asked to review.
_CERTAIN, _POSSIBLE = 0.45, 0.30
_SHOWN_WORDS = 40  # limit of a definition in a prompt
_MOST_OPTIONS = 4  # maximum number of domains offered to a language model
_MARGIN = 0.05  # distance to the next domain; closer ones are named as the alternative
_SAME_HEAD = 0.1  # twice the margin: a Reading Pass is a kind of Pass


class Placement(Record):
    """The inferred domain. Tier: existing, unknown; confidence: high, medium, low."""

    domain: str
    subgroup: str
    tier: str
    confidence: str
    reasoning: str
    alternative: str
    nearest: str = Field(default="", description="the entity of the domain next to it")
    is_chosen: bool = Field(
        default=False, description="a language model chose it, and its words stand"
    )


class UndecidedTerm(NamedTuple):
    """A term, its definition, and its possible places, most probable first."""

    term: str
    definition: str
    options: tuple[Placement, ...]

    @property
    def excerpt(self) -> str:
        """Return the definition in the form for a model."""
        return " ".join(self.definition.split()[:_SHOWN_WORDS])


_UNPLACED = Placement(
    domain=UNASSIGNED,
    subgroup="",
    tier="unknown",
    confidence="low",
    reasoning="there is no model to place the term in",
    alternative="",
)
_NO_VECTOR = _UNPLACED.model_copy(
    update={"reasoning": "the embedder has no vector to compare it by"}
)


class TaxonomyClassifier:
    """Infers the domain of terms from the entities of a model.

    A term with its definition is compared with every entity. Without a vector an entity
    is left out, and a term has no place; `missing` says which.
    """

    def __init__(self, entities: Sequence[Entity], semantics: SemanticIndex) -> None:
        self._all = entities
        self._texts = TextVectors(semantics.texts)
        # A term is ranked once for a language model and once for its row.
        self._ranks: dict[tuple[str, str], list[tuple[str, tuple[float, int]]]] = {}

    @property
    def missing(self) -> Mapping[str, MissingVector]:
        """Return the descriptions and definitions without a vector, and why."""
        return self._texts.missing

    def prepare(self, terms: Iterable[tuple[str, str]]) -> None:
        """Embed the entities and the terms that will be placed, in batches.

        Args:
            terms: Terms with their definitions.

        Raises:
            ModelError: If the embedder cannot be reached.
        """
        names = {_term_text(*term): name_definition(term[0]) for term in terms}
        if names and self._entities:
            self._texts.add(names)

    @cached_property
    def _entities(self) -> list[Entity]:
        """Return the entities that have a vector."""
        self._texts.add({_describe(e): name_description(e) for e in self._all})
        return [e for e in self._all if self._texts.get(_describe(e)) is not None]

    @cached_property
    def _vectors(self) -> Vector:
        rows = [self._texts.get(_describe(entity)) for entity in self._entities]
        return np.stack([row for row in rows if row is not None])

    def place(self, term: str, definition: str) -> Placement:
        """Return the domain of the nearest entity. Raises ModelError.

        A domain's score is that of its best entity, raised by 0.1 for an entity that
        shares the term's last word.
        """
        if not self._all:
            return _UNPLACED
        ranked = self._rank(term, definition)
        return self._decide(ranked) if ranked else _NO_VECTOR

    def options(self, term: str, definition: str) -> tuple[Placement, ...]:
        """Return the possible places of a term, most probable first.

        Raises ModelError.
        """
        ranked = self._rank(term, definition)[:_MOST_OPTIONS]
        return tuple(
            Placement(
                domain=domain,
                subgroup=self._entities[number].subtype,
                tier="existing",
                confidence="medium",
                reasoning=f"its nearest entity is {self._entities[number].name!r}, "
                f"score {score:.2f}",
                alternative="",
                nearest=self._entities[number].name,
            )
            for domain, (score, number) in ranked
        )

    def _rank(self, term: str, definition: str) -> list[tuple[str, tuple[float, int]]]:
        """Return domains with the score and index of their best entity, best first."""
        key = term, definition
        if key not in self._ranks:
            self._ranks[key] = self._compare(term, definition)
        return self._ranks[key]

    def _compare(
        self, term: str, definition: str
    ) -> list[tuple[str, tuple[float, int]]]:
        self.prepare([(term, definition)])
        text = _term_text(term, definition)
        vector = self._texts.get(text) if self._entities else None
        if vector is None:
            return []
        scores = calibrate(self._vectors @ vector)
        best: dict[str, tuple[float, int]] = {}
        for number, entity in enumerate(self._entities):
            score = float(np.round(scores[number], 4)) + _head_bonus(term, entity.name)
            if entity.domain not in best or score > best[entity.domain][0]:
                best[entity.domain] = (score, number)
        return sorted(best.items(), key=lambda item: (-item[1][0], item[0]))

    def _decide(self, ranked: Sequence[tuple[str, tuple[float, int]]]) -> Placement:
        domain, (score, number) = ranked[0]
        second, (next_score, _) = ranked[1] if len(ranked) > 1 else ("", (0.0, 0))
        nearest = self._entities[number]
        reasoning = f"nearest entity is {nearest.name!r} ({domain}), score {score:.2f}"
        if second:
            reasoning += f"; next domain {second}, score {next_score:.2f}"
        if score < _POSSIBLE:
            return _UNPLACED.model_copy(
                update={"reasoning": reasoning, "alternative": domain}
            )
        clear = score >= _CERTAIN and score - next_score >= _MARGIN
        return Placement(
            domain=domain,
            subgroup=nearest.subtype,
            tier="existing",
            confidence="high" if clear else "medium",
            reasoning=reasoning,
            alternative=second if score - next_score < _MARGIN else "",
        )


def _head_bonus(term: str, name: str) -> float:
    """Return a bonus for the same last word: a Reading Pass is a kind of Pass."""
    ours, theirs = fold(term).split(), fold(name).split()
    return _SAME_HEAD if ours and theirs and ours[-1] == theirs[-1] else 0.0


def _term_text(term: str, definition: str) -> str:
    return f"{term}: {clean(definition)}"


def _describe(entity: Entity) -> str:
    text = f"{entity.name} ({entity.subtype or entity.domain.title()})"
    return f"{text}: {entity.description}" if entity.description else text


def review_status(place: Placement) -> str:
    """Return PENDING for a certain or chosen place, else NEEDS_CLARIFICATION."""
    certain = place.tier == "existing" and place.confidence == "high"
    certain = certain or place.is_chosen
    return "PENDING" if certain else NEEDS_CLARIFICATION
