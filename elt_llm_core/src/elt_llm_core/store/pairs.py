"""Words that stand side by side: a second, lighter BM25 beside that of single words."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elt_llm_core.recipe import Recipe
from elt_llm_core.store.formula import Floats, idf, worth

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
        parts = {name: _opened(folder, name) for name in FILES}
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
                found = slice(int(self._starts[at]), int(self._starts[at + 1]))
                yield self._rows[found], self._scores[found]


def _changes(values: Ids) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; the first always does."""
    found = np.ones(len(values), dtype=np.bool_)
    found[1:] = values[1:] != values[:-1]
    return found


def _opened(folder: Path, name: str) -> NDArray[np.generic]:
    # Mapped all the same, but a plain array: cutting a memmap costs microseconds.
    found: NDArray[np.generic] = np.load(_file(folder, name), mmap_mode="r")
    return found.view(np.ndarray)


def _file(folder: Path, name: str) -> Path:
    return folder / f"pairs.{name}.npy"
