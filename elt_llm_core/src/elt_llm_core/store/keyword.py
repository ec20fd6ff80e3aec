"""Keyword search by BM25: the saved index, and the few texts that are newer.

Single words, and with half the weight words that stand side by side: a passage that
says "reading room" is before one that says both words apart.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import bm25s
import numpy as np

from elt_llm_core.store.pairs import PairIndex, Postings, side_by_side
from elt_llm_core.store.ranking import best
from elt_llm_core.store.recipe import K1, PAIR_WEIGHT, B
from elt_llm_core.store.words import tokenize


class KeywordIndex:
    """A saved bm25s index (Lucene's variant) and its pairs, memory-mapped."""

    def __init__(self, folder: Path) -> None:
        self._bm25 = bm25s.BM25.load(str(folder), mmap=True)
        for name in ("data", "indices", "indptr"):  # plain views are cut faster
            self._bm25.scores[name] = self._bm25.scores[name].view(np.ndarray)
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        self.count: int = meta["count"]
        self.average_length: float = meta["average_length"]
        self._pairs = PairIndex(folder, len(self._bm25.vocab_dict))

    @staticmethod
    def build(texts: Sequence[str], folder: Path) -> None:
        """Index `texts`; the position in the list is the id."""
        corpus = tokenize(texts)
        lengths = [len(tokens) for tokens in corpus]
        # bm25s cannot index nothing at all; an empty text gets a word nobody asks for.
        padded = (tokens or ["\x00"] for tokens in corpus)
        # Numbered here: bm25s would number them in the order of a set.
        known: dict[str, int] = {}
        numbers = [[known.setdefault(t, len(known)) for t in text] for text in padded]
        index = bm25s.BM25(k1=K1, b=B, method="lucene")
        index.index((numbers, known), show_progress=False)
        index.save(str(folder))
        average = sum(lengths) / max(len(lengths), 1)
        norms = length_norms(np.array(lengths, dtype=np.float64), average)
        PairIndex.build(numbers, len(known), norms, folder)
        meta = {"count": len(texts), "average_length": average}
        (folder / "meta.json").write_bytes(json.dumps(meta).encode())

    def document_frequency(self, token: str) -> int:
        """How many indexed texts hold the token, or the two side by side."""
        numbers = [self._bm25.vocab_dict.get(part) for part in token.split(" ")]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers):
            return 0
        pair = len(known) > 1
        postings = self._pairs.postings(known) if pair else self._words(known)
        return sum(len(rows) for rows, _ in postings)

    def search(
        self,
        tokens: Sequence[str],
        k: int,
        rows: np.ndarray | None = None,
        hidden: np.ndarray | None = None,
    ) -> list[tuple[int, float]]:
        """Position and score above zero, best first, ties by position; at most `k`.

        `rows` (ascending) limits the search to these positions; without it, those of
        `hidden` are left out.
        """
        if k <= 0 or (scores := self._scores(tokens)) is None:
            return []
        if rows is None and hidden is not None:
            scores[hidden] = 0
        return top_positive(scores, k, rows)

    def _scores(self, tokens: Sequence[str]) -> np.ndarray | None:
        """What every text is worth; None where none holds any of the tokens."""
        numbers = [self._bm25.vocab_dict.get(token) for token in tokens]
        known = [number for number in numbers if number is not None]
        if not known:
            return None
        scores: np.ndarray = self._bm25.get_scores_from_ids(known)
        for rows, worth in self._pairs.postings(numbers):
            scores[rows] += worth
        return scores

    def scores_of(self, tokens: Sequence[str], rows: np.ndarray) -> np.ndarray:
        """The scores that `search` has for these positions, 0 where it has none."""
        numbers = [self._bm25.vocab_dict.get(token) for token in tokens]
        scores = np.zeros(len(rows), dtype=np.float32)
        for held, worth in chain(self._words(numbers), self._pairs.postings(numbers)):
            places = np.minimum(np.searchsorted(held, rows), len(held) - 1)
            hit = held[places] == rows
            scores[hit] += worth[places[hit]]
        return scores

    def _words(self, numbers: Sequence[int | None]) -> Iterator[Postings]:
        data, indices, indptr = (
            self._bm25.scores[name] for name in ("data", "indices", "indptr")
        )
        for number in numbers:
            if number is not None:
                held = slice(indptr[number], indptr[number + 1])
                yield indices[held], data[held]


def length_norms(lengths: np.ndarray, average: float) -> np.ndarray:
    """BM25's part of the length: more for a long text, on the average K1."""
    return K1 * (1 - B + B * lengths / (average or 1.0))


def top_positive(
    scores: np.ndarray, k: int, rows: np.ndarray | None = None
) -> list[tuple[int, float]]:
    """Positions and scores of the `k` highest positive scores, ties by position.

    Only of `rows` (ascending) where given.
    """
    positive = np.flatnonzero(scores > 0) if rows is None else rows[scores[rows] > 0]
    chosen = positive[best(scores[positive], k)]
    return [(int(i), float(scores[i])) for i in chosen]


class DeltaKeywords:
    """BM25 over the few texts that no index holds yet, in the scale of the index.

    Document frequencies and the average length are those of index and delta together,
    so that both lists can be merged by score (Lucene's BM25; Kamphuis et al., 2020).
    """

    def __init__(
        self, texts: Sequence[Sequence[str]], base: KeywordIndex | None
    ) -> None:
        lengths = np.array([len(tokens) for tokens in texts], dtype=np.float64)
        base_count = base.count if base else 0
        base_length = base.average_length * base.count if base else 0.0
        self._base = base
        self._size = len(texts)
        self._total = base_count + len(texts)
        average = (base_length + float(lengths.sum())) / max(self._total, 1)
        self._norms = length_norms(lengths, average)
        self._invert([[*tokens, *side_by_side(tokens)] for tokens in texts])

    def _invert(self, texts: Sequence[Sequence[str]]) -> None:
        """Postings: the texts of each token, ascending, and how often each holds it."""
        lengths = np.fromiter((len(t) for t in texts), np.int64, len(texts))
        self._ids: dict[str, int] = {}
        tokens = (token for text in texts for token in text)
        numbers = np.fromiter(
            (self._ids.setdefault(token, len(self._ids)) for token in tokens),
            dtype=np.int64,
            count=int(lengths.sum()),
        )
        size = max(self._size, 1)
        pairs = numbers * size + np.repeat(np.arange(self._size), lengths)
        found, self._counts = np.unique(pairs, return_counts=True)
        self._positions = found % size
        self._starts = np.searchsorted(found, np.arange(len(self._ids) + 1) * size)

    def search(
        self, tokens: Sequence[str], k: int, rows: np.ndarray | None = None
    ) -> list[tuple[int, float]]:
        """Position in the delta and score above zero, best first; at most `k`.

        `rows` (ascending) limits the search to these positions.
        """
        scores = np.zeros(self._size, dtype=np.float64)
        for token in (*tokens, *side_by_side(tokens)):
            if (number := self._ids.get(token)) is None:
                continue
            postings = slice(self._starts[number], self._starts[number + 1])
            positions, counts = self._positions[postings], self._counts[postings]
            weight = self._idf(token, len(positions)) * self._share(token)
            scores[positions] += weight * counts / (counts + self._norms[positions])
        return top_positive(scores, k, rows)

    @staticmethod
    def _share(token: str) -> float:
        return PAIR_WEIGHT if " " in token else 1.0

    def _idf(self, token: str, found: int) -> float:
        if self._base is not None:
            found += self._base.document_frequency(token)
        return float(np.log1p((self._total - found + 0.5) / (found + 0.5)))
