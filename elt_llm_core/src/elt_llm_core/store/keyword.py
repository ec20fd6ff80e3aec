"""The keyword index: bm25s over words, stems and identifiers."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import bm25s
import numpy as np
import Stemmer

K1 = 1.5
B = 0.75

# A word, or words joined inside: bms-986158, 3.2.1, user's, b/f.
_TOKEN = re.compile(r"[^\W_]+(?:[-.'/&][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
STOP_WORDS = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by"),
        *("can", "could", "did", "do", "does", "for", "from", "had", "has", "have"),
        *("he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its"),
        *("may", "me", "my", "of", "on", "or", "our", "shall", "she", "should", "so"),
        *("than", "that", "the", "their", "them", "then", "there", "these", "they"),
        *("this", "those", "to", "was", "we", "were", "what", "when", "where"),
        *("which", "who", "whom", "whose", "why", "will", "with", "would", "you"),
        "your",
    ]
)


def plain_words(text: str) -> list[str]:
    """Words of a text, joined ones whole, without anything that is not a word."""
    return [match.group() for match in _TOKEN.finditer(text)]


def tokenize(texts: Iterable[str]) -> list[list[str]]:
    """The tokens of each text: stems of words, and joined words beside their parts.

    Lower case, Unicode-normalised, English stop words left out.
    """
    stemmer = Stemmer.Stemmer("english")  # not safe to share between threads
    return [_tokens(text, stemmer) for text in texts]


def _tokens(text: str, stemmer: Stemmer.Stemmer) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'")
    found: list[str] = []
    for match in _TOKEN.finditer(folded):
        word = match.group()
        parts = _PART.findall(word)
        if len(parts) > 1:
            found.append(word)
        found += [
            stemmer.stemWord(part)
            for part in parts
            if part not in STOP_WORDS and (len(part) > 1 or part.isdigit())
        ]
    return found


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
        padded = [tokens or ["\x00"] for tokens in corpus]
        index = bm25s.BM25(k1=K1, b=B, method="lucene")
        index.index(padded, show_progress=False)
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
        self, tokens: Sequence[str], k: int, mask: np.ndarray | None = None
    ) -> list[tuple[int, float]]:
        """Position and score above zero, best first, ties by position; at most `k`.

        `mask` is a float array of ones and zeros, one a text.
        """
        known = [t for t in tokens if t in self._bm25.vocab_dict]
        if not known or k <= 0:
            return []
        scores = self._bm25.get_scores(known, weight_mask=mask)
        return top_positive(scores, k)


def top_positive(scores: np.ndarray, k: int) -> list[tuple[int, float]]:
    """The `k` highest positive scores with their positions, ties by position."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) > k:
        chosen = np.argpartition(scores[positive], len(positive) - k)[-k:]
        threshold = scores[positive][chosen].min()
        positive = positive[scores[positive] >= threshold]
    order = np.lexsort((positive, -scores[positive]))[:k]
    return [(int(i), float(scores[i])) for i in positive[order]]


class DeltaKeywords:
    """BM25 over the few texts that no index holds yet, in the scale of the index.

    Document frequencies and the average length are those of index and delta together,
    so that both lists can be merged by score (Lucene's BM25; Kamphuis et al., 2020).
    """

    def __init__(self, texts: Sequence[str], base: KeywordIndex | None) -> None:
        self._counts = [Counter(tokens) for tokens in tokenize(texts)]
        self._lengths = [sum(c.values()) for c in self._counts]
        self._frequency = Counter(token for c in self._counts for token in c)
        self._base = base
        base_count = base.count if base else 0
        base_length = base.average_length * base.count if base else 0.0
        self._total = base_count + len(texts)
        self._average = (base_length + sum(self._lengths)) / max(self._total, 1) or 1.0

    def search(self, tokens: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Position in the delta and score above zero, best first; at most `k`."""
        scores = np.zeros(len(self._counts), dtype=np.float64)
        for token in tokens:
            weight = self._idf(token)
            for position, counts in enumerate(self._counts):
                if frequency := counts.get(token):
                    length = self._lengths[position] / self._average
                    scores[position] += (
                        weight * frequency / (frequency + K1 * (1 - B + B * length))
                    )
        return top_positive(scores, k)

    def _idf(self, token: str) -> float:
        found = self._frequency.get(token, 0)
        if self._base is not None:
            found += self._base.document_frequency(token)
        return float(np.log1p((self._total - found + 0.5) / (found + 0.5)))
