"""BM25 in the variants of bm25s (Kamphuis et al., ECIR 2020).

What `bm25l` and `bm25+` add for a word that a text lacks is left out: it is the same
for every text, and a text without any of the words is not found.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elt_llm_core.recipe import Recipe, Variant

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
    found: Floats = weight * counts / (counts + k1 * shares)
    return found if recipe.variant in ("lucene", "robertson") else found * (k1 + 1)
