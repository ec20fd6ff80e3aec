"""A collection as a reader sees it: the published generation and what came after it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from elt_llm_core.errors import GenerationError, UsageError
from elt_llm_core.results import Degradation, DegradationKind
from elt_llm_core.store.dense import exact_search
from elt_llm_core.store.generation import Generation
from elt_llm_core.store.keyword import (
    DeltaKeywords,
    KeywordIndex,
    plain_words,
    tokenize,
)
from elt_llm_core.store.records import CollectionCard
from elt_llm_core.store.truth import Truth

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode

Hits = list[tuple[str, float]]
COMPARED = 5_000  # vectors that are fetched and compared in 0.1 s


@dataclass(frozen=True)
class Delta:
    """Chunks that are newer than the index, and ids it must not return any more."""

    ids: list[str]
    matrix: np.ndarray = field(repr=False)
    texts: list[str] = field(repr=False)
    removed: frozenset[str]

    @classmethod
    def read(cls, truth: Truth, card: CollectionCard, after: int | None) -> "Delta":
        """What changed after the change number `after`; without one, every chunk."""
        rows = truth.index_rows(card.name, after=-1 if after is None else after)
        removed = frozenset() if after is None else truth.removed(card.name, after)
        return cls(
            ids=[row[0] for row in rows],
            matrix=truth.stack([row[2] for row in rows], card.dimension),
            texts=[row[1] for row in rows],
            removed=removed,
        )

    def search(
        self, vector: np.ndarray, k: int, allowed: frozenset[str] | None
    ) -> Hits:
        """The `k` nearest of these chunks, or of those of them that are allowed."""
        if allowed is None:
            return exact_search(self.ids, self.matrix, vector, k)
        rows = [row for row, node in enumerate(self.ids) if node in allowed]
        ids = [self.ids[row] for row in rows]
        return exact_search(ids, self.matrix[rows], vector, k)


class Collection:
    """One collection at one moment. Safe to share between threads.

    Where no generation can serve, vectors are compared one by one and words are looked
    up in the truth itself: slower, never wrong. `degradations` says so.
    """

    def __init__(
        self,
        truth: Truth,
        card: CollectionCard,
        index: Generation | None,
        problem: str = "",
    ) -> None:
        self.card = card
        self.name = card.name
        self.generation = index.manifest.generation if index else 0
        self._truth = truth
        self._index = index
        self._problem = problem
        self._delta = Delta.read(truth, card, index.manifest.seq if index else None)
        if index:
            self._check(index)

    @property
    def degradations(self) -> tuple[Degradation, ...]:
        """Empty while the published index serves."""
        if not self._problem:
            return ()
        kind = DegradationKind.EXACT_ENGINE
        detail = f"answered without the index: {self._problem}"
        return (Degradation(kind=kind, collection=self.name, detail=detail),)

    def search_dense(
        self, vector: np.ndarray, k: int, allowed: frozenset[str] | None = None
    ) -> Hits:
        """Id and cosine of the `k` nearest chunks, best first, ties by id.

        `vector` is a unit vector of the collection's dimension. `allowed` limits the
        result to those ids and never costs hits: k come back while there are k. Raises
        UsageError for a vector of another dimension.
        """
        if vector.shape != (self.card.dimension,):
            raise UsageError(
                f"collection {self.name!r} holds vectors of {self.card.dimension} "
                f"numbers, the question has {vector.shape}",
                "ask with the embedder the collection was indexed with",
            )
        delta = self._delta.search(vector, k, allowed)
        if self._index is None:
            return delta
        if allowed is None:
            indexed = self._indexed(self._index, vector, k)
        else:
            indexed = self._filtered(self._index, vector, k, allowed)
        return self._merge(indexed, delta, k)

    def search_keyword(
        self, text: str, k: int, allowed: frozenset[str] | None = None
    ) -> Hits:
        """Id and BM25 of the `k` best chunks that share a word with `text`."""
        if self._index is None:
            return self._words_in_truth(text, k, allowed)
        tokens = tokenize([text])[0]
        spare = k + len(self._delta.removed)
        mask = None if allowed is None else self._mask(self._index, allowed)
        positions = self._index.keywords.search(tokens, spare, mask)
        indexed = [(self._index.ids[i], score) for i, score in positions]
        count = len(self._delta.ids) if allowed is not None else k
        newer = self._delta_keywords.search(tokens, count)
        delta = [(self._delta.ids[i], score) for i, score in newer]
        if allowed is not None:
            delta = [hit for hit in delta if hit[0] in allowed]
        return self._merge(indexed, delta, k)

    def vectors(self, ids: Iterable[str]) -> dict[str, np.ndarray]:
        """Stored unit vectors by id, float32; unknown ids are absent."""
        return self._truth.vectors(self.name, ids, self.card.dimension)

    def nodes(self, ids: Iterable[str]) -> dict[str, "TextNode"]:
        """Chunks by id with their provenance; unknown ids are absent."""
        return self._truth.nodes_by_id(self.name, ids)

    def ids(self, where: Mapping[str, Any]) -> frozenset[str]:
        """Ids of the chunks that match `where`; see `Truth.filter_ids` for the keys."""
        return self._truth.filter_ids(self.name, where)

    @property
    def chroma(self) -> Any:
        """The Chroma collection of the published generation, or None."""
        return self._index.dense.collection if self._index else None

    def _check(self, index: Generation) -> None:
        """Raise GenerationError unless index and delta make up what the truth holds.

        They do not after one of the two was put back from a backup.
        """
        kept = len(index.positions.keys() - self._delta.removed)
        if kept != self._truth.count_until(self.name, index.manifest.seq):
            raise GenerationError(self.name, "it does not belong to this truth")

    def _indexed(self, index: Generation, vector: np.ndarray, k: int) -> Hits:
        """The nearest chunks of the index, at least `k` of them not removed."""
        removed = self._delta.removed
        wanted = 2 * k if removed else k
        while True:
            hits = index.dense.search(vector, min(wanted, len(index.ids)))
            alive = sum(node not in removed for node, _ in hits)
            if alive >= k or wanted >= len(index.ids):
                return hits
            wanted *= 4

    def _filtered(
        self, index: Generation, vector: np.ndarray, k: int, allowed: frozenset[str]
    ) -> Hits:
        """The nearest chunks of the index that are allowed and not removed.

        Where much is allowed the graph is asked for more; where that does not give
        enough, and where little is allowed, vectors are compared one by one.
        """
        wanted = (allowed & index.positions.keys()) - self._delta.removed
        if len(wanted) > COMPARED:
            share = len(index.ids) // len(wanted) + 1
            hits = index.dense.search(vector, min(2 * k * share, len(index.ids)))
            kept = [hit for hit in hits if hit[0] in wanted]
            if len(kept) >= k:
                return kept
        found = self.vectors(wanted)
        matrix = np.array(list(found.values()), dtype=np.float32)
        return exact_search(list(found), matrix, vector, k)

    def _merge(self, indexed: Hits, delta: Hits, k: int) -> Hits:
        kept = (hit for hit in indexed if hit[0] not in self._delta.removed)
        ordered = sorted(kept, key=_best_first)
        return list(islice(merge(ordered, delta, key=_best_first), k))

    def _words_in_truth(
        self, text: str, k: int, allowed: frozenset[str] | None
    ) -> Hits:
        words = [word for word in plain_words(text) if tokenize([word])[0]]
        limit = k if allowed is None else -1
        hits = self._truth.words_search(self.name, words, limit)
        return [hit for hit in hits if allowed is None or hit[0] in allowed][:k]

    @cached_property
    def _delta_keywords(self) -> DeltaKeywords:
        base: KeywordIndex | None = self._index.keywords if self._index else None
        return DeltaKeywords(self._delta.texts, base)

    @staticmethod
    def _mask(index: Generation, allowed: frozenset[str]) -> np.ndarray:
        mask = np.zeros(len(index.ids), dtype=np.float32)
        mask[[index.positions[i] for i in allowed if i in index.positions]] = 1.0
        return mask


def _best_first(hit: tuple[str, float]) -> tuple[float, str]:
    return -hit[1], hit[0]
