"""Keyword search by BM25: the saved index, and the few texts that are newer.

Single words, and with a lower weight pairs of adjacent words: a passage with "reading
room" ranks above one with both words apart.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from elt_llm_core.config.bm25 import DEFAULT, Recipe, Variant
from elt_llm_core.language.languages import ENGLISH
from elt_llm_core.language.tokens import tokenize
from elt_llm_core.store.index.matrix import top_positions

Numbers = NDArray[Any]
Floats = NDArray[np.float64]

_IDF: Mapping[Variant, Callable[[Numbers, int], Floats]] = {
    "lucene": lambda n, total: np.log1p((total - n + 0.5) / (n + 0.5)),
    "robertson": lambda n, total: np.log(
        np.maximum((total - n + 0.5) / (n + 0.5), 1.0)
    ),
    "atire": lambda n, total: np.log(total / n),
    "bm25l": lambda n, total: np.log((total + 1) / (n + 0.5)),
    "bm25+": lambda n, total: np.log((total + 1) / n),
}


def length_shares(recipe: Recipe, lengths: Floats, average: float) -> Floats:
    """Return BM25's length factor: higher for a long text, 1 for the average."""
    return 1 - recipe.b + recipe.b * lengths / (average or 1.0)


def idf(recipe: Recipe, frequency: Numbers, total: int) -> Floats:
    """Return the weight of a word in `frequency` (1 or more) of `total` texts."""
    return _IDF[recipe.variant](frequency, total)


def term_scores(
    recipe: Recipe, weight: Floats | float, counts: Numbers, shares: Floats
) -> Floats:
    """Return the scores of texts with these counts of a word.

    `shares` are the result of `length_shares`.
    """
    k1, delta = recipe.k1, recipe.delta
    if recipe.variant == "bm25l":
        even = counts / shares + delta
        added: Floats = weight * (k1 + 1) * (even / (k1 + even) - delta / (k1 + delta))
        return added
    scores: Floats = weight * counts / (counts + k1 * shares)
    return scores if recipe.variant in ("lucene", "robertson") else scores * (k1 + 1)


Postings = tuple[NDArray[Any], NDArray[Any]]  # rows, ascending, and scores
FILES = ("keys", "starts", "rows", "scores")

Ids = NDArray[np.int64]


def join_neighbours(tokens: Sequence[str]) -> list[str]:
    """Return adjacent tokens as pairs; a token contains no space."""
    return [f"{a} {b}" for a, b in pairwise(tokens)]


class PairIndex:
    """Saved postings of pairs of token numbers, memory-mapped.

    `words` is the number of different tokens. A pair's key is computed from the two
    numbers, so pairs are not stored.
    """

    def __init__(self, folder: Path, words: int) -> None:
        self._words = words
        parts = {name: _map_array(folder, name) for name in FILES}
        self._keys, self._starts = parts["keys"], parts["starts"]
        self._rows, self._scores = parts["rows"], parts["scores"]

    @staticmethod
    def build(
        texts: Sequence[Sequence[int]],
        words: int,
        shares: Floats,
        recipe: Recipe,
        folder: Path,
    ) -> None:
        """Write the postings of `texts`, given as token numbers below `words`.

        `shares` has each text's length factor. If pairs have no weight, there are no
        postings.
        """
        if not recipe.pair_weight:
            texts = []
        lengths = np.fromiter((len(t) for t in texts), np.int64, len(texts))
        numbers = np.fromiter((n for t in texts for n in t), np.int64, lengths.sum())
        rows = np.repeat(np.arange(len(texts)), lengths)
        inside = rows[:-1] == rows[1:]  # pairs do not cross texts
        keys = (numbers[:-1] * words + numbers[1:])[inside]
        order = np.argsort(keys, kind="stable")  # rows stay ascending within a key
        keys, rows = keys[order], rows[:-1][inside][order]
        first = np.flatnonzero(_changes(keys) | _changes(rows))
        counts = np.diff(np.append(first, len(keys)))
        keys, rows = keys[first], rows[first]
        starts = np.flatnonzero(_changes(keys))
        frequency = np.diff(np.append(starts, len(keys)))
        each = np.repeat(frequency, frequency).astype(np.float64)
        weight = recipe.pair_weight * idf(recipe, each, len(texts))
        scores = term_scores(recipe, weight, counts, shares[rows])
        parts = {
            "keys": keys[starts],
            "starts": np.append(starts, len(keys)),
            "rows": rows.astype(np.int32),
            "scores": scores.astype(np.float32),
        }
        for name, values in parts.items():
            np.save(_file(folder, name), values)

    def postings(self, numbers: Sequence[int | None]) -> Iterator[Postings]:
        """Return the postings of each pair of a question that some text contains.

        None represents a token that no text contains.
        """
        for a, b in pairwise(numbers):
            if a is None or b is None:
                continue
            key = a * self._words + b
            at = int(np.searchsorted(self._keys, key))
            if at < len(self._keys) and self._keys[at] == key:
                span = slice(int(self._starts[at]), int(self._starts[at + 1]))
                yield self._rows[span], self._scores[span]


def _changes(values: Ids) -> NDArray[np.bool_]:
    """Return where a value differs from the previous one; the first always does."""
    changes = np.ones(len(values), dtype=np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _map_array(folder: Path, name: str) -> NDArray[np.generic]:
    # Still mapped, but as a plain array, because slicing a memmap takes microseconds.
    values: NDArray[np.generic] = np.load(_file(folder, name), mmap_mode="r")
    return values.view(np.ndarray)


def _file(folder: Path, name: str) -> Path:
    return folder / f"pairs.{name}.npy"


class KeywordIndex:
    """A saved bm25s index and its pairs, memory-mapped, with its `recipe`.

    `languages` are those of its texts, in order.
    """

    def __init__(self, folder: Path, recipe: Recipe = DEFAULT) -> None:
        self.recipe = recipe
        self._bm25 = bm25s.BM25.load(str(folder), mmap=True)
        # A text without words of the question would be found by it.
        self._bm25.nonoccurrence_array = None
        for name in ("data", "indices", "indptr"):  # plain views are sliced faster
            self._bm25.scores[name] = self._bm25.scores[name].view(np.ndarray)
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        self.count: int = meta["count"]
        self.average_length: float = meta["average_length"]
        # An index built before languages were distinguished used English rules.
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

        `languages` has one for each text; by default all are English.
        """
        languages = languages or [ENGLISH] * len(texts)
        corpus = tokenize(texts, recipe, languages)
        lengths = [len(tokens) for tokens in corpus]
        # bm25s cannot index nothing; an empty text gets a word that no question has.
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
        """Return the number of indexed texts with the token or the pair."""
        numbers = [self._bm25.vocab_dict.get(part) for part in token.split(" ")]
        known = [number for number in numbers if number is not None]
        if len(known) < len(numbers):
            return 0
        pair = len(known) > 1
        postings = self._pairs.postings(known) if pair else self._words(known)
        return sum(len(rows) for rows, _ in postings)

    def holds(self, texts: Iterable[tuple[str, str]]) -> bool:
        """Return whether a word of the first non-empty text is in the index.

        Each text comes with its language. The word may have no weight: some variants
        give 0 to words that most texts contain.
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
        """Return position and score above zero, best first, ties by position.

        At most `k`. `rows` (ascending) limits the search to these positions; without
        it, those of `hidden` are left out.
        """
        if k <= 0 or (scores := self._scores(tokens)) is None:
            return []
        if rows is None and hidden is not None:
            scores[hidden] = 0
        return top_positive(scores, k, rows)

    def _scores(self, tokens: Sequence[str]) -> np.ndarray | None:
        """Return every text's score; None if no text has any of the tokens."""
        numbers = [self._bm25.vocab_dict.get(token) for token in tokens]
        known = [number for number in numbers if number is not None]
        if not known:
            return None
        scores: np.ndarray = self._bm25.get_scores_from_ids(known)
        for rows, scored in self._pairs.postings(numbers):
            scores[rows] += scored
        return scores

    def scores_of(self, tokens: Sequence[str], rows: np.ndarray) -> np.ndarray:
        """Return the scores of `search` for these positions, 0 without one."""
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
    """Return positions and scores of the `k` highest positive scores.

    Ties are ordered by position. Optionally only of `rows` (ascending).
    """
    positive = np.flatnonzero(scores > 0) if rows is None else rows[scores[rows] > 0]
    chosen = positive[top_positions(scores[positive], k)]
    return [(int(i), float(scores[i])) for i in chosen]


class DeltaKeywords:
    """BM25 over the few texts beyond the index, on the scale of the index.

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
        """Return postings: the texts of each token, ascending, with its counts."""
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
        unique, self._counts = np.unique(pairs, return_counts=True)
        self._positions = unique % size
        self._starts = np.searchsorted(unique, np.arange(len(self._ids) + 1) * size)

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
            scores[positions] += term_scores(self._recipe, weight, counts, shares)
        return top_positive(scores, k, rows)

    def _with_pairs(self, tokens: Sequence[str]) -> list[str]:
        pairs = join_neighbours(tokens) if self._recipe.pair_weight else []
        return [*tokens, *pairs]

    def _weight(self, token: str, frequency: int) -> float:
        if self._base is not None:
            frequency += self._base.document_frequency(token)
        share = self._recipe.pair_weight if " " in token else 1.0
        return float(idf(self._recipe, np.array(frequency), self._total)) * share
