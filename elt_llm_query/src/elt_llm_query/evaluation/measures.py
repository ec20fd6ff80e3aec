"""What a ranking is worth, question by question, and how sure the means are.

The measures are those of trec_eval, through ir-measures. A question without any result
counts 0.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from elt_llm_core.errors import MissingExtraError
from elt_llm_core.records import Record
from elt_llm_query.evaluation.names import MEASURES

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 2000
PERMUTATIONS = 5000
SLICE = 200  # draws at once, so that memory stays small
SEED = 7

Ranking = Sequence[str]
Values = dict[str, dict[str, float]]


class Interval(Record):
    """A mean with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


class Difference(Record):
    """A configuration's mean less the first one's over the same questions.

    `p` is that of a paired permutation test with both sides counted.
    """

    difference: float
    low: float
    high: float
    p: float = Field(gt=0, le=1)


def require_measures() -> None:
    """Raise MissingExtraError without the extra `eval`, before any work is done."""
    _library()


def per_question(
    gold: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Ranking]
) -> Values:
    """Measure to question to value, 0 to 1; questions in the order of `gold`.

    Raises MissingExtraError without the extra `eval`.
    """
    library = _library()
    asked = {name: library.parse_measure(name) for name in MEASURES}
    # trec_eval orders equal scores by name: ours fall strictly.
    runs = {
        question: {passage: float(-rank) for rank, passage in enumerate(ranking)}
        for question, ranking in rankings.items()
    }
    judged = {question: dict(grades) for question, grades in gold.items()}
    names = {str(measure): name for name, measure in asked.items()}
    found: Values = {name: dict.fromkeys(gold, 0.0) for name in MEASURES}
    for metric in library.iter_calc(list(asked.values()), judged, runs):
        found[names[str(metric.measure)]][metric.query_id] = float(metric.value)
    return found


def interval(values: Sequence[float]) -> Interval:
    """Mean and percentile bootstrap interval (Efron, 1979); the same every time."""
    mean, low, high = _bootstrap(np.asarray(values, dtype=np.float64))
    return Interval(mean=round(mean, 4), low=round(low, 4), high=round(high, 4))


def difference(values: Sequence[float], base: Sequence[float]) -> Difference:
    """How `values` differ from `base`, pair by pair (Smucker et al., 2007)."""
    pairs = np.asarray(values, dtype=np.float64) - np.asarray(base, dtype=np.float64)
    mean, low, high = _bootstrap(pairs)
    return Difference(
        difference=round(mean, 4),
        low=round(low, 4),
        high=round(high, 4),
        p=round(_permuted(pairs), 4),
    )


def _library() -> Any:
    try:
        return import_module("ir_measures")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "eval", "retrieval", "ir-measures", extra="eval"
        ) from error


def _bootstrap(values: "NDArray[np.float64]") -> tuple[float, float, float]:
    random = np.random.default_rng(SEED)
    size = len(values)
    means = np.concatenate(
        [
            values[random.integers(0, size, (SLICE, size))].mean(axis=1)
            for _ in range(RESAMPLES // SLICE)
        ]
    )
    low, high = np.percentile(means, [2.5, 97.5])
    return float(values.mean()), float(low), float(high)


def _permuted(pairs: "NDArray[np.float64]") -> float:
    """The share of sign flips with a difference as large; never 0."""
    changed = pairs[pairs != 0]  # a flip of nothing changes nothing
    if not len(changed):
        return 1.0
    random = np.random.default_rng(SEED)
    size = abs(changed.sum()) - 1e-12
    larger = 0
    for _ in range(PERMUTATIONS // SLICE):
        signs = random.integers(0, 2, (SLICE, len(changed)), dtype=np.int8) * 2 - 1
        larger += int((abs(signs @ changed) >= size).sum())
    return (larger + 1) / (PERMUTATIONS + 1)
