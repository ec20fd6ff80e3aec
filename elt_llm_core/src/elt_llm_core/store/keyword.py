"""Keyword search by BM25: the saved index, and the few texts that are newer.

Single words, and with less weight words that stand side by side: a passage that says
"reading room" is before one that says both words apart.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import bm25s
import numpy as np

from elt_llm_core.language.known import ENGLISH
from elt_llm_core.language.tokens import tokenize
from elt_llm_core.recipe import DEFAULT, Recipe
from elt_llm_core.store.formula import idf, length_shares, worth
from elt_llm_core.store.pairs import PairIndex, Postings, side_by_side
from elt_llm_core.store.ranking import best


class KeywordIndex:
    """A saved bm25s index and its pairs, memory-mapped. `recipe` is what it tells.

    `languages` are those of its texts, in order.
    """

    def __init__(self, folder: Path, recipe: Recipe = DEFAULT) -> None:
        self.recipe = recipe
        self._bm25 = bm25s.BM25.load(str(folder), mmap=True)
        # A text that holds no word of the question would be found by it.
        self._bm25.nonoccurrence_array = None
        for name in ("data", "indices", "indptr"):  # plain views are cut faster
            self._bm25.scores[name] = self._bm25.scores[name].view(np.ndarray)
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        self.count: int = meta["count"]
        self.average_length: float = meta["average_length"]
        # An index made before languages were told apart was made by English rules.
        self.languages: tuple[str, ...] = tuple(meta.get("languages", (ENGLISH,)))
        self._pairs = PairIndex(folder, len(self._bm25.vocab_dict))

    @staticmethod
    def build(
        texts: Sequence[str],
        folder: Path,
        recipe: Recipe = DEFAULT,
        languages: Sequence[str] | None = None,
    ) -> None:
        """Index `texts`; the position in the list is the id.

        `languages` holds one for each text; without, all are English.
        """
        languages = languages or [ENGLISH] * len(texts)
        corpus = tokenize(texts, recipe, languages)
        lengths = [len(tokens) for tokens in corpus]
        # bm25s cannot index nothing at all; an empty text gets a word nobody asks for.
        padded = (tokens or ["\x00"] for tokens in corpus)
        # Numbered here: bm25s would number them in the order of a set.
        known: dict[str, int] = {}
        numbers = [[known.setdefault(t, len(known)) for t in text] for text in padded]
        index = bm25s.BM25(
            k1=recipe.k1, b=recipe.b, delta=recipe.delta, method=recipe.variant
        )
        index.index((numbers, known), show_progress=False)
        index.save(str(folder))
        average = sum(lengths) / max(len(lengths), 1)
        shares = length_shares(recipe, np.array(lengths, dtype=np.float64), average)
        PairIndex.build(numbers, len(known), shares, recipe, folder)
        meta = {
            "count": len(texts),
            "average_length": average,
            "languages": sorted({code or ENGLISH for code in languages}),
        }
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

    def holds(self, texts: Iterable[tuple[str, str]]) -> bool:
        """Whether a word of the first text that has some is known here.

        Each text comes with its language. The word may be worth nothing: some variants
        give 0 to words that most texts hold.
        """
        tokens = (tokenize([text], self.recipe, [code])[0] for text, code in texts)
        first = next(filter(None, tokens), [])
        return not first or any(map(self.document_frequency, first))

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
        for rows, scored in self._pairs.postings(numbers):
            scores[rows] += scored
        return scores

    def scores_of(self, tokens: Sequence[str], rows: np.ndarray) -> np.ndarray:
        """The scores that `search` has for these positions, 0 where it has none."""
        numbers = [self._bm25.vocab_dict.get(token) for token in tokens]
        scores = np.zeros(len(rows), dtype=np.float32)
        for held, scored in chain(self._words(numbers), self._pairs.postings(numbers)):
            places = np.minimum(np.searchsorted(held, rows), len(held) - 1)
            hit = held[places] == rows
            scores[hit] += scored[places[hit]]
        return scores

    def _words(self, numbers: Sequence[int | None]) -> Iterator[Postings]:
        data, indices, indptr = (
            self._bm25.scores[name] for name in ("data", "indices", "indptr")
        )
        for number in numbers:
            if number is not None:
                held = slice(indptr[number], indptr[number + 1])
                yield indices[held], data[held]


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
    so that both lists can be merged by score. `recipe` is that of the index.
    """

    def __init__(
        self,
        texts: Sequence[Sequence[str]],
        base: KeywordIndex | None,
        recipe: Recipe = DEFAULT,
    ) -> None:
        self._recipe = base.recipe if base else recipe
        lengths = np.array([len(tokens) for tokens in texts], dtype=np.float64)
        base_count = base.count if base else 0
        base_length = base.average_length * base.count if base else 0.0
        self._base = base
        self._size = len(texts)
        self._total = base_count + len(texts)
        average = (base_length + float(lengths.sum())) / max(self._total, 1)
        self._shares = length_shares(self._recipe, lengths, average)
        self._invert([self._with_pairs(tokens) for tokens in texts])

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
        for token in self._with_pairs(tokens):
            if (number := self._ids.get(token)) is None:
                continue
            postings = slice(self._starts[number], self._starts[number + 1])
            positions, counts = self._positions[postings], self._counts[postings]
            weight = self._weight(token, len(positions))
            shares = self._shares[positions]
            scores[positions] += worth(self._recipe, weight, counts, shares)
        return top_positive(scores, k, rows)

    def _with_pairs(self, tokens: Sequence[str]) -> list[str]:
        pairs = side_by_side(tokens) if self._recipe.pair_weight else []
        return [*tokens, *pairs]

    def _weight(self, token: str, found: int) -> float:
        if self._base is not None:
            found += self._base.document_frequency(token)
        share = self._recipe.pair_weight if " " in token else 1.0
        return float(idf(self._recipe, np.array(found), self._total)) * share
