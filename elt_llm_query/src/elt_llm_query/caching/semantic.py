"""A cache of what questions found, looked up by meaning and guarded by words."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import islice
from weakref import ref

import numpy as np
from llama_index.core.schema import NodeWithScore
from numpy.typing import NDArray

from elt_llm_core.store import Collection
from elt_llm_query.caching.guard import Matter, Rare, matter, same_words

TRIED = 5  # kept questions, for each of which words may be looked up


class Kind(StrEnum):
    """What a look into the cache gave."""

    HIT = "hit"
    PARTIAL = "partial"
    MISS = "miss"


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
        return all(found() is not None for found in self.collections)


@dataclass(frozen=True)
class Kept:
    """What one question found, best first, and in which collections it was sought."""

    question: str
    vector: NDArray[np.float32]
    nodes: tuple[NodeWithScore, ...]
    collections: tuple[str, ...]

    @cached_property
    def matter(self) -> Matter:
        """What another question must have in common with it."""
        return matter(self.question)


@dataclass(frozen=True)
class Look:
    """A kept question and its likeness, -1 to 1; MISS where none may be used."""

    kind: Kind
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
        self, key: Key, question: str, vector: NDArray[np.float32], rare: Rare
    ) -> Look:
        """The kept question that is most like this one and may be used for it.

        `vector` has unit length; `rare` tells rare words.
        """
        with self._lock:
            self._drop_stale()
            kept = [k for _, other, k in self._held if other == key]
        partial, own = Look(Kind.MISS), matter(question)
        near = (pair for pair in self._ranked(kept, vector) if pair[1].matter == own)
        for likeness, one in islice(near, TRIED):
            if likeness >= self._full and same_words(question, one.question, rare):
                self._use(key, one)
                return Look(Kind.HIT, likeness, one)
            if partial.kept is None:
                partial = Look(Kind.PARTIAL, likeness, one)
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

    def _ranked(
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
