"""Keyword search by BM25: the saved index, and the few texts that are newer.

Single words, and with less weight words that stand side by side: a passage that says
"reading room" is before one that says both words apart.
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
from elt_llm_core.store.index.matrix import best

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
    """BM25's part of the length: more for a long text, 1 for the average."""
    return 1 - recipe.b + recipe.b * lengths / (average or 1.0)


def idf(recipe: Recipe, frequency: Numbers, total: int) -> Floats:
    """How telling a word is that `frequency` (1 or more) of `total` texts hold."""
    return _IDF[recipe.variant](frequency, total)


def worth(
    recipe: Recipe, weight: Floats | float, counts: Numbers, shares: Floats
) -> Floats:
    """The score of texts that hold a word of this weight so many times, above 0.

    `shares` are those of `length_shares`.
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


def side_by_side(tokens: Sequence[str]) -> list[str]:
    """Each two tokens that follow each other, as one; a token holds no space."""
    return [f"{a} {b}" for a, b in pairwise(tokens)]


class PairIndex:
    """Saved postings of pairs of token numbers, memory-mapped.

    `words` is how many different tokens there are. A pair's key is made of the two
    numbers, so no pair is ever written out.
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

        `shares` holds a text's part of the length. Where pairs weigh nothing there are
        no postings.
        """
        if not recipe.pair_weight:
            texts = []
        lengths = np.fromiter((len(t) for t in texts), np.int64, len(texts))
        numbers = np.fromiter((n for t in texts for n in t), np.int64, lengths.sum())
        rows = np.repeat(np.arange(len(texts)), lengths)
        inside = rows[:-1] == rows[1:]  # a pair does not reach into the next text
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
        scores = worth(recipe, weight, counts, shares[rows])
        parts = {
            "keys": keys[starts],
            "starts": np.append(starts, len(keys)),
            "rows": rows.astype(np.int32),
            "scores": scores.astype(np.float32),
        }
        for name, values in parts.items():
            np.save(_file(folder, name), values)

    def postings(self, numbers: Sequence[int | None]) -> Iterator[Postings]:
        """Those of each pair of a question that some text holds, in order.

        A None stands for a token that no text holds.
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
    """Where a value differs from the one before it; the first always does."""
    changes = np.ones(len(values), dtype=np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _map_array(folder: Path, name: str) -> NDArray[np.generic]:
    # Mapped all the same, but a plain array: cutting a memmap costs microseconds.
    values: NDArray[np.generic] = np.load(_file(folder, name), mmap_mode="r")
    return values.view(np.ndarray)


def _file(folder: Path, name: str) -> Path:
    return folder / f"pairs.{name}.npy"


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
            scores[positions] += worth(self._recipe, weight, counts, shares)
        return top_positive(scores, k, rows)

    def _with_pairs(self, tokens: Sequence[str]) -> list[str]:
        pairs = side_by_side(tokens) if self._recipe.pair_weight else []
        return [*tokens, *pairs]

    def _weight(self, token: str, frequency: int) -> float:
        if self._base is not None:
            frequency += self._base.document_frequency(token)
        share = self._recipe.pair_weight if " " in token else 1.0
        return float(idf(self._recipe, np.array(frequency), self._total)) * share
