"""A cache of the sources of questions, looked up by vector and checked by words."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from weakref import ref

import numpy as np
from llama_index.core.schema import NodeWithScore
from numpy.typing import NDArray
from pydantic import Field, model_validator
from typing_extensions import override

from elt_llm_core.config.loader import RagConfig
from elt_llm_core.store import Collection
from elt_llm_core.strategy import Models, Stage, Strategy
from elt_llm_query.analysis.lexicon import STOP_WORDS
from elt_llm_query.analysis.question import analyse
from elt_llm_query.analysis.stems import stem, words
from elt_llm_query.plan import CacheOutcome

# A rare word distinguishes questions: it is in at most ten chunks or one of a hundred.
FEW = 10  # chunks
SHARE = 100  # one chunk in so many
TRIED = 5  # cached questions that are compared word by word; each may search the index

IsRare = Callable[[str], bool]


def same_words(one: str, other: str, is_rare: IsRare) -> bool:
    """Return whether every word that only one question has is a common one.

    Both questions must also ask for the definition of the same term. A word that
    differs from a word of the other question only by a prefix ("registered",
    "unregistered") never passes.

    Args:
        one: A question.
        other: Another one.
        is_rare: Whether a word is rare in the collections.
    """
    if analyse(one).term.casefold() != analyse(other).term.casefold():
        return False
    mine, theirs = _content_words(one), _content_words(other)
    left = {s: w for s, w in mine.items() if s not in theirs}
    right = {s: w for s, w in theirs.items() if s not in mine}
    opposed = any(a.endswith(b) or b.endswith(a) for a in left for b in theirs) or any(
        a.endswith(b) or b.endswith(a) for a in right for b in mine
    )
    return not opposed and not any(map(is_rare, [*left.values(), *right.values()]))


def rarity_test(collections: Sequence[Collection]) -> IsRare:
    """Return a predicate that is true for words in few chunks of the collections."""
    chunks = sum(c.card.chunks for c in collections)
    most = max(FEW, chunks // SHARE)

    def is_rare(word: str) -> bool:
        """Return True for a word in few chunks, or in none."""
        count = 0
        for collection in collections:
            count += len(collection.search_keyword(word, most + 1 - count))
            if count > most:
                return False
        return True

    return is_rare


def _content_words(text: str) -> dict[str, str]:
    """Return the stems of the content words."""
    return {stem(w): w for w in words(text) if w.lower() not in STOP_WORDS}


@dataclass(frozen=True)
class Key:
    """Conditions that must be equal for one question's sources to serve another.

    A collection that changed in any way is opened as another object, so collections are
    compared by identity, through weak references.
    """

    collections: tuple[ref[Collection], ...]
    settings: str

    @property
    def alive(self) -> bool:
        """Return False once a collection was replaced by a newer one."""
        return all(collection() is not None for collection in self.collections)


@dataclass(frozen=True)
class Kept:
    """The sources of one question, best first, and the collections searched."""

    question: str
    vector: NDArray[np.float32]
    nodes: tuple[NodeWithScore, ...]
    collections: tuple[str, ...]


@dataclass(frozen=True)
class CacheLookUp:
    """A cached question and its cosine, -1 to 1; MISS if none may be used."""

    kind: CacheOutcome
    likeness: float = 0.0
    kept: Kept | None = None


class SemanticCache:
    """Holds at most `entries` questions for at most `ttl` seconds each, in memory.

    From a cosine of `full`, a cached question's sources are used if both questions have
    the same identifiers, numbers, units, negations and rare words. From `partial`, with
    the same identifiers, numbers, units and negations, they are used as a part. Both
    bounds are inclusive. The least recently used entry is removed first. Thread-safe.
    """

    def __init__(
        self,
        full: float = 0.9,
        partial: float = 0.7,
        entries: int = 256,
        ttl: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._full = full
        self._partial = partial
        self._entries = entries
        self._ttl = ttl
        self._clock = clock
        self._held: list[tuple[float, Key, Kept]] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of cached questions."""
        with self._lock:
            self._drop_stale()
            return len(self._held)

    def look(
        self, key: Key, question: str, vector: NDArray[np.float32], is_rare: IsRare
    ) -> CacheLookUp:
        """Return the most similar cached question that may be used for this one.

        Args:
            key: The conditions that must be equal.
            question: The new question.
            vector: Its vector, of unit length.
            is_rare: Whether a word is rare in the collections.
        """
        with self._lock:
            self._drop_stale()
            kept = [k for _, other, k in self._held if other == key]
        partial, own = CacheLookUp(CacheOutcome.MISS), analyse(question).essentials
        near = (
            pair
            for pair in self._rank(kept, vector)
            if analyse(pair[1].question).essentials == own
        )
        for likeness, one in islice(near, TRIED):
            if likeness >= self._full and same_words(question, one.question, is_rare):
                self._use(key, one)
                return CacheLookUp(CacheOutcome.HIT, likeness, one)
            if partial.kept is None:
                partial = CacheLookUp(CacheOutcome.PARTIAL, likeness, one)
        return partial

    def keep(self, key: Key, kept: Kept) -> None:
        """Store the sources of a question, replacing those stored before."""
        with self._lock:
            self._held = [
                held
                for held in self._held
                if held[1] != key or held[2].question != kept.question
            ]
            self._held.append((self._clock(), key, kept))
            self._drop_stale()
            del self._held[: -self._entries]

    def _rank(
        self, kept: Sequence[Kept], vector: NDArray[np.float32]
    ) -> list[tuple[float, Kept]]:
        """Return the questions that are similar enough, most similar first."""
        if not kept:
            return []
        cosines = np.stack([one.vector for one in kept]) @ vector
        # Rounded, so that rounding errors below six digits do not miss a bound.
        scored = zip(np.round(cosines.astype(float), 6).tolist(), kept, strict=True)
        near = [pair for pair in scored if pair[0] >= self._partial]
        return sorted(near, key=lambda pair: (-pair[0], pair[1].question))

    def _use(self, key: Key, kept: Kept) -> None:
        """Mark an entry as the most recently used."""
        with self._lock:
            for place, held in enumerate(self._held):
                if held[1] == key and held[2] is kept:
                    self._held.append(self._held.pop(place))
                    return

    def _drop_stale(self) -> None:
        oldest = self._clock() - self._ttl
        self._held = [h for h in self._held if h[0] > oldest and h[1].alive]


CACHES: Stage[SemanticCache | None] = Stage("caches")


class NoCacheOptions(Strategy[SemanticCache | None]):
    """No cache: every question is searched for."""

    @override
    def build(self, models: Models) -> None:
        """Return None."""


class SemanticCacheOptions(Strategy[SemanticCache | None]):
    """Reuse the sources of an earlier question that asks the same."""

    full: float = Field(
        default=0.9,
        ge=0,
        le=1,
        description="minimum cosine similarity to reuse all results",
    )
    partial: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="minimum cosine similarity to reuse the "
        "results together with half a new search",
    )
    entries: int = Field(default=256, ge=1, le=100_000, description="most questions")
    ttl: float = Field(
        default=3600.0, gt=0, description="lifetime of an entry in seconds"
    )

    @model_validator(mode="after")
    def _partial_is_less(self) -> "SemanticCacheOptions":
        if self.partial > self.full:
            msg = f"partial ({self.partial}) exceeds full ({self.full})"
            raise ValueError(msg)
        return self

    @override
    def build(self, models: Models) -> SemanticCache:
        return SemanticCache(**self.model_dump())


def build_cache(config: RagConfig, models: Models) -> SemanticCache | None:
    """Build the configured cache, for a caller that asks more than once.

    Args:
        config: The settings; `query.cache_strategy` names the cache.
        models: The models of the run.

    Returns:
        The cache, which the caller keeps and passes to each question, or None.

    Raises:
        ConfigError: If the cache does not exist or has wrong options.
    """
    name, options = config.query.cache_strategy, config.query.cache_options
    return CACHES.load(name, options, config.allowed_plugins()).build(models)
