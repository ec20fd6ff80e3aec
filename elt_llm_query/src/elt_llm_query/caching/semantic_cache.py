"""A cache of what questions found, looked up by meaning and guarded by words."""

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

# A rare word distinguishes questions: it is in ten chunks, or in one of a hundred.
FEW = 10  # chunks
SHARE = 100  # one chunk in so many
TRIED = 5  # kept questions that are compared word by word; each may ask the index

IsRare = Callable[[str], bool]


def same_words(one: str, other: str, is_rare: IsRare) -> bool:
    """Return whether every word that only one question has is a common one.

    They also have to ask for the same term. A word that only a prefix separates from a
    word of the other question ("registered", "unregistered") never passes.

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


def rare_in(collections: Sequence[Collection]) -> IsRare:
    """Return the test whether a word is in few chunks of the collections."""
    chunks = sum(c.card.chunks for c in collections)
    most = max(FEW, chunks // SHARE)

    def is_rare(word: str) -> bool:
        """True for a word of few chunks, or of none."""
        count = 0
        for collection in collections:
            count += len(collection.search_keyword(word, most + 1 - count))
            if count > most:
                return False
        return True

    return is_rare


def _content_words(text: str) -> dict[str, str]:
    """Content words by their stems."""
    return {stem(w): w for w in words(text) if w.lower() not in STOP_WORDS}


@dataclass(frozen=True)
class Key:
    """What must be equal for one question's sources to be another's.

    A collection that changed in any way is opened as another object, so it is compared
    by identity, and not kept alive.
    """

    collections: tuple[ref[Collection], ...]
    settings: str

    @property
    def alive(self) -> bool:
        """False once a collection was replaced by a newer one."""
        return all(collection() is not None for collection in self.collections)


@dataclass(frozen=True)
class Kept:
    """What one question found, best first, and in which collections it was sought."""

    question: str
    vector: NDArray[np.float32]
    nodes: tuple[NodeWithScore, ...]
    collections: tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """A kept question and its likeness, -1 to 1; MISS where none may be used."""

    kind: CacheOutcome
    likeness: float = 0.0
    kept: Kept | None = None


class SemanticCache:
    """Holds at most `entries` questions for at most `ttl` seconds each, in memory.

    From `full` on a kept question's sources are the new one's, if both have the same
    identifiers, numbers, units, negations and rare words. From `partial` on, with the
    same identifiers, numbers, units and negations, they are a part of them. Both bounds
    count. What was used longest ago goes first. Safe between threads.
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
        """How many questions are kept now."""
        with self._lock:
            self._drop_stale()
            return len(self._held)

    def look(
        self, key: Key, question: str, vector: NDArray[np.float32], is_rare: IsRare
    ) -> Look:
        """The kept question that is most like this one and may be used for it.

        `vector` has unit length; `is_rare` recognises rare words.
        """
        with self._lock:
            self._drop_stale()
            kept = [k for _, other, k in self._held if other == key]
        partial, own = Look(CacheOutcome.MISS), analyse(question).essentials
        near = (
            pair
            for pair in self._rank(kept, vector)
            if analyse(pair[1].question).essentials == own
        )
        for likeness, one in islice(near, TRIED):
            if likeness >= self._full and same_words(question, one.question, is_rare):
                self._use(key, one)
                return Look(CacheOutcome.HIT, likeness, one)
            if partial.kept is None:
                partial = Look(CacheOutcome.PARTIAL, likeness, one)
        return partial

    def keep(self, key: Key, kept: Kept) -> None:
        """Hold what a question found in the place of what it found before."""
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
        """Those that are like enough, most alike first."""
        if not kept:
            return []
        cosines = np.stack([one.vector for one in kept]) @ vector
        # Rounded, so that a bound that is met to six digits is met.
        scored = zip(np.round(cosines.astype(float), 6).tolist(), kept, strict=True)
        near = [pair for pair in scored if pair[0] >= self._partial]
        return sorted(near, key=lambda pair: (-pair[0], pair[1].question))

    def _use(self, key: Key, kept: Kept) -> None:
        """Move it to the end, where it stays longest."""
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
    """Every question is searched for."""

    @override
    def build(self, models: Models) -> None:
        """None, always."""


class SemanticCacheOptions(Strategy[SemanticCache | None]):
    """What a question found serves questions that ask the same."""

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
        The cache, to be held by the caller and handed to each question; None for none.

    Raises:
        ConfigError: If the cache does not exist or has wrong options.
    """
    name, options = config.query.cache_strategy, config.query.cache_options
    return CACHES.load(name, options, config.allowed_plugins()).build(models)
