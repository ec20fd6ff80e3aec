"""Keyword search by BM25: the saved index, and the few texts that are newer."""

import json
from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np

from elt_llm_core.store.ranking import best
from elt_llm_core.store.words import tokenize

K1 = 1.5
B = 0.75


class KeywordIndex:
    """A saved bm25s index (Lucene's variant), memory-mapped."""

    def __init__(self, folder: Path) -> None:
        self._bm25 = bm25s.BM25.load(str(folder), mmap=True)
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        self.count: int = meta["count"]
        self.average_length: float = meta["average_length"]

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
        meta = {
            "count": len(texts),
            "average_length": sum(lengths) / max(len(lengths), 1),
        }
        (folder / "meta.json").write_bytes(json.dumps(meta).encode())

    def document_frequency(self, token: str) -> int:
        """How many indexed texts hold the token."""
        token_id = self._bm25.vocab_dict.get(token)
        if token_id is None:
            return 0
        indptr = self._bm25.scores["indptr"]
        return int(indptr[token_id + 1] - indptr[token_id])

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
        known = [t for t in tokens if t in self._bm25.vocab_dict]
        if not known or k <= 0:
            return []
        scores = self._bm25.get_scores(known)
        if rows is None and hidden is not None:
            scores[hidden] = 0
        return top_positive(scores, k, rows)


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
        average = (base_length + float(lengths.sum())) / max(self._total, 1) or 1.0
        self._norms = K1 * (1 - B + B * lengths / average)
        self._invert(texts, lengths.astype(np.intp))

    def _invert(self, texts: Sequence[Sequence[str]], lengths: np.ndarray) -> None:
        """Postings: the texts of each token, ascending, and how often each holds it."""
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
        for token in tokens:
            if (number := self._ids.get(token)) is None:
                continue
            postings = slice(self._starts[number], self._starts[number + 1])
            positions, counts = self._positions[postings], self._counts[postings]
            weight = self._idf(token, len(positions))
            scores[positions] += weight * counts / (counts + self._norms[positions])
        return top_positive(scores, k, rows)

    def _idf(self, token: str, found: int) -> float:
        if self._base is not None:
            found += self._base.document_frequency(token)
        return float(np.log1p((self._total - found + 0.5) / (found + 0.5)))
