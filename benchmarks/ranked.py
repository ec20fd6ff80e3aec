"""Rankings over texts in memory, their scores, and how sure the scores are.

Texts are embedded once: vectors are kept by content in `FOLDER/vectors.npz`.
"""

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from numpy.typing import NDArray

from elt_llm_core.language.tokens import tokenize
from elt_llm_core.models.embedder import as_counting
from elt_llm_core.store.index.bm25 import KeywordIndex
from elt_llm_query.retrieval.fusion import convex

DEPTH, KEPT, DENSE = 50, 100, 0.3
RESAMPLES, SEED = 2000, 7
BATCH = 64

Ranked = list[int]
Embed = Callable[[list[str]], NDArray[np.float32]]


class Vectors:
    """Vectors by content, made where they are missing."""

    def __init__(self, embedder: BaseEmbedding, folder: Path) -> None:
        self._embedder = embedder
        self._file = folder / "vectors.npz"
        self._rows: dict[str, NDArray[np.float16]] = {}
        if self._file.exists():
            held = np.load(self._file)
            self._rows = dict(zip(held["keys"].tolist(), held["rows"], strict=True))

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of documents, shape (n, d)."""
        return self._made("text", texts, as_counting(self._embedder).embed_array)

    def asked(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of questions, shape (n, d)."""
        embed = self._embedder.get_query_embedding
        return self._made(
            "question", questions, lambda part: np.array([embed(text) for text in part])
        )

    def _made(
        self, kind: str, texts: Sequence[str], embed: Embed
    ) -> NDArray[np.float32]:
        keys = [self._key(kind, text) for text in texts]
        wanted = {k: t for k, t in zip(keys, texts, strict=True) if k not in self._rows}
        missing = sorted(wanted, key=lambda key: len(wanted[key]))
        for start in range(0, len(missing), BATCH):
            part = missing[start : start + BATCH]
            rows = embed([wanted[key] for key in part])
            self._rows.update(zip(part, rows.astype(np.float16), strict=True))
        if missing:
            self._save()
        return np.stack([self._rows[key] for key in keys]).astype(np.float32)

    def _key(self, kind: str, text: str) -> str:
        digest = as_counting(self._embedder).digest
        return hashlib.sha256(f"{digest} {kind} {text}".encode()).hexdigest()

    def _save(self) -> None:
        rows = np.stack(list(self._rows.values()))
        np.savez(self._file, keys=np.array(list(self._rows)), rows=rows)


def search(
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    questions: Sequence[str],
    asked: NDArray[np.float32],
) -> list[Ranked]:
    """Positions of the best texts of each question, as the default retrieves them."""
    cosines = asked @ vectors.T
    with tempfile.TemporaryDirectory() as scratch:
        KeywordIndex.build(texts, Path(scratch))
        index = KeywordIndex(Path(scratch))
        found = []
        for tokens, row in zip(tokenize(questions), cosines, strict=True):
            best = np.argsort(-row, kind="stable")[:DEPTH]
            dense = [(f"{i:07}", float(row[i])) for i in best]
            words = [(f"{i:07}", s) for i, s in index.search(tokens, DEPTH)]
            joined = convex([dense, words], [DENSE, 1 - DENSE])
            found.append([int(item) for item, _ in joined[:KEPT]])
    return found


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and its 95 % bootstrap interval."""
    scores = np.array(values)
    drawn = np.random.default_rng(SEED).integers(
        0, len(scores), (RESAMPLES, len(scores))
    )
    means = scores[drawn].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(scores.mean()), float(low), float(high)


def against(values: Sequence[float], base: Sequence[float]) -> str:
    """The mean difference of pairs with its interval, as text."""
    pairs = zip(values, base, strict=True)
    mean, low, high = interval([a - b for a, b in pairs])
    return f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]"


def recall_and_precision(
    ranked: Sequence[str], gold: frozenset[str], cut: int = 10
) -> tuple[float, float]:
    """Recall and average precision of the first `cut` distinct items."""
    best = list(dict.fromkeys(ranked))[:cut]
    hits = [i for i, item in enumerate(best, start=1) if item in gold]
    precision = sum(n / i for n, i in enumerate(hits, start=1))
    return len(hits) / len(gold), precision / min(len(gold), cut)
